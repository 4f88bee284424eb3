// Package tasks shares independent work out to the processors.
//
// Which goroutine runs a task must not matter to its result; then neither does the
// number of processors.
//
// A panic in a goroutine that nobody watches ends the process, whoever else is at work
// in it. So no goroutine is left unwatched: what panics in a task panics again, as a
// *Panic, in the goroutine that waits for it, and is an error for whoever calls Try.
package tasks

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each runs tasks 0 … n−1, begun in that order, on all processors, and returns when all
// are done. Every worker makes its own function by newWorker, and with it its own scratch
// space. After a panic no more tasks are begun; once those under way are done Each
// panics itself.
func Each(n int, newWorker func() func(task int)) { share(n, Workers(), newWorker) }

// busy is how many goroutines are at work on tasks beside those that wait for them.
var busy atomic.Int64

// Free is how many processors the caller may use, itself among them: what tasks that run at the same time leave.
func Free() int { return max(1, runtime.GOMAXPROCS(0)-int(busy.Load())) }

// For is Each for tasks that need no scratch space.
func For(n int, do func(task int)) { Each(n, func() func(int) { return do }) }

func share(n, workers int, newWorker func() func(task int)) {
	section := Begin(n, workers)
	defer section.End()
	workers = min(workers, runtime.GOMAXPROCS(0))
	var next atomic.Int64
	var g Group
	work := func() {
		defer func() {
			if g.failed() {
				next.Store(int64(n))
			}
		}()
		defer g.catch()
		do := newWorker()
		for task := int(next.Add(1)) - 1; task < n; task = int(next.Add(1)) - 1 {
			if task > 0 {
				section.Next()
			}
			do(task)
		}
	}
	for range min(workers, n) - 1 {
		busy.Add(1)
		g.running.Go(func() {
			defer busy.Add(-1)
			work()
		})
	}
	if n > 0 {
		work()
	}
	g.Wait()
}

// Group is goroutines that are waited for together. The zero Group is empty.
type Group struct {
	running sync.WaitGroup
	first   atomic.Pointer[Panic]
}

// Go calls f in a goroutine of its own.
func (g *Group) Go(f func()) {
	g.running.Go(func() {
		defer g.catch()
		f()
	})
}

// Wait waits until all have returned. If one of them panicked it panics with the first
// *Panic.
func (g *Group) Wait() {
	g.running.Wait()
	if p := g.first.Load(); p != nil {
		panic(p)
	}
}

func (g *Group) failed() bool { return g.first.Load() != nil }

// catch is deferred where a panic must not go further.
func (g *Group) catch() {
	if cause := recover(); cause != nil {
		g.first.CompareAndSwap(nil, NewPanic(cause))
	}
}
