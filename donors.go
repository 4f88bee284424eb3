package lossep

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/posterior"
)

// What a column that is not known may turn out to be is what it is in the training rows that are
// nearest in all others.

// companions is how many of them give the values of further columns that are not known.
// Of 40 cases of Pima and of German credit with three columns not known, the worth of one
// that is 0.031 and 0.018 on average is off by 0.021 and 0.007 (root mean square) from what
// it is with all 50 as companions; with ten, in twice the time, by 0.018 and 0.008.
const companions = 5

// Variants are the cases that a case of which some is not known may turn out to be: with the
// values of one of the nearest training rows each.
type Variants struct {
	Cases [][]float64 // each once: categories make many of them the same
	// Numbers are those of the cases, for every training row and then for every companion of it,
	// and Shares and Companions how likely these are.
	Numbers            []int
	Shares, Companions []float64
}

// VariantsOf are those of a row with the entries at some places not known. What else is not known
// is that of the nearest rows of all, companions.
func VariantsOf(d *posterior.Donors, row []float64, at []int) *Variants {
	near := d.Nearest(row)
	further := slices.DeleteFunc(posterior.Unknown(row), func(place int) bool { return slices.Contains(at, place) })
	each := 1
	if len(further) > 0 {
		each = min(companions, len(near))
	}
	v := &Variants{Shares: d.Shares(near), Companions: d.Shares(near[:each])}
	first := make(map[string]int)
	for _, donor := range near {
		for c := range each {
			to := make([]float64, len(row))
			d.Fill(to, row, at, donor)
			d.Fill(to, to, further, near[c])
			key := keyOf(to)
			number, known := first[key]
			if !known {
				number = len(v.Cases)
				first[key] = number
				v.Cases = append(v.Cases, to)
			}
			v.Numbers = append(v.Numbers, number)
		}
	}
	return v
}

// probabilities are those of the outcomes with each of the training rows' values, from those of
// the cases.
func (v *Variants) probabilities(cases [][]float64) [][]float64 {
	all := make([][]float64, 0, len(v.Shares))
	for numbers := range slices.Chunk(v.Numbers, len(v.Companions)) {
		own := make([][]float64, len(numbers))
		for c, number := range numbers {
			own[c] = cases[number]
		}
		all = append(all, posterior.Mean(own, v.Companions))
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
	near := m.donors()
	for from := 0; from < n; from += variantsAtOnce {
		if err := ctx.Err(); err != nil {
			return err
		}
		all := make([]*Variants, min(variantsAtOnce, n-from))
		tasks.For(len(all), func(k int) {
			row, at := open(from + k)
			all[k] = VariantsOf(near, row, at)
		})
		var numbers []float64
		var of []int // the case that a variant is of
		for k, v := range all {
			for _, one := range v.Cases {
				numbers, of = append(numbers, one...), append(of, from+k)
			}
		}
		p, err := m.variantProbabilities(mat.NewDense(len(of), m.coding.Len(), numbers), of)
		if err != nil {
			return err
		}
		for k, v := range all {
			use(from+k, v.probabilities(p[:len(v.Cases)]), v.Shares)
			p = p[len(v.Cases):]
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
