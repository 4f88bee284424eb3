package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/level3"
	"github.com/lossep/lossep/reactor"
)

func newRoot(place *Place) *cobra.Command {
	c := &cobra.Command{
		Use:   "lossep",
		Short: "Bayesian decisions when mistakes do not cost the same",
		Long: `lossep fits a model whose approximation is calibrated to what each mistake
costs, takes the best action for each case, and says how sure it is.

The exit code is 0 when all is well, 2 for what was given wrongly, and 1 for a failure; of work
that was interrupted it is 130 (SIGINT, which is Ctrl-C) or 143 (SIGTERM). A server ends by either
in order, with 0.`,
		Version:       lossep.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArguments,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			keepWithin(maxMemory(c))
			if err := fastMatrices(); err != nil {
				return &usageError{err}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return c.Help()
		},
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return plainFlagError(err) })
	c.CompletionOptions.DisableDefaultCmd = true
	addMaxMemory(c.PersistentFlags())
	if place != nil {
		place.attach(c)
		return c
	}
	c.AddCommand(newFit(nil), newPredict(), newDecide(nil), newValue(), newShow(), newAudit(nil), newReactor(), newPaper(), newServe(), newWorker(), newLicences())
	return c
}

// fastMatrices makes all matrix products run on the processor's vector units.
var fastMatrices = sync.OnceValue(level3.Use)

// usageError is a mistake in what the user gave: exit code 2.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// Usagef is a mistake in what the user gave: exit code 2.
func Usagef(format string, args ...any) error { return usagef(format, args...) }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// plainFlagError says what is wrong with the value of a flag in our words.
func plainFlagError(err error) error {
	var value *pflag.InvalidValueError
	if !errors.As(err, &value) {
		return &usageError{err}
	}
	var number *strconv.NumError
	switch {
	case value.GetFlag().Value.Type() == "duration":
		return usagef("--%s: %q is no duration such as 30s or 2m", value.GetFlag().Name, value.GetValue())
	case !errors.As(err, &number):
		return usagef("--%s: %w", value.GetFlag().Name, errors.Unwrap(value))
	case number.Err == strconv.ErrRange:
		return usagef("--%s: %q is too large a number", value.GetFlag().Name, value.GetValue())
	case number.Func == "ParseFloat":
		return usagef("--%s: %q is no number", value.GetFlag().Name, value.GetValue())
	case number.Func == "ParseBool":
		return usagef("--%s: %q is neither true nor false", value.GetFlag().Name, value.GetValue())
	}
	return usagef("--%s: %q is no whole number", value.GetFlag().Name, value.GetValue())
}

// noArguments refuses words that are no flags.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s: unknown argument %q; see '%s --help'", c.CommandPath(), args[0], c.CommandPath())
	}
	return nil
}

// nameFlag puts the flag in front of an error that says only which option it is about:
// the library knows of no flags.
func nameFlag(err error, flags *pflag.FlagSet) error {
	option := ""
	var fit *lossep.InputError
	var state *reactor.InputError
	switch {
	case errors.As(err, &fit):
		option = fit.What
	case errors.As(err, &state):
		option = state.Field
	}
	flag := strings.NewReplacer(" ", "-", "variance", "var").Replace(option)
	if flag == "utility" && flags.Lookup("cost") != nil && !flags.Changed(flag) {
		flag = "cost" // the other way to give it
	}
	message, first := "", false
	if option != "" {
		message, first = strings.CutPrefix(err.Error(), option+":")
	}
	if !first || flags.Lookup(flag) == nil {
		return err
	}
	return usagef("--%s:%s", flag, message)
}

// report prints an error and returns the exit code that goes with it.
func report(err error, errs io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(errs, "lossep: %v\n", err)
	var fault *tasks.Panic
	if errors.As(err, &fault) {
		fmt.Fprintf(errs, "This is a mistake in lossep and not in what it was given. Please report it, with the\ncommand and the lines below.\n\n%s", fault.Stack)
		return 1
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return 2
	}
	return 1
}

// format is the value of --format.
type format string

func addFormat(flags *pflag.FlagSet) *format {
	f := format("text")
	flags.Var(&f, "format", "output for people (text) or for programs (json)")
	return &f
}

func (f *format) String() string { return string(*f) }
func (f *format) Type() string   { return "text|json" }
func (f *format) Set(s string) error {
	if s != "text" && s != "json" {
		return errors.New("choose text or json")
	}
	*f = format(s)
	return nil
}

// emit writes what a command found, in the format asked for. All of it is made before
// any is written.
func (f *format) emit(w io.Writer, found any, text func(io.Writer) error) error {
	var out bytes.Buffer
	var err error
	if *f == "json" {
		err = writeJSON(&out, found)
	} else {
		err = text(&out)
	}
	if err != nil {
		return err
	}
	_, err = out.WriteTo(w)
	return err
}

// writeJSON writes one indented JSON value.
func writeJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", b)
	return err
}
