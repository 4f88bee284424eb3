package numbers

import (
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/posterior"
)

// part is one of the posteriors that a model mixes, each of a kernel with hyperparameters of the noise of its own.
type part struct {
	weight    float64
	family    Family
	posterior posterior.Posterior
}

// parts are those of a model, the one with the largest weight first.
func (m *Model) parts() []part { return append([]part{m.part}, m.others...) }

// alone is the model of one of its parts, which has the weight of all.
func (m *Model) alone(p part) *Model {
	one := *m
	one.part, one.others = p, nil
	return &one
}

// each makes the model of what becomes of its parts, and of everything else with the first.
func (m *Model) each(next func(one *Model) error) (*Model, error) {
	var whole *Model
	for _, p := range m.parts() {
		one := m.alone(p)
		if err := next(one); err != nil {
			return nil, err
		}
		if whole == nil {
			whole = one
			continue
		}
		whole.others = append(whole.others, one.part)
		if !one.summary.Converged && whole.summary.Converged {
			whole.summary.Converged, whole.summary.Status = false, one.summary.Status
		}
	}
	return whole, nil
}

// without is the distribution of the outcome of row i, given what each of the parts knows of the latent values of rows without each;
// false if that is nothing.
func (m *Model) without(i int, row []float64, left [][]gauss.Scalar) (Distribution, bool) {
	var given []Distribution
	var weights []float64
	for k, p := range m.parts() {
		c := left[k][i]
		if !c.Proper() {
			return nil, false
		}
		given, weights = append(given, m.alone(p).predictAt(row, c.Mean(), c.Variance())), append(weights, p.weight)
	}
	return mixed(given, weights), true
}

// mixed is a distribution that is each of some with a probability: of normals that have a transformation in common still normals, whose
// expected costs are closed.
func mixed(of []Distribution, weights []float64) Distribution {
	if len(of) == 1 {
		return of[0]
	}
	var parts []Part
	first, _ := of[0].(normals)
	df := first.df
	for k, d := range of {
		n, ok := d.(normals)
		if !ok || *n.transform != *first.transform {
			return blend{of, weights}
		}
		if n.df > 0 {
			df = min(df, n.df)
		}
		for _, p := range n.parts {
			parts = append(parts, Part{weights[k] * p.Weight, p.Mean, p.SD})
		}
	}
	return newNormals(parts, first.transform, df)
}

// predict is the distribution of the outcome for the rows of x, which may not be finite.
func (m *Model) predict(x *mat.Dense) []Distribution {
	var all [][]Distribution
	var weights []float64
	for _, p := range m.parts() {
		all, weights = append(all, m.alone(p).predictAlone(x)), append(weights, p.weight)
	}
	out := all[0]
	for i := range out {
		given := make([]Distribution, len(all))
		for k := range all {
			given[k] = all[k][i]
		}
		out[i] = mixed(given, weights)
	}
	return out
}
