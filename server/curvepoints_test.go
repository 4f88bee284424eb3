package server

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/server/rows"
	"pgregory.net/rapid"
)

// The points of a curve are those of deciding every row under every value by the whole
// table, whatever the number of actions, with ties and with multiples of a column.
func TestCurvePointsAreTables(t *testing.T) {
	specs := map[bool]*decision.Spec{}
	for costs, kind := range map[bool]string{true: "costs", false: "utilities"} {
		spec, err := decision.ParseSpec("test", []byte("outcomes: [good, bad]\n"+kind+": {a: {good: 0, bad: 5}, b: {good: 1, bad: 0}, c: {good: 1, bad: 2}, d: {good: 1, bad: 1}}"))
		if err != nil {
			t.Fatal(err)
		}
		specs[costs] = spec
	}
	rapid.Check(t, func(t *rapid.T) {
		const actions = 4
		// Few different numbers, so that there are ties; some of them to rounding only.
		number := rapid.SampledFrom([]float64{0, 0.1, 0.3, 0.1 + 0.2, 1, 1 + 0x1p-52, 2, 3})
		n := rapid.IntRange(1, 5).Draw(t, "rows")
		c := &curve{
			spec: specs[rapid.Bool().Draw(t, "costs")], rows: &rows.Rows{N: n}, scratch: decision.Stakes{Table: make(decision.Table, actions)},
			action: rapid.IntRange(0, actions-1).Draw(t, "action"), outcome: rapid.IntRange(0, 1).Draw(t, "outcome"),
		}
		c.scratch.Costs = c.spec.Costs()
		multiples := rapid.Bool().Draw(t, "multiples")
		for range n {
			p := rapid.SampledFrom([]float64{0, 0.1, 0.25, 0.3, 0.5, 1}).Draw(t, "p")
			c.p = append(c.p, []float64{1 - p, p})
			c.rows.Labels = append(c.rows.Labels, int8(rapid.IntRange(0, 2).Draw(t, "label")))
			table := make(decision.Table, actions)
			for a := range table {
				table[a] = []float64{number.Draw(t, "u"), number.Draw(t, "u")}
			}
			c.stakes = append(c.stakes, decision.Stakes{Table: table, Costs: c.spec.Costs()})
			if multiples {
				c.factor = append(c.factor, number.Draw(t, "factor"))
			}
		}
		values := rapid.SliceOfN(number, 1, 3).Draw(t, "values")
		got, err := c.response(t.Context(), values)
		if err != nil {
			t.Fatal(err)
		}
		for k, value := range values {
			var expected, held, realised float64
			constant := make([]float64, actions)
			flipped, labelled := 0, 0
			for i, p := range c.p {
				now := c.with(i, value)
				best, before := now.Best(p, -1), c.stakes[i].Best(p, -1)
				expected += now.Expected(best, p)
				held += now.Expected(before, p)
				if best != before {
					flipped++
				}
				if y := c.rows.Labels[i]; y != 0 {
					labelled++
					realised += now.Table[best][y-1]
				}
				for a := range constant {
					constant[a] += now.Expected(a, p)
				}
			}
			// Sums of at most 5 numbers up to 9, added in another order.
			const tolerance = 1e-13
			far := func(x, y float64) bool { return math.Abs(x-y) > tolerance }
			point := got.Points[k]
			if far(point.Expected, expected/float64(n)) || far(point.Held, held/float64(n)) || point.Flipped != flipped || got.Labelled != labelled {
				t.Fatalf("at %v: %+v, %d labelled; want %v, %v, %d, %d", value, point, got.Labelled, expected/float64(n), held/float64(n), flipped, labelled)
			}
			if labelled > 0 && far(*point.Realised, realised/float64(labelled)) || labelled == 0 && point.Realised != nil {
				t.Fatalf("at %v: realised %v, want %v", value, point.Realised, realised/float64(labelled))
			}
			for a := range constant {
				if far(got.Constant[a].Expected[k], constant[a]/float64(n)) {
					t.Fatalf("always %d at %v: %v, want %v", a, value, got.Constant[a].Expected[k], constant[a]/float64(n))
				}
			}
		}
	})
}

// The ends of a curve have a bound that is named, and a row with something that is no
// outcome of the model is counted.
func TestCurveSaysWhy(t *testing.T) {
	s := newServer(t)
	vary := `"vary":{"action":"negative","outcome":"bad"},`
	for _, c := range []struct{ ends, want string }{
		{`"from":1e300,"to":2e300`, "from: 1e+300 is too large: costs and utilities beyond 1e+200"},
		{`"from":1,"to":1e300`, "to: 1e+300 is too large"},
		{`"to":3`, "from: give a number"},
	} {
		w := ask(s, http.MethodPost, "/v1/models/loans/curve", rowsBody(t, someRows(1), vary+c.ends))
		if p := checkRefused(t, w, 422); !strings.Contains(p.Detail, c.want) {
			t.Errorf("%s does not say %s", p.Detail, c.want)
		}
	}
	all := someRows(4)
	all[0]["class"], all[1]["class"], all[2]["class"] = "bad", "Bad?", nil
	delete(all[3], "class")
	got := answer[CurveResponse](t, s, "/v1/models/loans/curve", rowsBody(t, all, vary+`"from":1,"to":3`))
	if got.Labelled != 1 || got.Unknown != 1 {
		t.Errorf("%d labelled and %d unknown", got.Labelled, got.Unknown)
	}
}
