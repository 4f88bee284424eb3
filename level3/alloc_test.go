//go:build !race

package level3

import (
	"runtime/debug"
	"testing"
)

// TestAllocations finds none once the pools are filled. (The race detector makes
// pools forget.)
func TestAllocations(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, impl := range everything() {
		if impl.ks == nil {
			continue
		}
		for _, op := range ops {
			for _, p := range variants(problem{op: op.name, m: 210, n: 200, k: 220, alpha: 1, beta: 0, seed: 7}) {
				o := p.make(func(n int) []float64 { return make([]float64, n) })
				if n := testing.AllocsPerRun(1, func() { p.call(impl, o) }); n > 0 {
					t.Errorf("%s: %v allocates %g times", impl.Name(), p, n)
				}
			}
		}
	}
}
