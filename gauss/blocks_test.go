package gauss

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Blocks against the plain products: covariances, and a tilt whose precision is the inverse
// of Σ + ΣHΣ.
func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 16))
	const dim, blocks, size = 5, 3, 2
	a, r := mat.NewDense(blocks*size, dim, nil), make([]float64, blocks*size)
	for i := range blocks * size {
		r[i] = rng.Float64()
		for j := range dim {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	views := NewViews(a, nil, r)
	n := NewNatural(dim)
	n.SetStandard()
	for i := range blocks * size {
		n.TimesScalar(views.Row(i), Scalar{Nu: rng.NormFloat64(), Tau: rng.Float64()}, 1)
	}
	g := NewGaussian(dim)
	if err := g.Exchange(n); err != nil {
		t.Fatal(err)
	}
	sigma := mat.NewSymDense(dim, nil)
	g.Covariance(sigma)
	var ws Workspace
	mean, cov := make([]float64, blocks*size), make([]float64, blocks*size*size)
	g.PredictBlocks(views, size, mean, cov, &ws)
	for i := range blocks * size {
		for k := range size {
			j := i - i%size + k
			want := mat.Inner(a.RowView(i), sigma, a.RowView(j))
			if i == j {
				want += r[i]
			}
			if math.Abs(cov[i*size+k]-want) > 1e-12 {
				t.Errorf("covariance of %d and %d: %v, want %v", i, j, cov[i*size+k], want)
			}
		}
	}
	d1, d2 := make([]float64, blocks*size), make([]float64, blocks*size*size)
	for b := range blocks {
		x, y, z := 0.1*rng.NormFloat64(), 0.1*rng.NormFloat64(), 0.1*rng.NormFloat64()
		copy(d2[b*size*size:], []float64{x, y, y, z})
		d1[b*size], d1[b*size+1] = 0.1*rng.NormFloat64(), 0.1*rng.NormFloat64()
	}
	hessian := mat.NewDense(dim, dim, nil)
	gradient := mat.NewVecDense(dim, nil)
	for i := range blocks * size {
		gradient.AddScaledVec(gradient, d1[i], a.RowView(i))
		for k := range size {
			var outer mat.Dense
			outer.Outer(d2[i*size+k], a.RowView(i), a.RowView(i-i%size+k))
			hessian.Add(hessian, &outer)
		}
	}
	var outer mat.Dense
	outer.Outer(-1, gradient, gradient)
	hessian.Add(hessian, &outer)
	var moved, half, want mat.Dense
	half.Mul(sigma, hessian)
	moved.Mul(&half, sigma)
	moved.Add(&moved, sigma)
	if err := want.Inverse(&moved); err != nil {
		t.Fatal(err)
	}
	got := NewNatural(dim)
	if err := g.TiltBlocks(got, views, size, d1, d2, &ws); err != nil {
		t.Fatal(err)
	}
	for i := range dim {
		for j := range dim {
			if math.Abs(got.P.At(i, j)-want.At(i, j)) > 1e-10 {
				t.Errorf("precision at %d, %d: %v, want %v", i, j, got.P.At(i, j), want.At(i, j))
			}
		}
	}
	// The workspace serves as before.
	again := make([]float64, blocks*size)
	g.PredictBlocks(views, size, again, cov, &ws)
	for i := range mean {
		if mean[i] != again[i] {
			t.Errorf("mean %d is %v after a tilt, was %v", i, again[i], mean[i])
		}
	}
}
