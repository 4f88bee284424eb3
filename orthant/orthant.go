// Package orthant integrates and samples a normal distribution cut off below:
// X ~ N(0, S) given X_i > lower_i for every i. It gives the probability of
// that region with a relative error, and independent, exact draws from it, by
// the minimax exponential tilting of Botev (2017, Journal of the Royal
// Statistical Society B 79, 125–148).
//
// # The idea
//
// Factor S = L Lᵀ and write X = L Z with Z standard normal. Divided by the
// diagonal of L the constraints become triangular, Z_k > c_k(Z_1..Z_{k−1}), so
// the coordinates can be drawn one after the other, each from a normal with
// unit variance and a mean μ_k of our choice, cut off at c_k. With
// t_k = c_k − μ_k and Φ̄ = 1 − Φ, the likelihood ratio of such a draw is
//
//	log w = Σ_k [ ½μ_k² − μ_k Z_k + log Φ̄(t_k) ].
//
// log Φ̄ is concave, so it lies below its tangent at any point t*_k, with slope
// −λ_k. Choosing μ_j = Σ_{k>j} λ_k L_kj/L_kk makes everything linear in Z
// cancel, and what remains is
//
//	log w = C − Σ_k gap_k(t_k),  gap_k ≥ 0 the distance below the tangent.
//
// So C bounds log P(X > lower) from above, w·exp(−C) ∈ [0, 1] is an acceptance
// probability, and a draw can be given up as soon as the partial sum of the
// gaps exceeds its threshold. All of this holds for every t*; the minimax
// point is the t* with the smallest C, the solution of a strictly concave
// problem (see saddle.go), and it gives the highest acceptance rate. The
// quality of the solution decides about speed, never about correctness.
//
// # Up to which dimension
//
// The acceptance rate is P(X > lower)/exp(C): one in one dimension and falling
// with the number of coordinates that act on their own. For S = I + D K D, the
// probit Gaussian process with n inputs uniform on [−10, 10], labels D drawn
// from the prior and a squared-exponential kernel of variance e³, see
// [MinAcceptance] for measured rates. Where the rate is too low to be useful
// [Region.Sample] says so with an [AcceptanceError].
package orthant

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/normal"
)

// Region is N(0, S) restricted to X > lower, prepared for integration and
// sampling. It is immutable: any number of goroutines may use one Region.
type Region struct {
	factor
	// bound is C: log P(X > lower) ≤ C.
	bound float64
	// tilt is μ and offset is lower_k/L_kk − μ_k, so that
	// t_k = offset_k − Σ_{j<k} L_kj/L_kk Z_j.
	tilt, offset []float64
	// slope is λ and intercept is log Φ̄(t*) + λ t*: the tangents of log Φ̄.
	slope, intercept []float64
}

// lowestBound is how far into the tail a region may lie: at log P = −1e9
// rounding alone leaves P uncertain by 2e-7 of itself.
const lowestBound = -1e9

// New prepares N(0, cov) restricted to X_i > lower[i]; a lower bound may be
// −Inf. It costs a few Cholesky factorisations of cov.
//
// It returns an [InputError] for an empty, unmatched or non-finite problem, a
// [NotPositiveDefiniteError] if cov has no Cholesky factor to working accuracy
// and a [ConvergenceError] if the tilting could not be found, which takes a
// region so far in the tail that rounding hides its probability.
func New(cov mat.Symmetric, lower []float64) (*Region, error) {
	if err := checkInput(cov, lower); err != nil {
		return nil, err
	}
	f, start, err := factorise(cov, lower)
	if err != nil {
		return nil, err
	}
	tangents, err := saddle(f, start)
	if err != nil {
		return nil, err
	}
	r := &Region{factor: *f}
	r.setTilt(tangents)
	// With λ = 0 the bound is zero, so at its minimum it is not positive but
	// for rounding.
	if !(r.bound >= lowestBound && r.bound < 1e-9) {
		return nil, &ConvergenceError{Dim: r.Dim(), Bound: r.bound}
	}
	return r, nil
}

// Dim returns the number of variables.
func (r *Region) Dim() int { return len(r.order) }

// setTilt computes all that follows from the points at which the tangents
// touch.
func (r *Region) setTilt(tangents []float64) {
	m := r.bounded
	r.tilt = make([]float64, m)
	r.offset = make([]float64, m)
	r.slope = make([]float64, m)
	r.intercept = make([]float64, m)
	for k, t := range tangents {
		logTail, slope := normal.LogCDFHazard(-t)
		r.slope[k] = slope
		r.intercept[k] = logTail + slope*t
		// μ = Nᵀλ with N the rows of L̄ left of the diagonal.
		floats.AddScaled(r.tilt[:k], slope, r.row(k))
	}
	for k := range m {
		r.offset[k] = r.lower[k]/r.diag[k] - r.tilt[k]
		// What is left of log w when every gap is zero.
		r.bound += 0.5*r.tilt[k]*r.tilt[k] + r.intercept[k] - r.slope[k]*r.offset[k]
	}
}

// truncation returns t_k, the standardised bound of Z_k given Z_1..Z_{k−1}.
func (r *Region) truncation(k int, z []float64) float64 {
	return r.offset[k] - floats.Dot(r.row(k), z[:k])
}

// gap returns how far log Φ̄(t), given as logTail, lies below its tangent.
func (r *Region) gap(k int, t, logTail float64) float64 {
	return r.intercept[k] - r.slope[k]*t - logTail
}

// checkInput rejects what no algorithm could work with.
func checkInput(cov mat.Symmetric, lower []float64) error {
	n := cov.SymmetricDim()
	if n == 0 {
		return &InputError{Reason: "no variables"}
	}
	if n != len(lower) {
		return &InputError{Reason: fmt.Sprintf("covariance of %d variables but %d bounds", n, len(lower))}
	}
	for i, l := range lower {
		if math.IsNaN(l) || math.IsInf(l, 1) {
			return &InputError{Reason: fmt.Sprintf("lower bound %d is %v", i, l)}
		}
		for j := range i + 1 {
			if v := cov.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return &InputError{Reason: fmt.Sprintf("covariance (%d, %d) is %v", i, j, v)}
			}
		}
	}
	return nil
}
