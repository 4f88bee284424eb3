package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

// Place is where rows are gone over, if not in this process. A program with a place has the
// verbs for which it says how, with the same flags and the same results.
type Place struct {
	Name  string // of the program
	Short string // what it is for
	Long  string // what is added to the help of its verbs
	// Prepare adds flags to a verb and is called before anything else; what it returns is
	// called when they are known.
	Prepare func(c *cobra.Command) func() error
	// Open opens a table that is not in a folder of this machine, or reports that it cannot.
	Open func(ctx context.Context, path string, memory int64) (*parquet.Table, io.Closer, error)
	// Room is where the driver of a fit keeps the numbers of the table, nil for the memory of
	// the process.
	Room func() (Room, error)
	// Passes are those of a fit.
	Passes func(ctx context.Context, f Fit) (Passes, error)
	// Decide decides the rows of a table into a new folder of Parquet files, of which there is
	// none until accept has taken what was decided.
	Decide func(ctx context.Context, d Decide, t *parquet.Table, folder string, accept func([]*Decided) error) error
	// Folds computes folds of the audit with these arguments, by Fold, and hands over the text of each, also of those that were
	// finished before an interruption.
	Folds func(ctx context.Context, args []string, folds []int, keep func(fold int, text []byte) error) error

	args []string // of the command
}

// attach makes the root that of a program at the place.
func (p *Place) attach(root *cobra.Command) {
	root.Use, root.Short, root.Long = p.Name, p.Short, ""
	verbs := []*cobra.Command{newFit(p), newDecide(p), newAudit(p)}
	for _, c := range verbs {
		c.Long += "\n\n" + p.Long
		c.Example = strings.ReplaceAll(strings.ReplaceAll(c.Example, "lossep ", p.Name+" "), ".csv", ".parquet")
		ready, run := p.Prepare(c), c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			if c.Context().Value(foldKey{}) != nil {
				return run(c, args) // by a worker
			}
			if err := ready(); err != nil {
				return err
			}
			return run(c, args)
		}
	}
	root.AddCommand(verbs...)
}

// Fit is a fit whose passes are made elsewhere.
type Fit struct {
	Training *lossep.Training
	Table    *parquet.Table // the rows, of which there are no others
	Output   string         // the model file to write, empty for none
	Memory   int64          // in bytes, for whoever goes over rows; 0 for what is usual there
}

// Passes drive passes over rows elsewhere.
type Passes interface {
	gp.Driver
	// Finished is called when the model is written, and Close when no more passes are wanted,
	// whether it was or not.
	Finished()
	Close() error
}

// Room is room for numbers that are needed until it is closed.
type Room interface {
	table.Room
	Close() error
}

// fitting is a fit at a place.
type fitting struct {
	place  *Place
	room   Room
	passes Passes // nil if none were needed
}

// begin has the passes over the rows of a table made elsewhere.
func (f *fitting) begin(c *cobra.Command, rows *pastCases, o *lossep.Options, output string, args []string) error {
	if f.place == nil {
		return nil
	}
	switch {
	case len(args) == 0:
		return usagef("--example: it has few rows; give a folder of Parquet files, or take lossep")
	case rows.SkipUnlabelled:
		return usagef("--skip-unlabelled: rows are gone over where they are, and none can be left out; write a table without them")
	case rows.Counts != "":
		return usagef("--counts: rows are gone over where they are, and come once; write a table with a row for each case")
	}
	var err error
	if f.room, err = f.place.Room(); err != nil {
		return err
	}
	rows.room = f.room
	o.Elsewhere = func(t *lossep.Training) (gp.Driver, error) {
		in, err := openInput(c, args[0], &rows.Table)
		if err != nil {
			return nil, err
		}
		if in.table == nil {
			in.Close()
			return nil, usagef("%s: this is text, which only one machine can read; give Parquet files, or take lossep", args[0])
		}
		defer in.Close()
		passes, err := f.place.Passes(c.Context(), Fit{t, in.table, output, givenMemory(c)})
		if err != nil {
			return nil, err
		}
		f.passes = passes
		return passes, nil
	}
	return nil
}

// finish is for when the model is written.
func (f *fitting) finish() {
	if f.passes != nil {
		f.passes.Finished()
	}
}

// close is for when there is no more to do.
func (f *fitting) close() {
	if f.passes != nil {
		_ = f.passes.Close() // nothing was written
	}
	if f.room != nil {
		_ = f.room.Close() // what was written is of no use any more
	}
}

// placeKey finds the place in the context of a command.
type placeKey struct{}

// placeOf is the place of a command, nil for this process.
func placeOf(c *cobra.Command) *Place {
	p, _ := c.Context().Value(placeKey{}).(*Place)
	return p
}

// runAt is the Run of an audit at a place, or in this process if that is nil.
func runAt[F any](p *Place, a auditing[F]) func(context.Context, []*F, func(*F) error) ([]*F, error) {
	if p == nil {
		return a.Run
	}
	return func(ctx context.Context, known []*F, finished func(*F) error) ([]*F, error) {
		folds := make([]*F, a.Len())
		for _, f := range known {
			folds[a.Index(f)] = f
		}
		var missing []int
		for k, f := range folds {
			if f == nil {
				missing = append(missing, k)
			}
		}
		err := p.Folds(ctx, slices.Clone(p.args), missing, func(fold int, text []byte) error {
			f := new(F)
			if err := json.Unmarshal(text, f); err != nil {
				return fmt.Errorf("fold %d, which was computed elsewhere, cannot be read: %w", fold, err)
			}
			if a.Index(f) != fold || !a.Fits(f) {
				return fmt.Errorf("fold %d, which was computed elsewhere, is none of this audit; have the same version and files on all machines", fold)
			}
			folds[fold] = f
			return finished(f)
		})
		return folds, err
	}
}

// foldKey finds the fold that is asked for in the context of a command.
type foldKey struct{}

type askedFold struct {
	index int
	text  []byte
}

// Fold computes one fold of the audit with these arguments, and nothing else of it, and returns its text.
func Fold(ctx context.Context, place *Place, args []string, index int) ([]byte, error) {
	asked := &askedFold{index: index}
	c := newRoot(place)
	c.SetArgs(args)
	c.SetIn(bytes.NewReader(nil))
	c.SetOut(io.Discard)
	c.SetErr(io.Discard)
	err := c.ExecuteContext(context.WithValue(context.WithValue(ctx, placeKey{}, place), foldKey{}, asked))
	return asked.text, err
}
