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

// dataFlags say how rows are read.
type dataFlags struct {
	options     data.Options
	header      string
	missing     string
	standardize bool
}

// addDataFlags adds what it takes to read past cases.
func addDataFlags(flags *pflag.FlagSet) *dataFlags {
	d := new(dataFlags)
	flags.StringVar(&d.options.Target, "target", "", `the outcome: a column's name, its number from 1, or "last"`)
	flags.StringVar(&d.options.Positive, "positive", "", "the spelling of the positive outcome; not needed where the two are such as 0 and 1, no and yes, false and true")
	flags.StringVar(&d.missing, "missing", "error", "what to do about missing cells: error, or impute (median or mode, plus an indicator)")
	flags.StringArrayVar(&d.options.Markers, "missing-marker", nil, "a spelling of a missing cell, in place of the usual ones; can be repeated")
	flags.StringArrayVar(&d.options.Categorical, "categorical", nil, "a column that is categorical whatever it looks like; can be repeated")
	flags.BoolVar(&d.standardize, "standardize", true, "give numeric columns mean 0 and variance 1")
	addHeader(flags, &d.header)
	return d
}

// exampleAlone refuses flags about a table of one's own beside --example.
func exampleAlone(flags *pflag.FlagSet, useExample bool) error {
	for _, name := range []string{"target", "positive", "missing", "missing-marker", "categorical", "header"} {
		if useExample && flags.Changed(name) {
			return usagef("--%s: the example comes with its own; leave it out, or give a table in place of --example", name)
		}
	}
	return nil
}

func addHeader(flags *pflag.FlagSet, header *string) {
	flags.StringVar(header, "header", "auto", "whether the first row names the columns: auto, yes or no")
}

// complete checks the flags and finishes the options.
func (d *dataFlags) complete() (data.Options, error) {
	switch d.missing {
	case "error", "impute":
		d.options.Impute = d.missing == "impute"
	default:
		return d.options, usagef("--missing: %q is neither error nor impute", d.missing)
	}
	d.options.KeepScale = !d.standardize
	return d.options, checkHeader(d.header)
}

func checkHeader(header string) error {
	switch data.Header(header) {
	case data.HeaderAuto, data.HeaderYes, data.HeaderNo:
		return nil
	}
	return usagef("--header: %q is none of auto, yes, no", header)
}

// readTable reads a whole table of past cases.
func (d *dataFlags) readTable(c *cobra.Command, path string) (*data.Table, error) {
	r, name, err := openInput(c, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return data.Read(r, name, data.Header(d.header))
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
	if errors.As(err, &rows) && rows.File == "" && file != "" {
		located := *rows
		located.File = file
		err = &located
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
