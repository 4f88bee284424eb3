package exact

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/level3"
	"github.com/lossep/lossep/orthant"
)

// Sampler draws independently from the exact posterior of a model whose terms are all
// factor.Probit, a unified skew-normal distribution (Durante 2019; Cao, Durante and
// Genton 2022). The zero value is ready to use.
//
// A label is the sign of the view with one more unit of noise: with
// w_i = y_i(b_i + a_i·v + e_i + ε_i), e_i ~ N(0, r_i) and ε_i ~ N(0, 1), observing
// the labels is observing w > 0. So
//
//   - the evidence is P(w > 0), the probability of an orthant under
//     N(y∘b, D(AAᵀ + diag(r) + I)D), D = diag(y);
//   - w given the labels is that Gaussian cut off at zero, drawn by rejection;
//   - v given w is Gaussian: the posterior of a regression of y_i w_i − b_i on a_i
//     with noise 1 + r_i. Its covariance does not depend on w.
//
// What is drawn is w; v is integrated out. One set of draws serves every view and
// every utility. A utility of the model is not part of the posterior: this is the
// truth against which decisions are judged.
//
// The acceptance rate of the draws falls with the number of terms that say
// something of their own: orthant.MinAcceptance tells how fast. They are practical
// for some hundreds of terms under a smooth process and for about a hundred under a
// rough one; beyond, use NUTS.
type Sampler struct {
	// Draws is the number of draws, at least 2; 0 stands for 10,000.
	Draws int
	// EvidencePoints is the number of points behind the evidence; 0 stands for
	// 16,384.
	EvidencePoints int
	// Seed decides the draws: the same seed gives the same result.
	Seed uint64
}

// Sampled is the exact posterior of a probit model, by independent draws.
//
// Its LogEvidence is the logarithm of the probability of the labels. Its Status counts
// proposals as sweeps; draws that exist are exact.
type Sampled struct {
	infer.Result
	*Draws
	// LogEvidenceError is the standard error of LogEvidence, from orthant.Shifts
	// randomisations.
	LogEvidenceError float64
	// Acceptance is the rate at which proposals were accepted.
	Acceptance float64
}

// Fit draws from the posterior of the model.
//
// Errors are an *UnsupportedError for terms other than factor.Probit, those of
// package orthant, in particular *orthant.AcceptanceError where independent draws
// are out of reach, and the context's.
func (o Sampler) Fit(ctx context.Context, m *infer.Model) (*Sampled, error) {
	if o.Draws == 0 {
		o.Draws = 10_000
	}
	if o.EvidencePoints == 0 {
		o.EvidencePoints = 16_384
	}
	if o.Draws < 2 || o.EvidencePoints < 1 {
		return nil, &infer.UnsupportedError{Method: "Exact", Reason: fmt.Sprintf("%d draws and %d points; at least 2 draws and 1 point are needed", o.Draws, o.EvidencePoints)}
	}
	m, labels, region, err := labelled(m)
	if err != nil {
		return nil, err
	}
	x := mat.NewDense(o.Draws, len(labels), nil)
	stats, err := region.Sample(ctx, x, o.Seed)
	if err != nil {
		return nil, fmt.Errorf("exact: exact posterior of %d labels: %w", len(labels), err)
	}
	evidence := region.LogProb(o.EvidencePoints, o.Seed)
	draws := &Draws{cloud: regress(m.Views, labels, x)}
	return &Sampled{
		Result: infer.Result{
			Posterior: draws, LogEvidence: evidence.Log,
			Status: infer.Status{Converged: true, Sweeps: stats.Proposals},
		},
		Draws: draws, LogEvidenceError: evidence.RelErr, Acceptance: stats.Rate(),
	}, nil
}

