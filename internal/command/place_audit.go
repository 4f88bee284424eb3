package command

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/lossep/lossep/audit"
)

// folds is how the folds of an audit are computed: by this process, or at the place.
func (p *Place) folds(a *audit.Audit) func(context.Context, []*audit.Fold, func(*audit.Fold) error) ([]*audit.Fold, error) {
	if p == nil {
		return a.Run
	}
	return func(ctx context.Context, known []*audit.Fold, finished func(*audit.Fold) error) ([]*audit.Fold, error) {
		folds := make([]*audit.Fold, a.Len())
		for _, f := range known {
			folds[f.Index] = f
		}
		var missing []int
		for k, f := range folds {
			if f == nil {
				missing = append(missing, k)
			}
		}
		err := p.Folds(ctx, slices.Clone(p.args), missing, func(f *audit.Fold) error {
			folds[f.Index] = f
			return finished(f)
		})
		return folds, err
	}
}

// foldKey finds the fold that is asked for in the context of a command.
type foldKey struct{}

type askedFold struct {
	index int
	fold  *audit.Fold
}

// Fold computes one fold of the audit with these arguments, and nothing else of it.
func Fold(ctx context.Context, place *Place, args []string, index int) (*audit.Fold, error) {
	asked := &askedFold{index: index}
	c := newRoot(place)
	c.SetArgs(args)
	c.SetIn(bytes.NewReader(nil))
	c.SetOut(io.Discard)
	c.SetErr(io.Discard)
	err := c.ExecuteContext(context.WithValue(context.WithValue(ctx, placeKey{}, place), foldKey{}, asked))
	return asked.fold, err
}
