package gauss_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// TestWhiten: in z = U(v − mean) the Gaussian is standard, so WWᵀ is the covariance
// of what the views read, and unwhitening is undone by whitening.
func TestWhiten(t *testing.T) {
	const dim, n = 5, 7
	rng := rand.New(rand.NewPCG(1, 2))
	normals := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	cov := mat.NewSymDense(dim, nil)
	cov.SymOuterK(1, mat.NewDense(dim, dim+2, normals(dim*(dim+2))))
	g, err := gauss.FromMoments(normals(dim), cov)
	if err != nil {
		t.Fatal(err)
	}
	a := mat.NewDense(n, dim, normals(n*dim))
	var ws gauss.Workspace
	w := mat.NewDense(n, dim, nil)
	g.Whiten(w, gauss.NewViews(a, nil, nil), &ws)
	var got, want mat.Dense
	got.Mul(w, w.T())
	want.Product(a, cov, a.T())
	if !mat.EqualApprox(&got, &want, 1e-11) { // condition number of the covariance × rounding
		t.Errorf("WWᵀ =\n%.6g\nwant\n%.6g", mat.Formatted(&got), mat.Formatted(&want))
	}
	// With A = I the whitened views are U⁻¹, which undoes what Unwhiten does:
	// U⁻ᵀ(UᵀSU)U⁻¹ = S.
	eye := mat.NewDense(dim, dim, nil)
	for i := range dim {
		eye.Set(i, i, 1)
	}
	inverse := mat.NewDense(dim, dim, nil)
	g.Whiten(inverse, gauss.NewViews(eye, nil, nil), &ws)
	s := mat.NewSymDense(dim, nil)
	s.SymOuterK(1, mat.NewDense(dim, 2, normals(dim*2)))
	form := mat.NewSymDense(dim, nil)
	form.CopySym(s)
	g.Unwhiten(form, &ws)
	var back mat.Dense
	back.Product(inverse.T(), form, inverse)
	if !mat.EqualApprox(&back, s, 1e-11*math.Max(1, mat.Norm(s, 2))) {
		t.Errorf("whitened again:\n%.6g\nwant\n%.6g", mat.Formatted(&back), mat.Formatted(s))
	}
}

// TestLength: half the square of the length of a small change is the divergence
// KL(g‖g′) = A(g′) − A(g) − Δh·μ + ½tr(ΔΛ(Σ + μμᵀ)), up to third order.
func TestLength(t *testing.T) {
	const dim = 3
	cov := mat.NewSymDense(dim, []float64{2, 0.3, -0.4, 0.3, 1, 0.2, -0.4, 0.2, 0.5})
	mean := []float64{0.3, -1, 2}
	g, err := gauss.FromMoments(mean, cov)
	if err != nil {
		t.Fatal(err)
	}
	change := &gauss.Natural{H: []float64{1, -2, 0.7}, P: mat.NewSymDense(dim, []float64{0.5, 0.1, -1, 0.1, -0.8, 0.3, -1, 0.3, 0.2})}
	const small = 1e-4
	moved := gauss.NewNatural(dim)
	moved.CopyFrom(g.Natural())
	moved.Times(change, small)
	next := gauss.NewGaussian(dim)
	if err := next.Set(moved); err != nil {
		t.Fatal(err)
	}
	divergence := next.LogPartition() - g.LogPartition()
	for i := range dim {
		divergence -= small * change.H[i] * mean[i]
		for j := range dim {
			divergence += 0.5 * small * change.P.At(i, j) * (cov.At(i, j) + mean[i]*mean[j])
		}
	}
	length := small * g.Length(change, new(gauss.Workspace))
	// The third order is small relative to the second, and so is rounding of the
	// log-partitions over 1e-8.
	if got := length * length / 2; !(math.Abs(got-divergence) < 20*small*divergence) {
		t.Errorf("½length² = %v, divergence %v", got, divergence)
	}
}
