package gauss

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Values are values with the prior N(0, K), times a scalar factor on each of them. For a search that
// changes K again and again they take a third of the work less than a Root, views and a Gaussian do,
// and the covariance and what the gradient needs come with it. With the factors' precisions
// T > 0, B = I + T½KT½ is regular however near to singular K is, and
//
//	C = K − KT½B⁻¹T½K = T^−½(I − B⁻¹)T^−½,  T½C = B⁻¹T½K,  (K + T⁻¹)⁻¹ = T½B⁻¹T½
//
// (Rasmussen and Williams 2006, section 3.6).
type Values struct {
	prior, inverse       *mat.SymDense // K and B⁻¹
	root                 []float64     // T½; nil without factors
	mean, variance, beta []float64     // beta is ν − T·mean
	work                 []float64
	logPartition         float64
}

// NewValues are n values without factors.
func NewValues(n int) *Values {
	v := &Values{prior: mat.NewSymDense(n, nil), inverse: mat.NewSymDense(n, nil)}
	all := make([]float64, 4*n)
	v.mean, v.variance, v.beta, v.work = all[:n], all[n:2*n], all[2*n:3*n], all[3*n:]
	return v
}

// Prior is K. Whoever changes it has to call Condition next.
func (v *Values) Prior() *mat.SymDense { return v.prior }

// leastShare is the least share of a prior precision that a factor has to have: T^−½ loses half of the digits
// that the precision lacks.
const leastShare = 1e-12

// Condition makes the factors those given: N³ operations, or none where all are empty. It
// reports false, and leaves nothing of use, where B is not positive definite or a precision
// is too small, or negative, for this form.
func (v *Values) Condition(s []Scalar) bool {
	k, b, n := v.prior.RawSymmetric(), v.inverse.RawSymmetric(), len(s)
	v.root, v.logPartition = nil, 0
	clear(v.mean)
	clear(v.beta)
	for i := range n {
		v.variance[i] = k.Data[i*k.Stride+i]
	}
	if allEmpty(s) {
		return true
	}
	root := make([]float64, n)
	for i, f := range s {
		if !(f.Tau*v.variance[i] >= leastShare) {
			return false
		}
		root[i] = math.Sqrt(f.Tau)
	}
	overRows(n, func(i int) {
		to := b.Data[i*b.Stride+i : i*b.Stride+n]
		floats.MulTo(to, root[i:], k.Data[i*k.Stride+i:i*k.Stride+n])
		floats.Scale(root[i], to)
		to[0]++
	})
	if !kernels.Cholesky(blas.Upper, n, b.Data, b.Stride) {
		return false
	}
	for i := range n {
		v.logPartition -= math.Log(b.Data[i*b.Stride+i])
	}
	kernels.CholeskyInverse(blas.Upper, n, b.Data, b.Stride)
	v.root = root
	v.moments(s)
	return !math.IsNaN(v.logPartition) && !math.IsInf(v.logPartition, 0)
}

func allEmpty(s []Scalar) bool {
	for _, f := range s {
		if f != (Scalar{}) {
			return false
		}
	}
	return true
}

// moments finds mean and variance, and adds half of ν·mean to the log partition.
func (v *Values) moments(s []Scalar) {
	k, b, n := v.prior.RawSymmetric(), v.inverse.RawSymmetric(), len(s)
	// β = ν − T½B⁻¹T½Kν, and the mean is Kβ.
	for i, f := range s {
		v.beta[i] = f.Nu
	}
	blas64.Symv(1, k, vector(v.beta), 0, vector(v.work))
	floats.Mul(v.work, v.root)
	blas64.Symv(1, b, vector(v.work), 0, vector(v.mean))
	floats.Mul(v.mean, v.root)
	floats.Sub(v.beta, v.mean)
	blas64.Symv(1, k, vector(v.beta), 0, vector(v.mean))
	// τ_i½ C_ii = Σ_j (B⁻¹)_ij τ_j½ K_ij keeps the digits of a small τ_i.
	clear(v.variance)
	for i := range n {
		product := v.work[i:]
		floats.MulTo(product, b.Data[i*b.Stride+i:i*b.Stride+n], k.Data[i*k.Stride+i:i*k.Stride+n])
		v.variance[i] += floats.Dot(product, v.root[i:])
		floats.AddScaled(v.variance[i+1:], v.root[i], product[1:])
	}
	for i, f := range s {
		v.variance[i] /= v.root[i]
		// Where the factor says much the other form does not cancel.
		if left := 1 - b.Data[i*b.Stride+i]; left > 0.5 {
			v.variance[i] = left / f.Tau
		}
		v.logPartition += 0.5 * f.Nu * v.mean[i]
	}
}

// Moments are the means and variances of the values. They must not be changed.
func (v *Values) Moments() (mean, variance []float64) { return v.mean, v.variance }

// LogPartition is ½νᵀCν − ½ log|B|: as Gaussian.LogPartition.
func (v *Values) LogPartition() float64 { return v.logPartition }

// Covariance writes the covariances of all pairs of values into dst.
func (v *Values) Covariance(dst *mat.SymDense) {
	if v.root == nil {
		dst.CopySym(v.prior)
		return
	}
	b, d, n := v.inverse.RawSymmetric(), dst.RawSymmetric(), len(v.root)
	for i, r := range v.root {
		v.work[i] = -1 / r
	}
	overRows(n, func(i int) {
		to := d.Data[i*d.Stride+i : i*d.Stride+n]
		floats.MulTo(to, b.Data[i*b.Stride+i:i*b.Stride+n], v.work[i:])
		floats.Scale(-v.work[i], to)
		to[0] = v.variance[i]
	})
}

// PriorSlope writes the derivative of the log partition in K into dst, half of ββᵀ − (K + T⁻¹)⁻¹:
// a change of K by D changes it by Σ_ij dst_ij D_ij.
func (v *Values) PriorSlope(dst *mat.SymDense) {
	b, d, n := v.inverse.RawSymmetric(), dst.RawSymmetric(), len(v.beta)
	overRows(n, func(i int) {
		to := d.Data[i*d.Stride+i : i*d.Stride+n]
		if v.root == nil {
			clear(to)
			return
		}
		floats.MulTo(to, b.Data[i*b.Stride+i:i*b.Stride+n], v.root[i:])
		floats.Scale(-0.5*v.root[i], to)
		floats.AddScaled(to, 0.5*v.beta[i], v.beta[i:])
	})
}
