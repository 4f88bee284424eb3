package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lossep/lossep/service"
)

// groupOf is the annotation of a flag that has its group.
const groupOf = "group"

// addOptions makes flags of options.
func addOptions(flags *pflag.FlagSet, options service.Options) {
	flags.SortFlags = false
	for _, o := range options {
		flag := flags.VarPF(o, o.Name, o.Short, service.Naming(service.Flags).In(o.Help))
		if o.Type() == "bool" {
			flag.NoOptDefVal = "true"
		}
		if o.Shown != "" {
			flag.DefValue = o.Shown
		}
		if o.Group != "" {
			flag.Annotations = map[string][]string{groupOf: {string(o.Group)}}
		}
	}
}

// addOwn makes flags of options that no other front end has.
func addOwn(flags *pflag.FlagSet, options service.Options) {
	for _, o := range options {
		o.CommandOf = true
	}
	addOptions(flags, options)
}

// basic puts an option under the first heading of help.
func basic(o *service.Option) *service.Option {
	o.Group = service.Basics
	return o
}

// usage writes how a command is used: its flags under headings where they have any, those of
// experts only if all are asked for.
func usage(c *cobra.Command, all bool) error {
	w := c.OutOrStderr()
	line := strings.ReplaceAll(c.UseLine(), "[flags]", "[OPTIONS]")
	if c.HasAvailableSubCommands() {
		line = c.CommandPath() + " COMMAND [OPTIONS]"
	}
	fmt.Fprintf(w, "Usage:\n  %s\n", line)
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nCommands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(w, "  %-10s %s\n", sub.Name(), sub.Short)
			}
		}
	}
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	byGroup, hidden := make(map[service.Group]*pflag.FlagSet), false
	c.Flags().VisitAll(func(f *pflag.Flag) {
		heading := general
		if of := f.Annotations[groupOf]; of != nil {
			heading = service.Group(of[0])
		}
		if f.Hidden {
			return
		}
		if heading == service.Advanced && !all {
			hidden = hidden || f.Name != "max-memory"
			return
		}
		if byGroup[heading] == nil {
			byGroup[heading] = pflag.NewFlagSet("", pflag.ContinueOnError)
			byGroup[heading].SortFlags = false
		}
		byGroup[heading].AddFlag(f)
	})
	for _, heading := range append(service.Groups(), general) {
		if flags := byGroup[heading]; flags != nil {
			fmt.Fprintf(w, "\n%s:\n%s", heading, flags.FlagUsagesWrapped(100))
		}
	}
	if hidden {
		fmt.Fprintf(w, "\nAdvanced options: %s --help-all\n", c.CommandPath())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nHelp about a command: %s COMMAND --help\n", c.CommandPath())
	}
	return nil
}

// general is the heading of flags without a group.
const general service.Group = "General"

// helpAll takes --help-all for --help, and reports whether it was there.
func helpAll(args []string) ([]string, bool) {
	for i, arg := range args {
		switch arg {
		case "--":
			return args, false
		case "--help-all":
			shown := append([]string(nil), args...)
			shown[i] = "--help"
			return shown, true
		}
	}
	return args, false
}

// flagError is an error about flags, in our words.
func flagError(c *cobra.Command, err error) error {
	var option *service.Error
	if errors.As(err, &option) {
		return option
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return knownOptions(c).Unknown(unknown.GetSpecifiedName())
	}
	var empty *pflag.ValueRequiredError
	if errors.As(err, &empty) {
		return usagef("--%s: a value is missing", empty.GetFlag().Name)
	}
	return &usageError{err}
}

// knownOptions are the flags of a command by name.
func knownOptions(c *cobra.Command) (options service.Options) {
	c.Flags().VisitAll(func(f *pflag.Flag) { options = append(options, &service.Option{Name: f.Name}) })
	return options
}

// naming is how flags are written, and what to call the option of costs: by the one of its
// ways that was given.
func naming(flags *pflag.FlagSet) service.Naming {
	return func(option, value string) string {
		if option == "utility" && value == "" && flags != nil && flags.Lookup("cost") != nil && !flags.Changed(option) {
			option = "cost"
		}
		return service.Flags(option, value)
	}
}
