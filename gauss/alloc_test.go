//go:build !race

package gauss_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/level3"
)

// TestSteadyStateAllocates nothing in a sweep: sites in, marginals out. (The race
// detector makes pools forget.)
func TestSteadyStateAllocates(t *testing.T) {
	if kernels, _ := level3.Selected(); kernels.Name() == "gonum" {
		t.Skip("gonum's own code allocates in a factorisation")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, cores := range []int{1, 2} {
		before := runtime.GOMAXPROCS(cores)
		const n, m = 420, 400 // work is shared out from about 100 on
		p := newProblem(n, m, "leading")
		var ws gauss.Workspace
		nat, tilted, g := gauss.NewNatural(m), gauss.NewNatural(m), gauss.NewGaussian(m)
		mean, variance := make([]float64, n), make([]float64, n)
		d1, d2 := make([]float64, n), make([]float64, n)
		for what, step := range map[string]func(){
			"TimesScalars": func() { nat.SetStandard(); nat.TimesScalars(p.views, p.sites, &ws) },
			"SetPosterior": func() { nat.SetPosterior(p.views, p.sites, &ws) },
			"Exchange":     func() { _ = g.Exchange(nat) },
			"Marginals":    func() { g.Marginals(p.views, mean, variance, &ws) },
			"Mean":         func() { _ = g.Mean() },
			"Tilt":         func() { _ = g.Tilt(tilted, p.views, d1, d2, &ws) },
		} {
			if !comesToRest(step, cores) {
				t.Errorf("%s on %d cores goes on allocating", what, cores)
			}
		}
		runtime.GOMAXPROCS(before)
	}
}

// comesToRest reports whether calls of step allocate nothing in the end: when there are
// buffers for every core that comes to ask for one. Starting a goroutine takes some
// memory, until the runtime has enough of them to use again; that is less than a single
// vector of a sweep.
func comesToRest(step func(), cores int) bool {
	const runs, patience = 10, 30
	allowed := uint64(0)
	if cores > 1 {
		allowed = runs * 1024
	}
	for range patience {
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		for range runs {
			step()
		}
		runtime.ReadMemStats(&end)
		if end.TotalAlloc-start.TotalAlloc <= allowed {
			return true
		}
	}
	return false
}
