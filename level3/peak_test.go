package level3

import (
	"fmt"
	"os"
	"testing"
)

func TestPeak(t *testing.T) {
	if os.Getenv("PEAK") == "" {
		t.Skip()
	}
	for _, ks := range detect() {
		for _, k := range []int{64, 128, 192, 256, 384} {
			a := make([]float64, k*ks.mr)
			b := make([]float64, k*ks.nr)
			c := make([]float64, ks.mr*ks.nr*4)
			best := 1e99
			for range 20 {
				t0 := cpuTime()
				for range 20000 {
					ks.gemm(k, 1, &a[0], &b[0], &c[0], ks.nr, true)
				}
				best = min(best, (cpuTime()-t0)/20000)
			}
			fmt.Println(ks.name, k, 2*float64(k*ks.mr*ks.nr)/best/1e9)
		}
	}
}
