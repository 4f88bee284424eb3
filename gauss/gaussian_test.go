package gauss_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

func TestTimesScalars(t *testing.T) {
	forProblems(t, func(t *testing.T, p *problem) {
		n := p.natural(new(gauss.Workspace))
		equal(t, "precision", dense(n.P), p.precision, tolerance)
		equal(t, "h", mat.NewVecDense(len(n.H), n.H), p.h, tolerance)

		// One by one is the same, and taking them out again leaves the prior.
		one := gauss.NewNatural(n.Dim())
		one.SetStandard()
		for i, s := range p.sites {
			one.TimesScalar(p.views.Row(i), s, 1)
		}
		equal(t, "precision one by one", dense(one.P), p.precision, tolerance)
		for i, s := range p.sites {
			one.TimesScalar(p.views.Row(i), s, -1)
		}
		prior := gauss.NewNatural(n.Dim())
		prior.SetStandard()
		// What is left is rounding of the sum that was there.
		equal(t, "prior", dense(one.P), dense(prior.P), tolerance*mat.Norm(p.precision, math.Inf(1)))
	})
}

// TestProductThenQuotient: dividing by what was multiplied with is the identity, to
// one rounding of each entry, and exactly so for the numbers of a binary grid.
func TestProductThenQuotient(t *testing.T) {
	p := newProblem(40, 23, "none")
	n := p.natural(new(gauss.Workspace))
	grid := func(x float64) float64 { return math.Round(x*1024) / 1024 }
	m := n.Dim()
	a, b := gauss.NewNatural(m), gauss.NewNatural(m)
	for i := range m {
		a.H[i], b.H[i] = grid(n.H[i]), grid(p.rng.NormFloat64())
		for j := i; j < m; j++ {
			a.P.SetSym(i, j, grid(n.P.At(i, j)))
			b.P.SetSym(i, j, grid(p.rng.NormFloat64()))
		}
	}
	got := gauss.NewNatural(m)
	got.CopyFrom(a)
	got.Times(b, 1)
	if mat.Equal(got.P, a.P) || slices.Equal(got.H, a.H) {
		t.Error("the product changed nothing")
	}
	if sum := a.P.At(1, 2) + b.P.At(1, 2); got.P.At(2, 1) != sum {
		t.Errorf("P of a product is %v, want the sum %v", got.P.At(2, 1), sum)
	}
	got.Times(b, -1)
	if !mat.Equal(got.P, a.P) || !slices.Equal(got.H, a.H) {
		t.Error("product, then quotient is not the identity")
	}
}

func TestMoments(t *testing.T) {
	forProblems(t, func(t *testing.T, p *problem) {
		g := p.gaussian(t)
		m := g.Dim()
		cov := mat.NewSymDense(m, nil)
		g.Covariance(cov)
		equal(t, "mean", mat.NewVecDense(m, g.Mean()), p.mean, tolerance)
		equal(t, "covariance", dense(cov), p.covariance, tolerance)
		equal(t, "precision", dense(g.Natural().P), p.precision, tolerance)

		// Natural form to moments and back.
		back, err := gauss.FromMoments(g.Mean(), cov)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "precision after a round trip", dense(back.Natural().P), p.precision, tolerance)
		equal(t, "h after a round trip", mat.NewVecDense(m, back.Natural().H), p.h, tolerance)
		equal(t, "mean after a round trip", mat.NewVecDense(m, back.Mean()), p.mean, tolerance)
	})
}

// TestMarginals: mean Aμ and variances diag(AΣAᵀ), covariances AΣAᵀ.
func TestMarginals(t *testing.T) {
	forProblems(t, func(t *testing.T, p *problem) {
		n := p.views.Len()
		var wantMean mat.VecDense
		var half, wantCov mat.Dense
		wantMean.MulVec(p.a, p.mean)
		half.Mul(p.a, p.covariance)
		wantCov.Mul(&half, p.a.T())
		wantVar := mat.NewVecDense(n, nil)
		for i := range n {
			wantVar.SetVec(i, wantCov.At(i, i))
		}

		g := p.gaussian(t)
		var ws gauss.Workspace
		mean, variance := make([]float64, n), make([]float64, n)
		g.Marginals(p.views, mean, variance, &ws)
		equal(t, "mean", mat.NewVecDense(n, mean), &wantMean, tolerance)
		equal(t, "variance", mat.NewVecDense(n, variance), wantVar, tolerance)

		cross := mat.NewSymDense(n, nil)
		g.Cross(p.views, cross, &ws)
		equal(t, "covariance", dense(cross), &wantCov, tolerance)

		g.Predict(p.views, mean, variance, &ws)
		for i := range n {
			wantMean.SetVec(i, wantMean.AtVec(i)+p.views.Offset(i))
			wantVar.SetVec(i, wantVar.AtVec(i)+p.views.Residual(i))
		}
		equal(t, "predictive mean", mat.NewVecDense(n, mean), &wantMean, tolerance)
		equal(t, "predictive variance", mat.NewVecDense(n, variance), wantVar, tolerance)
	})
}

