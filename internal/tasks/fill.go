package tasks

import (
	"context"
	"sync"
)

// Fill computes the elements of all that are nil, so many at a time and begun in order,
// and hands each to finished, never two at once. The first error, of a computation or of
// finished, ends it once what is under way is done, as the end of the context does; a
// panic is such an error. What was computed stays.
func Fill[T any](ctx context.Context, all []*T, atOnce int, compute func(ctx context.Context, i int) (*T, error), finished func(*T) error) error {
	var missing []int
	for i, v := range all {
		if v == nil {
			missing = append(missing, i)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var one sync.Mutex
	element := func(i int) error {
		v, err := compute(ctx, i)
		if err != nil {
			return err
		}
		one.Lock()
		defer one.Unlock()
		all[i] = v
		return finished(v)
	}
	share(len(missing), atOnce, func() func(int) {
		return func(task int) {
			if ctx.Err() != nil {
				return
			}
			if err := Try(func() error { return element(missing[task]) }); err != nil {
				cancel(err)
			}
		}
	})
	return context.Cause(ctx)
}
