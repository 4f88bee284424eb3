package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	memoryRows    = flag.Int("rows", 0, "rows of the tables of BenchmarkMemory, with models from 32 inducing points; 0: a few, with default models")
	memoryColumns = flag.Int("columns", 8, "numeric columns of the tables of BenchmarkMemory")
	memoryServer  = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// BenchmarkMemory says what every verb takes for a table of numeric columns: the most that its heap
// and what is resident came to, and by twice as many rows what is allocated for each more. Models
// have 500 rows where the table is not the training one, or half as many as there are with -rows.
func BenchmarkMemory(b *testing.B) {
	dir := b.TempDir()
	run := func(args ...string) error {
		var out, errs bytes.Buffer
		if code := run(b.Context(), args, nil, &out, &errs); code != 0 && code != alarmCode {
			return fmt.Errorf("%v: %s", args, errs.String())
		}
		return nil
	}
	model, cost := filepath.Join(dir, "model"), []string{"--target", "y", "--positive", "1", "--cost", "fn=5,fp=1"}
	learned, fit := 500, cost
	if *memoryRows > 0 {
		learned, fit = *memoryRows/2, slices.Concat(cost, []string{"--inducing", "32", "--kernel", "linear + constant"})
	}
	if err := run(slices.Concat([]string{"fit", simulatedRows(b, dir, learned)}, fit, []string{"-o", model})...); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		rows  int // by default, and as a part of -rows
		share int
		args  []string
	}{
		{"fit", 5000, 1, slices.Concat([]string{"fit", "TABLE"}, fit, []string{"-o", "OUT"})},
		{"audit", 200, 10, slices.Concat([]string{"audit", "TABLE"}, fit, []string{"--out", "OUT"})},
		{"audit --probability", 5000, 1, slices.Concat([]string{"audit", "SCORES"}, cost, []string{"--probability", "probability", "--out", "OUT"})},
		{"decide", 50_000, 1, []string{"decide", model, "TABLE", "-o", "OUT.csv"}},
		{"decide --probability", 50_000, 1, []string{"decide", "SCORES", "--cost", "fn=5,fp=1", "--probability", "probability", "-o", "OUT.csv"}},
		{"predict", 50_000, 1, []string{"predict", model, "TABLE", "-o", "OUT.csv"}},
		{"value", 2000, 1, []string{"value", model, "TABLE", "-o", "OUT.csv"}},
		{"value --ask", 500, 100, []string{"value", model, "TABLE", "--ask", "x1=0.1", "-o", "OUT.csv"}},
		{"update", 200, 1, []string{"update", model, "TABLE", "-o", "OUT"}},
		{"monitor", 20_000, 1, []string{"monitor", model, "TABLE", "--window", "5000"}},
		{"show", 20_000, 1, []string{"show", model}},
		{"serve", 20_000, 1, []string{"serve", model, "--addr", "127.0.0.1:0"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			if *memoryRows > 0 {
				c.rows = *memoryRows / 2 / c.share
			}
			for b.Loop() {
				var allocated, peak, resident [2]float64
				for k := range 2 {
					of := simulatedRows(b, dir, (k+1)*c.rows)
					put := strings.NewReplacer("TABLE", of, "SCORES", of+"-scored.csv", "OUT", filepath.Join(dir, fmt.Sprint(c.name, k)))
					args := make([]string, len(c.args))
					for i, a := range c.args {
						args[i] = put.Replace(a)
					}
					if slices.Contains(c.args, "SCORES") {
						if err := run("predict", model, of, "--keep", "-o", of+"-scored.csv"); err != nil {
							b.Fatal(err)
						}
					}
					var err error
					allocated[k], peak[k], resident[k] = memoryTakenBy(func() {
						if c.name == "serve" {
							err = serveRows(b.Context(), args, of)
						} else {
							err = run(args...)
						}
					})
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(peak[1]/1e6, "peak-MB")
				b.ReportMetric(resident[1]/1e6, "resident-MB")
				b.ReportMetric((peak[1]-peak[0])/float64(c.rows), "peak-B/row")
				b.ReportMetric((allocated[1]-allocated[0])/float64(c.rows), "allocated-B/row")
			}
			b.ReportMetric(float64(2*c.rows), "rows")
			b.ReportMetric(0, "ns/op") // the time says nothing of memory
		})
	}
}

