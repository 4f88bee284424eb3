package search

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/tasks"
)

// weighed is how many rows weights are found of at a time.
const weighed = 256

// weights are the expected curvatures of the terms at the rows of x, times how often they count,
// nil at the start, when nothing is known.
func (s *induction) weights(x *mat.Dense, terms gp.Terms) []float64 {
	if s.last == nil {
		return nil
	}
	n, d := x.Dims()
	q := s.last.result.Q
	weights := make([]float64, n)
	single, ok := terms.(gp.SingleTerms)
	mean, variance := make([][]float64, len(q)), make([][]float64, len(q))
	for c := range q {
		mean[c], variance[c] = make([]float64, n), make([]float64, n)
	}
	tasks.Each((n+weighed-1)/weighed, func() func(int) {
		var ws gauss.Workspace
		return func(task int) {
			from, to := task*weighed, min((task+1)*weighed, n)
			views := s.last.process.At(x.Slice(from, to, 0, d).(*mat.Dense))
			for c, one := range q {
				one.Predict(views.Of(c), mean[c][from:to], variance[c][from:to], &ws)
			}
			for i := from; i < to; i++ {
				switch {
				case !ok:
					weights[i] = expectedCurvatures(i, mean, variance)
				case s.opt.Weights != nil:
					weights[i] = s.opt.Weights(mean[0][i], variance[0][i])
				default:
					weights[i] = expectedCurvature(single.Term(i), mean[0][i], variance[0][i])
				}
				weights[i] *= gp.CountOf(terms, i)
			}
		}
	})
	return weights
}

// expectedCurvatures is how sharply log E t of the terms of outcomes bends at the values of row
// i, in all functions together, on average over the outcomes as they are predicted there. The
// residual is that of every function.
func expectedCurvatures(i int, mean, variance [][]float64) float64 {
	k := len(mean)
	room := make([]float64, 5*k)
	m, v, p, d1, d2 := room[:k], room[k:2*k], room[2*k:3*k], room[3*k:4*k], room[4*k:]
	for c := range k {
		m[c], v[c] = mean[c][i], variance[c][i]
	}
	factor.OutcomeProbabilities(p, m, v)
	sum := 0.0
	for y, probability := range p {
		if !(probability > rareOutcome) {
			continue
		}
		factor.Largest{Outcome: y}.LogMean(m, v, d1, d2)
		sum -= probability * floats.Sum(d2)
	}
	return max(0, sum)
}

// rareOutcome is the probability below which an outcome adds next to nothing to a curvature.
const rareOutcome = 1e-3

// expectedCurvature is how sharply log E t bends at N(m, v), on average over the outcomes
// as they are predicted there, if t is the probability of one of two.
func expectedCurvature(t factor.Factor, m, v float64) float64 {
	l, _, d2 := t.LogMean(m, v)
	b, ok := t.(factor.Binary)
	if !ok {
		return max(0, -d2)
	}
	_, _, other := b.Complement().LogMean(m, v)
	p := min(1, math.Exp(l))
	return max(0, -p*d2-(1-p)*other)
}
