// Package gauss holds Gaussians in natural and moment form, and the linear views
// through which models look at them.
//
// Everything lossep infers is a Gaussian over a vector v whose prior is N(0, I).
// In natural form its density is proportional to exp(h·v − ½ vᵀΛv); products and
// quotients of factors are then sums and differences of (h, Λ), and a factor on
// one view f = b + a·v + e contributes νa to h and τaaᵀ to Λ. The sign of τ is
// free: what has to be positive definite is the Λ of a whole distribution.
//
// This package alone factors the precision of a model's Gaussian. So it alone decides
// what is a proper one, and how fast that is found.
package gauss

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/lossep/lossep/level3"
)

const (
	noTrans = blas.NoTrans
	trans   = blas.Trans
)

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// kernels is the linear algebra of this machine.
var kernels, _ = level3.Selected()
