package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// heldOut are cases of the example that were not fitted to, as a CSV text to paste.
func heldOut(n int) string {
	t := example.HeldOut()
	lines := []string{strings.Join(t.Columns(), ",")}
	for i := range n {
		lines = append(lines, strings.Join(t.Row(5*i%t.Len()), ","))
	}
	return strings.Join(lines, "\n") + "\n"
}

// decide is what the library decides about a CSV text, under the model's own costs if
// the specification is nil.
func decide(t *testing.T, m *lossep.Model, csv string, spec *decision.Spec) []lossep.DecidedRow {
	t.Helper()
	r, err := recipe.NewReader(context.Background(), strings.NewReader(csv), "rows.csv", m.Recipe(), table.Format{Header: table.HeaderYes})
	if err != nil {
		t.Fatal(err)
	}
	var rows []lossep.DecidedRow
	for d, err := range m.Decisions(t.Context(), r, spec, true) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, d)
	}
	return rows
}

// modelAsked is what the page asked a model for last.
type modelAsked struct {
	Rows      []map[string]any `json:"rows"`
	Utility   json.RawMessage  `json:"utility"`
	Calibrate bool             `json:"calibrate"`
	Vary      struct {
		Action, Outcome string
	}
	From, To float64
	Steps    int
	Scale    string
}

func askedOf(t *testing.T, s *site, model, what string) (asked modelAsked) {
	t.Helper()
	if err := json.Unmarshal(s.asking(t, "/v1/models/"+model+"/"+what), &asked); err != nil {
		t.Fatal(err)
	}
	return asked
}

