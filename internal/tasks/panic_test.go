package tasks_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lossep/lossep/internal/tasks"
)

// badTask is what the stack has to name.
func badTask() { panic(io.ErrUnexpectedEOF) }

// A panic in any task, of any worker, comes to the caller of Each with its own stack,
// after all that was begun is done and before all is begun.
func TestPanicOfATaskComesToTheCaller(t *testing.T) {
	for _, processors := range []int{1, 2, 5} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		for _, bad := range []int{0, 1, 7, 99} {
			var underWay, ran atomic.Int64
			err := tasks.Try(func() error {
				tasks.Each(100, func() func(int) {
					return func(task int) {
						underWay.Add(1)
						defer underWay.Add(-1)
						ran.Add(1)
						if task == bad {
							badTask()
						}
					}
				})
				return nil
			})
			var p *tasks.Panic
			if !errors.As(err, &p) || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(string(p.Stack), "badTask") {
				t.Fatalf("%d processors, task %d: %v", processors, bad, err)
			}
			if left := underWay.Load(); left != 0 {
				t.Errorf("%d processors, task %d: %d tasks were still under way", processors, bad, left)
			}
			if n := int(ran.Load()); n < bad+1 || processors == 1 && n != bad+1 {
				t.Errorf("%d processors, task %d: %d tasks ran", processors, bad, n)
			}
		}
		// What makes a worker may panic as well.
		if err := tasks.Try(func() error { tasks.Each(3, func() func(int) { badTask(); return nil }); return nil }); err == nil {
			t.Errorf("%d processors: a worker that could not be made was not missed", processors)
		}
	}
}

// Through several floors the first stack is kept, and the cause.
func TestNestedPanicKeepsItsStack(t *testing.T) {
	var p *tasks.Panic
	err := tasks.Try(func() error {
		var g tasks.Group
		g.Go(func() {
			tasks.Each(4, func() func(int) { return func(int) { badTask() } })
		})
		g.Go(func() {})
		g.Wait()
		return nil
	})
	if !errors.As(err, &p) || p.Cause != error(io.ErrUnexpectedEOF) || !strings.Contains(string(p.Stack), "badTask") {
		t.Errorf("%v", err)
	}
	if got := err.Error(); got != "internal fault: unexpected EOF" {
		t.Errorf("it says %q", got)
	}
}

// What does not panic stays as it is.
func TestTryWithoutPanic(t *testing.T) {
	if err := tasks.Try(func() error { return io.EOF }); err != io.EOF {
		t.Errorf("%v", err)
	}
	var g tasks.Group
	var sum atomic.Int64
	for i := range 10 {
		g.Go(func() { sum.Add(int64(i)) })
	}
	if g.Wait(); sum.Load() != 45 {
		t.Errorf("ten goroutines made %d", sum.Load())
	}
}
