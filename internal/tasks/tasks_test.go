package tasks_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lossep/lossep/internal/tasks"
)

// Every task runs once, by no more workers than there are processors or tasks.
func TestEach(t *testing.T) {
	for _, processors := range []int{1, 2, 5} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		for _, n := range []int{0, 1, 3, 1000} {
			ran := make([]atomic.Int64, n)
			var workers atomic.Int64
			tasks.Each(n, func() func(int) {
				workers.Add(1)
				return func(task int) { ran[task].Add(1) }
			})
			for task := range ran {
				if times := ran[task].Load(); times != 1 {
					t.Errorf("%d processors: task %d of %d ran %d times", processors, task, n, times)
				}
			}
			if w := int(workers.Load()); w > min(processors, n) || (n > 0) != (w > 0) {
				t.Errorf("%d processors, %d tasks: %d workers", processors, n, w)
			}
		}
	}
}

// Tasks that divide their work further leave no more processors than there are.
func TestFree(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	if got := tasks.Free(); got != 4 {
		t.Errorf("%d processors are free at first", got)
	}
	var begun, seen sync.WaitGroup
	begun.Add(3)
	seen.Add(3)
	tasks.For(3, func(int) {
		begun.Done()
		begun.Wait()
		if got := tasks.Free(); got != 2 {
			t.Errorf("beside two others %d processors are free", got)
		}
		seen.Done()
		seen.Wait()
	})
	if got := tasks.Free(); got != 4 {
		t.Errorf("%d processors are free in the end", got)
	}
}
