package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/kernel"
)

// openInput opens a table of rows; "-" is standard input. The name is for messages.
func openInput(c *cobra.Command, path string) (r io.ReadCloser, name string, err error) {
	if path == "-" {
		return io.NopCloser(c.InOrStdin()), "standard input", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, path, &usageError{err}
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close() // nothing was written
		return nil, path, usagef("%s: this is a directory; give a file of rows", path)
	}
	return f, path, nil
}

// utilityFlags say what actions are worth.
type utilityFlags struct{ costs, file string }

func addUtilityFlags(flags *pflag.FlagSet) *utilityFlags {
	u := new(utilityFlags)
	flags.StringVar(&u.costs, "cost", "", "what mistakes cost, such as fn=5,fp=1; a column of the data may stand for a number")
	flags.StringVar(&u.file, "utility", "", "a YAML file with named outcomes and actions, and their costs or utilities")
	return u
}

// spec is the specification given, or nil if none is.
func (u *utilityFlags) spec() (*decision.Spec, error) {
	switch {
	case u.costs != "" && u.file != "":
		return nil, usagef("--cost and --utility are both given; keep one of them")
	case u.costs != "":
		return decision.ParseCosts(u.costs)
	case u.file != "":
		text, err := os.ReadFile(u.file)
		if err != nil {
			return nil, usagef("--utility: %w", err)
		}
		return decision.ParseSpec(u.file, text)
	}
	return nil, nil
}

// loadModel reads a model file.
func loadModel(path string) (*lossep.Model, error) {
	m, err := lossep.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("%w; make a model with 'lossep fit … -o %s'", err, path)
	}
	return m, err
}

// blame gives errors that the user's input caused the exit code that says so, and a
// file to those that know only a line of it.
func blame(err error, file string) error {
	if err == nil {
		return nil
	}
	var (
		rows   *data.Error
		spec   *decision.SpecError
		table  *decision.TableError
		value  *decision.ValueError
		syntax *kernel.SyntaxError
		input  *lossep.InputError
		model  *lossep.FileError
	)
	if errors.As(err, &rows) {
		err = withFlags(err, rows, file)
	}
	if errors.As(err, &syntax) {
		err = fmt.Errorf("--kernel: %w", err)
	}
	for _, target := range []any{&rows, &spec, &table, &value, &syntax, &input, &model} {
		if errors.As(err, target) {
			return &usageError{err}
		}
	}
	return err
}

// atLeast refuses numbers that are too low. The library takes zero for its default;
// who gives a zero means something else.
func atLeast(flags *pflag.FlagSet, least map[string]int) error {
	for name, low := range least {
		if n, err := flags.GetInt(name); err != nil {
			return err
		} else if n < low {
			return usagef("--%s: %d is below %d", name, n, low)
		}
	}
	return nil
}

// needArguments wants so many words that are no flags, or none where an example takes
// their place.
func needArguments(words ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if example := c.Flags().Lookup("example"); example != nil && example.Changed {
			if len(args) < len(words) {
				return nil
			}
			return usagef("%s: --example takes the place of %q; leave one of them out", c.CommandPath(), args[len(words)-1])
		}
		if len(args) < len(words) {
			return usagef("%s: %s is missing; see '%s --help'", c.CommandPath(), words[len(args)], c.CommandPath())
		}
		if len(args) > len(words) {
			return usagef("%s: unknown argument %q; see '%s --help'", c.CommandPath(), args[len(words)], c.CommandPath())
		}
		return nil
	}
}
