package level3_test

import (
	"errors"
	"io"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/level3"
)

// What panics in a shared task, on whatever core, comes to the caller of Share once all
// cores are done, and the next operation finds everything in order.
func TestPanicOfASharedTask(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const work, n = 1e9, 64 // enough work for every core
	for bad := range n {
		var underWay atomic.Int64
		err := tasks.Try(func() error {
			level3.Share(work, n, func(task int) {
				underWay.Add(1)
				defer underWay.Add(-1)
				runtime.Gosched() // lets helpers come
				if task == bad {
					panic(io.ErrNoProgress)
				}
			})
			return nil
		})
		if !errors.Is(err, io.ErrNoProgress) || underWay.Load() != 0 {
			t.Fatalf("task %d: %v, %d under way", bad, err, underWay.Load())
		}
		var ran [n]atomic.Int64
		level3.Share(work, n, func(task int) { ran[task].Add(1) })
		for task := range ran {
			if times := ran[task].Load(); times != 1 {
				t.Fatalf("after a panic task %d ran %d times", task, times)
			}
		}
	}
}
