package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/lossep/lossep/internal/command"
)

func init() {
	register.DoFn2x1[context.Context, string, error](&foldFn{})
}

// foldFn computes folds of an audit, each of which fits models of its own.
type foldFn struct {
	Folder  string
	Args    []string // of the command
	Program string   // the version of the driver
}

// ProcessElement computes the fold whose number the element has.
func (f *foldFn) ProcessElement(ctx context.Context, element string) error {
	var r Rows
	if err := json.Unmarshal([]byte(element), &r); err != nil {
		return err
	}
	s := store{f.Folder}
	err := sameProgram(f.Program, programVersion())
	var text []byte
	if err == nil {
		text, err = command.Fold(ctx, NewPlace(), f.Args, r.Number)
	}
	if err != nil {
		tell(ctx, s, err, shardName(r.Number, "error"))
		return err
	}
	return s.write(ctx, text, shardName(r.Number, "fold"))
}

// folds computes folds of an audit: the elements are folds here, and a worker reads the
// whole table.
func (f *flags) folds(ctx context.Context, args []string, numbers []int, keep func(fold int, text []byte) error) error {
	s := store{cmp.Or(f.folder, os.TempDir())}.within(fmt.Sprintf("lossep-audit-%x", rand.Uint64()))
	if err := s.begin(); err != nil {
		return command.Usagef("--work: the folder cannot be made: %w", err)
	}
	defer s.discard(context.WithoutCancel(ctx))
	pieces := make([]Rows, len(numbers))
	for k, number := range numbers {
		pieces[k].Number = number
	}
	failure := runPipeline(ctx, f.runner, &foldFn{Folder: s.folder, Args: args, Program: programVersion()}, pieces)
	// Folds that were finished are kept even where others failed, or were interrupted.
	interrupted := ctx.Err()
	ctx = context.WithoutCancel(ctx)
	for _, r := range pieces {
		text, err := s.read(ctx, shardName(r.Number, "fold"))
		if err != nil {
			failure = errors.Join(failure, told(ctx, s, []Rows{r}, ""))
			continue
		}
		if err := keep(r.Number, text); err != nil {
			failure = errors.Join(failure, err)
		}
	}
	if interrupted != nil {
		return interrupted
	}
	if failure == nil {
		return nil
	}
	if err := told(ctx, s, pieces, ""); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", f.runner, failure)
}
