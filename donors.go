package lossep

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/posterior"
)

// What a column that is not known may turn out to be is what it is in the training rows that are
// nearest in all others.

const (
	// donors is how many training rows a column's value is taken from.
	donors = 50
	// companions is how many of them give the values of further columns that are not known.
	// Of 40 cases of Pima and of German credit with three columns not known, the worth of one
	// that is 0.031 and 0.018 on average is off by 0.021 and 0.007 (root mean square) from what
	// it is with all 50 as companions; with ten, in twice the time, by 0.018 and 0.008.
	companions = 5
)

// unknownIn are the entries of a row that are not known.
func unknownIn(row []float64) (places []int) {
	for k, v := range row {
		if v != v {
			places = append(places, k)
		}
	}
	return places
}

// nearest finds the training rows that are nearest to a row in what is known of it. Of rows that
// are as near, any may be among them: the first of a file that is sorted would all be alike.
type nearest struct {
	model *Model
	order []int // rows that are as near are taken in this order
}

func (m *Model) nearest() *nearest {
	n, _ := m.x.Dims()
	return &nearest{m, rand.New(rand.NewPCG(1, uint64(n))).Perm(n)}
}

// neighbour is a training row at a squared distance; rank is its place in the order.
type neighbour struct {
	distance float64
	rank     int
}

func (c neighbour) compare(d neighbour) int {
	return cmp.Or(cmp.Compare(c.distance, d.distance), cmp.Compare(c.rank, d.rank))
}

// of are the rows nearest to one, the nearest first. The best so far are kept in order, so that
// most rows are turned down by one comparison.
func (s *nearest) of(row []float64) []int {
	var numbers, codes []int
	for k, v := range row {
		switch {
		case v != v:
		case k < s.model.coding.Numbers():
			numbers = append(numbers, k)
		default:
			codes = append(codes, k)
		}
	}
	best := make([]neighbour, 0, donors+1)
	for rank, i := range s.order {
		own, c := s.model.x.RawRowView(i), neighbour{rank: rank}
		for _, k := range numbers {
			c.distance += (own[k] - row[k]) * (own[k] - row[k])
		}
		for _, k := range codes {
			if own[k] != row[k] {
				c.distance += 2 // of two 0/1 columns
			}
		}
		if len(best) == donors && c.compare(best[donors-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, c, neighbour.compare)
		best = slices.Insert(best, at, c)
		best = best[:min(len(best), donors)]
	}
	rows := make([]int, len(best))
	for k, c := range best {
		rows[k] = s.order[c.rank]
	}
	return rows
}

// variants are the cases that a case of which some is not known may turn out to be: with the
// values of one of the nearest training rows each.
type variants struct {
	cases [][]float64 // each once: categories make many of them the same
	// numbers are those of the cases, for every training row and then for every companion of it,
	// and shares how likely these are.
	numbers            []int
	shares, companions []float64
}

// variants are those of a row with the entries at some places not known. What else is not known
// is that of the nearest rows of all, companions.
func (s *nearest) variants(row []float64, at []int) *variants {
	near := s.of(row)
	further := slices.DeleteFunc(unknownIn(row), func(place int) bool { return slices.Contains(at, place) })
	each := 1
	if len(further) > 0 {
		each = min(companions, len(near))
	}
	v := &variants{shares: s.model.donorShares(near), companions: s.model.donorShares(near[:each])}
	first := make(map[string]int)
	for _, donor := range near {
		for c := range each {
			to := make([]float64, len(row))
			s.model.fill(to, row, at, donor)
			s.model.fill(to, to, further, near[c])
			key := keyOf(to)
			number, known := first[key]
			if !known {
				number = len(v.cases)
				first[key] = number
				v.cases = append(v.cases, to)
			}
			v.numbers = append(v.numbers, number)
		}
	}
	return v
}

// probabilities are those of the outcomes with each of the training rows' values, from those of
// the cases.
func (v *variants) probabilities(cases [][]float64) [][]float64 {
	all := make([][]float64, 0, len(v.shares))
	for numbers := range slices.Chunk(v.numbers, len(v.companions)) {
		own := make([][]float64, len(numbers))
		for c, number := range numbers {
			own[c] = cases[number]
		}
		all = append(all, posterior.Mean(own, v.companions))
	}
	return all
}

// variantsAtOnce is how many cases are looked at together: so many that processors have enough to
// do, and so few that somebody who does not want the answer any more is heard.
const variantsAtOnce = 32

// eachVariants calls use for each of n cases, of which open gives what is known and where to
// look, with the probabilities of the outcomes as the nearest training rows complete it, and with
// the shares of these.
func (m *Model) eachVariants(ctx context.Context, n int, open func(i int) (row []float64, at []int), use func(i int, all [][]float64, shares []float64)) error {
	if n == 0 {
		return nil
	}
	near := m.nearest()
	for from := 0; from < n; from += variantsAtOnce {
		if err := ctx.Err(); err != nil {
			return err
		}
		all := make([]*variants, min(variantsAtOnce, n-from))
		tasks.For(len(all), func(k int) {
			row, at := open(from + k)
			all[k] = near.variants(row, at)
		})
		var numbers []float64
		var of []int // the case that a variant is of
		for k, v := range all {
			for _, one := range v.cases {
				numbers, of = append(numbers, one...), append(of, from+k)
			}
		}
		p, err := m.variantProbabilities(mat.NewDense(len(of), m.coding.Len(), numbers), of)
		if err != nil {
			return err
		}
		for k, v := range all {
			use(from+k, v.probabilities(p[:len(v.cases)]), v.shares)
			p = p[len(v.cases):]
		}
	}
	return nil
}

// variantProbabilities are those of the outcomes of variants of cases.
func (m *Model) variantProbabilities(x *mat.Dense, of []int) ([][]float64, error) {
	err := m.checkFeatures(x)
	var p [][]float64
	if err == nil {
		p = m.probabilities(m.opinions[0], x)
		if k := slices.IndexFunc(p, func(p []float64) bool { return p[0] != p[0] }); k >= 0 {
			err = m.far(x, k)
		}
	}
	if far, ok := err.(*FarError); ok {
		far.Row = of[far.Row]
	}
	return p, err
}

// donorShares is how likely a value that is not known is that of each of some training rows: by
// how often they count, and by how much more frequent their outcomes are where decisions are
// made than among the training rows. By Bayes' rule the column is then distributed as there.
func (m *Model) donorShares(rows []int) []float64 {
	by := m.recipe.Target.Shift()
	if m.weights == nil && by == nil {
		return slices.Repeat([]float64{1 / float64(len(rows))}, len(rows))
	}
	logs := make([]float64, len(rows)) // products may be below the least number
	for k, i := range rows {
		if m.weights != nil {
			logs[k] = math.Log(m.weights[i])
		}
		if by != nil {
			logs[k] += math.Log(by[m.labels[i]])
		}
	}
	all := floats.LogSumExp(logs)
	for k := range logs {
		logs[k] = math.Exp(logs[k] - all)
	}
	return logs
}

// fill writes a row with some of its entries those of a training row.
func (m *Model) fill(to, row []float64, places []int, donor int) {
	copy(to, row)
	for _, place := range places {
		to[place] = m.x.At(donor, place)
	}
}
