package level3

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"
	"time"
)

func TestScale(t *testing.T) {
	if os.Getenv("SCALE") == "" {
		t.Skip()
	}
	impl := Available()[0]
	for _, n := range []int{500, 1000, 2000} {
		g := make([]float64, n*n)
		out := make([]float64, n*n)
		def := make([]float64, n*n)
		for i := range g {
			g[i] = float64((i*7919)%1000)/1000 - 0.5
		}
		for i := range n {
			def[i*n+i] = float64(n)
		}
		for i := range def {
			def[i] += g[i] * 0.1
		}
		for _, o := range []struct {
			n string
			f func(routines, int, []float64, []float64, []float64)
		}{{"gemm", gemm}, {"syrk", syrk}, {"chol", cholesky}, {"trsm", trsm}, {"inv", inverse}, {"tri", triSymProduct}} {
			best := [3]float64{0, math.Inf(1), math.Inf(1)}
			for range 40 * 1000 / n {
				for p := 1; p <= 2; p++ {
					runtime.GOMAXPROCS(p)
					if o.n == "chol" || o.n == "inv" {
						copyLower(out, def, n)
					}
					t0 := time.Now()
					switch o.n {
					case "chol":
						impl.Cholesky('L', n, out, n)
					case "inv":
						impl.CholeskyInverse('L', n, out, n)
					default:
						o.f(impl, n, g, def, out)
					}
					best[p] = min(best[p], time.Since(t0).Seconds())
				}
			}
			fmt.Printf("%s n=%d  1: %.2fms 2: %.2fms  speedup %.2f\n", o.n, n, best[1]*1e3, best[2]*1e3, best[1]/best[2])
		}
	}
}
