package effects

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// Bins never part equal values, are in order, hold about as many rows each where no value has
// many, and are one for each value where these are few.
func TestCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(-20, 20), 1, 400).Draw(t, "values")
		bins := rapid.IntRange(2, 50).Draw(t, "bins")
		sorted := make([]float64, len(values))
		for i, v := range values {
			sorted[i] = float64(v) / 4
		}
		slices.Sort(sorted)
		a := &Axis{Cuts: cuts(sorted, bins)}
		if !slices.IsSorted(a.Cuts) || len(a.Cuts) >= bins {
			t.Fatalf("%d bins: cuts %v", bins, a.Cuts)
		}
		different := len(slices.Compact(slices.Clone(sorted)))
		if want := min(different, bins); len(a.Cuts)+1 != want {
			t.Fatalf("%d bins of %d different values, want %d", len(a.Cuts)+1, different, want)
		}
	})
	even := make([]float64, 1000)
	for i := range even {
		even[i] = float64(i)
	}
	a := &Axis{Cuts: cuts(even, 16)}
	counts := make([]int, 16)
	for _, v := range even {
		counts[a.bin(v)]++
	}
	for _, c := range counts {
		if c < 62 || c > 63 {
			t.Errorf("rows of bins %v", counts)
		}
	}
	if c := cuts([]float64{1, math.Nextafter(1, 2)}, 2); len(c) != 1 || !(1 < c[0]) || c[0] > math.Nextafter(1, 2) {
		t.Errorf("cut %v between neighbours", c)
	}
}

// Rows are in the group that their values say, whether rows are learnt from or new, and groups that
// do not occur are reported.
func TestGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const n = 3000
	x := mat.NewDense(n, 3, nil)
	for i := range n {
		u := rng.NormFloat64()
		if i%50 == 0 {
			u = math.NaN()
		}
		x.SetRow(i, []float64{u, float64(rng.IntN(300)), float64(rng.IntN(5) - 1)})
	}
	table := NewTable(x, 2)
	for _, family := range []Family{{}, {{0, 16}}, {{1, 0}}, {{0, 4}, {2, 0}}, {{0, 8}, {1, 0}, {2, 0}}} {
		rows := NewInMemory(x, make(labels, n), 0)
		g, err := NewFit(table, rows).grouping(t.Context(), family)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := rows.shards[0].numbers(g)
		if err != nil {
			t.Fatal(err)
		}
		again, err := NewGrouping(family, g.Axes, g.Keys(), g.Rows)
		if err != nil {
			t.Fatal(err)
		}
		// Two rows are in one group if and only if they are in the same cells.
		groups := make(map[[3]int]int)
		e := Effect{Grouping: g, Variance: 1, Moments: make([]Moment, g.Groups())}
		for k := range e.Moments {
			e.Moments[k] = Moment{float64(k), 0}
		}
		mean, variance := make([]float64, n), make([]float64, n)
		for from := 0; from < n; from += 1000 {
			ids.add(mean[from:from+1000], variance[from:from+1000], from, e.Moments)
		}
		for i := range n {
			row := x.RawRowView(i)
			var cell [3]int
			for k, a := range g.Axes {
				cell[k] = a.Cell(row[a.Column])
			}
			id := g.Group(row)
			if other, ok := groups[cell]; ok && other != id || id < 0 || id != again.Group(row) || float64(id) != mean[i] {
				t.Fatalf("%v, row %d: group %d, then %d and %g, %d before", family, i, id, again.Group(row), mean[i], other)
			}
			groups[cell] = id
		}
		if len(groups) != g.Groups() {
			t.Errorf("%v: %d groups of %d cells", family, g.Groups(), len(groups))
		}
		if len(family) == 3 || len(family) == 1 && family[0].Column == 1 {
			if w, known := e.At([]float64{0, 1000, 0}, 0); known || w != (Moment{0, 1}) {
				t.Errorf("%v: a new category has the effect %v, known %v", family, w, known)
			}
		}
	}
}

// A grouping that no table could have is refused.
func TestNewGroupingRefuses(t *testing.T) {
	axis := &Axis{Column: 1, Cells: 4}
	family := Family{{1, 0}}
	for _, c := range []struct {
		axes []*Axis
		keys []int
	}{
		{nil, nil},
		{[]*Axis{axis}, []int{4}},
		{[]*Axis{axis}, []int{-1}},
		{[]*Axis{axis}, []int{2, 1}},
		{[]*Axis{{Column: 2, Cells: 4}}, nil},
		{[]*Axis{{Column: 1, Cells: 0}}, nil},
		{[]*Axis{{Column: 1, Cells: 4, Cuts: []float64{2, 1}}}, nil},
		{[]*Axis{{Column: 1, Cells: 1 << 40}}, nil},
	} {
		if _, err := NewGrouping(family, c.axes, c.keys, nil); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}
