package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/safetensors"
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

// utilityFlags say what actions are worth.
type utilityFlags struct{ costs, file, matrix string }

func addUtilityFlags(flags *pflag.FlagSet) *utilityFlags {
	u := new(utilityFlags)
	flags.StringVar(&u.costs, "cost", "", "what mistakes cost, such as fn=5,fp=1 or fn=0.6*amount+10,fp=1; columns with other names than letters, digits, _ and . stand in backticks")
	flags.StringVar(&u.file, "utility", "", "a YAML file with named outcomes and actions, and their costs or utilities")
	flags.StringVar(&u.matrix, "cost-matrix", "", "a CSV file of costs: a line that names the outcomes, and one for each action")
	return u
}

// tellNoCosts says so where nothing is given, and what to give for so many outcomes.
func tellNoCosts(c *cobra.Command, p *lossep.Problem) {
	ways := "--cost, for example --cost fn=5,fp=1, --cost-matrix file.csv or --utility file.yaml"
	if number := len(p.Recipe.Target.Outcomes()); number > 2 {
		ways = fmt.Sprintf("--cost-matrix file.csv, a line that names the %d outcomes and one for each action, or --utility file.yaml", number)
	}
	fmt.Fprintln(c.ErrOrStderr(), "what mistakes cost is not given, so every wrong decision costs 1; say otherwise by "+ways)
}

// files are those that are read.
func (u *utilityFlags) files() []string { return []string{u.file, u.matrix} }

// spec is the specification given, or nil if none is.
func (u *utilityFlags) spec(c *cobra.Command) (*decision.Spec, error) {
	switch {
	case u.costs != "" && u.file != "":
		return nil, usagef("--cost and --utility are both given; keep one of them")
	case u.matrix != "" && u.costs+u.file != "":
		return nil, usagef("--cost-matrix is given beside --cost or --utility; keep one of them")
	case u.matrix != "":
		text, err := readShort(c.Context(), u.matrix)
		if err != nil {
			return nil, usagef("--cost-matrix: %w", err)
		}
		return decision.ParseCostMatrix(u.matrix, text)
	case u.costs != "":
		return decision.ParseCosts(u.costs)
	case u.file != "":
		text, err := readShort(c.Context(), u.file)
		if err != nil {
			return nil, usagef("--utility: %w", err)
		}
		return decision.ParseSpec(u.file, text)
	}
	return nil, nil
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
	m, err := lossep.LoadWithin(path, maxMemory(c))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("%w; make a model with 'lossep fit … -o %s'", err, path)
	}
	var place *fs.PathError
	if errors.As(err, &place) {
		return nil, &usageError{err} // such as that it is no regular file
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
		value  *expr.ValueError
		syntax *kernel.SyntaxError
		input  *lossep.InputError
		model  *lossep.FileError
		sample *compare.SampleError
	)
	if errors.As(err, &rows) {
		err = withFlags(err, rows, file)
	}
	if errors.As(err, &spec) && spec.Example != "" {
		err = fmt.Errorf("%w: --cost-matrix FILE.csv, or --utility FILE.yaml\nA file for --cost-matrix begins with the outcomes, and has a line for each action, such as\n\n%s", err, strings.TrimRight(spec.Example, "\n"))
	}
	if errors.As(err, &syntax) && !errors.As(err, &model) {
		err = fmt.Errorf("--kernel: %w", err)
	}
	for _, target := range []any{&rows, &spec, &table, &value, &syntax, &input, &model, &sample} {
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
