package infer

import (
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/level3"
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

	asked       []Projection // of all terms, see project
	at          proposal
	improper    atomic.Bool
	projectBody func(task int)
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

// proposal is the steps that a rule asks for at the sites, in view of the moments of a posterior.
type proposal struct {
	rule           Rule
	seen           func(i int, mean, variance float64, sites []gauss.Scalar) Seen
	covariance     func(dst *mat.SymDense) // of the s_i, whose moments are these
	mean, variance []float64
	sites, steps   []gauss.Scalar
	residual       float64 // before the steps
	tolerance      float64
	work           float64 // of one projection, in operations of package level3, where it takes long
}

// foresee replaces the steps by those to where the sites settle as the response has it. It
// reports false, and leaves the steps as they are, where that is too far away or leads nowhere.
// The covariance of the views is written to cov.
func (r *response) foresee(at proposal, cov *mat.SymDense) bool {
	sites, residual := at.sites, at.residual
	if len(sites) < responseTerms || len(sites) != cov.SymmetricDim() || residual > responseReach {
		return false
	}
	r.begin(at)
	at.covariance(cov)
	goal := max(0.1*at.tolerance, 0.1*residual*residual, 1e-3*residual)
	left := math.Inf(1)
	for range responseRounds {
		r.mixer.propose(r.sites, r.step, r.variance, 1)
		for i, step := range r.step {
			r.sites[i] = r.sites[i].Times(step)
			change := r.sites[i].Over(sites[i])
			r.slope[i], r.bend[i] = change.Nu-change.Tau*r.mean[i], change.Tau
		}
		r.answer(cov.RawSymmetric())
		left = 0
		for i, v := range at.variance {
			shrink := 1.0
			if v > 0 {
				shrink += r.shrink[i] / v
			}
			if !(shrink > 0.5) {
				return false
			}
			r.mean[i], r.variance[i] = at.mean[i]+r.lean[i], v/shrink
		}
		if !r.project(proposal{rule: at.rule, seen: at.seen, mean: r.mean, variance: r.variance, sites: r.sites, work: at.work}) {
			return false
		}
		for i, p := range r.asked {
			step := p.Site.Over(r.sites[i])
			r.step[i] = step
			left = max(left, math.Abs(step.Tau)*r.variance[i], math.Abs(step.Nu-step.Tau*r.mean[i])*math.Sqrt(r.variance[i]))
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
		at.steps[i] = s.Over(sites[i])
	}
	return true
}

// project finds what the rule asks of all terms, and reports whether it asks something of each.
func (r *response) project(at proposal) bool {
	const group = 8
	n := len(at.mean)
	if r.projectBody == nil {
		r.projectBody = func(task int) {
			at := &r.at
			for i := task * group; i < min((task+1)*group, len(r.asked)); i++ {
				var ok bool
				if r.asked[i], ok = at.rule.Project(at.seen(i, at.mean[i], at.variance[i], at.sites), at.sites[i]); !ok {
					r.improper.Store(true)
				}
			}
		}
	}
	r.at, r.asked = at, slices.Grow(r.asked[:0], n)[:n]
	r.improper.Store(false)
	level3.Share(at.work*float64(n), (n+group-1)/group, r.projectBody)
	r.at = proposal{}
	return !r.improper.Load()
}

// begin makes the picture of the sites and marginals as they are, with the steps asked for.
func (r *response) begin(at proposal) {
	if n := len(at.sites); len(r.sites) != n {
		r.mixer = mixer{}
		r.sites, r.step = make([]gauss.Scalar, n), make([]gauss.Scalar, n)
		all := make([]float64, 6*n)
		for k, of := range []*[]float64{&r.mean, &r.variance, &r.slope, &r.bend, &r.lean, &r.shrink} {
			*of = all[k*n : (k+1)*n]
		}
	}
	r.mixer.forget()
	copy(r.sites, at.sites)
	copy(r.step, at.steps)
	copy(r.mean, at.mean)
	copy(r.variance, at.variance)
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
