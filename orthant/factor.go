package orthant

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/normal"
)

// factor is the Cholesky factor of a reordered covariance, its rows divided by
// the diagonal: S = D L̄ L̄ᵀ D with L̄ unit lower triangular.
type factor struct {
	// order[k] is the original index of the k-th variable; the first bounded
	// variables have a finite lower bound, the others none.
	order   []int
	bounded int
	// diag is D and lower the bounds, both in the new order.
	diag, lower []float64
	// packed holds the rows of L̄ without their diagonal one, row k having k
	// entries.
	packed []float64
}

// row returns the k entries of row k of L̄ left of the diagonal.
func (f *factor) row(k int) []float64 {
	start := k * (k - 1) / 2
	return f.packed[start : start+k : start+k]
}

// factorise reorders the variables and factors their covariance in one pass.
// Each step takes the variable least likely to satisfy its bound, given that
// the variables already taken sit at the means of their truncated conditionals
// (Gibson, Glasbey and Elston 1994): hard constraints first leave the later
// ones close to satisfied, so that their terms hardly vary. Those means are
// returned too: a point strictly inside the region for the search of the
// saddle point to start from. Free variables are least unlikely and come last.
func factorise(cov mat.Symmetric, lower []float64) (f *factor, start []float64, err error) {
	n := len(lower)
	f = &factor{
		order:  make([]int, n),
		diag:   make([]float64, n),
		lower:  make([]float64, n),
		packed: make([]float64, n*(n-1)/2),
	}
	start = make([]float64, 0, n)
	// For each variable in the current order: its row of the unscaled factor,
	// the variance left, and its mean given the z chosen so far.
	rows := make([][]float64, n)
	left := make([]float64, n)
	mean := make([]float64, n)
	largest := 0.0
	for i := range n {
		f.order[i] = i
		rows[i] = make([]float64, n)
		left[i] = cov.At(i, i)
		largest = math.Max(largest, left[i])
		f.lower[i] = lower[i]
	}
	// Rounding leaves an error of about n ε times the largest variance in a
	// pivot; below that a variable is a linear combination of the others.
	tolerance := float64(n) * 0x1p-52 * largest

	for k := range n {
		best, bestBound := k, math.Inf(-1)
		for i := k; i < n; i++ {
			if left[i] <= tolerance {
				return nil, nil, &NotPositiveDefiniteError{Variable: f.order[i], Rank: k, Pivot: left[i]}
			}
			if t := (f.lower[i] - mean[i]) / math.Sqrt(left[i]); t > bestBound {
				best, bestBound = i, t
			}
		}
		f.order[k], f.order[best] = f.order[best], f.order[k]
		f.lower[k], f.lower[best] = f.lower[best], f.lower[k]
		rows[k], rows[best] = rows[best], rows[k]
		left[k], left[best] = left[best], left[k]
		mean[k], mean[best] = mean[best], mean[k]

		z := 0.0
		if !math.IsInf(f.lower[k], -1) {
			f.bounded = k + 1
			z = normal.Hazard(-bestBound)
			start = append(start, z)
		}
		f.diag[k] = math.Sqrt(left[k])
		pivot := rows[k][:k]
		for i := k + 1; i < n; i++ {
			c := cov.At(f.order[i], f.order[k])
			v := (c - floats.Dot(rows[i][:k], pivot)) / f.diag[k]
			rows[i][k] = v
			left[i] -= v * v
			mean[i] += v * z
		}
		floats.ScaleTo(f.row(k), 1/f.diag[k], pivot)
	}
	return f, start, nil
}