// serveRows serves a model, and has eight clients at once ask it to decide the rows of a table, a
// hundred in a request.
func serveRows(ctx context.Context, args []string, of string) error {
	f, err := os.Open(of)
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, end := context.WithCancel(ctx)
	defer end()
	said, errs := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx, args, nil, errs, errs)
		errs.Close()
	}()
	address := ""
	for lines := bufio.NewScanner(said); address == "" && lines.Scan(); {
		address = memoryServer.FindString(lines.Text())
	}
	go io.Copy(io.Discard, said)
	bodies := make(chan []byte)
	failed := make([]error, 8)
	var clients sync.WaitGroup
	for k := range failed {
		clients.Go(func() {
			for body := range bodies {
				r, err := http.Post("http://"+address+"/v1/models/model/decide", "application/json", bytes.NewReader(body))
				if err == nil {
					_, err = io.Copy(io.Discard, r.Body)
					if err == nil && r.StatusCode != http.StatusOK {
						err = errors.New(r.Status)
					}
					r.Body.Close()
				}
				failed[k] = errors.Join(failed[k], err)
			}
		})
	}
	in := bufio.NewScanner(f)
	in.Scan()
	names := strings.Split(in.Text(), ",")
	for more := true; more; {
		body := []byte(`{"rows": [`)
		n := 0
		for ; n < 100; n++ {
			if more = in.Scan(); !more {
				break
			}
			if n > 0 {
				body = append(body, ',')
			}
			for j, cell := range strings.Split(in.Text(), ",")[:len(names)-1] {
				body = fmt.Appendf(body, "%c%q:%s", "{,"[min(j, 1)], names[j], cell)
			}
			body = append(body, '}')
		}
		if n > 0 {
			bodies <- append(body, "]}"...)
		}
	}
	close(bodies)
	clients.Wait()
	end()
	<-ended
	return errors.Join(failed...)
}

// memoryTakenBy is how many bytes f allocates, the most of them that are in use at a time, looked at every
// millisecond, and the most that is resident, where Linux tells.
func memoryTakenBy(f func()) (allocated, peak, resident float64) {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // what was resident before
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
	status, _ := os.ReadFile("/proc/self/status")
	if _, most, found := strings.Cut(string(status), "VmHWM:"); found {
		_, _ = fmt.Sscan(most, &resident)
	}
	return float64(look[0].Value.Uint64() - before), peak, 1024 * resident
}

// simulatedRows is a table of so many rows, the same at every call.
func simulatedRows(b *testing.B, dir string, n int) string {
	name := filepath.Join(dir, fmt.Sprint("rows", n, ".csv"))
	if _, err := os.Stat(name); err == nil {
		return name
	}
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	text := bufio.NewWriter(f)
	for j := range *memoryColumns {
		fmt.Fprintf(text, "x%d,", j+1)
	}
	text.WriteString("y\n")
	rng := rand.New(rand.NewPCG(1, 0))
	for range n {
		sum := rng.NormFloat64()
		for j := range *memoryColumns {
			x := rng.NormFloat64()
			if j < 3 {
				sum += x * []float64{0.8, -0.5, 0.3}[j]
			}
			fmt.Fprintf(text, "%.6f,", x)
		}
		fmt.Fprintf(text, "%d\n", map[bool]int{true: 1}[sum > 1])
	}
	if err := text.Flush(); err != nil {
		b.Fatal(err)
	}
	return name
}
