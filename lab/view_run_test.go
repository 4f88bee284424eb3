package lab_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
)

// The same request has the same answer, to the last bit, on any number of cores.
func TestDeterminism(t *testing.T) {
	full, small := randomReactor(3, 14), randomClassifier(2, 12, 2)
	small.Grid.Points = []int{21, 17}
	answers := func() []byte {
		return slices.Concat(marshal(t, solveReactor(t, full)), marshal(t, solveReactor(t, figure1())),
			marshal(t, solveClassifier(t, small)), marshal(t, solveClassifier(t, twoPoints())))
	}
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	one := answers()
	runtime.GOMAXPROCS(2)
	if !bytes.Equal(one, answers()) {
		t.Fatal("another answer on two cores")
	}
}

// A request that is no longer wanted ends with the error of its context, before and
// while it is answered.
func TestCancelled(t *testing.T) {
	c := randomClassifier(1, 60, 2)
	for _, solve := range []func(context.Context) error{
		func(ctx context.Context) error { v, err := figure1().Solve(ctx); return either(v, err) },
		func(ctx context.Context) error { v, err := randomReactor(1, 30).Solve(ctx); return either(v, err) },
		func(ctx context.Context) error { v, err := c.Solve(ctx); return either(v, err) },
	} {
		for steps := range 4 {
			ctx := &lateContext{Context: context.Background(), left: make(chan struct{}, 100)}
			for range 10 * steps * steps { // looks at the context before it ends
				ctx.left <- struct{}{}
			}
			if err := solve(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("ended after %d looks: %v", 10*steps*steps, err)
			}
		}
	}
}

// either is the error, or one that says that there is an answer.
func either[T any](v *T, err error) error {
	if v != nil {
		return fmt.Errorf("an answer, and the error %v", err)
	}
	return err
}

// lateContext is a context that ends after having been asked so many times.
type lateContext struct {
	context.Context
	left chan struct{}
}

func (c *lateContext) Err() error {
	select {
	case <-c.left:
		return nil
	default:
		return context.Canceled
	}
}
