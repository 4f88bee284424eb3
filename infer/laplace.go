package infer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// Laplace approximates the posterior by a Gaussian at its mode, with the curvature
// there as precision: Λ = I + AᵀWA, W = −diag(d²/ds² log E t_i(b_i + s + e_i)). A
// utility of the model is left aside. The zero value is ready to use.
//
// The mode is found by Newton's method with a line search, so the log density rises
// at every step. Where the curvature is not that of a maximum, terms that curve
// upwards are left out of it, which keeps every step one uphill.
//
// A density can have several modes when a factor is not log-concave, as with
// clutter. The one found depends on where the run starts.
type Laplace struct {
	// Tolerance is the residual at which the run ends; 0 stands for 1e-9.
	Tolerance float64
	// MaxIterations bounds the work; 0 stands for 200.
	MaxIterations int
	// Start is the v to start from; nil stands for the mode of the prior, zero.
	Start []float64
	// Trace, if set, is called at the start and after every iteration with the log
	// density, up to that of the prior at its mode.
	Trace func(iteration int, logDensity, residual float64)
}

// Fit finds the mode of the model's posterior. The LogEvidence of the result is
// Σ_i log t_i − ½v·v − ½log|Λ| there, and its Status has as Residual the length of the
// Newton step left, in standard deviations of q: no view's mean moves by more of its own.
//
// The error is non-nil when the context ends, or, as *ImproperError, when the run
// did not end at a maximum, so that there is no Gaussian to return.
func (o Laplace) Fit(ctx context.Context, m *Model) (*Result, error) {
	m.Check()
	if o.Tolerance == 0 {
		o.Tolerance = 1e-9
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 200
	}
	n, dim := m.Views.Len(), m.Dim()
	s := &modeSearch{
		opt: o, model: m,
		v: make([]float64, dim), next: make([]float64, dim), grad: make([]float64, dim), step: make([]float64, dim),
		f: make([]float64, n), d1: make([]float64, n), sites: make([]gauss.Scalar, n),
		q: gauss.NewGaussian(dim), scratch: newScratch(dim),
	}
	defer s.release()
	if o.Start != nil {
		if len(o.Start) != dim {
			panic(fmt.Sprintf("infer: a start of %d dimensions for a model of %d", len(o.Start), dim))
		}
		copy(s.v, o.Start)
	}
	return s.run(ctx)
}

// modeSearch is one search for a mode.
type modeSearch struct {
	opt    Laplace
	model  *Model
	status Status

	v, next []float64
	density float64   // log density at v
	grad    []float64 // its gradient
	step    []float64 // the Newton step
	f, d1   []float64
	sites   []gauss.Scalar // the curvature of every term, as τ
	maximum bool           // whether the curvature at v is that of a maximum
	q       *gauss.Gaussian
	*scratch
}

// value is the log density at v, up to that of the prior at its mode.
func (s *modeSearch) value(v []float64) float64 {
	s.model.Views.At(s.f, v)
	sum := -0.5 * floats.Dot(v, v)
	for i, t := range s.model.Terms {
		l, _, _ := t.LogMean(s.f[i], s.model.Views.Residual(i))
		sum += s.model.Count(i) * l
	}
	return sum
}

// differentiate finds the gradient at v, the curvature, and from them the Newton
// step. The precision that the step is taken with is in q.
func (s *modeSearch) differentiate() {
	s.model.Views.At(s.f, s.v)
	for i, t := range s.model.Terms {
		_, d1, d2 := t.LogMean(s.f[i], s.model.Views.Residual(i))
		count := s.model.Count(i)
		s.d1[i], s.sites[i] = count*d1, gauss.Scalar{Tau: -count * d2}
	}
	for i, x := range s.v {
		s.grad[i] = -x
	}
	s.model.Views.Pull(s.grad, s.d1)
	if s.maximum = s.solve(); s.maximum {
		return
	}
	for i := range s.sites {
		s.sites[i].Tau = max(s.sites[i].Tau, 0)
	}
	if !s.solve() {
		clear(s.step) // curvatures are not finite: there is no way on
	}
}

// solve writes the Newton step Λ⁻¹·grad, or reports false when Λ is not positive
// definite.
func (s *modeSearch) solve() bool {
	s.nat.SetPosterior(s.model.Views, s.sites, &s.ws)
	copy(s.nat.H, s.grad)
	if s.q.Exchange(s.nat) != nil {
		return false
	}
	copy(s.step, s.q.Mean())
	return true
}

