package lossep

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/table"
)

// explained decides the rows of x and gives all reasons.
func explained(t *testing.T, m *Model, x *mat.Dense, held ...string) []Decision {
	t.Helper()
	decisions, err := m.Decide(x)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Explain(100, held).Of(context.Background(), x, decisions); err != nil {
		t.Fatal(err)
	}
	return decisions
}

// With as many training rows as there are values of the reference, an effect is the change of the
// advantage when the column has the cell of each training row in turn, by hand.
func TestReasonsByHand(t *testing.T) {
	o := autoOptions(t, EP)
	o.Kernel, o.Fixed = "rbf(variance=4, lengthscale=2)", true
	m, err := Fit(context.Background(), wideTable(t, ReferenceValues, 1, 3), o)
	if err != nil {
		t.Fatal(err)
	}
	x := m.recipeRows(t, wideTable(t, 6, 1, 4))
	for i, d := range explained(t, m, x) {
		if len(d.Reasons) != 3 {
			t.Fatalf("case %d: reasons %+v", i, d.Reasons)
		}
		for k, r := range d.Reasons {
			if (r.Direction == ForAction) != (r.Effect > 0) || (r.Direction == AgainstAction) != (r.Effect < 0) {
				t.Errorf("case %d: an effect of %v is %q", i, r.Effect, r.Direction)
			}
			if k == 0 {
				continue
			}
			// Those for the action come first, and of each kind the larger.
			if before := d.Reasons[k-1]; before.Effect < 0 && (r.Effect >= 0 || r.Effect < before.Effect) || before.Effect > 0 && r.Effect > before.Effect {
				t.Errorf("case %d: %+v after %+v", i, r, before)
			}
		}
		for _, r := range d.Reasons {
			at, err := m.placesOf(r.Column)
			if err != nil {
				t.Fatal(err)
			}
			other := mat.NewDense(ReferenceValues, m.coding.Len(), nil)
			for k := range ReferenceValues {
				m.donors().Fill(other.RawRowView(k), x.RawRowView(i), at, k)
			}
			mean := 0.0
			for _, p := range sure(m.Predict(other)) {
				mean += p.Probabilities[1] / ReferenceValues
			}
			// 5p − (1 − p) is what the second action saves.
			want := 6 * (d.Probabilities[1] - mean)
			if d.Action == 0 {
				want = -want
			}
			if math.Abs(r.Effect-want) > 1e-12 { // sums of 24 terms below 6
				t.Errorf("case %d, %s: effect %v, by hand %v", i, r.Column, r.Effect, want)
			}
		}
	}
}

// A column with a long length scale says nothing, and does not flip anything.
func TestReasonsOfNoise(t *testing.T) {
	o := autoOptions(t, EP)
	o.Data.Drop = []string{"kind"}
	o.Kernel, o.Fixed = "rbf(variance=4, lengthscale=[1, 1e5])", true
	m, err := Fit(context.Background(), wideTable(t, 60, 1, 3), o)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range explained(t, m, m.recipeRows(t, wideTable(t, 30, 1, 4))) {
		// Values are within four standard deviations, so that covariances change by (8e-5)²/2.
		if r := d.Reasons[1]; r.Column != "n0" || math.Abs(r.Effect) > 1e-6 {
			t.Errorf("case %d: %+v", i, d.Reasons)
		}
		if d.Flip != nil && d.Flip.Column != "a" {
			t.Errorf("case %d: flip %+v", i, d.Flip)
		}
	}
}

