package numbers

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/posterior"
)

// MostLabelled is how many cases LabelWorth takes: time grows with their square, and is longest with noise of Student's t.
const MostLabelled = 300

// labelNodes is at how many outcomes of a case others are decided anew: those of normals of the rule of Gauss and Hermite.
// Where a label halves the width of what is known of another case, nine are right to a few thousandths of what it is worth.
const labelNodes = 9

// unrelated is a correlation of latent values so small that a label of one case tells nothing of the other: a label moves the
// other by less than that in its standard deviations, and what that is worth goes with the square.
const unrelated = 1e-4

// LabelWorth is what the outcome of each of the cases would be worth to decisions on all of them, as
// lossep.Model.LabelWorth has it: E_y Σ_i (c_i(a_i | y) − c_i(a_i' | y)) / n, with a_i the action now and a_i' the best one
// after the outcome y of the case. The posterior after it is found by one step of expectation propagation.
func (m *Model) LabelWorth(ctx context.Context, x *mat.Dense, stakes []decision.Stake) ([]float64, error) {
	if err := m.checkLabelled(x); err != nil {
		return nil, err
	}
	all, err := m.Predict(x)
	if err != nil {
		return nil, err
	}
	n := len(all)
	stake := func(i int) decision.Stake { return stakes[i%len(stakes)] }
	now := make([]float64, n)
	for i, d := range all {
		now[i] = stake(i).Best(d)
	}
	parts := m.parts()
	known := make([]posterior.Values, len(parts))
	for l, p := range parts {
		known[l] = p.posterior.(*posterior.Full).Values(x)
	}
	out := make([]float64, n)
	tasks.For(n, func(j int) {
		outcomes, weights := outcomesOf(all[j])
		slope, bend, shares := make([]float64, len(parts)), make([]float64, len(parts)), make([]float64, len(parts))
		for k, y := range outcomes {
			// What the label says of the parts is their Bayes factor.
			for l, p := range parts {
				var log float64
				log, slope[l], bend[l] = m.alone(p).term(x.RawRowView(j), y).LogMean(known[l].Mean[j], known[l].Cov.At(j, j))
				shares[l] = math.Log(p.weight) + log
			}
			whole := floats.LogSumExp(shares)
			for l := range shares {
				shares[l] = math.Exp(shares[l] - whole)
			}
			for i := range n {
				if ctx.Err() != nil || len(parts) == 1 && isUnrelated(&known[0], i, j) {
					continue
				}
				given := make([]Distribution, len(parts))
				for l, p := range parts {
					mean, left := known[l].After(i, j, slope[l], bend[l])
					given[l] = m.alone(p).predictAt(x.RawRowView(i), mean, left)
				}
				d, s := mixed(given, shares), stake(i)
				out[j] += weights[k] * spared(s.Expected(now[i], d), s.Expected(s.Best(d), d)) / float64(n)
			}
		}
	})
	if ctx.Err() == nil && !finite.All(out...) {
		return nil, inputf("labels", "what a label is worth is beyond the largest number; give smaller costs")
	}
	return out, ctx.Err()
}

// isUnrelated tells whether a label of case j says nothing of case i.
func isUnrelated(v *posterior.Values, i, j int) bool {
	c := v.Cov.At(i, j)
	return c*c < unrelated*unrelated*v.Cov.At(j, j)*v.Cov.At(i, i)
}

// term is that of an outcome of a row.
func (m *Model) term(row []float64, y float64) factor.Factor {
	one := &terms{y: []float64{m.shape.Transform.At(y)}, family: m.family}
	return one.under(m.uneven, mat.NewDense(1, len(row), row)).Term(0)
}

// outcomesOf are some that stand for a distribution, each once, with their probabilities: its quantiles where a normal has
// its nodes.
func outcomesOf(d Distribution) (y, weights []float64) {
	x, w := make([]float64, labelNodes), make([]float64, labelNodes)
	quad.Hermite{}.FixedLocations(x, w, math.Inf(-1), math.Inf(1))
	for k, at := range x {
		q := d.Quantile(normal.CDF(math.Sqrt2 * at))
		place := slices.Index(y, q)
		if place < 0 {
			place, y, weights = len(y), append(y, q), append(weights, 0)
		}
		weights[place] += w[k] / math.Sqrt(math.Pi)
	}
	return y, weights
}

// checkLabelled refuses cases that LabelWorth has no answer for.
func (m *Model) checkLabelled(x *mat.Dense) error {
	if err := m.checkLabels(); err != nil {
		return err
	}
	if n, _ := x.Dims(); n > MostLabelled {
		return inputf("labels", "%d cases are more than %d; give a sample of them", n, MostLabelled)
	}
	if posterior.Gaps(x) {
		return inputf("labels", "a column of some row is not known, and what a label is worth is found for rows of which all are")
	}
	return nil
}

// checkLabels refuses models that LabelWorth has no answer for.
func (m *Model) checkLabels() error {
	if _, ok := m.posterior.(*posterior.Full); !ok {
		return inputf("labels", "what a label is worth is for models without inducing points")
	}
	return m.refuseKnown("labels")
}

// LabelBytes is about how much memory LabelWorth takes for so many cases.
func (m *Model) LabelBytes(cases int) int64 {
	return 16 * int64(cases) * int64(m.summary.Rows+cases) * int64(1+len(m.others))
}
