package exact

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/tasks"
)

// MaxMixtureTerms is the largest number of clutter terms whose mixture is
// enumerated: a million components.
const MaxMixtureTerms = 20

// Mixture is the exact posterior of a one-dimensional model with terms
// factor.Clutter, by enumeration. Each term says that its measurement is either
// good, a Gaussian factor of v, or clutter, a constant; so the posterior is a
// mixture of Gaussians, one for each way to call the measurements good or clutter.
// Terms factor.Gaussian are taken too: they are always good.
//
// A utility of the model is not part of the posterior.
type Mixture struct{}

// MixtureResult is the exact posterior of a clutter model.
type MixtureResult struct {
	infer.Result
	// Components is how many Gaussians carry the posterior. Those with less than
	// 1e-18 of the largest weight are left out: together Dropped of the probability,
	// at most 1e-12.
	Components int
	Dropped    float64
}

// mixture is a posterior of Gaussians over a v of one dimension.
type mixture struct {
	weight, mean, variance []float64 // of each component
}

// Fit enumerates the posterior of the model. It returns an *UnsupportedError if the
// model has several dimensions, other terms, or more than MaxMixtureTerms of
// clutter.
func (Mixture) Fit(ctx context.Context, m *infer.Model) (*MixtureResult, error) {
	m.Check()
	if m.Dim() != 1 {
		return nil, &infer.UnsupportedError{Method: "Mixture", Reason: fmt.Sprintf("the model has %d dimensions and not 1; use Grid up to 2 and NUTS beyond", m.Dim())}
	}
	m, err := m.Copies("Mixture")
	if err != nil {
		return nil, err
	}
	terms, count, err := mixtureTerms(m)
	if err != nil {
		return nil, err
	}
	leaves := make([]component, 0, count)
	leaves = branch(leaves, terms, component{variance: 1})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return newMixture(leaves)
}

// mixtureTerm is one measurement y of b + a·v with the given noise, and the
// logarithms of the probability that it is good and of the density of it as
// clutter, −∞ for a measurement that cannot be clutter.
type mixtureTerm struct {
	a, e, noise  float64 // e is y − b
	good, asJunk float64
}

// mixtureTerms reads the terms and counts the components they make.
func mixtureTerms(m *infer.Model) (terms []mixtureTerm, count int, err error) {
	count = 1
	for i, t := range m.Terms {
		a, b, r := m.Views.Row(i)[0], m.Views.Offset(i), m.Views.Residual(i)
		switch t := t.(type) {
		case factor.Gaussian:
			terms = append(terms, mixtureTerm{a: a, e: t.Y - b, noise: t.Variance + r, asJunk: math.Inf(-1)})
		case factor.Clutter:
			junk := factor.Gaussian{Y: t.Y, Variance: t.Variance}
			l, _, _ := junk.Log(0)
			terms = append(terms, mixtureTerm{a, t.Y - b, t.Noise + r, math.Log1p(-t.Weight), math.Log(t.Weight) + l})
			if t.Weight > 0 {
				count *= 2
			}
		default:
			return nil, 0, &infer.UnsupportedError{Method: "Mixture", Reason: fmt.Sprintf("term %d is a %T and neither a factor.Clutter nor a factor.Gaussian; use Grid or NUTS", i+1, t)}
		}
		if count > 1<<MaxMixtureTerms {
			return nil, 0, &infer.UnsupportedError{Method: "Mixture", Reason: fmt.Sprintf("there are more than %d clutter terms; use Grid or NUTS", MaxMixtureTerms)}
		}
	}
	return terms, count, nil
}

// component is a Gaussian over v with the logarithm of its weight.
type component struct {
	logWeight, mean, variance float64
}

// branch appends all components that the terms make of c, going through the binary
// tree of good and clutter. What all components below a node share is computed
// once, so 2^N components take 2^N conditionings and not N·2^N; and the weight is a
// product of predictive densities, in which nothing cancels.
func branch(leaves []component, terms []mixtureTerm, c component) []component {
	if len(terms) == 0 {
		return append(leaves, c)
	}
	t := terms[0]
	if !math.IsInf(t.asJunk, -1) {
		junk := c
		junk.logWeight += t.asJunk
		leaves = branch(leaves, terms[1:], junk)
	}
	// c conditioned on the measurement.
	total := t.noise + t.a*t.a*c.variance
	e := t.e - t.a*c.mean
	predictive := factor.Gaussian{Variance: total}
	l, _, _ := predictive.Log(e)
	return branch(leaves, terms[1:], component{
		logWeight: c.logWeight + t.good + l,
		mean:      c.mean + t.a*c.variance/total*e,
		variance:  c.variance * t.noise / total,
	})
}

// newMixture normalises the weights and drops the components that do not count.
func newMixture(leaves []component) (*MixtureResult, error) {
	const negligible = 1e-18
	most := math.Inf(-1)
	for _, c := range leaves {
		most = max(most, c.logWeight)
	}
	if math.IsNaN(most) || math.IsInf(most, 0) {
		return nil, &infer.ImproperError{Of: "the mixture"}
	}
	r, p := &MixtureResult{}, &mixture{}
	for _, c := range leaves {
		w := math.Exp(c.logWeight - most)
		if w < negligible {
			r.Dropped += w
			continue
		}
		p.weight = append(p.weight, w)
		p.mean = append(p.mean, c.mean)
		p.variance = append(p.variance, c.variance)
	}
	kept := floats.Sum(p.weight)
	r.Result = infer.Result{Posterior: p, LogEvidence: most + math.Log(kept+r.Dropped), Status: infer.Status{Converged: true, Sweeps: 1}}
	r.Components = len(p.weight)
	r.Dropped /= kept + r.Dropped
	floats.Scale(1/kept, p.weight)
	return r, nil
}

// Moments implements Posterior.
func (r *mixture) Moments(views *gauss.Views, mean, variance []float64) {
	centre := floats.Dot(r.weight, r.mean)
	spread := 0.0
	for k, w := range r.weight {
		d := r.mean[k] - centre
		spread += w * (r.variance[k] + d*d)
	}
	for i := range mean {
		a := views.Row(i)[0]
		mean[i] = views.Offset(i) + a*centre
		variance[i] = views.Residual(i) + a*a*spread
	}
}

// Expect implements Posterior: the standard errors are zero. It asks the factor
// once for every component and view.
func (r *mixture) Expect(views *gauss.Views, t factor.Factor, value, stderr []float64) {
	clear(stderr)
	tasks.Each(views.Len(), func() func(int) {
		return func(i int) {
			a, b, res := views.Row(i)[0], views.Offset(i), views.Residual(i)
			sum := 0.0
			for k, w := range r.weight {
				l, _, _ := t.LogMean(b+a*r.mean[k], res+a*a*r.variance[k])
				sum += w * math.Exp(l)
			}
			value[i] = sum
		}
	})
}

var _ infer.Posterior = (*mixture)(nil)
