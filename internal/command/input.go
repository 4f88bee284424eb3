package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/safetensors"
	"github.com/lossep/lossep/service"
)

// openFile opens a file for reading. A pipe that nobody writes to yet is waited for, until
// the context ends.
func openFile(ctx context.Context, path string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(path)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// tellNoCosts says so where nothing is given, and what to give for so many outcomes.
func tellNoCosts(c *cobra.Command, p *lossep.Problem) {
	ways := "--cost fn=5,fp=1, --cost-matrix file.csv or --utility file.yaml"
	if number := len(p.Recipe.Target.Outcomes); number > 2 {
		ways = fmt.Sprintf("--cost-matrix file.csv, a header with the %d outcomes and one row per action, or --utility file.yaml", number)
	}
	fmt.Fprintln(c.ErrOrStderr(), "no costs given: using 0/1 loss (set "+ways+")")
}

// readShort reads a file that people write by hand.
func readShort(ctx context.Context, path string) ([]byte, error) {
	const most = 1 << 20
	if err := checkTextName(path); err != nil {
		return nil, err
	}
	f, err := openFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return text, err
}

// loadModel reads a model file.
func loadModel(c *cobra.Command, path string) (*lossep.Model, error) {
	return loaded(path, maxMemory(c), lossep.LoadWithin)
}

// loadAny reads a model file of any kind of outcome.
func loadAny(c *cobra.Command, path string) (service.Loaded, error) {
	return loaded(path, maxMemory(c), service.Load)
}

func loaded[M any](path string, bytes int64, load func(string, int64) (M, error)) (none M, _ error) {
	m, err := load(path, bytes)
	if errors.Is(err, fs.ErrNotExist) {
		return none, usagef("%w; make a model with 'lossep fit … -o %s'", err, path)
	}
	var place *fs.PathError
	if errors.As(err, &place) {
		return none, &usageError{err} // such as that it is no regular file
	}
	return m, orTable(err)
}

// orTable adds to an error about what is no model file how a model is made: tables are taken
// for one.
func orTable(err error) error {
	var format *safetensors.Error
	if !errors.As(err, &format) {
		return err
	}
	switch format.Kind {
	case safetensors.HeaderSize, safetensors.HeaderSyntax, safetensors.Truncated:
		return usagef("%w; 'lossep fit TABLE --target COLUMN -o FILE' makes a model of a table", err)
	}
	return err
}

// blame gives a file to errors that the user's input caused and that know only a line of it.
func blame(err error, file string) error {
	if err == nil {
		return nil
	}
	if _, input := service.Explain(err, service.Flags, file); !input {
		return err
	}
	return &inputError{err, file}
}

// inputError is an error that the user's input caused.
type inputError struct {
	err  error
	file string // that rows are in
}

func (e *inputError) Error() string { return e.text(nil) }
func (e *inputError) Unwrap() error { return e.err }

// text is the error in the words of the command.
func (e *inputError) text(flags *pflag.FlagSet) string {
	text, _ := service.Explain(e.err, naming(flags), e.file)
	return text
}

// needArguments wants so many words that are no flags, or none where an example takes
// their place.
func needArguments(words ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if example := c.Flags().Lookup("example"); example != nil && example.Changed {
			if len(args) < len(words) {
				return nil
			}
			return usagef("%s: --example takes the place of %q; leave one of them out", c.Name(), args[len(words)-1])
		}
		if len(args) < len(words) {
			return usagef("%s: %s is missing; see '%s --help'", c.Name(), words[len(args)], c.CommandPath())
		}
		if len(args) > len(words) {
			return usagef("%s: unknown argument %q; see '%s --help'", c.Name(), args[len(words)], c.CommandPath())
		}
		return nil
	}
}
