package lossep

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
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

// predict is what a posterior says of encoded rows, as decisions are made by. What is not known of
// a row, NaN, may be all that it is in similar training rows; see posterior.Donors.
func (m *Model) predict(p posterior.Posterior, x *mat.Dense) []Prediction {
	return m.completed(x, func(x *mat.Dense) []Prediction {
		out := p.Predict(x)
		for _, one := range out {
			m.adjust(one.Probabilities)
		}
		return out
	})
}

// probabilities are those of predict alone.
func (m *Model) probabilities(p posterior.Posterior, x *mat.Dense) [][]float64 {
	all := m.completed(x, func(x *mat.Dense) []Prediction {
		found := p.Probabilities(x)
		out := make([]Prediction, len(found))
		for i, one := range found {
			m.adjust(one)
			out[i].Probabilities = one
		}
		return out
	})
	out := make([][]float64, len(all))
	for i, one := range all {
		out[i] = one.Probabilities
	}
	return out
}

// completed is what is predicted of rows that may have gaps.
func (m *Model) completed(x *mat.Dense, predict func(*mat.Dense) []Prediction) []Prediction {
	if !posterior.Gaps(x) {
		return predict(x)
	}
	return m.donors().Predict(x, predict)
}

// donors complete cases: training rows, or inducing points where a model does not keep its rows.
func (m *Model) donors() *posterior.Donors {
	return posterior.NewDonors(m.known(), m.coding.Numbers(), m.donorShares)
}

// known are the training rows, or the inducing points that stand for them.
func (m *Model) known() *mat.Dense {
	if m.x != nil {
		return m.x
	}
	return m.opinions[0].Inputs()
}

// donorShares is how likely a value that is not known is that of each of some training rows: by
// how often they count, and by how much more frequent their outcomes are where decisions are
// made than among the training rows. By Bayes' rule the column is then distributed as there.
// Inducing points, which stand for rows that are not kept, count the same.
func (m *Model) donorShares(rows []int) []float64 {
	by := m.recipe.Target.Shift()
	if m.x == nil || m.weights == nil && by == nil {
		return posterior.EqualShares(rows)
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
