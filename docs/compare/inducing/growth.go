package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/report"
	"github.com/lossep/lossep/search"
)

// labels are those of probit terms, and take a byte each.
type labels []int8

func (l labels) Len() int                 { return len(l) }
func (l labels) Term(i int) factor.Factor { return factor.NewProbit(int(l[i])) }

// growth measures a pass over more and more rows of six columns, seen from 100 points,
// with views that are made again in the pass.
func growth(ctx context.Context) error {
	const points, columns = 100, 6
	sizes := []int{10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000}
	rng := rand.New(rand.NewPCG(1, 1))
	x := mat.NewDense(sizes[len(sizes)-1], columns, nil)
	y := make(labels, sizes[len(sizes)-1])
	for i := range y {
		row := x.RawRowView(i)
		for k := range row {
			row[k] = rng.NormFloat64()
		}
		if row[0]*row[1]+rng.NormFloat64() >= 0 {
			y[i] = 1
		}
	}
	k := kernel.Sum(kernel.Matern32(1, 3, 3, 3, 3, 3, 3), kernel.Constant(1))
	pivots := search.NewPivots(k, x.Slice(0, 4000, 0, columns).(*mat.Dense), nil, rng)
	pivots.Grow(points, 0)
	process, err := gp.NewInducing(k, pivots.Points(points))
	if err != nil {
		return err
	}
	seconds := report.Series{Method: "ep", Label: "Processor seconds per pass"}
	memory := report.Series{Method: "vi", Label: "Memory beside the rows, MB"}
	fmt.Println("rows       seconds/pass  ns/row  MB beside the rows  bytes/row")
	for _, n := range sizes {
		before := held()
		local := pass.NewLocal(process.Shards(x.Slice(0, n, 0, columns).(*mat.Dense), y[:n], nil, 0), nil)
		q := gauss.NewNaturals(1, points)
		q.SetStandard()
		passes := max(1, 300_000/n)
		start := processor()
		for range passes {
			sums, err := local.Pass(ctx, q, pass.Options{})
			if err != nil {
				return err
			}
			q.Times(sums.Change, 1)
			local.Keep()
		}
		s := (processor() - start) / float64(passes)
		bytes := held() - before
		runtime.KeepAlive(local)
		fmt.Printf("%9d  %12.3f  %6.0f  %18.1f  %9.1f\n", n, s, 1e9*s/float64(n), bytes/1e6, bytes/float64(n))
		seconds.X, seconds.Y = append(seconds.X, float64(n)), append(seconds.Y, s)
		memory.X, memory.Y = append(memory.X, float64(n)), append(memory.Y, bytes/1e6)
	}
	return draw("inducing-growth.svg", report.Lines{
		X:      report.Axis{Label: "Rows", Log: true},
		Y:      report.Axis{Label: "Seconds, MB", Log: true},
		Series: []report.Series{seconds, memory},
	})
}

// held is the memory in use, in bytes.
func held() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// processor is the time that all processors have spent on this program, in seconds.
func processor() float64 {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}
