package command

import (
	"context"
	"fmt"
	"io"

	"github.com/lossep/lossep/internal/sealed"
)

// unfinished is a run of many parts, each of which is kept as soon as it is done.
type unfinished[T any] struct {
	folder   *resultFolder
	settings any    // what the parts depend on
	what     string // the parts are called
	total    int
	index    func(*T) int
	fits     func(*T) bool // whether a part that was read is one of this run
}

// finish computes the parts from where an earlier run stopped, by a function that is
// given those known and calls finished with every other.
func (u unfinished[T]) finish(ctx context.Context, errs io.Writer, run func(ctx context.Context, known []*T, finished func(*T) error) ([]*T, error)) ([]*T, error) {
	texts, err := u.folder.resume(u.settings)
	if err != nil {
		return nil, err
	}
	var known []*T
	for _, text := range texts {
		// What cannot be read is computed again.
		if part := new(T); sealed.Unmarshal(text, part) == nil && u.fits(part) {
			known = append(known, part)
		}
	}
	done := len(known)
	if lost := len(texts) - done; lost > 0 {
		fmt.Fprintf(errs, "%d finished %s in %s are damaged and are made again\n", lost, u.what, u.folder.path)
	}
	if u.folder.replaced > 0 {
		fmt.Fprintf(errs, "%d finished %s in %s were of other options, rows or another version, and are not gone on from\n", u.folder.replaced, u.what, u.folder.path)
	}
	if done > 0 {
		fmt.Fprintf(errs, "going on from %d finished %s\n", done, u.what)
	}
	bar := newProgressBar(u.what, u.total, done, errs)
	parts, err := run(ctx, known, func(part *T) error {
		if err := u.folder.keep(u.index(part), part); err != nil {
			return err
		}
		done++
		bar.add()
		return nil
	})
	bar.clear()
	if err != nil && done == 0 && ctx.Err() != nil {
		fmt.Fprintf(errs, "none of %d %s was finished; the same command begins anew\n", u.total, u.what)
	}
	if err != nil && done > 0 && ctx.Err() != nil {
		fmt.Fprintf(errs, "%d of %d %s are kept in %s; the same command goes on from them\n", done, u.total, u.what, u.folder.path)
	}
	return parts, err
}
