package infer_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"

	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/level3"
)

// BenchmarkSweep times the sweeps of the methods on a Gaussian process with n inputs,
// each beside a product of two matrices of that size. It reports how long a sweep takes,
// at what speed it does its operations, how fast the product is, and how many times
// longer the sweep takes than at that speed.
//
// A sweep of parallel EP takes n³ operations, a third each for the precision, its factor
// and the marginals; a Newton step of Laplace's method does without the last, and a step
// of VI finds its length with a third more.
func BenchmarkSweep(b *testing.B) {
	const sweeps = 6
	for _, n := range []int{1000, 3000} {
		model := problems.Classification(b, n, 1)
		cube := float64(n) * float64(n) * float64(n)
		for _, method := range []struct {
			name       string
			operations float64
			fit        func(lap func()) error
		}{
			{"ep", cube, func(lap func()) error {
				trace := func(infer.Sweep) { lap() }
				_, err := infer.EP{Schedule: infer.Parallel, Tolerance: 1e-300, MaxSweeps: sweeps, Trace: trace}.Fit(ctx, model)
				return err
			}},
			{"laplace", 2 * cube / 3, func(lap func()) error {
				trace := func(int, float64, float64) { lap() }
				_, err := infer.Laplace{Tolerance: 1e-300, MaxIterations: sweeps, Trace: trace}.Fit(ctx, model)
				return err
			}},
			{"vi", 4 * cube / 3, func(lap func()) error {
				trace := func(infer.VIStep) { lap() }
				_, err := infer.VI{Tolerance: 1e-300, MaxIterations: sweeps, Trace: trace}.Fit(ctx, model)
				return err
			}},
		} {
			b.Run(fmt.Sprintf("method=%s/n=%d", method.name, n), func(b *testing.B) {
				w := newStopwatch(b, n)
				for range b.N { // b.Loop would run the first of several -cpu before setting it
					w.start = time.Time{} // the first sweep comes after other work
					if err := method.fit(w.lap); err != nil {
						b.Fatal(err)
					}
				}
				w.report(b, method.operations)
			})
		}
	}
}

// stopwatch times what happens between calls of lap, and a product of two matrices after
// each.
type stopwatch struct {
	n       int
	kernels level3.Implementation
	x, y, z []float64
	start   time.Time

	took, perOperation []float64 // seconds
}

func newStopwatch(b *testing.B, n int) *stopwatch {
	kernels, err := level3.Selected()
	if err != nil {
		b.Fatal(err)
	}
	w := &stopwatch{n: n, kernels: kernels, x: make([]float64, n*n), y: make([]float64, n*n), z: make([]float64, n*n)}
	for i := range w.x {
		w.x[i], w.y[i] = float64(i%7), float64(i%11)
	}
	return w
}

func (w *stopwatch) lap() {
	end := time.Now()
	n := w.n
	w.kernels.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, w.x, n, w.y, n, 0, w.z, n)
	if !w.start.IsZero() {
		w.took = append(w.took, end.Sub(w.start).Seconds())
		w.perOperation = append(w.perOperation, time.Since(end).Seconds()/(2*float64(n)*float64(n)*float64(n)))
	}
	w.start = time.Now()
}

func (w *stopwatch) report(b *testing.B, operations float64) {
	ratios := make([]float64, len(w.took))
	for i, t := range w.took {
		ratios[i] = t / (operations * w.perOperation[i])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(1e3*median(w.took), "ms/sweep")
	b.ReportMetric(operations/median(w.took)/1e9, "GFLOP/s")
	b.ReportMetric(1/median(w.perOperation)/1e9, "product-GFLOP/s")
	b.ReportMetric(median(ratios), "times-ideal")
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return xs[len(xs)/2]
}
