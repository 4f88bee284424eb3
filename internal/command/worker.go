package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/pages"
	"github.com/lossep/lossep/worker"
)

// newWorker is the verb by which the Python package has its work done. It is not for
// people: see package worker for what it reads and writes.
func newWorker() *cobra.Command {
	c := &cobra.Command{
		Use:    "worker",
		Short:  "Serve the Python package over standard input and output",
		Long:   "Serve the Python package over standard input and output, in the frames of package worker. Ends when its input does.",
		Hidden: true,
		Args:   noArguments,
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		// An interrupt is for the program that was interrupted, which says what to cancel.
		signal.Ignore(os.Interrupt)
		done := make(chan struct{})
		defer close(done)
		go endWithParent(c.Context(), done)
		return worker.Serve(c.Context(), c.InOrStdin(), raw(c.OutOrStdout()), worker.Config{
			MaxMemory: maxMemory(c), Fit: fitOptions, Audit: auditOptions, Input: inArguments,
			Origin: pages.Origin{MadeBy: auditSignature, Versions: versions()},
		})
	}
	return c
}

// endWithParent ends the process once the one that started it is gone, or when it is told to
// terminate while it waits for input. The end of the input says at once that nobody is there,
// unless a further process has a copy of the other end of the pipe.
func endWithParent(ctx context.Context, done <-chan struct{}) {
	parent := os.Getppid()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			os.Exit(1)
		case <-time.After(time.Second):
			if os.Getppid() != parent {
				os.Exit(1)
			}
		}
	}
}

// fitOptions are those of lossep fit, by the names of its flags.
func fitOptions(options map[string]any) (lossep.Options, error) {
	var o lossep.Options
	var method string
	c := new(cobra.Command)
	rows := addDataFlags(c.Flags())
	addModelFlags(c, &o, &method)
	if err := setFlags(c.Flags(), options); err != nil {
		return o, err
	}
	o.Method = lossep.Method(method)
	if err := checkSize(c.Flags(), &o); err != nil {
		return o, err
	}
	var err error
	o.Data, err = rows.asGiven()
	return o, err
}

// asGiven are the options of rows that another program gives, which are taken as they are.
func (d *dataFlags) asGiven() (data.Options, error) {
	switch {
	case d.labelled:
		return d.options, usagef("--skip-unlabelled: rows are taken as they are given; leave those without an outcome out")
	case d.counts != "":
		return d.options, usagef("--counts: rows are taken as they are given; give each as often as it counts")
	}
	return d.complete()
}

// auditOptions are those of lossep audit.
func auditOptions(options map[string]any) (audit.Options, error) {
	var o audit.Options
	c := new(cobra.Command)
	rows := addDataFlags(c.Flags())
	named := addAuditFlags(c, &o)
	if err := setFlags(c.Flags(), options); err != nil {
		return o, err
	}
	if err := named.complete(c, &o); err != nil {
		return o, err
	}
	var err error
	o.Fit.Data, err = rows.asGiven()
	return o, err
}

// setFlags gives flags their values. A list is taken as it is, whatever its texts hold.
func setFlags(flags *pflag.FlagSet, options map[string]any) error {
	for name, value := range options {
		flag := flags.Lookup(name)
		if flag == nil {
			return usagef("--%s: there is no such option", name)
		}
		list, isList := flag.Value.(pflag.SliceValue)
		var err error
		switch v := value.(type) {
		case []any:
			if !isList {
				return usagef("--%s: it takes one value, not a list", name)
			}
			texts := make([]string, len(v))
			for k, element := range v {
				texts[k] = fmt.Sprint(element)
			}
			if err := list.Replace(texts); err != nil {
				return usagef("--%s: %w", name, err)
			}
			flag.Changed = true
		case float64:
			err = flags.Set(name, strconv.FormatFloat(v, 'f', -1, 64))
		default:
			err = flags.Set(name, fmt.Sprint(v))
		}
		if err != nil {
			return plainFlagError(err)
		}
	}
	return nil
}

// inArguments tells whether an error is about what was given, and has it in the words of
// Python: keyword arguments in place of flags, and no file.
func inArguments(err error) (string, bool) {
	var rows *data.Error
	located := errors.As(err, &rows)
	blamed := blame(err, "")
	var usage *usageError
	if !errors.As(blamed, &usage) {
		return "", false
	}
	if located {
		short := *rows
		short.File = ""
		// Rows of a program are named by it, and no option says how.
		short.Ways = slices.DeleteFunc(slices.Clone(rows.Ways), func(w data.Way) bool { return w.Option == data.WayID })
		return short.Text(argument), true
	}
	text := blamed.Error()
	if spec := new(decision.SpecError); errors.As(err, &spec) {
		return err.Error(), true // without flags, and files to give them
	}
	var input *lossep.InputError
	if errors.As(err, &input) {
		if rest, ok := strings.CutPrefix(text, input.What+":"); ok {
			return strings.ReplaceAll(input.What, " ", "_") + ":" + rest, true
		}
	}
	if rest, ok := strings.CutPrefix(text, "--"); ok {
		name, after, _ := strings.Cut(rest, ":")
		return strings.ReplaceAll(name, "-", "_") + ":" + after, true
	}
	return text, true
}

// argument writes a way out of an error as a keyword argument.
func argument(w data.Way) string {
	name, value, given := strings.Cut(flagOf[w.Option], " ")
	name = strings.ReplaceAll(name, "-", "_")
	if w.Option == data.WayMarkers {
		name += "s"
	}
	if !given {
		value = w.Value
	}
	text, err := json.Marshal(value)
	switch {
	case err != nil || value == "" && w.Option != data.WayMarkers:
		return name
	case slices.Contains([]data.Option{data.WayCategorical, data.WayDrop, data.WayMarkers}, w.Option):
		return name + "=[" + string(text) + "]"
	}
	return name + "=" + string(text)
}
