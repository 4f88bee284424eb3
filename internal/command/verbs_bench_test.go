package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkMemory says what every verb takes for a table of eight numeric columns: the most that
// its heap came to, and by twice as many rows what is allocated for each more. Models have 500
// rows where the table is not the training one.
func BenchmarkMemory(b *testing.B) {
	dir := b.TempDir()
	run := func(args ...string) {
		var out, errs bytes.Buffer
		if code := run(b.Context(), args, nil, &out, &errs); code != 0 {
			b.Fatalf("%v: %s", args, errs.String())
		}
	}
	model := filepath.Join(dir, "model")
	cost := []string{"--target", "y", "--positive", "1", "--cost", "fn=5,fp=1"}
	run(slices.Concat([]string{"fit", simulatedRows(b, dir, 500)}, cost, []string{"-o", model})...)
	for _, c := range []struct {
		verb string
		rows int
		args []string
	}{
		{"fit", 5000, append(slices.Clone(cost), "-o", "OUT")},
		{"audit", 200, append(slices.Clone(cost), "--out", "OUT")},
		{"decide", 50_000, []string{"-o", "OUT.csv"}},
		{"predict", 50_000, []string{"-o", "OUT.csv"}},
		{"value", 2000, []string{"-o", "OUT.csv"}},
		{"update", 200, []string{"-o", "OUT"}},
		{"monitor", 20_000, []string{"--window", "5000"}},
	} {
		b.Run(c.verb, func(b *testing.B) {
			for b.Loop() {
				var allocated, peak [2]float64
				for k := range 2 {
					args := []string{c.verb}
					if c.verb != "fit" && c.verb != "audit" {
						args = append(args, model)
					}
					args = append(args, simulatedRows(b, dir, (k+1)*c.rows))
					for _, a := range c.args {
						args = append(args, strings.Replace(a, "OUT", filepath.Join(dir, fmt.Sprint(c.verb, k)), 1))
					}
					allocated[k], peak[k] = heapOf(func() { run(args...) })
				}
				b.ReportMetric(peak[1]/1e6, "peak-MB")
				b.ReportMetric((peak[1]-peak[0])/float64(c.rows), "peak-B/row")
				b.ReportMetric((allocated[1]-allocated[0])/float64(c.rows), "allocated-B/row")
			}
			b.ReportMetric(float64(2*c.rows), "rows")
			b.ReportMetric(0, "ns/op") // the time says nothing of memory
		})
	}
}

// heapOf is how many bytes f allocates, and the most that are in use at a time, looked at every
// millisecond.
func heapOf(f func()) (allocated, peak float64) {
	runtime.GC()
	look := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(look)
	before := look[0].Value.Uint64()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		case <-time.After(time.Millisecond):
		}
		metrics.Read(look)
		peak = max(peak, float64(look[1].Value.Uint64()))
	}
	return float64(look[0].Value.Uint64() - before), peak
}

// simulatedRows is a table of so many rows, the same at every call.
func simulatedRows(b *testing.B, dir string, n int) string {
	name := filepath.Join(dir, fmt.Sprint("rows", n, ".csv"))
	rng := rand.New(rand.NewPCG(1, 0))
	var text bytes.Buffer
	text.WriteString("x1,x2,x3,x4,x5,x6,x7,x8,y\n")
	for range n {
		sum := rng.NormFloat64()
		for j := range 8 {
			x := rng.NormFloat64()
			sum += x * []float64{0.8, -0.5, 0.3, 0, 0, 0, 0, 0}[j]
			fmt.Fprintf(&text, "%.6f,", x)
		}
		fmt.Fprintf(&text, "%d\n", map[bool]int{true: 1}[sum > 1])
	}
	if err := os.WriteFile(name, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return name
}
