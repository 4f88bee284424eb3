package lossep

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
)

// The training rows need not be a fair sample of the cases to be decided. Weights say
// how often each row counts: its term enters the likelihood to that power, and every
// average over rows is weighted. A prevalence says how frequent outcomes are where decisions are
// made: given an outcome the training rows are as there, and only
// the outcomes' shares differ, so that probabilities shift by Bayes' rule.

// shift makes the probabilities of the outcomes among the training rows those where
// decisions are made.
func shift(t *recipe.Target, p []float64) {
	by := t.Shift()
	if by == nil {
		return
	}
	floats.Mul(p, by)
	sum := floats.Sum(p)
	for y := range p {
		p[y] /= sum
	}
}

// CaseWeights is how much every row of the problem counts in an average over the cases to
// be decided: its weight, times how much more frequent its outcome is there than among
// these rows. It is nil if all rows count the same.
func (p *Problem) CaseWeights() []float64 {
	shares := p.Recipe.Target.CaseShares()
	if p.Weights == nil && shares == nil {
		return nil
	}
	weights := slices.Clone(p.Weights)
	if weights == nil {
		weights = slices.Repeat([]float64{1}, p.Len())
	}
	if shares == nil {
		return weights
	}
	sums := make([]float64, len(shares))
	for i, y := range p.Labels {
		sums[y] += weights[i]
	}
	all := floats.Sum(sums)
	for i, y := range p.Labels {
		weights[i] *= shares[y] * all / sums[y]
	}
	return weights
}

// forPopulation is the utility table of new cases with the inputs of training rows,
// where they stand for cases of another prevalence: an average over those is one over
// the training rows of Σ_y u(a, y)·P(y | x) with every outcome's utility times how much
// more frequent it is.
func (p *Problem) forPopulation(t decision.Table) decision.Table {
	by := p.Recipe.Target.Shift()
	if by == nil {
		return t
	}
	scaled := make(decision.Table, len(t))
	for a, row := range t {
		scaled[a] = floats.MulTo(make([]float64, len(row)), row, by)
	}
	return scaled
}
