package level3

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func cpuTime() float64 {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return float64(r.Utime.Sec) + float64(r.Utime.Usec)*1e-6 + float64(r.Stime.Sec) + float64(r.Stime.Usec)*1e-6
}

func TestTune(t *testing.T) {
	if os.Getenv("TUNE") == "" {
		t.Skip()
	}
	debug.SetGCPercent(-1)
	f := map[string]func(routines, int, []float64, []float64, []float64){"gemm": gemm, "chol": cholesky, "syrk": syrk, "trsm": trsm, "trmm": trmm, "inv": inverse, "tri": triSymProduct}
	fl := map[string]float64{"gemm": 2, "chol": 1. / 3, "syrk": 1, "trsm": 1, "trmm": 1, "inv": 2. / 3, "tri": 1. / 3}
	for _, spec := range strings.Fields(os.Getenv("TUNE")) {
		x := strings.Split(spec, ":")
		n, _ := strconv.Atoi(x[1])
		body := f[x[0]]
		flops := fl[x[0]] * float64(n) * float64(n) * float64(n)
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
		line := fmt.Sprintf("%s n=%d:", x[0], n)
		for _, s := range sides() {
			if len(x) > 2 && !strings.Contains(x[2], s.name) {
				continue
			}
			body(s.impl, n, g, def, out)
			reps := 1 + int(1e8/flops)
			if s.name == "gonum" {
				reps = 1 + reps/10
			}
			best := 1e99
			for range 7 {
				t0 := cpuTime()
				for range reps {
					body(s.impl, n, g, def, out)
				}
				best = min(best, (cpuTime()-t0)/float64(reps))
			}
			line += fmt.Sprintf("  %s %.1f", s.name, flops/best/1e9)
		}
		fmt.Println(line)
	}
}

func sides() []struct {
	name string
	impl routines
} {
	b := benchmarked()
	if os.Getenv("NOLIM") != "" {
		for i := range b {
			if x, ok := b[i].impl.(Implementation); ok {
				b[i].impl = withoutLimits(x)
			}
		}
	}
	return b
}