// TestLogPartition: log ∫ exp(h·v − ½vᵀΛv) dv is ½hᵀΛ⁻¹h − ½log|Λ| + ½M log 2π, of
// which the last term belongs to the standard Gaussian.
func TestLogPartition(t *testing.T) {
	forProblems(t, func(t *testing.T, p *problem) {
		want := 0.5 * (mat.Dot(p.h, p.mean) - p.logDet)
		if got := p.gaussian(t).LogPartition(); !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// TestTilt compares with the formulas of the utility site as they are derived:
// new moments μ + Σg and Σ + ΣHΣ, site Λ_ℓ = −(I + HΣ)⁻¹H.
func TestTilt(t *testing.T) {
	forProblems(t, func(t *testing.T, p *problem) {
		n, m := p.a.Dims()
		d1, d2 := make([]float64, n), make([]float64, n)
		for i := range n {
			d1[i] = 0.5 * p.rng.NormFloat64() / float64(n)
			d2[i] = 0.5 * p.rng.NormFloat64() / float64(n)
		}
		// H = Aᵀdiag(d2)A − ggᵀ with g = Aᵀd1.
		var grad mat.VecDense
		grad.MulVec(p.a.T(), mat.NewVecDense(n, d1))
		hessian := mat.NewDense(m, m, nil)
		hessian.Outer(-1, &grad, &grad)
		for i := range n {
			var outer mat.Dense
			outer.Outer(d2[i], p.a.RowView(i), p.a.RowView(i))
			hessian.Add(hessian, &outer)
		}
		var inner, site, wantP mat.Dense
		inner.Mul(hessian, p.covariance)
		for k := range m {
			inner.Set(k, k, inner.At(k, k)+1)
		}
		if err := site.Solve(&inner, hessian); err != nil {
			t.Fatal(err)
		}
		wantP.Sub(p.precision, &site) // Λ + Λ_ℓ
		var wantMean, wantH mat.VecDense
		wantMean.MulVec(p.covariance, &grad)
		wantMean.AddVec(&wantMean, p.mean)
		wantH.MulVec(&wantP, &wantMean)

		g := p.gaussian(t)
		dst := gauss.NewNatural(m)
		var ws gauss.Workspace
		if err := g.Tilt(dst, p.views, d1, d2, &ws); err != nil {
			t.Fatal(err)
		}
		equal(t, "precision", dense(dst.P), &wantP, tolerance)
		equal(t, "h", mat.NewVecDense(m, dst.H), &wantH, tolerance)

		// Nothing tilts nothing.
		if err := g.Tilt(dst, p.views, make([]float64, n), make([]float64, n), &ws); err != nil {
			t.Fatal(err)
		}
		equal(t, "precision, not tilted", dense(dst.P), p.precision, tolerance)
		equal(t, "h, not tilted", mat.NewVecDense(m, dst.H), p.h, tolerance)
	})
}

// TestTiltImproper: moments that no Gaussian has, and numbers that are none.
func TestTiltImproper(t *testing.T) {
	p := newProblem(40, 23, "leading")
	g := p.gaussian(t)
	dst := gauss.NewNatural(g.Dim())
	for _, bad := range []struct{ d1, d2 float64 }{{0, -1e6}, {1e6, 0}, {math.NaN(), 0}, {0, math.NaN()}, {math.Inf(1), 0}, {0, math.Inf(-1)}} {
		d1, d2 := make([]float64, 40), make([]float64, 40)
		d1[39], d2[39] = bad.d1, bad.d2
		if err := g.Tilt(dst, p.views, d1, d2, new(gauss.Workspace)); !errors.Is(err, gauss.ErrImproper) {
			t.Errorf("derivatives %v: error %v", bad, err)
		}
	}
}

// TestSetImproper: an error leaves the Gaussian as it was.
func TestSetImproper(t *testing.T) {
	for _, m := range []int{1, 2, 23, 150} {
		p := newProblem(2*m, m, "none")
		spoil := map[string]func(n *gauss.Natural){
			"zero":            func(n *gauss.Natural) { n.P.Zero() },
			"indefinite":      func(n *gauss.Natural) { n.P.SetSym(m-1, m-1, -0.1) },
			"singular":        func(n *gauss.Natural) { n.P.SetSym(m-1, m-1, 0) },
			"NaN in P":        func(n *gauss.Natural) { n.P.SetSym(0, m-1, math.NaN()) },
			"NaN in P (last)": func(n *gauss.Natural) { n.P.SetSym(m-1, m-1, math.NaN()) },
			"Inf in P":        func(n *gauss.Natural) { n.P.SetSym(m/2, m/2, math.Inf(1)) },
			"Inf aside":       func(n *gauss.Natural) { n.P.SetSym(0, m-1, math.Inf(-1)) },
			"NaN in h":        func(n *gauss.Natural) { n.H[m-1] = math.NaN() },
			"Inf in h":        func(n *gauss.Natural) { n.H[0] = math.Inf(1) },
			"mean overflows": func(n *gauss.Natural) {
				n.SetStandard()
				n.P.SetSym(0, 0, 1e-200)
				n.H[0] = 1e200
			},
		}
		for what, do := range spoil {
			g := p.gaussian(t)
			before := snapshot(g, p.views)
			n := p.natural(new(gauss.Workspace))
			do(n)
			if err := g.Exchange(n); !errors.Is(err, gauss.ErrImproper) {
				t.Errorf("%s, M = %d: error %v", what, m, err)
				continue
			}
			if !slices.Equal(before, snapshot(g, p.views)) {
				t.Errorf("%s, M = %d: the Gaussian changed", what, m)
			}
		}
	}
}

// snapshot is everything a Gaussian says.
func snapshot(g *gauss.Gaussian, views *gauss.Views) []float64 {
	m, n := g.Dim(), views.Len()
	cov := mat.NewSymDense(m, nil)
	g.Covariance(cov)
	mean, variance := make([]float64, n), make([]float64, n)
	g.Marginals(views, mean, variance, new(gauss.Workspace))
	all := slices.Concat(g.Mean(), g.Natural().H, mean, variance, []float64{g.LogPartition()})
	for i := range m {
		for j := i; j < m; j++ {
			all = append(all, cov.At(i, j), g.Natural().P.At(i, j))
		}
	}
	return all
}

func TestFromMomentsImproper(t *testing.T) {
	for _, bad := range [][]float64{{1, 2, 1}, {1, 1, 1}, {1, 0, 0}, {-1, 0, 1}, {math.NaN(), 0, 1}, {1, 0, math.Inf(1)}} {
		cov := mat.NewSymDense(2, []float64{bad[0], bad[1], bad[1], bad[2]})
		if g, err := gauss.FromMoments([]float64{1, 2}, cov); !errors.Is(err, gauss.ErrImproper) || g != nil {
			t.Errorf("covariance %v: %v, error %v", bad, g, err)
		}
	}
	eye := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		if g, err := gauss.FromMoments([]float64{x, 0}, eye); !errors.Is(err, gauss.ErrImproper) || g != nil {
			t.Errorf("mean %v: %v, error %v", x, g, err)
		}
	}
}

func TestStandard(t *testing.T) {
	for _, m := range []int{1, 3, 130} {
		g := gauss.NewGaussian(m)
		cov := mat.NewSymDense(m, nil)
		g.Covariance(cov)
		eye := gauss.NewNatural(m)
		eye.SetStandard()
		if !mat.Equal(cov, eye.P) || !mat.Equal(g.Natural().P, eye.P) || g.LogPartition() != 0 ||
			slices.ContainsFunc(g.Mean(), func(x float64) bool { return x != 0 }) {
			t.Errorf("the standard Gaussian of %d dimensions is not", m)
		}
	}
}