func (s *modeSearch) run(ctx context.Context) (*Result, error) {
	s.density = s.value(s.v)
	if math.IsNaN(s.density) || math.IsInf(s.density, 0) {
		return nil, &ImproperError{Of: "the density at the start", Status: s.status}
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.differentiate()
		// The rise that the step promises is half of this square.
		s.status.Residual = math.Sqrt(max(0, floats.Dot(s.grad, s.step)))
		if s.opt.Trace != nil {
			s.opt.Trace(s.status.Sweeps, s.density, s.status.Residual)
		}
		switch {
		case s.status.Residual <= s.opt.Tolerance && s.maximum:
			s.status.Converged = true
			return s.result()
		case s.status.Sweeps >= s.opt.MaxIterations:
			s.status.Reason = "the density was still rising; allow more iterations"
			return s.result()
		case s.status.Residual <= s.opt.Tolerance && !s.escape():
			return nil, &ImproperError{Of: "the curvature at a stationary point", Status: s.status}
		case s.status.Residual > s.opt.Tolerance && !s.advance():
			s.status.Reason = "no step raises the density beyond rounding"
			return s.result()
		}
		s.status.Sweeps++
	}
}

// advance takes the Newton step, halved until the density rises by a tenth of what
// the gradient promises. A step whose promise is below the rounding of the density
// is taken as it is when it is a true Newton step.
func (s *modeSearch) advance() bool {
	const least = 1e-10
	promise := s.status.Residual * s.status.Residual
	rounding := 1e-14 * (1 + math.Abs(s.density))
	for rate := 1.0; rate > least; rate /= 2 {
		s.status.Damping = rate
		floats.AddScaledTo(s.next, s.v, rate, s.step)
		density := s.value(s.next)
		if density >= s.density+0.1*rate*promise || s.maximum && promise < rounding && density >= s.density-10*rounding {
			s.v, s.next, s.density = s.next, s.v, density
			return true
		}
	}
	return false
}

// escape leaves a stationary point that is not a maximum, along the direction in
// which the density curves up the most. By symmetry the gradient may vanish there,
// as between two groups of clutter, and a Newton step would stay.
func (s *modeSearch) escape() bool {
	s.model.Views.At(s.f, s.v)
	for i, t := range s.model.Terms {
		_, _, d2 := t.LogMean(s.f[i], s.model.Views.Residual(i))
		s.sites[i] = gauss.Scalar{Tau: -s.model.Count(i) * d2}
	}
	s.nat.SetPosterior(s.model.Views, s.sites, &s.ws)
	var eigen mat.EigenSym
	var vectors mat.Dense
	if !eigen.Factorize(s.nat.P, true) || eigen.Values(nil)[0] >= 0 {
		return false
	}
	eigen.VectorsTo(&vectors)
	direction := mat.Col(nil, 0, &vectors)
	// Eigenvectors have no sign of their own; the largest element gets a positive
	// one, so that the way taken does not depend on how they were computed.
	if floats.Max(direction) < -floats.Min(direction) {
		floats.Scale(-1, direction)
	}
	for length := 1.0; length > 1e-8; length /= 2 {
		floats.AddScaledTo(s.next, s.v, length, direction)
		if density := s.value(s.next); density > s.density {
			s.v, s.next, s.density = s.next, s.v, density
			return true
		}
	}
	return false
}

func (s *modeSearch) result() (*Result, error) {
	if !s.maximum {
		return nil, &ImproperError{Of: "the curvature where the search for a mode ended", Status: s.status}
	}
	// h = Λv puts the mean at the mode.
	h := slices.Clone(s.v)
	for i := range s.sites {
		s.sites[i].Nu = s.sites[i].Tau * floats.Dot(s.model.Views.Row(i), s.v)
	}
	s.nat.SetPosterior(s.model.Views, s.sites, &s.ws)
	floats.Add(s.nat.H, h)
	if s.q.Exchange(s.nat) != nil {
		return nil, &ImproperError{Of: "the Gaussian at the mode", Status: s.status}
	}
	// log|Λ| = h·μ − 2A(q).
	logDet := floats.Dot(s.q.Natural().H, s.q.Mean()) - 2*s.q.LogPartition()
	sites := curvatureSites(s.model, s.q.Mean())
	r := gaussian(s.q, s.density-0.5*logDet+s.model.copies(sites), Sites{Terms: sites}, s.status)
	return &r, nil
}

// curvatureSites are the sites of a Gaussian at the mode of a posterior: with s the
// values there, τ = −(log t)″ and ν = (log t)′ + τs, so that the mean is at the mode
// because the gradient vanishes there.
func curvatureSites(m *Model, mode []float64) []gauss.Scalar {
	sites := make([]gauss.Scalar, len(m.Terms))
	for i := range sites {
		// The variance of s has no part in the site.
		to, _ := Curvature{}.Project(m.seen(i, floats.Dot(m.Views.Row(i), mode), 1), gauss.Scalar{})
		sites[i] = to.Site
	}
	return sites
}
