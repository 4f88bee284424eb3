package search

import (
	"github.com/lossep/lossep/gp"
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
// differences of value, which is the evidence with the posterior and the sites held: at the fixed
// point these are stationary. A difference over 2e-4 is wrong by 1e-8 of the third derivative, and
// by 1e-12 of the value for its rounding.
func (t tuning) slope(logs []float64, value func() (float64, error)) (slope []float64, err error) {
	if t.terms == nil {
		return nil, nil
	}
	const step = 1e-4
	at := append([]float64{}, logs...)
	for k, x := range logs {
		var ends [2]float64
		for e, sign := range []float64{-1, 1} {
			at[k] = x + sign*step
			t.terms.Tune(at)
			if ends[e], err = value(); err != nil {
				return nil, err
			}
		}
		at[k] = x
		slope = append(slope, (ends[1]-ends[0])/(2*step))
	}
	t.terms.Tune(logs)
	return slope, nil
}
