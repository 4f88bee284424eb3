package monitor

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// features are what distinguishes cases of a window from those of the reference: numbers, their squares,
// and the more frequent codes, standardised.
type features struct {
	x       *mat.Dense // of the reference
	numbers int
	codes   [][2]int // entry and code
	mean    []float64
	scale   []float64
	all     [][]float64 // of the reference
}

const (
	mostCodes   = 150  // that are distinguished
	leastCode   = 0.01 // share of the reference that a code has to have
	mostSampled = 4000 // cases of each kind that a ratio is learnt from
	ridge       = 5    // precision of a coefficient before cases are seen
	farthest    = 6.0  // standardised
)

func newFeatures(x *mat.Dense, numbers int) *features {
	n, d := x.Dims()
	f := &features{x: x, numbers: numbers}
	for e := numbers; e < d; e++ {
		counts := make(map[int]int)
		for i := range n {
			counts[int(x.At(i, e))]++
		}
		for code, k := range counts {
			if float64(k) >= leastCode*float64(n) && k < n {
				f.codes = append(f.codes, [2]int{e, code})
			}
		}
	}
	slices.SortFunc(f.codes, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	f.codes = f.codes[:min(len(f.codes), mostCodes)]
	width := 2*numbers + len(f.codes)
	f.mean, f.scale = make([]float64, width), slices.Repeat([]float64{1}, width)
	f.all = f.rows(x)
	for j := range width {
		sum, squares := 0.0, 0.0
		for _, row := range f.all {
			sum += row[j]
			squares += row[j] * row[j]
		}
		m := sum / float64(n)
		if v := squares/float64(n) - m*m; v > 1e-12 {
			f.scale[j] = math.Sqrt(v)
		}
		f.mean[j] = m
	}
	f.all = f.rows(x)
	return f
}

// rows are the features of encoded rows.
func (f *features) rows(x *mat.Dense) [][]float64 {
	n, _ := x.Dims()
	all := make([][]float64, n)
	for i := range all {
		row := x.RawRowView(i)
		out := make([]float64, 0, len(f.mean))
		for _, v := range row[:f.numbers] {
			if math.IsNaN(v) {
				v = 0
			}
			v = max(-farthest, min(farthest, v))
			out = append(out, v, v*v)
		}
		for _, c := range f.codes {
			is := 0.0
			if int(row[c[0]]) == c[1] {
				is = 1
			}
			out = append(out, is)
		}
		for j := range out {
			out[j] = (out[j] - f.mean[j]) / f.scale[j]
		}
		all[i] = out
	}
	return all
}

// ratios are by how much more frequent cases like each of the reference are among those of x: the odds
// that a logistic regression gives for it to be one of them. They average one. Entries that no reference
// case has as those of x do, are left out: a line that tells all cases apart by them says nothing of which
// are alike.
func (f *features) ratios(x *mat.Dense, without map[int]bool) []float64 {
	all, here := f.all, f.rows(x)
	if len(without) > 0 {
		all = f.rows(f.x)
		f.clear(all, without)
		f.clear(here, without)
	}
	window, reference := every(here, mostSampled), every(all, mostSampled)
	width, n := len(f.mean)+1, len(window)+len(reference)
	design := mat.NewDense(n, width, nil)
	for i, row := range slices.Concat(reference, window) {
		copy(design.RawRowView(i), row)
		design.Set(i, width-1, 1)
	}
	beta, scaled := make([]float64, width), mat.NewDense(n, width, nil)
	odds := math.Log(float64(len(window)) / float64(len(reference)))
	beta[width-1] = odds
	for range 25 {
		gradient, hessian := make([]float64, width), mat.NewSymDense(width, nil)
		for i := range n {
			row, to := design.RawRowView(i), scaled.RawRowView(i)
			p, label := 1/(1+math.Exp(-dot(row, beta))), 0.0
			if i >= len(reference) {
				label = 1
			}
			root := math.Sqrt(p * (1 - p))
			for j, u := range row {
				gradient[j] += (label - p) * u
				to[j] = root * u
			}
		}
		hessian.SymOuterK(1, scaled.T())
		for j := range width - 1 {
			gradient[j] -= ridge * beta[j]
			hessian.SetSym(j, j, hessian.At(j, j)+ridge)
		}
		var chol mat.Cholesky
		var step mat.VecDense
		if !chol.Factorize(hessian) || chol.SolveVecTo(&step, mat.NewVecDense(width, gradient)) != nil {
			break
		}
		longest := mat.Norm(&step, math.Inf(1))
		for j := range beta {
			beta[j] += step.AtVec(j) * min(1, 2/max(longest, 1e-300))
		}
		if longest < 1e-6 {
			break
		}
	}
	weights, sum := make([]float64, len(all)), 0.0
	for i, row := range all {
		weights[i] = math.Exp(max(-20, min(20, linear(beta, row)-odds)))
		sum += weights[i]
	}
	for i := range weights {
		weights[i] *= float64(len(weights)) / sum
	}
	return weights
}

// clear sets the features of entries to their mean.
func (f *features) clear(rows [][]float64, entries map[int]bool) {
	for _, row := range rows {
		for e := range f.numbers {
			if entries[e] {
				row[2*e], row[2*e+1] = 0, 0
			}
		}
		for k, c := range f.codes {
			if entries[c[0]] {
				row[2*f.numbers+k] = 0
			}
		}
	}
}

func linear(beta, row []float64) float64 { return dot(row, beta[:len(row)]) + beta[len(row)] }

// every are at most so many of all, evenly spread.
func every[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	some := make([]T, most)
	for i := range some {
		some[i] = all[i*len(all)/most]
	}
	return some
}

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
