package gauss_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// squaredExponential is the covariance exp(−½|x − x′|²/ℓ²) of points on a line.
func squaredExponential(x []float64, length float64) *mat.SymDense {
	k := mat.NewSymDense(len(x), nil)
	for i := range x {
		for j := i; j < len(x); j++ {
			d := (x[i] - x[j]) / length
			k.SetSym(i, j, 3*math.Exp(-0.5*d*d))
		}
	}
	return k
}

func randomPoints(n int) []float64 {
	rng := rand.New(rand.NewPCG(uint64(n), 11))
	x := make([]float64, n)
	for i := range x {
		x[i] = 10 * rng.Float64()
	}
	return x
}

// TestRoot: AAᵀ = K, and further elements have the covariances they came with.
func TestRoot(t *testing.T) {
	for _, n := range []int{1, 2, 30, 129} {
		x := randomPoints(n + 5)
		whole := squaredExponential(x, 0.02)
		k := mat.NewSymDense(n, nil)
		k.CopySym(whole.SliceSym(0, n))
		root, err := gauss.NewRoot(k)
		if err != nil {
			t.Fatal(err)
		}
		views := root.Views()
		a, product := rows(views), new(mat.Dense)
		product.Mul(a, a.T())
		jitter := mat.NewSymDense(n, nil)
		for i := range n {
			jitter.SetSym(i, i, root.Jitter)
		}
		product.Sub(product, jitter)
		equal(t, "AAᵀ", product, dense(k), tolerance)

		cross := mat.NewDense(5, n, nil)
		variance := make([]float64, 5)
		for i := range 5 {
			for j := range n {
				cross.Set(i, j, whole.At(n+i, j))
			}
			variance[i] = 3
		}
		want := mat.DenseCopyOf(cross)
		further := root.Project(cross, variance)
		product.Reset()
		product.Mul(rows(further), a.T())
		equal(t, "covariances of further elements", product, want, 1e-10)
		for i := range 5 {
			row := further.Row(i)
			total := further.Residual(i)
			for _, v := range row {
				total += v * v
			}
			if !(math.Abs(total-3) <= 1e-9) {
				t.Errorf("variance of a further element: %v, want 3", total)
			}
		}
	}
}

func rows(v *gauss.Views) *mat.Dense {
	a := mat.NewDense(v.Len(), v.Dim(), nil)
	for i := range v.Len() {
		a.SetRow(i, v.Row(i))
	}
	return a
}

// TestRootJitter: duplicated points and long length scales make K singular to
// working precision; regular matrices get no jitter.
func TestRootJitter(t *testing.T) {
	x := randomPoints(40)
	if root, err := gauss.NewRoot(squaredExponential(x, 1e-3)); err != nil || root.Jitter != 0 {
		t.Errorf("a regular covariance: error %v, jitter %v", err, root.Jitter)
	}
	x[7] = x[8]
	for _, length := range []float64{1e-3, 1, 1e3, 1e9} {
		root, err := gauss.NewRoot(squaredExponential(x, length))
		if err != nil {
			t.Fatal(err)
		}
		// The mean variance is 3; 1e-8 of it is what kernels of any length need.
		if !(root.Jitter > 0 && root.Jitter <= 3e-8) {
			t.Errorf("length scale %v with duplicates: jitter %v", length, root.Jitter)
		}
		views := root.Views()
		product := new(mat.Dense)
		product.Mul(rows(views), rows(views).T())
		equal(t, "AAᵀ with jitter", product, dense(squaredExponential(x, length)), 2*root.Jitter)
	}
}

func TestRootErrors(t *testing.T) {
	for what, bad := range map[string][]float64{
		"NaN":               {1, math.NaN(), 1},
		"Inf":               {1, math.Inf(1), 1},
		"negative variance": {1, 0, -1},
		"NaN variance":      {1, 0, math.NaN()},
		"Inf variance":      {math.Inf(1), 0, 1},
		"all zero":          {0, 0, 0},
		"indefinite":        {1, 5, 1},
	} {
		k := mat.NewSymDense(2, []float64{bad[0], bad[1], bad[1], bad[2]})
		root, err := gauss.NewRoot(k)
		var covariance *gauss.CovarianceError
		if !errors.As(err, &covariance) || root != nil {
			t.Errorf("%s: root %v, error %v", what, root, err)
		}
	}
}
