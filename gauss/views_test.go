package gauss_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

func TestViewsRead(t *testing.T) {
	forProblems(t, func(t *testing.T, p *problem) {
		n, m := p.a.Dims()
		if p.views.Len() != n || p.views.Dim() != m {
			t.Fatalf("%d views of %d dimensions", p.views.Len(), p.views.Dim())
		}
		x, w := make([]float64, m), make([]float64, n)
		for k := range x {
			x[k] = p.rng.NormFloat64()
		}
		for i := range w {
			w[i] = p.rng.NormFloat64()
		}
		var want mat.VecDense
		want.MulVec(p.a, mat.NewVecDense(m, x))
		for i := range n {
			want.SetVec(i, want.AtVec(i)+p.views.Offset(i))
		}
		got := make([]float64, n)
		p.views.At(got, x)
		equal(t, "At", mat.NewVecDense(n, got), &want, tolerance)

		// Pull adds the transpose.
		var wantPull mat.VecDense
		wantPull.MulVec(p.a.T(), mat.NewVecDense(n, w))
		wantPull.AddVec(&wantPull, mat.NewVecDense(m, x))
		pull := slices.Clone(x)
		p.views.Pull(pull, w)
		equal(t, "Pull", mat.NewVecDense(m, pull), &wantPull, tolerance)
	})
}

// TestSlice: a slice of views predicts what they predict, blocks of zeros included.
func TestSlice(t *testing.T) {
	p := newProblem(300, 150, "leading")
	g := p.gaussian(t)
	var ws gauss.Workspace
	mean, variance := make([]float64, 300), make([]float64, 300)
	g.Predict(p.views, mean, variance, &ws)
	for _, ends := range [][2]int{{0, 300}, {0, 1}, {299, 300}, {17, 230}, {128, 256}} {
		i, j := ends[0], ends[1]
		part := p.views.Slice(i, j)
		if part.Len() != j-i || part.Offset(0) != p.views.Offset(i) || part.Residual(0) != p.views.Residual(i) {
			t.Errorf("slice [%d, %d) is not what it was cut from", i, j)
		}
		gotMean, gotVar := make([]float64, j-i), make([]float64, j-i)
		g.Predict(part, gotMean, gotVar, &ws)
		equal(t, "mean of a slice", mat.NewVecDense(j-i, gotMean), mat.NewVecDense(j-i, mean[i:j]), tolerance)
		equal(t, "variance of a slice", mat.NewVecDense(j-i, gotVar), mat.NewVecDense(j-i, variance[i:j]), tolerance)
	}
}

func TestNewViewsPanics(t *testing.T) {
	a := mat.NewDense(2, 3, nil)
	for what, try := range map[string]func(){
		"offsets":           func() { gauss.NewViews(a, make([]float64, 3), nil) },
		"residuals":         func() { gauss.NewViews(a, nil, make([]float64, 1)) },
		"negative residual": func() { gauss.NewViews(a, nil, []float64{0, -1e-9}) },
	} {
		t.Run(what, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			try()
		})
	}
	if v := gauss.NewViews(a, nil, nil); v.Offset(1) != 0 || v.Residual(1) != 0 {
		t.Error("nil offsets and residuals are not zero")
	}
}
