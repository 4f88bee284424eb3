package monitor

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Boosted trees distinguish cases of a window from those of the reference: they see columns that moved together where
// each of them has the values that it had. The rate, the smallest leaf and the smoothing are the defaults of LightGBM, whose
// 31 leaves are about those of depth 5; bins, samples and rounds bound the work. docs/research/monitoring.md has how much
// depends on the others.
const (
	mostBins    = 64 // of an entry of an encoded row: a set of them is a word
	numberBins  = 32
	mostSampled = 4000 // cases of each kind that a half learns from
	mostRounds  = 150
	patience    = 15   // rounds that do not help before it ends
	deepest     = 5    // splits above a leaf
	leastLeaf   = 20   // cases of a leaf
	leafPrior   = 5.0  // Newton's step in a leaf is G/(H + leafPrior)
	rate        = 0.1  // share of it that is taken
	smoothing   = 10.0 // likewise, where categories are put in order
)

// binned are encoded rows, with every entry as the number of its bin: numbers between quantiles of the reference, and
// its more frequent codes.
type binned struct {
	cuts  [][]float64 // of numbers
	codes []map[int]uint8
	rows  [][]uint8 // of the reference
}

func newBinned(x *mat.Dense, numbers int) *binned {
	n, d := x.Dims()
	b := new(binned)
	for e := range numbers {
		values := make([]float64, n)
		mat.Col(values, e, x)
		slices.Sort(values)
		var cuts []float64
		for k := 1; k < numberBins; k++ {
			cuts = append(cuts, values[k*n/numberBins])
		}
		b.cuts = append(b.cuts, slices.Compact(cuts))
	}
	for e := numbers; e < d; e++ {
		counts := make(map[int]int)
		for i := range n {
			counts[int(x.At(i, e))]++
		}
		var order []int
		for code := range counts {
			order = append(order, code)
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Or(counts[b]-counts[a], a-b) })
		bin := make(map[int]uint8)
		for k, code := range order[:min(len(order), mostBins-1)] {
			bin[code] = uint8(k)
		}
		b.codes = append(b.codes, bin)
	}
	b.rows = b.of(x)
	return b
}

// of are rows as bins. Codes that are rare or new have the last.
func (b *binned) of(x *mat.Dense) [][]uint8 {
	n, d := x.Dims()
	all := make([][]uint8, n)
	for i := range all {
		row, out := x.RawRowView(i), make([]uint8, d)
		for e, v := range row {
			if e < len(b.cuts) {
				k, found := slices.BinarySearch(b.cuts[e], v)
				if found {
					k++
				}
				out[e] = uint8(k)
			} else if k, is := b.codes[e-len(b.cuts)][int(v)]; is {
				out[e] = k
			} else {
				out[e] = mostBins - 1
			}
		}
		all[i] = out
	}
	return all
}

// ratios are by how much more frequent cases like each of the reference are among those of x, averaging one: the odds
// that it is one of them, by trees of the other half of all cases. There are as many trees as tell cases apart that
// they were not grown from: none where nothing moved. Entries that no reference case has as those of x do, are left out:
// what tells all cases apart says nothing of which are alike.
func (b *binned) ratios(x *mat.Dense, without map[int]bool) []float64 {
	window := b.of(x)
	var halves [2]*half
	for k := range halves {
		halves[k] = newHalf(every(alternate(b.rows, k), mostSampled), every(alternate(window, k), mostSampled), without, len(b.cuts))
	}
	scores := make([]float64, len(b.rows)) // by the trees of the other half
	best, least, since := slices.Clone(scores), halves[0].loss()+halves[1].loss(), 0
	for range mostRounds {
		if since++; since > patience {
			break
		}
		grown := [2]*tree{halves[0].grow(), halves[1].grow()}
		for k, h := range halves {
			h.add(grown[1-k])
		}
		for i, row := range b.rows {
			scores[i] += grown[1-i%2].at(row)
		}
		if now := halves[0].loss() + halves[1].loss(); now < least {
			least, since = now, 0
			copy(best, scores)
		}
	}
	sum := 0.0
	for i, s := range best {
		best[i] = math.Exp(max(-20, min(20, s)))
		sum += best[i]
	}
	for i := range best {
		best[i] *= float64(len(best)) / sum
	}
	return best
}

// alternate are every other of all.
func alternate[T any](all []T, first int) (some []T) {
	for i := first; i < len(all); i += 2 {
		some = append(some, all[i])
	}
	return some
}

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

// half is half of the cases of both kinds: what trees are grown from, and those of the other half are judged by.
type half struct {
	rows     [][]uint8 // of the reference, then of the window
	numbers  int       // entries before this one are numbers
	entries  []int
	from     int       // the first of the window
	odds     float64   // log odds of the window before anything is known of a case
	learnt   []float64 // scores by the trees of this half
	judged   []float64 // by those of the other
	gradient []float64
	bend     []float64
}

