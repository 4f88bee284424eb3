package corrected

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
)

// tabulatedProblem is a probit process at inputs in some dimensions, and views of the same
// process elsewhere.
func tabulatedProblem(tb testing.TB, seed uint64, n, elsewhere, dim int, variance, length float64) (*infer.Model, *infer.Result, *gauss.Views) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	x := mat.NewDense(n+elsewhere, dim, nil)
	for i := range n + elsewhere {
		for k := range dim {
			x.Set(i, k, rng.NormFloat64())
		}
	}
	gram := mat.NewSymDense(n+elsewhere, nil)
	for i := range n + elsewhere {
		for j := range n + elsewhere {
			d := 0.0
			for k := range dim {
				e := (x.At(i, k) - x.At(j, k)) / length
				d += e * e
			}
			gram.SetSym(i, j, variance*(1+math.Sqrt(3*d))*math.Exp(-math.Sqrt(3*d)))
		}
		gram.SetSym(i, i, variance*(1+1e-9))
	}
	root, err := gauss.NewRoot(gram.SliceSym(0, n).(*mat.SymDense))
	if err != nil {
		tb.Fatal(err)
	}
	cross, own := mat.NewDense(elsewhere, n, nil), make([]float64, elsewhere)
	for i := range elsewhere {
		own[i] = variance
		for j := range n {
			cross.Set(i, j, gram.At(n+i, j))
		}
	}
	m := &infer.Model{Views: root.Views()}
	for i := range n {
		y := -1.0
		if 1.5*x.At(i, 0)+math.Sin(2*x.At(i, 1))+rng.NormFloat64() > 0 {
			y = 1
		}
		m.Terms = append(m.Terms, factor.Probit{Y: y})
	}
	r, err := infer.EP{Schedule: infer.Parallel}.Fit(context.Background(), m)
	if err != nil || !r.Status.Converged {
		tb.Fatal(err, r.Status)
	}
	return m, &r.Result, root.Project(cross, own)
}

// What is read from tables is what evaluating every term gives, to a hundredth of the
// correction itself: it leaves out more than that.
func TestTabulatedCorrections(t *testing.T) {
	const n, elsewhere = 150, 60
	for _, c := range []struct {
		dim              int
		variance, length float64
	}{{2, 1, 1}, {2, 20, 1}, {5, 4, 2}, {5, 100, 4}, {20, 10, 5}, {20, 0.1, 3}} {
		m, r, views := tabulatedProblem(t, 7, n, elsewhere, c.dim, c.variance, c.length)
		quick, slow := New(m, r, Factorised), New(m, r, Factorised)
		if slow.tables = nil; quick.tables == nil {
			t.Fatal("nothing was tabulated")
		}
		var p, mean, variance [3][]float64
		for k, post := range []infer.Posterior{slow, quick, infer.Gaussian{Gaussian: r.Q}} {
			p[k], mean[k], variance[k] = make([]float64, elsewhere), make([]float64, elsewhere), make([]float64, elsewhere)
			post.Expect(views, factor.Probit{Y: 1}, p[k], make([]float64, elsewhere))
			post.Moments(views, mean[k], variance[k])
		}
		worst, moved := 0.0, 0.0
		for j := range elsewhere {
			worst = max(worst, math.Abs(p[1][j]-p[0][j]), math.Abs(mean[1][j]-mean[0][j])/math.Sqrt(1+variance[0][j]), math.Abs(variance[1][j]-variance[0][j])/(1+variance[0][j]))
			moved = max(moved, math.Abs(p[0][j]-p[2][j]))
		}
		t.Logf("%v: tables are off by %.2g where the correction is up to %.2g", c, worst, moved)
		if worst > moved/100 {
			t.Errorf("%v: off by %v", c, worst)
		}
	}
}

// What tables take is counted before they are made, of a narrow process and of a wide one.
func TestTableBytes(t *testing.T) {
	for _, variance := range []float64{1, 30} {
		m, r, _ := tabulatedProblem(t, 1, 20, 1, 2, variance, 1)
		c := New(m, r, Factorised)
		made := 0
		for n := nodes(0); n <= nodes(math.Sqrt(variance)); n += nodeStep {
			for _, table := range c.tables[(n-1)/nodeStep]() {
				made += 8 * len(table.logs)
			}
		}
		if got := c.TableBytes(); got != float64(made) {
			t.Errorf("variance %v: %v bytes, and tables take %v", variance, got, made)
		}
	}
}
