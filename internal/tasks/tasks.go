// Package tasks shares independent work out to the processors.
//
// Which goroutine runs a task must not matter to its result; then neither does the
// number of processors.
package tasks

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each runs tasks 0 … n−1, begun in that order, on all processors, and returns when all
// are done. Every worker makes its own function by newWorker, and with it its own scratch
// space.
func Each(n int, newWorker func() func(task int)) {
	var next atomic.Int64
	work := func() {
		do := newWorker()
		for task := int(next.Add(1)) - 1; task < n; task = int(next.Add(1)) - 1 {
			do(task)
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		others.Go(work)
	}
	if n > 0 {
		work()
	}
	others.Wait()
}
