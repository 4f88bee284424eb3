package gp_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// simulated is the paper's simulation with n inputs and c points: inputs uniform on
// [−10, 10], the process with log σ = 1.5 and log ℓ = 1 drawn from its prior, labels
// by a probit, utility [[1, 0], [½, 1]].
func simulated(tb testing.TB, n, c int, seed uint64) *infer.Model {
	rng := rand.New(rand.NewPCG(seed, 15))
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, 20*rng.Float64()-10)
	}
	p, err := gp.New(kernel.RBF(math.Exp(3), math.E), x)
	if err != nil {
		tb.Fatal(err)
	}
	f, v := make([]float64, n), make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	p.Views().At(f, v)
	labels := make([]int, n)
	for i := range f {
		if f[i]+rng.NormFloat64() > 0 {
			labels[i] = 1
		}
	}
	m, err := p.Classify(labels)
	if err != nil {
		tb.Fatal(err)
	}
	if c > 0 {
		z := mat.NewDense(c, 1, nil)
		for j := range c {
			z.Set(j, 0, 20*rng.Float64()-10)
		}
		m.Points = p.At(z)
		if m.Utility, err = decision.NewUtility(decision.Probit(), c, nil, decision.Table{{1, 0}, {0.5, 1}}); err != nil {
			tb.Fatal(err)
		}
	}
	return m
}

func benchmarkFit(b *testing.B, ep infer.EP, n, c int) {
	m := simulated(b, n, c, 1)
	sweeps := 0
	for b.Loop() {
		r, err := ep.Fit(context.Background(), m)
		if err != nil || !r.Status.Converged {
			b.Fatal(err, r.Status)
		}
		sweeps = r.Status.Sweeps
	}
	b.ReportMetric(float64(sweeps), "sweeps")
}

func BenchmarkFit(b *testing.B) {
	b.Run("method=ep/n=15", func(b *testing.B) { benchmarkFit(b, infer.EP{}, 15, 0) })
	b.Run("method=loss-ep/n=15/points=1000", func(b *testing.B) { benchmarkFit(b, infer.EP{}, 15, 1000) })
	b.Run("method=ep/n=15/schedule=parallel", func(b *testing.B) { benchmarkFit(b, infer.EP{Schedule: infer.Parallel}, 15, 0) })
	b.Run("method=ep/n=200/schedule=parallel", func(b *testing.B) { benchmarkFit(b, infer.EP{Schedule: infer.Parallel}, 200, 0) })
	b.Run("method=ep/n=200", func(b *testing.B) { benchmarkFit(b, infer.EP{}, 200, 0) })
}

// BenchmarkSweep fits EP and Loss-EP with the parallel schedule and gives the time of
// an average sweep, and beside them one product of two matrices of that size by gonum's
// own code. Loss-EP does not come to its utility in every sweep; one that does takes
// about four times as long as one that does not.
func BenchmarkSweep(b *testing.B) {
	const n = 1000
	for _, c := range []int{0, n} {
		b.Run(fmt.Sprintf("n=%d/points=%d", n, c), func(b *testing.B) {
			m := simulated(b, n, c, 1)
			sweeps := 0
			for b.Loop() {
				r, err := infer.EP{Schedule: infer.Parallel, Tolerance: 1e-6}.Fit(context.Background(), m)
				if err != nil || !r.Status.Converged {
					b.Fatal(err, r.Status)
				}
				sweeps += r.Status.Sweeps
			}
			b.ReportMetric(float64(sweeps)/float64(b.N), "sweeps")
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(sweeps), "ms/sweep")
		})
	}
	b.Run(fmt.Sprintf("gonum Dgemm n=%d", n), func(b *testing.B) {
		x, y, z := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
		for i := range x {
			x[i], y[i] = float64(i%7), float64(i%11)
		}
		for b.Loop() {
			gonum.Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, y, n, 0, z, n)
		}
	})
}
