package command

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lossep/lossep/service"
)

// single is the value of a flag that can be given once: of two values one would be ignored.
type single struct {
	pflag.Value
	given bool
}

func (s *single) Set(text string) error {
	if s.given {
		return errors.New("it is given more than once; keep one of them")
	}
	s.given = true
	if n, ok := plainNumbers[s.Type()]; ok && !n.form.MatchString(text) {
		return fmt.Errorf("%q is no %s", text, n.what)
	}
	return s.Value.Set(text)
}

// plainNumbers are numbers as everybody writes them, by the type of the flag: without other bases,
// which 010 and 0x10 would be of, underscores, and what is not finite.
var plainNumbers = map[string]struct {
	form *regexp.Regexp
	what string
}{
	"int":     {regexp.MustCompile(`^[+-]?(0|[1-9]\d*)$`), "whole number"},
	"int64":   {regexp.MustCompile(`^[+-]?(0|[1-9]\d*)$`), "whole number"},
	"uint64":  {regexp.MustCompile(`^(0|[1-9]\d*)$`), "whole number from 0"},
	"float64": {regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`), "number"},
}

// onlyOnce makes all flags of a command and those below it single, but for those that take
// lists.
func onlyOnce(c *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{c.PersistentFlags(), c.Flags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if _, list := f.Value.(pflag.SliceValue); !list && !isOption(f) {
				f.Value = &single{Value: f.Value}
			}
		})
	}
	for _, below := range c.Commands() {
		onlyOnce(below)
	}
}

// isOption tells whether a flag is made of an option, which looks after itself.
func isOption(f *pflag.Flag) bool {
	_, is := f.Value.(*service.Option)
	return is
}

// checkGiven refuses flags that are given without a value: a variable of a script that is not set
// would otherwise leave out what it was to say.
func checkGiven(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		empty := f.Value.Type() == "string" && f.Value.String() == ""
		if list, is := f.Value.(pflag.SliceValue); is {
			all := list.GetSlice()
			empty = len(all) == 0 || slices.Contains(all, "")
		}
		if empty && err == nil {
			err = usagef("--%s: the value is empty; give one, or leave out --%s", f.Name, f.Name)
		}
	})
	return err
}
