package monitor

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// effective is how many cases that count once are worth as much as these: (Σw)²/Σw².
func effective(weights []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, w := range weights {
		sum += w
		squares += w * w
	}
	return sum * sum / squares
}

// Moved is a column whose values are distributed otherwise than in the reference.
type Moved struct {
	Column string `json:"column"`
	// Distance is the share of cases that would have to have another value, in tenths of the reference
	// or in categories; Chance is about what it is where nothing moved.
	Distance float64 `json:"distance"`
	Chance   float64 `json:"chance"`
	// Outside is the share of cases with a number beyond all of the reference's, or with a category that
	// it does not have.
	Outside float64 `json:"outside"`
	// Cost is by how much the expected cost of a case rises if this column alone is distributed as in
	// the window, and the others given it as in the reference: by the cases that are not outside, and
	// nil where these are fewer than half, for then the reference does not tell.
	Cost *float64 `json:"cost,omitempty"`

	at int // its entry
}

// Unknown tells whether the reference cannot say what the column costs.
func (m *Moved) Unknown() bool { return m.Cost == nil }

// bins are a column cut at tenths of the reference and at its ends, or its codes.
type bins struct {
	column Column
	cuts   []float64 // nil for codes
	ends   [2]float64
	of     []int // of the reference
	count  map[int]float64
}

func newBins(x *mat.Dense, c Column, numbers int) *bins {
	n, _ := x.Dims()
	b := &bins{column: c, count: make(map[int]float64)}
	at := c.At[0]
	if at < numbers {
		values := make([]float64, n)
		mat.Col(values, at, x)
		slices.Sort(values)
		b.cuts, b.ends = []float64{}, [2]float64{values[0], values[n-1]}
		for k := 1; k < 10; k++ {
			if v := values[k*n/10]; len(b.cuts) == 0 || v > b.cuts[len(b.cuts)-1] {
				b.cuts = append(b.cuts, v)
			}
		}
	}
	for i := range n {
		k := b.bin(x.At(i, at))
		b.of = append(b.of, k)
		b.count[k]++
	}
	return b
}

func (b *bins) bin(v float64) int {
	switch {
	case b.cuts == nil:
		return int(v)
	case v < b.ends[0]:
		return -1
	case v > b.ends[1]:
		return len(b.cuts) + 1
	}
	k, found := slices.BinarySearch(b.cuts, v)
	if found {
		k++
	}
	return k
}

// moved are the columns that moved by more than chance, or whose values are new.
func (w *watch) moved(x *mat.Dense) []Moved {
	all := []Moved{}
	n, _ := x.Dims()
	for _, b := range w.bins {
		here := make(map[int]float64)
		for i := range n {
			here[b.bin(x.At(i, b.column.At[0]))]++
		}
		m := Moved{Column: b.column.Name, at: b.column.At[0]}
		keys := make(map[int]bool)
		for k := range here {
			keys[k] = true
		}
		for k := range b.count {
			keys[k] = true
		}
		before, now := float64(len(b.of)), float64(n)
		ratio := make(map[int]float64)
		for _, k := range sorted(keys) {
			p, q := b.count[k]/before, here[k]/now
			m.Distance += math.Abs(p-q) / 2
			both := (b.count[k] + here[k]) / (before + now)
			m.Chance += math.Sqrt(2/math.Pi*both*(1-both)*(1/before+1/now)) / 2
			if ratio[k] = q / p; p == 0 {
				m.Outside += q
			}
		}
		if m.Outside <= 0.5 {
			sum := 0.0
			for i, k := range b.of {
				sum += (ratio[k]/(1-m.Outside) - 1) * w.expected[i] / before
			}
			m.Cost = &sum
		}
		if m.Unknown() || m.Distance > 2*m.Chance {
			all = append(all, m)
		}
	}
	size := func(m Moved) float64 { // what is not known may be anything
		if m.Unknown() {
			return math.Inf(1)
		}
		return math.Abs(*m.Cost)
	}
	slices.SortStableFunc(all, func(a, b Moved) int { return cmp.Compare(size(b), size(a)) })
	return all
}

func sorted(keys map[int]bool) []int {
	var all []int
	for k := range keys {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}
