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
	more := &gauss.Natural{H: []float64{1, -2, 0.7}, P: mat.NewSymDense(dim, []float64{0.5, 0.1, -1, 0.1, -0.8, 0.3, -1, 0.3, 0.2})}
	views := gauss.NewViews(mat.NewDense(2, dim, []float64{0, 1, 2, -1, 0.5, 0.3}), nil, nil)
	scalars := []gauss.Scalar{{Nu: 0.4, Tau: -0.3}, {Nu: -1, Tau: 0.6}}
	for _, c := range []struct {
		name    string
		scalars []gauss.Scalar
		more    *gauss.Natural
	}{
		{"scalars", scalars, nil},
		{"a form", make([]gauss.Scalar, 2), more},
		{"both", scalars, more},
	} {
		change := gauss.NewNatural(dim)
		change.TimesScalars(views, c.scalars, new(gauss.Workspace))
		if c.more != nil {
			change.Times(c.more, 1)
		}
		got := g.Length(views, c.scalars, c.more, new(gauss.Workspace))
		checkLength(t, c.name, got, g, mean, cov, change)
	}
}

// checkLength compares the length of a change with the divergence of a small part of it.
func checkLength(t *testing.T, name string, length float64, g *gauss.Gaussian, mean []float64, cov *mat.SymDense, change *gauss.Natural) {
	t.Helper()
	const small = 1e-4
	dim := len(mean)
	moved := gauss.NewNatural(dim)
	moved.CopyFrom(g.Natural())
	moved.Times(change, small)
	next := gauss.NewGaussian(dim)
	if err := next.Exchange(moved); err != nil {
		t.Fatal(err)
	}
	divergence := next.LogPartition() - g.LogPartition()
	for i := range dim {
		divergence -= small * change.H[i] * mean[i]
		for j := range dim {
			divergence += 0.5 * small * change.P.At(i, j) * (cov.At(i, j) + mean[i]*mean[j])
		}
	}
	length *= small
	// The third order is small relative to the second, and so is rounding of the
	// log-partitions over 1e-8.
	if got := length * length / 2; !(math.Abs(got-divergence) < 20*small*divergence) {
		t.Errorf("%s: ½length² = %v, divergence %v", name, got, divergence)
	}
}

// Covariances are the rows of AΣ, and the length of a change given as a whole is that of
// the same change given by views.
func TestCovariancesAndStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, m = 9, 6
	a := mat.NewDense(n, m, nil)
	sites, change := make([]gauss.Scalar, n), make([]gauss.Scalar, n)
	for i := range n {
		for j := range m {
			a.Set(i, j, rng.NormFloat64())
		}
		sites[i] = gauss.Scalar{rng.NormFloat64(), rng.Float64()}
		change[i] = gauss.Scalar{rng.NormFloat64(), rng.NormFloat64()}
	}
	views := gauss.NewViews(a, nil, nil)
	var ws gauss.Workspace
	nat := gauss.NewNatural(m)
	nat.SetPosterior(views, sites, &ws)
	g := gauss.NewGaussian(m)
	if err := g.Exchange(nat); err != nil {
		t.Fatal(err)
	}
	cov := mat.NewSymDense(m, nil)
	g.Covariance(cov)
	var want mat.Dense
	want.Mul(a, cov)
	got := mat.NewDense(n, m, nil)
	g.Covariances(got, views, &ws)
	if !mat.EqualApprox(got, &want, 1e-13) {
		t.Error("covariances of v with the views")
	}
	whole := gauss.NewNatural(m)
	whole.TimesScalars(views, change, &ws)
	if x, y := g.Step(whole, &ws), g.Length(views, change, nil, &ws); math.Abs(x-y) > 1e-12*y {
		t.Errorf("a step of %v as a whole and %v by views", x, y)
	}
}
