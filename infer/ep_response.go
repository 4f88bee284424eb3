package infer

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/gauss"
)

// response answers what a change of the sites does to the marginals without factorising
// anything. With C the covariance of the views, m and V their means and variances, and δν
// and δτ the change of the sites,
//
//	m′ = m + C(δν − δτ∘m′) and V′ ≈ V/(1 + r/V), r = (C∘C)δτ.
//
// The first is exact, and the second right to the first order, and exactly where there is
// one view. So the place where sites settle in this picture is a step of Newton's method:
// from it on the residual falls to its square, where sweeps that take the proposed steps
// gain a factor of two each. An iteration in the picture takes N² operations in place of N³.
type response struct {
	mixer          mixer
	sites, step    []gauss.Scalar // in the picture
	mean, variance []float64
	slope, bend    []float64 // δν − δτ∘m, and δτ
	lean, shrink   []float64 // C times the one, and C∘C times the other
}

const (
	// responseTerms is the number of terms from which on a sweep takes longer than an
	// iteration or two in the picture.
	responseTerms = 100
	// responseRounds bounds the iterations in the picture.
	responseRounds = 10
	// responseReach is the residual up to which the picture is worth looking at.
	responseReach = 2.0
)

// foresee replaces the steps that were proposed in a sweep over all sites at once by those to
// where the sites settle as the response has it. It reports false, and leaves the steps as
// they are, where that is too far away or leads nowhere; or where sweeps have run into
// trouble before, so that shorter steps are due.
func (e *engine) foresee(residual float64) bool {
	n := len(e.sites.Terms)
	if n < responseTerms || n != e.model.Dim() || e.damping < 1 || residual > responseReach {
		return false
	}
	r := e.picture()
	// Natural parameters of the sweep before are of no more use.
	cov := e.nat.P.RawSymmetric()
	e.tilted.Cross(e.model.Views, e.nat.P, e.ws)
	goal := max(0.1*e.opt.Tolerance, 0.1*residual*residual, 1e-3*residual)
	left := math.Inf(1)
	for range responseRounds {
		r.mixer.propose(r.sites, r.step, r.variance, 1)
		for i, step := range r.step {
			s := &r.sites[i]
			s.Nu += step.Nu
			s.Tau += step.Tau
			change := s.Over(e.sites.Terms[i])
			r.slope[i], r.bend[i] = change.Nu-change.Tau*r.mean[i], change.Tau
		}
		r.answer(cov)
		left = 0
		for i, v := range e.variance {
			shrink := 1.0
			if v > 0 {
				shrink += r.shrink[i] / v
			}
			if !(shrink > 0.5) {
				return false
			}
			at := marginal{e.mean[i] + r.lean[i], v / shrink}
			r.mean[i], r.variance[i] = at.mean, at.variance
			p, ok := e.rule.Project(e.model.seen(i, at.mean, at.variance), r.sites[i])
			if !ok {
				return false
			}
			r.step[i] = p.Site.Over(r.sites[i])
			left = max(left, math.Abs(r.step[i].Tau)*at.variance, math.Abs(r.step[i].Nu-r.step[i].Tau*at.mean)*math.Sqrt(at.variance))
		}
		if !(left < responseReach) {
			return false
		}
		if left <= goal {
			break
		}
	}
	if !(left < residual) { // what is proposed already is no worse
		return false
	}
	for i, s := range r.sites {
		e.proposed[i] = s.Over(e.sites.Terms[i])
	}
	return true
}

// picture is the response at the sites and marginals as they are, with the steps proposed.
func (e *engine) picture() *response {
	r, n := &e.response, len(e.sites.Terms)
	if len(r.sites) != n {
		*r = response{}
		r.sites, r.step = make([]gauss.Scalar, n), make([]gauss.Scalar, n)
		all := make([]float64, 6*n)
		for k, of := range []*[]float64{&r.mean, &r.variance, &r.slope, &r.bend, &r.lean, &r.shrink} {
			*of = all[k*n : (k+1)*n]
		}
	}
	r.mixer.forget()
	copy(r.sites, e.sites.Terms)
	copy(r.step, e.proposed)
	copy(r.mean, e.mean)
	copy(r.variance, e.variance)
	return r
}

// answer finds lean and shrink, given the upper triangle of C.
func (r *response) answer(c blas64.Symmetric) {
	clear(r.lean)
	clear(r.shrink)
	for i := range c.N {
		row := c.Data[i*c.Stride+i : i*c.Stride+c.N]
		r.lean[i] += floats.Dot(row, r.slope[i:])
		floats.AddScaled(r.lean[i+1:], r.slope[i], row[1:])
		bend, to, own := r.bend[i:], r.shrink[i:], r.bend[i]
		bend, to = bend[:len(row)], to[:len(row)]
		sum := 0.0
		for j, v := range row {
			v *= v
			sum += v * bend[j]
			to[j] += v * own
		}
		to[0] += sum - row[0]*row[0]*own // the diagonal counts once
	}
}
