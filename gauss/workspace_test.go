package gauss_test

import (
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// everything runs all operations that share a workspace and returns what they say.
func everything(t testing.TB, p *problem, ws *gauss.Workspace) []float64 {
	t.Helper()
	n, m := p.a.Dims()
	g := gauss.NewGaussian(m)
	if err := g.Exchange(p.natural(ws)); err != nil {
		t.Fatal(err)
	}
	mean, variance := make([]float64, n), make([]float64, n)
	g.Marginals(p.views, mean, variance, ws)
	cross := mat.NewSymDense(n, nil)
	g.Cross(p.views, cross, ws)
	d1, d2 := make([]float64, n), make([]float64, n)
	for i := range n {
		d1[i], d2[i] = 0.3/float64(n), -0.1/float64(n)
	}
	dst := gauss.NewNatural(m)
	if err := g.Tilt(dst, p.views, d1, d2, ws); err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(mean, variance, dst.H, []float64{g.LogPartition()})
	for i := range n {
		for j := i; j < n; j++ {
			all = append(all, cross.At(i, j))
		}
	}
	for i := range m {
		for j := i; j < m; j++ {
			all = append(all, dst.P.At(i, j), g.Natural().P.At(i, j))
		}
	}
	return all
}

// TestWorkspaceKeepsNothing: what an earlier problem left behind does not show.
func TestWorkspaceKeepsNothing(t *testing.T) {
	var shared gauss.Workspace
	for _, p := range problems() {
		if !slices.Equal(everything(t, p, &shared), everything(t, p, new(gauss.Workspace))) {
			t.Errorf("%s: a used workspace gives other numbers", p.name)
		}
	}
}

// TestAnyNumberOfCores: the same bytes on one core and on more, at sizes where the
// work is shared out.
func TestAnyNumberOfCores(t *testing.T) {
	for _, zeros := range []string{"none", "leading", "trailing"} {
		p := newProblem(333, 290, zeros)
		var results [][]float64
		for _, cores := range []int{1, 2, 5} {
			before := runtime.GOMAXPROCS(cores)
			results = append(results, everything(t, p, new(gauss.Workspace)))
			runtime.GOMAXPROCS(before)
		}
		if !slices.Equal(results[0], results[1]) || !slices.Equal(results[0], results[2]) {
			t.Errorf("%s: the number of cores changes the result", p.name)
		}
	}
}
