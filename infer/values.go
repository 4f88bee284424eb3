package infer

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
)

// Values is what OnValues found.
type Values struct {
	Sites       []gauss.Scalar
	LogEvidence float64
	Sweeps      int
}

// mostOnValues bounds the sweeps of OnValues: those that lead to a fixed point are two to six, and twenty of few
// terms.
const mostOnValues = 30

// OnValues is Fit for terms on values with the prior covariance that v holds, by sweeps over all sites at
// once from the given sites, nil for empty ones, and nothing safer: it returns nil where those do not
// lead to a fixed point. Then v has no use; otherwise it has the posterior.
func (o EP) OnValues(ctx context.Context, v *gauss.Values, terms []factor.Factor, counts []float64, start []gauss.Scalar) *Values {
	o = o.withDefaults()
	n := len(terms)
	mean, variance := v.Moments()
	r := &Values{Sites: make([]gauss.Scalar, n)}
	copy(r.Sites, start)
	scratch := newScratch(n)
	defer scratch.release()
	at := proposal{
		rule: Propagation{}, covariance: v.Covariance, mean: mean, variance: variance, sites: r.Sites,
		steps: make([]gauss.Scalar, n), tolerance: o.Tolerance,
		seen: func(i int, mean, variance float64, _ []gauss.Scalar) Seen {
			t := Seen{Term: terms[i], Count: 1, Mean: mean, Variance: variance}
			if counts != nil {
				t.Count = counts[i]
			}
			return t
		},
	}
	var mixer mixer
	for r.Sweeps = 1; r.Sweeps <= mostOnValues && ctx.Err() == nil && v.Condition(r.Sites); r.Sweeps++ {
		at.residual, r.LogEvidence = 0, v.LogPartition()
		for i, site := range r.Sites {
			p, ok := at.rule.Project(at.seen(i, mean[i], variance[i], nil), site)
			if !ok {
				return nil
			}
			at.steps[i] = p.Site.Over(site)
			at.residual = max(at.residual, p.Residual)
			r.LogEvidence += p.Value
		}
		if at.residual <= o.Tolerance && !math.IsNaN(r.LogEvidence) && !math.IsInf(r.LogEvidence, 0) {
			return r
		}
		if !scratch.response.foresee(at, scratch.nat.P) {
			mixer.propose(r.Sites, at.steps, variance, 1)
		}
		for i, step := range at.steps {
			r.Sites[i] = r.Sites[i].Times(step)
		}
	}
	return nil
}

// cross is the covariances of all pairs of views of a Gaussian.
func cross(q *gauss.Gaussian, views *gauss.Views, ws *gauss.Workspace) func(*mat.SymDense) {
	return func(dst *mat.SymDense) { q.Cross(views, dst, ws) }
}