// spec is the utility that was asked for, bound to the model; its own if there is none.
func (q modelAsked) spec(t *testing.T, m *lossep.Model) *decision.Spec {
	t.Helper()
	if q.Utility == nil {
		return m.Utility()
	}
	s, err := decision.ParseSpec("utility", q.Utility)
	if err == nil {
		s, err = m.Bind(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// decisions are the rows of the table of decisions, on all its pages.
func (b *tab) decisions() (all []row) {
	b.Helper()
	const next = "[data-panel=model] [data-part=pager] [data-key=next]:enabled"
	for {
		all = append(all, b.rows("[data-panel=model] [data-part=table] tr[data-row]")...)
		if !evaluate[bool](b, fmt.Sprintf("!!document.querySelector(%q)", next)) {
			break
		}
		b.click(next)
	}
	evaluate[bool](b, "document.querySelector('[data-panel=model] [data-part=pager] [data-key=first]:enabled')?.click(), true")
	return all
}

// checkDecisions compares the table of decisions with those of the library: now, and
// under the model's own costs. It returns how many are flipped.
func checkDecisions(b *tab, spec *decision.Spec, now, own []lossep.DecidedRow) (flips int) {
	b.Helper()
	rows := b.decisions()
	if len(rows) != len(now) {
		b.Fatalf("%d rows on the screen, want %d", len(rows), len(now))
	}
	for i, d := range now {
		r := rows[i]
		flipped := d.Action != own[i].Action
		if flipped {
			flips++
		}
		for _, err := range []error{
			r.says("action", spec.Actions()[d.Action]), r.says("own_action", spec.Actions()[own[i].Action]),
			r.holds("probability", shownChances(d)...), r.holds("expected", d.Expected...), r.holds("margin", d.Margin),
		} {
			if err != nil {
				b.Errorf("row %d: %v", i+1, err)
			}
		}
		if r.Data["flipped"] != strconv.FormatBool(flipped) || strings.Contains(r.Class, "flipped") != flipped {
			b.Errorf("row %d: highlighted %q (class %q), want %v", i+1, r.Data["flipped"], r.Class, flipped)
		}
		if words := r.field("own_action")[0].Text; strings.Contains(words, "was "+spec.Actions()[own[i].Action]) != flipped {
			b.Errorf("row %d: %q is to be read, want flipped %v", i+1, words, flipped)
		}
	}
	if got := evaluate[string](b, "document.querySelector('[data-panel=model] [data-part=verdict]').dataset.flips"); got != strconv.Itoa(flips) {
		b.Errorf("the page counts %s flips, want %d", got, flips)
	}
	return flips
}

// shownChances are the probabilities that the table has: of the positive outcome of two, or
// of all.
func shownChances(d lossep.DecidedRow) []float64 {
	if len(d.Probabilities) == 2 {
		return d.Probabilities[1:]
	}
	return d.Probabilities
}

const (
	rowsField = "[data-panel=model] [data-part=rows]"
	costField = "[data-panel=model] [data-part=costs] input[data-action='%d'][data-outcome='%d']"
)

func TestModel(t *testing.T) {
	s := newSite(t)
	b := open(t, s.url+"/#model")
	b.settle()
	m := s.cancer
	csv := heldOut(40)
	var own []lossep.DecidedRow

	t.Run("pasted rows are decided", func(t *testing.T) {
		b.T = t
		b.act(func() { b.write(rowsField, csv) })
		own = decide(t, m, csv, nil)
		checkDecisions(b, m.Utility(), own, own)
		b.picture("model")
	})

	t.Run("a cost slider flips decisions", func(t *testing.T) {
		b.T = t
		slider := b.show(fmt.Sprintf(costField, 1, 0) + " ~ input[type=range]")
		b.act(func() { b.do(chromedp.MouseClickXY(slider.X+0.8*slider.Width, slider.Y+slider.Height/2)) })
		asked := askedOf(t, s, "cancer", "decide")
		spec := asked.spec(t, m)
		stakes, err := spec.Stakes(nil)
		if err != nil {
			t.Fatal(err)
		}
		table := stakes.Table
		shown := evaluate[string](b, fmt.Sprintf("document.querySelector(%q).value", fmt.Sprintf(costField, 1, 0)))
		if fmt.Sprint(table[1][0]) != shown || table[1][0] <= 1 || table[0][1] != 20 {
			t.Errorf("costs %v; the field shows %s", table, shown)
		}
		if flips := checkDecisions(b, spec, decide(t, m, csv, spec), own); flips == 0 {
			t.Error("nothing is flipped; the test shows nothing")
		}
		b.picture("model-flipped")
	})

	t.Run("the cost curve", func(t *testing.T) {
		b.T = t
		asked := askedOf(t, s, "cancer", "curve")
		checkCurve(b, m, asked, decide(t, m, csv, asked.spec(t, m)))
	})

	t.Run("calibration and second opinions", func(t *testing.T) {
		b.T = t
		b.act(func() { b.click("[data-panel=model] [data-part=calibrate]") })
		asked := askedOf(t, s, "cancer", "decide")
		spec := asked.spec(t, m)
		calibrated, err := m.Calibrate(t.Context(), spec)
		if err != nil || !asked.Calibrate {
			t.Fatal(err, asked.Calibrate)
		}
		now := decide(t, calibrated, csv, spec)
		checkDecisions(b, spec, now, own)
		if slices.EqualFunc(now, decide(t, m, csv, spec), func(a, b lossep.DecidedRow) bool { return a.Probability() == b.Probability() }) {
			t.Error("calibration changes no probability; the test shows nothing")
		}
		curve := askedOf(t, s, "cancer", "curve")
		if !curve.Calibrate {
			t.Error("the curve is of the model as it was")
		}
		checkCurve(b, calibrated, curve, now)
		b.act(func() { b.click("[data-panel=model] [data-part=calibrate]") })
	})

	t.Run("a second opinion", func(t *testing.T) {
		b.T = t
		cost := disagreeing(t, m, csv)
		b.act(func() { b.write(fmt.Sprintf(costField, 1, 0), cost) })
		b.act(func() { b.click("[data-panel=model] [data-part=opinion]") })
		now := decide(t, m, csv, askedOf(t, s, "cancer", "decide").spec(t, m))
		disagreeing := 0
		for i, r := range b.decisions() {
			words := r.field("disagreeing")[0].Text
			if len(now[i].Disagreeing) > 0 {
				disagreeing++
			}
			if (words == "agrees") != (len(now[i].Disagreeing) == 0) {
				t.Errorf("row %d: disagreement %q, the library's is %v", i+1, words, now[i].Disagreeing)
			}
		}
		if disagreeing == 0 {
			t.Error("no method disagrees; the test shows nothing")
		}
	})

	t.Run("back to the model's own costs", func(t *testing.T) {
		b.T = t
		b.act(func() { b.click("[data-panel=model] [data-part=opinion]") })
		b.act(func() { b.click("[data-panel=model] [data-part=reset]") })
		checkDecisions(b, m.Utility(), own, own)
	})
	b.T = t
}

// disagreeing is a cost of a false alarm under which some method would act otherwise: the
// probability from which it pays to act is made to lie beside that of a row.
func disagreeing(t *testing.T, m *lossep.Model, csv string) string {
	t.Helper()
	for _, d := range decide(t, m, csv, nil) {
		for _, beside := range []float64{-2e-4, 2e-4} {
			p := d.Probability() + beside
			if p < 0.01 || p > 0.99 {
				continue
			}
			cost := fmt.Sprintf("%.6g", 20*p/(1-p))
			spec, err := decision.ParseCosts("fn=20,fp=" + cost)
			if err == nil {
				spec, err = m.Bind(spec)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, other := range decide(t, m, csv, spec) {
				if len(other.Disagreeing) > 0 {
					return cost
				}
			}
		}
	}
	t.Fatal("the methods agree too well on these rows")
	return ""
}

// checkCurve compares the table of the curve with decisions made anew for every value.
func checkCurve(b *tab, m *lossep.Model, asked modelAsked, now []lossep.DecidedRow) {
	b.Helper()
	spec := asked.spec(b.T, m)
	action := slices.Index(spec.Actions(), asked.Vary.Action)
	outcome := slices.Index(spec.Outcomes(), asked.Vary.Outcome)
	evaluate[bool](b, "[...document.querySelectorAll('[data-panel=model] details')].forEach((d) => d.open = true), true")
	rows := b.rows("[data-panel=model] [data-part=curve-table] tr[data-value]")
	if len(rows) != asked.Steps || len(rows) < 10 {
		b.Fatalf("%d points on the screen, %d were asked for", len(rows), asked.Steps)
	}
	for k, r := range rows {
		share := float64(k) / float64(asked.Steps-1)
		value := asked.From + share*(asked.To-asked.From)
		if asked.Scale == "log" {
			value = asked.From * math.Pow(asked.To/asked.From, share)
		}
		got, err := strconv.ParseFloat(r.Data["value"], 64)
		if err != nil || math.Abs(got-value) > 1e-12*value {
			b.Fatalf("point %d is at %q, want %v", k, r.Data["value"], value)
		}
		var best, held float64
		flipped := 0
		for _, d := range now {
			s := decision.Stakes{Table: slices.Clone(d.Stakes.Table), Costs: true}
			s.Table[action] = slices.Clone(s.Table[action])
			s.Table[action][outcome] = got
			cheapest := s.Best(d.Probabilities, -1)
			best += s.Expected(cheapest, d.Probabilities) / float64(len(now))
			held += s.Expected(d.Action, d.Probabilities) / float64(len(now))
			if cheapest != d.Action {
				flipped++
			}
		}
		for field, want := range map[string]float64{"expected": best, "held": held} {
			// Sums of forty terms may be added in another order.
			if x, err := strconv.ParseFloat(r.field(field)[0].Value, 64); err != nil || math.Abs(x-want) > 1e-12*want {
				b.Errorf("%s at %v is %q, want %v", field, got, r.field(field)[0].Value, want)
			}
		}
		if err := r.holds("flipped", float64(flipped)); err != nil {
			b.Errorf("at %v: %v", got, err)
		}
	}
}

// A model with three actions, a cost that depends on the row, and rows that are not all
// as they should be.
func TestModelRows(t *testing.T) {
	s := newSite(t)
	b := open(t, s.url+"/#model?name=loans")
	b.settle()
	m := s.loans
	good := "income,amount,job\n20,4,clerk\n33,9,smith\n10,1,pilot\n26,0.5,baker\n"
	b.act(func() { b.write(rowsField, good) })
	own := decide(t, m, good, nil)
	checkDecisions(b, m.Utility(), own, own)
	if words := b.rows("[data-panel=model] tr[data-row='3']")[0].field("remarks")[0].Text; !strings.Contains(words, "job") {
		t.Errorf("the remark on a job that is not known: %q", words)
	}

	b.act(func() { b.write(fmt.Sprintf(costField, 0, 1), "3 * amount") })
	spec := askedOf(t, s, "loans", "decide").spec(t, m)
	if flips := checkDecisions(b, spec, decide(t, m, good, spec), own); flips == 0 {
		t.Error("nothing is flipped; the test shows nothing")
	}
	b.picture("model-loans")

	b.refused()
	// A number that is none, and a missing cell: named, and the others decided.
	b.act(func() { b.write(rowsField, "income;amount;job\n20;4;clerk\nmany;9;smith\n10;1;\n26;0,5;baker\n") })
	rows := b.rows("[data-panel=model] [data-part=table] tr[data-row]")
	if len(rows) != 4 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, column := range map[int]string{1: "income", 2: "job"} {
		if f := rows[i].field("error"); len(f) != 1 || !strings.Contains(f[0].Text, column) {
			t.Errorf("row %d: %+v, want an error that names %s", i+1, rows[i], column)
		}
	}
	now := decide(t, m, good, spec)
	for i, k := range map[int]int{0: 0, 3: 3} {
		if err := rows[i].holds("probability", now[k].Probability()); err != nil {
			t.Errorf("row %d: %v", i+1, err)
		}
	}
	b.picture("model-errors")

	// Columns that are not decided by are named, also one that has no name, as of row numbers.
	b.act(func() { b.write(rowsField, ",income,amount,job,shoe\n1,20,4,clerk,43\n") })
	if words := evaluate[string](b, `document.querySelector("[data-panel=model] [data-part=rows-note]").textContent`); !strings.Contains(words, "Not used by the model: a column without a name and shoe.") {
		t.Errorf("the note on rows: %q", words)
	}
}
