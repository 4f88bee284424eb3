package level3

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallelFlops is the work below which a second core costs more than it brings:
// waking one takes some ten microseconds.
const parallelFlops = 3_000_000

// workersFor is the number of cores worth using for a number of operations.
func workersFor(flops float64) int {
	if flops < parallelFlops {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// team runs numbered tasks on several cores. Which worker takes a task is left to
// chance; what a task computes depends on its number alone, and no two tasks write
// the same element, so the results do not depend on the number of workers.
type team struct {
	body  func(worker, task int)
	tasks int
	next  atomic.Int64
	ids   atomic.Int64
	wait  sync.WaitGroup
	loop  func() // work, made once so that starting a goroutine allocates nothing
}

// run calls body for every task and returns when all are done. Worker numbers
// are below workers.
func (t *team) run(workers, tasks int, body func(worker, task int)) {
	workers = min(workers, tasks)
	if workers <= 1 {
		for task := range tasks {
			body(0, task)
		}
		return
	}
	if t.loop == nil {
		t.loop = t.work
	}
	t.body, t.tasks = body, tasks
	t.next.Store(0)
	t.ids.Store(0)
	t.wait.Add(workers)
	for range workers - 1 {
		go t.loop()
	}
	t.work()
	t.wait.Wait()
}

func (t *team) work() {
	defer t.wait.Done()
	worker := int(t.ids.Add(1)) - 1
	for {
		task := int(t.next.Add(1)) - 1
		if task >= t.tasks {
			return
		}
		t.body(worker, task)
	}
}

// grown returns a slice of n elements, the old one if it is large enough.
func grown(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func roundUp(a, b int) int { return ceilDiv(a, b) * b }

func roundDown(a, b int) int { return a / b * b }