// labelled is a model with a probit term for each time that one counts, the labels, and where they
// are observed.
func labelled(m *infer.Model) (_ *infer.Model, labels []float64, region *orthant.Region, err error) {
	m.Check()
	if m, err = m.Copies("Exact"); err != nil {
		return nil, nil, nil, err
	}
	if labels, err = probitLabels(m.Terms); err != nil {
		return nil, nil, nil, err
	}
	if region, err = labelRegion(m.Views, labels); err != nil {
		err = fmt.Errorf("exact: exact posterior of %d labels: %w", len(labels), err)
	}
	return m, labels, region, err
}

// probitLabels are the labels of probit terms.
func probitLabels(terms []factor.Factor) ([]float64, error) {
	labels := make([]float64, len(terms))
	for i, t := range terms {
		p, ok := t.(factor.Probit)
		if !ok {
			return nil, &infer.UnsupportedError{Method: "Exact", Reason: fmt.Sprintf("term %d is a %T and not a factor.Probit; use NUTS", i+1, t)}
		}
		if p.Y != 1 && p.Y != -1 {
			return nil, &infer.UnsupportedError{Method: "Exact", Reason: fmt.Sprintf("the label of term %d is %v; labels are +1 or -1", i+1, p.Y)}
		}
		labels[i] = p.Y
	}
	return labels, nil
}

// labelRegion is where x = w − y∘b must lie for the labels to be observed: above
// −y∘b, with x ~ N(0, D(AAᵀ + diag(r) + I)D).
func labelRegion(views *gauss.Views, labels []float64) (*orthant.Region, error) {
	cov := mat.NewSymDense(len(labels), nil)
	gauss.NewGaussian(views.Dim()).Cross(views, cov, new(gauss.Workspace)) // AAᵀ
	lower := make([]float64, len(labels))
	for i, y := range labels {
		for j := i; j < len(labels); j++ {
			cov.SetSym(i, j, y*labels[j]*cov.At(i, j))
		}
		cov.SetSym(i, i, cov.At(i, i)+views.Residual(i)+1)
		lower[i] = -y * views.Offset(i)
	}
	return orthant.New(cov, lower)
}

// regress is the distribution of v given each row of x: with T = diag(1/(1+r)) its
// covariance is Σ = (I + AᵀTA)⁻¹ and its mean ΣAᵀTDx, one matrix product for all
// draws.
func regress(views *gauss.Views, labels []float64, x *mat.Dense) cloud {
	n, m := views.Len(), views.Dim()
	var ws gauss.Workspace
	sites := make([]gauss.Scalar, n)
	for i := range sites {
		sites[i].Tau = 1 / (1 + views.Residual(i))
	}
	precision := gauss.NewNatural(m)
	precision.SetPosterior(views, sites, &ws)
	within := gauss.NewGaussian(m)
	if err := within.Exchange(precision); err != nil {
		panic(err) // finite, as orthant.New saw, and no smaller than the identity
	}
	// cov(a_i·v, v) = ΣAᵀ is a product of two triangular solves, each as accurate as
	// the root of the precision is well conditioned; an inverse would square that.
	white, back, gain := mat.NewDense(n, m, nil), mat.NewDense(m, m, nil), mat.NewDense(n, m, nil)
	within.Whiten(white, views, &ws)
	within.Whiten(back, identityViews(m), &ws)
	level3.Gemm(blas.NoTrans, blas.Trans, 1, white.RawMatrix(), back.RawMatrix(), 0, gain.RawMatrix())
	for i, y := range labels {
		floats.Scale(y*sites[i].Tau, gain.RawRowView(i))
	}
	draws, _ := x.Dims()
	centres := mat.NewDense(draws, m, nil)
	level3.Gemm(blas.NoTrans, blas.NoTrans, 1, x.RawMatrix(), gain.RawMatrix(), 0, centres.RawMatrix())
	return cloud{centres: centres, within: within}
}

// identityViews read v itself.
func identityViews(dim int) *gauss.Views {
	a := mat.NewDense(dim, dim, nil)
	for i := range dim {
		a.Set(i, i, 1)
	}
	return gauss.NewViews(a, nil, nil)
}