func newHalf(reference, window [][]uint8, without map[int]bool, numbers int) *half {
	h := &half{rows: slices.Concat(reference, window), from: len(reference), numbers: numbers}
	h.odds = math.Log((float64(len(window)) + 0.5) / (float64(len(reference)) + 0.5))
	n := len(h.rows)
	h.learnt, h.judged, h.gradient, h.bend = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for e := range h.rows[0] {
		if !without[e] {
			h.entries = append(h.entries, e)
		}
	}
	return h
}

// loss is the negative log likelihood of which cases are of the window, by the trees of the other half.
func (h *half) loss() (sum float64) {
	for i, s := range h.judged {
		z := h.odds + s
		if i >= h.from {
			z = -z
		}
		sum += max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
	}
	return sum
}

// add judges by one more tree.
func (h *half) add(t *tree) {
	for i, row := range h.rows {
		h.judged[i] += t.at(row)
	}
}

// tree is a leaf with a value, or a split by which bins of an entry are on its left.
type tree struct {
	value float64
	entry int
	left  uint64
	down  [2]*tree // nil of a leaf
}

func (t *tree) at(row []uint8) float64 {
	for t.down[0] != nil {
		t = t.down[1-t.left>>row[t.entry]&1]
	}
	return t.value
}

// grow is the tree of the next Newton step.
func (h *half) grow() *tree {
	all := make([]int, len(h.rows))
	for i := range all {
		p, label := 1/(1+math.Exp(-(h.odds+h.learnt[i]))), 0.0
		if i >= h.from {
			label = 1
		}
		all[i], h.gradient[i], h.bend[i] = i, label-p, p*(1-p)
	}
	t := h.branch(all, deepest)
	for i, row := range h.rows {
		h.learnt[i] += t.at(row)
	}
	return t
}

// sums are those of the cases of a bin.
type sums struct{ gradient, bend, cases float64 }

func (s sums) plus(o sums) sums {
	return sums{s.gradient + o.gradient, s.bend + o.bend, s.cases + o.cases}
}

func (s sums) minus(o sums) sums {
	return sums{s.gradient - o.gradient, s.bend - o.bend, s.cases - o.cases}
}

// gain is by how much Newton's step lowers the loss, twice.
func (s sums) gain() float64 { return s.gradient * s.gradient / (s.bend + leafPrior) }

// branch is a tree of some cases.
func (h *half) branch(cases []int, depth int) *tree {
	var total sums
	for _, i := range cases {
		total = total.plus(sums{h.gradient[i], h.bend[i], 1})
	}
	t := &tree{value: rate * total.gradient / (total.bend + leafPrior)}
	if depth == 0 || total.cases < 2*leastLeaf {
		return t
	}
	most := total.gain() + 1e-9
	for _, e := range h.entries {
		var bins [mostBins]sums
		for _, i := range cases {
			bin := &bins[h.rows[i][e]]
			bin.gradient += h.gradient[i]
			bin.bend += h.bend[i]
			bin.cases++
		}
		if left, gain := split(&bins, total, e < h.numbers); gain > most {
			t.entry, t.left, most = e, left, gain
		}
	}
	if t.left == 0 {
		return t
	}
	var parts [2][]int
	for _, i := range cases {
		side := 1 - t.left>>h.rows[i][t.entry]&1
		parts[side] = append(parts[side], i)
	}
	t.down = [2]*tree{h.branch(parts[0], depth-1), h.branch(parts[1], depth-1)}
	return t
}

// split is the set of bins whose leaf and that of all others gain the most: numbers up to one, codes in the order of
// what their own leaves would be, among which the best set is (Fisher 1958).
func split(bins *[mostBins]sums, total sums, number bool) (left uint64, most float64) {
	var order [mostBins]int
	n := 0
	for k := range bins {
		if bins[k].cases > 0 {
			order[n] = k
			n++
		}
	}
	if !number {
		step := func(k int) float64 { return bins[k].gradient / (bins[k].bend + smoothing) }
		slices.SortFunc(order[:n], func(a, b int) int { return cmp.Or(cmp.Compare(step(a), step(b)), a-b) })
	}
	var on sums
	set := uint64(0)
	for _, k := range order[:max(n-1, 0)] {
		on, set = on.plus(bins[k]), set|1<<k
		if off := total.minus(on); on.cases >= leastLeaf && off.cases >= leastLeaf && on.gain()+off.gain() > most {
			left, most = set, on.gain()+off.gain()
		}
	}
	return left, most
}
