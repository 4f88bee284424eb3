//go:build !race

package infer_test

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/problems"
)

// A run of thirty sweeps allocates no more than one of twenty: what a sweep needs is
// made before the first, apart from the memory of the accelerated parallel sweep,
// which is full by then.
func TestSweepsDoNotAllocate(t *testing.T) {
	p, labels := problems.Process(t, 25, 1)
	m, err := p.Classify(labels)
	if err != nil {
		t.Fatal(err)
	}
	calibrated := *m
	z := mat.NewDense(40, 1, nil)
	for j := range 40 {
		z.Set(j, 0, float64(j)/2-10)
	}
	calibrated.Points = p.At(z)
	if calibrated.Utility, err = decision.NewUtility(decision.Probit(), 40, nil, decision.Table{{1, 0}, {0.5, 1}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		model    *infer.Model
		schedule infer.Schedule
	}{
		{"EP, sequential", m, infer.Sequential},
		{"EP, parallel", m, infer.Parallel},
		{"Loss-EP, sequential", &calibrated, infer.Sequential},
		{"Loss-EP, parallel", &calibrated, infer.Parallel},
	} {
		run := func(sweeps int) float64 {
			// Damping keeps the residual falling, and the tolerance is out of reach, so
			// that all sweeps are made.
			ep := infer.EP{Schedule: c.schedule, Damping: 0.3, Tolerance: 1e-300, MaxSweeps: sweeps}
			return testing.AllocsPerRun(5, func() {
				if r, err := ep.Fit(context.Background(), c.model); err != nil || r.Status.Sweeps < sweeps {
					t.Fatal(err, r.Status)
				}
			})
		}
		// A collection of garbage may empty a pool of buffers once or twice.
		if few, many := run(20), run(30); many > few+3 {
			t.Errorf("%s: %v allocations in 20 sweeps, %v in 30", c.name, few, many)
		}
	}
}

// Runs that follow each other share what is large: beyond the first, one allocates
// little more than the two matrices of its result.
func TestRunsShareRoom(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n = 250
	m := problems.Classification(t, n, 1)
	for name, fit := range map[string]func() error{
		"EP":      func() error { _, err := infer.EP{Schedule: infer.Parallel}.Fit(context.Background(), m); return err },
		"Laplace": func() error { _, err := infer.Laplace{}.Fit(context.Background(), m); return err },
	} {
		var bytes [2]float64
		for k := range bytes {
			var start, end runtime.MemStats
			runtime.ReadMemStats(&start)
			if err := fit(); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&end)
			bytes[k] = float64(end.TotalAlloc - start.TotalAlloc)
		}
		if matrix := 8.0 * n * n; bytes[1] > 2.6*matrix {
			t.Errorf("%s: the second run allocates %.1f matrices, the first %.1f", name, bytes[1]/matrix, bytes[0]/matrix)
		}
	}
}