// A kernel that is linear in one column has a latent mean w·z and a variance v·z² there, so that the
// action is the positive one on one side of a value: that which the flip finds, to its grid.
func TestFlipIsTheThreshold(t *testing.T) {
	o := autoOptions(t, EP)
	o.Kernel, o.Fixed = "linear(variance=4) + constant(variance=1)", true
	var b strings.Builder
	b.WriteString("a,y\n")
	for k := range 60 {
		a := math.Sin(float64(k)) * 2
		fmt.Fprintf(&b, "%.4f,%s\n", a, map[bool]string{true: "yes", false: "no"}[a+math.Sin(7*float64(k)) > 0.8])
	}
	past, err := table.Read(context.Background(), strings.NewReader(b.String()), "line.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Fit(context.Background(), past, o)
	if err != nil {
		t.Fatal(err)
	}
	cells := m.recipe.Cells()
	p := func(a float64) float64 {
		x := mat.NewDense(1, 1, nil)
		cells.Put(0, a, x.RawRowView(0))
		return sure(m.Predict(x))[0].Probabilities[1]
	}
	low, high := -3.0, 3.0
	for range 60 {
		if middle := (low + high) / 2; (p(middle) > 1.0/6) == (p(3) > 1.0/6) {
			high = middle
		} else {
			low = middle
		}
	}
	x := m.recipeRows(t, past.Subset([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}))
	for i, d := range explained(t, m, x) {
		if d.Flip == nil {
			t.Fatalf("case %d: no flip", i)
		}
		to, _ := table.ParseNumber([]byte(d.Flip.To), '.')
		own, _ := cells.Number(0, x.RawRowView(i))
		// A grid has at least 50 steps on the way to a value of the reference, none further than 4 away.
		if over := (to - low) * math.Copysign(1, low-own); over < -1e-9 || over > 4.0/50 || d.Flip.Action == d.Action {
			t.Errorf("case %d at %v: %+v, and the threshold is %v", i, own, d.Flip, low)
		}
	}
	if held := explained(t, m, x, "a"); held[0].Flip != nil {
		t.Errorf("a column that is held is changed: %+v", held[0].Flip)
	}
}

// A flip does what it says: the case with the cell exchanged is decided by the action it names. Where
// there is none, no cell of a training row that the reference has flips the case.
func TestFlips(t *testing.T) {
	m := fitWide(t, EP)
	fresh := wideTable(t, 40, 3, 5)
	x := m.recipeRows(t, fresh)
	found := 0
	for i, d := range explained(t, m, x) {
		if d.Flip == nil {
			continue
		}
		found++
		cells := slices.Clone(fresh.Row(i))
		column := slices.Index(fresh.Columns(), d.Flip.Column)
		if d.Flip.From != strings.TrimRight(strings.TrimRight(cells[column], "0"), ".") {
			t.Errorf("case %d: from %s, not %s", i, d.Flip.From, cells[column])
		}
		cells[column] = d.Flip.To
		text := strings.Join(fresh.Columns(), ",") + "\n" + strings.Join(cells, ",") + "\n"
		one, err := table.Read(context.Background(), strings.NewReader(text), "one.csv", table.Format{Header: table.HeaderYes})
		if err != nil {
			t.Fatal(err)
		}
		if got := sure(m.Decide(m.recipeRows(t, one)))[0].Action; got != d.Flip.Action || got == d.Action {
			t.Errorf("case %d: %+v leads from %d to %d", i, *d.Flip, d.Action, got)
		}
	}
	if found < 10 {
		t.Errorf("only %d of 40 cases have a flip, so that little is tested", found)
	}
}

// Columns that are left out are neither reasons nor changed, and the others have the effects that they have beside them.
func TestReasonsLeaveOut(t *testing.T) {
	m := fitWide(t, EP)
	x := m.recipeRows(t, wideTable(t, 40, 3, 5))
	all, some := explained(t, m, x), sure(m.Decide(x))
	if err := m.Explain(100, nil, "a", "kind").Of(t.Context(), x, some); err != nil {
		t.Fatal(err)
	}
	flips := 0
	for i, d := range some {
		want := slices.DeleteFunc(slices.Clone(all[i].Reasons), func(r Reason) bool { return r.Column == "a" || r.Column == "kind" })
		if !slices.Equal(d.Reasons, want) {
			t.Errorf("case %d: %+v, want %+v", i, d.Reasons, want)
		}
		if d.Flip != nil && (d.Flip.Column == "a" || d.Flip.Column == "kind") {
			t.Errorf("case %d: %+v", i, *d.Flip)
		}
		if all[i].Flip != nil && (all[i].Flip.Column == "a" || all[i].Flip.Column == "kind") {
			flips++
		}
	}
	if flips == 0 {
		t.Error("no column that is left out flips a case otherwise, so that nothing is tested")
	}
}

func TestGridOfFlips(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		whole    bool
	}{{5200, 3107, true}, {0.13, 0.92, false}, {-3, 7, true}, {1e-9, 3e-9, false}, {2, 2, true}, {1e300, -1e300, false}, {1e16, 1e16 + 64, false}} {
		g := newGrid(c.from, c.to, c.whole)
		if g.at(0) != c.from || g.at(g.steps) != c.to || g.steps > 200 {
			t.Errorf("%+v: %+v", c, g)
		}
		for k := 1; k <= g.steps; k++ {
			if (g.at(k)-g.at(k-1))*g.side < 0 || c.whole && g.at(k) != math.Round(g.at(k)) {
				t.Errorf("%+v: %v after %v", c, g.at(k), g.at(k-1))
			}
		}
	}
}

// sure is a value that there is no error with.
func sure[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
