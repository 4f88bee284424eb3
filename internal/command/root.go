package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/lab"
	"github.com/lossep/lossep/level3"
	"github.com/lossep/lossep/service"
)

func newRoot(place *Place) *cobra.Command {
	c := &cobra.Command{
		Use:   "lossep",
		Short: "Bayesian decisions when mistakes do not cost the same",
		Long: `lossep fits a Gaussian process to past cases whose outcome is a category, a grade or a number,
picks the action with the lowest expected cost for each new case, and estimates what the decisions
will cost. With --method loss-ep or --calibrate the approximation itself is calibrated to the costs.

Exit status: 0 success, 1 failure, 2 usage or input error, 3 monitor raised an alarm, 130/143
interrupted (SIGINT, SIGTERM). serve shuts down gracefully on both and exits 0.`,
		Version:       lossep.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownCommand,
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
	c.SetFlagErrorFunc(flagError)
	c.CompletionOptions.DisableDefaultCmd = true
	addMaxMemory(c.PersistentFlags())
	if place != nil {
		place.attach(c)
		return c
	}
	c.AddCommand(newFit(nil), newPredict(), newDecide(nil), newValue(), newUpdate(), newMonitor(), newShow(), newAudit(nil), newReactor(), newPaper(), newServe(), newMCP(), newWorker(), newLicences())
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

// noArguments refuses words that are no flags.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s: unknown argument %q; see '%s --help'", c.Name(), args[0], c.CommandPath())
	}
	return nil
}

// knownCommand refuses the name of a command that there is not.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	meant := ""
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		meant = fmt.Sprintf("did you mean %q? ", near[0])
	}
	return usagef("unknown command %q; %ssee 'lossep --help'", args[0], meant)
}

// explained is an error in the words of the command, and whether what was given caused it.
func explained(err error, flags *pflag.FlagSet) (text string, input bool) {
	if option := new(service.Error); errors.As(err, &option) {
		return option.Text(service.Flags), true
	}
	if blamed := new(inputError); errors.As(err, &blamed) {
		return blamed.text(flags), true
	}
	if state := new(lab.InputError); errors.As(err, &state) {
		name := strings.NewReplacer(" ", "-", "variance", "var").Replace(state.Field)
		return "--" + name + ": " + state.Msg, true
	}
	text, input = service.Explain(err, naming(flags), "")
	return text, input || errors.As(err, new(*usageError))
}

// plainText is the text of an error without the names of system calls: x.csv: no such file, in place of open
// x.csv: no such file.
func plainText(err error, text string) string {
	if at := new(fs.PathError); errors.As(err, &at) {
		text = strings.Replace(text, at.Error(), at.Path+": "+at.Err.Error(), 1)
	}
	if at := new(net.OpError); errors.As(err, &at) {
		reason := at.Err
		if call := new(os.SyscallError); errors.As(at.Err, &call) {
			reason = call.Err
		}
		where := ""
		if at.Addr != nil {
			where = at.Addr.String() + ": "
		}
		text = strings.Replace(text, at.Error(), where+reason.Error(), 1)
	}
	return text
}

// reportError prints an error and returns the exit code that goes with it.
func reportError(err error, flags *pflag.FlagSet, errs io.Writer) int {
	if err == nil {
		return 0
	}
	if alarm := new(alarmed); errors.As(err, &alarm) {
		if alarm.text != "" {
			fmt.Fprintf(errs, "lossep: %s\n", alarm.text)
		}
		return alarmCode
	}
	text, input := explained(err, flags)
	fmt.Fprintf(errs, "lossep: %s\n", plainText(err, text))
	var fault *tasks.Panic
	if errors.As(err, &fault) {
		fmt.Fprintf(errs, "This is a mistake in lossep and not in what it was given. Please report it, with the\ncommand and the lines below.\n\n%s", fault.Stack)
		return 1
	}
	if input {
		return 2
	}
	return 1
}

// format is the value of --format.
type format string

// formatOption is --format of a command that prints one thing.
func formatOption(f *format, help string) *service.Option {
	*f = "text"
	return &service.Option{Name: "format", Help: help, Value: service.ChoiceOf(f, "text", "json")}
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
