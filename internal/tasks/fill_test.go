package tasks

import (
	"context"
	"errors"
	"testing"
)

// Only what is missing is computed, and every result is handed over once.
func TestFill(t *testing.T) {
	for _, atOnce := range []int{1, 3, 100} {
		known := -1
		all := make([]*int, 20)
		all[7] = &known
		var handed []int
		err := Fill(t.Context(), all, atOnce,
			func(_ context.Context, i int) (*int, error) { return &i, nil },
			func(v *int) error { handed = append(handed, *v); return nil }) // one at a time, or the race detector tells
		if err != nil || len(handed) != 19 {
			t.Fatalf("%d at once: %d handed over, %v", atOnce, len(handed), err)
		}
		for i, v := range all {
			if want := i; i != 7 && *v != want || i == 7 && v != &known {
				t.Errorf("%d at once: element %d is %d", atOnce, i, *v)
			}
		}
	}
}

// The first failure ends the work and is the error; what was computed stays.
func TestFillFails(t *testing.T) {
	broken := errors.New("broken")
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx      context.Context
		compute  func(int) error
		finished func(int) error
		want     func(error) bool
		most     int // computed
	}{
		"computation": {t.Context(), func(i int) error {
			if i == 3 {
				return broken
			}
			return nil
		}, nil, func(err error) bool { return errors.Is(err, broken) }, 3},
		"handing over": {t.Context(), nil, func(int) error { return broken }, func(err error) bool { return errors.Is(err, broken) }, 1},
		"panic": {t.Context(), func(int) error { panic("a fault") }, nil, func(err error) bool {
			var p *Panic
			return errors.As(err, &p)
		}, 0},
		"context": {ended, nil, nil, func(err error) bool { return errors.Is(err, context.Canceled) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			all := make([]*int, 10)
			err := Fill(c.ctx, all, 1, func(_ context.Context, i int) (*int, error) {
				if c.compute != nil {
					return &i, c.compute(i)
				}
				return &i, nil
			}, func(v *int) error {
				if c.finished != nil {
					return c.finished(*v)
				}
				return nil
			})
			if !c.want(err) {
				t.Errorf("error %v", err)
			}
			for i, v := range all {
				if (v != nil) != (i < c.most) {
					t.Errorf("element %d is there: %t", i, v != nil)
				}
			}
		})
	}
}
