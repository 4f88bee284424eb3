package service

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lossep/lossep/table"
)

// Option is something that can be said about a request.
type Option struct {
	Name      string // with hyphens, as the command has it after --
	Short     string // one letter, for the command; mostly empty
	Group     Group
	Help      string
	Shown     string // the default as help shows it, where Value.String does not say it well
	CommandOf bool   // only the command has it: it is about files and screens
	Value     Value

	given bool
}

// Group is a heading of help.
type Group string

// The groups, in the order of help. Help shows Advanced only when asked for all.
const (
	Basics   Group = "Basics"
	Columns  Group = "Columns"
	File     Group = "Table file"
	Model    Group = "Model"
	Testing  Group = "Evaluation"
	NewCases Group = "New cases"
	Advanced Group = "Advanced"
)

// Groups are the headings in order.
func Groups() []Group { return []Group{Basics, Columns, File, Model, Testing, NewCases, Advanced} }

// Given tells whether the option was given a value.
func (o *Option) Given() bool { return o.given }

// Set gives the option a value as it stands on a command line.
func (o *Option) Set(text string) error {
	switch {
	case text == "": // such as of a variable of a script that is not set
		return &Error{Option: o.Name, Msg: "the value is empty; give one, or leave out {" + o.Name + "}"}
	case o.given && !o.List(): // one of the two would be ignored
		return &Error{Option: o.Name, Msg: "it is given more than once; keep one of them"}
	}
	if err := o.Value.Set(text); err != nil {
		return &Error{Option: o.Name, Msg: err.Error()}
	}
	o.given = true
	return nil
}

// String is the value as text.
func (o *Option) String() string { return o.Value.String() }

// Type is what the option takes, as help shows it; bool for a switch.
func (o *Option) Type() string { return o.Value.Type() }

// Give gives the option a value as JSON has it: a text, a number, a truth value, a list, or an object of
// names and numbers, which stands for a list of name=number.
func (o *Option) Give(v any) error {
	fail := func(msg string) error { return &Error{Option: o.Name, Msg: msg} }
	if _, truth := v.(bool); !truth && o.Type() == "bool" {
		return fail("takes true or false")
	}
	texts, err := Texts(v)
	switch list, isList := o.Value.(lister); v.(type) {
	case []any, map[string]any:
		switch {
		case !isList:
			return fail("takes one value, not a list")
		case err == nil && slices.Contains(texts, ""):
			return fail("an element is empty; leave it out")
		case err == nil:
			err = list.replace(texts)
		}
	default:
		if err == nil {
			return o.Set(texts[0])
		}
	}
	if err != nil {
		return fail(err.Error())
	}
	o.given = true
	return nil
}

// List tells whether the option takes several values.
func (o *Option) List() bool {
	_, list := o.Value.(lister)
	return list
}

// JSON is the type that the option has in a description of requests, and that of the elements of a list or object.
func (o *Option) JSON() (kind, elements string) {
	switch {
	case o.Type() == "ACTION=N":
		return "object", "number"
	case o.List():
		return "array", "string"
	case o.Type() == "bool":
		return "boolean", ""
	case o.Type() == "N":
		return "integer", ""
	}
	return "string", ""
}

// Options are those of one request.
type Options []*Option

// Lookup is the option of that name, nil if there is none. Underscores stand for hyphens.
func (o Options) Lookup(name string) *Option {
	name = strings.ReplaceAll(name, "_", "-")
	for _, option := range o {
		if option.Name == name {
			return option
		}
	}
	return nil
}

// Given tells whether the option of that name was given.
func (o Options) Given(name string) bool { return o.Lookup(name).Given() }

// Give gives options their values by name; see Option.Give. Of several that are wrong the
// first by name is refused.
func (o Options) Give(values map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		option := o.Lookup(name)
		if option == nil || option.CommandOf {
			return o.Unknown(name)
		}
		if err := option.Give(values[name]); err != nil {
			return err
		}
	}
	return nil
}

// Unknown is the error of an option that there is not, with the one that may be meant.
func (o Options) Unknown(name string) error {
	wanted, best, least := strings.ReplaceAll(name, "_", "-"), "", 3
	for _, option := range o {
		if d := table.Distance(wanted, option.Name); d < least {
			best, least = option.Name, d
		}
	}
	e := &Error{Option: wanted, Msg: "unknown option"}
	if best != "" {
		e.Msg += "; did you mean {" + best + "}?"
	}
	return e
}

// refuse refuses options that were given beside what they do not go with.
func (o Options) refuse(why string, names ...string) error {
	for _, name := range names {
		if option := o.Lookup(name); option != nil && option.given {
			return &Error{Option: name, Msg: why}
		}
	}
	return nil
}

// Error is about an option. Other options stand in the message in braces, {name} or
// {name=value}, for each front end has its own way to write them.
type Error struct {
	Option string
	Msg    string
	Err    error // underlying error, if there is one
}

// Error writes options as programs have them.
func (e *Error) Error() string { return e.Text(Fields) }

// Unwrap gives the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// Text is the error with options as a front end writes them.
func (e *Error) Text(n Naming) string {
	text := e.Msg
	if e.Option != "" {
		text = n(e.Option, "") + ": " + text
	}
	return n.In(text)
}

func optionError(option, format string, args ...any) error {
	return &Error{Option: option, Msg: fmt.Sprintf(format, args...)}
}

// Naming is how a front end writes an option, alone or with a value.
type Naming func(option, value string) string

// In writes the options that stand in braces in a text, and leaves other braces.
func (n Naming) In(text string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(text, '{')
		end := strings.IndexByte(text, '}')
		if open < 0 || end < open {
			b.WriteString(text)
			return b.String()
		}
		name, value, _ := strings.Cut(text[open+1:end], "=")
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" {
			b.WriteString(text[:open+1])
			text = text[open+1:]
			continue
		}
		b.WriteString(text[:open])
		b.WriteString(n(name, value))
		text = text[end+1:]
	}
}

// Flags is how the command writes options.
func Flags(option, value string) string {
	switch value {
	case "":
		return "--" + option
	case "true", "false": // of a switch, which takes no further word
		return "--" + option + "=" + value
	}
	return "--" + option + " " + ShellQuoted(value)
}

// Fields is how Python and JSON write options.
func Fields(option, value string) string {
	name := strings.ReplaceAll(option, "-", "_")
	if value == "" {
		return name
	}
	return fmt.Sprintf("%s=%q", name, value)
}

// ShellQuoted is a word as one types it into a shell.
func ShellQuoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.,:/%+@=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
