package search

import (
	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
)

// tuning are the hyperparameters of terms, which stand after those of the kernel. The zero value is
// for terms that have none.
type tuning struct {
	terms gp.TunedTerms
	of    gp.Terms // those terms, or a part of them
}

func newTuning(t gp.Terms) tuning {
	terms, _ := t.(gp.TunedTerms)
	return tuning{terms, t}
}

// some is for some of all rows, tuned by itself.
func (t tuning) some(rows []int) tuning {
	if t.terms == nil {
		return t
	}
	fork := t.terms.Fork()
	return tuning{fork, gp.Part(fork, rows)}
}

// priors are those of the hyperparameters.
func (t tuning) priors() []kernel.Prior {
	if t.terms == nil {
		return nil
	}
	return t.terms.Hyperpriors()
}

// start are the logarithms to start from: those of the kernel, and the means of the others.
func (t tuning) start(kernel []float64) []float64 {
	logs := append([]float64{}, kernel...)
	for _, p := range t.priors() {
		logs = append(logs, p.Mean)
	}
	return logs
}

// slope is the gradient of the evidence in the hyperparameters of the terms, by central
// differences of what the terms have in it with the posterior and the sites held: at the fixed
// point these are stationary. A difference over 2e-4 is wrong by 1e-8 of the third derivative, and
// by 1e-12 of the value for its rounding.
func (t tuning) slope(logs []float64, rule infer.Rule, q *gauss.Gaussian, sites []gauss.Scalar, each func(func(from int, views *gauss.Views))) []float64 {
	if t.terms == nil {
		return nil
	}
	terms := t.of.(gp.SingleTerms)
	seen := make([]infer.Seen, len(sites))
	var ws gauss.Workspace
	each(func(from int, views *gauss.Views) {
		mean, variance := make([]float64, views.Len()), make([]float64, views.Len())
		q.Marginals(views, mean, variance, &ws)
		for i := range mean {
			seen[from+i] = infer.Seen{Count: gp.CountOf(terms, from+i), Offset: views.Offset(i), Residual: views.Residual(i), Mean: mean[i], Variance: variance[i]}
		}
	})
	value := func() float64 {
		parts := make([]float64, (len(seen)+slopeRows-1)/slopeRows)
		tasks.For(len(parts), func(k int) {
			for i := k * slopeRows; i < min((k+1)*slopeRows, len(seen)); i++ {
				s := seen[i]
				s.Term = terms.Term(i)
				p, _ := rule.Project(s, sites[i])
				parts[k] += p.Value
			}
		})
		return floats.Sum(parts)
	}
	const step = 1e-4
	var slope []float64
	at := append([]float64{}, logs...)
	for k, x := range logs {
		var ends [2]float64
		for e, sign := range []float64{-1, 1} {
			at[k] = x + sign*step
			t.terms.Tune(at)
			ends[e] = value()
		}
		at[k] = x
		slope = append(slope, (ends[1]-ends[0])/(2*step))
	}
	t.terms.Tune(logs)
	return slope
}

// slopeRows is the number of rows of a task of slope.
const slopeRows = 256
