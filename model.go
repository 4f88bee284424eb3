package lossep

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
)

// opinion is the posterior of a method.
type opinion struct {
	method Method
	posterior.Posterior
}

// by is the posterior of one of the methods that the model knows.
func (m *Model) by(method Method) posterior.Posterior {
	i := slices.IndexFunc(m.opinions, func(o opinion) bool { return o.method == method })
	return m.opinions[i].Posterior
}

// predict is what a posterior says of encoded rows, as decisions are made by.
func (m *Model) predict(p posterior.Posterior, x *mat.Dense) []Prediction {
	out := p.Predict(x)
	for _, one := range out {
		m.adjust(one.Probabilities)
	}
	return out
}

// probabilities are those of predict alone.
func (m *Model) probabilities(p posterior.Posterior, x *mat.Dense) [][]float64 {
	out := p.Probabilities(x)
	for _, one := range out {
		m.adjust(one)
	}
	return out
}

// adjust makes the probabilities of the posterior those that decisions are made by.
func (m *Model) adjust(p []float64) {
	search.Temper(p, m.summary.Sharpness)
	shift(&m.recipe.Target, p)
}

// checkPredictions asks every opinion about some of the inputs, those with the largest sites among
// them. A posterior that can be factored and no more, of a kernel or sites beyond what float64
// can hold, gives numbers that are none.
func (m *Model) checkPredictions() error {
	for k, o := range m.opinions {
		if k > 0 && m.weights != nil && o.method == Corrected {
			continue // which takes seconds a row, and is seldom asked
		}
		for _, part := range posterior.Parts(o.Posterior) {
			rows := part.Extremes()
			slices.Sort(rows)
			for _, p := range part.Predict(gp.RowsOf(part.Inputs(), slices.Compact(rows))) {
				if !p.IsFinite() {
					return fmt.Errorf("the opinion of %s: %w", o.method, errNoPredictions)
				}
			}
		}
	}
	return nil
}

// errNoPredictions says that a posterior exists and is of no use.
var errNoPredictions = errors.New("its predictions are not finite numbers; bring the kernel's parameters nearer to the scale of the data")

// mixed are the opinions of a mixture of posteriors that the same methods have.
func mixed(weights []float64, parts [][]opinion) []opinion {
	all := slices.Clone(parts[0])
	for i := range all {
		var of []posterior.Posterior
		for _, part := range parts {
			of = append(of, part[i].Posterior)
		}
		all[i].Posterior = posterior.NewMixture(weights, of)
	}
	return all
}
