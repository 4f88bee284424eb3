package table

import (
	"fmt"
	"strconv"
	"strings"
)

// Error is a failure caused by the data: where it is, what is wrong and what
// to do about it. Fields that do not apply are zero.
type Error struct {
	File       string // name given to Read or NewReader
	Line       int    // line of the text, from 1
	Row        int    // row of a file that has no lines, from 1
	Column     int    // number of the table's column (not of the character), from 1
	ColumnName string // name of that column, if it is known
	Msg        string // what is wrong
	Fix        string // what to do about it
	Ways       []Way  // options any of which would settle it
	Settle     []Way  // options that settle it together, if it takes more than the first of Ways
	Choice     []Way  // options any of which was found to settle all there is, and nobody but the user can choose
	Err        error  // underlying error, if there is one
}

// Way is an option of this package that settles what an Error is about. A program
// that gives the option another name, such as a flag, renders it by Error.Text.
type Way struct {
	Option  Option
	Value   string // to be given to the option
	Meaning string // what giving it says about the table
}

// Option names a field of Options, Format or Limits.
type Option string

// The options that settle errors.
const (
	WayHeader      Option = "Header"
	WaySeparator   Option = "Separator"
	WayDecimal     Option = "Decimal"
	WayEncoding    Option = "Encoding"
	WayDates       Option = "Dates"
	WayMarkers     Option = "Markers"
	WayImpute      Option = "Impute"
	WayCategorical Option = "Categorical"
	WayOrdered     Option = "Ordered"
	WaySkip        Option = "Skip"
	WayDrop        Option = "Drop"
	WayTime        Option = "Time" // of an audit
	WayCosts       Option = "Costs"
	WayID          Option = "ID"
	WayScaling     Option = "Bends"
	WayTarget      Option = "Target"
	WayPositive    Option = "Positive"
	WayUnseen      Option = "Unseen"
	WayLabelled    Option = "Labelled" // a method of Table
	WayBytes       Option = "Bytes"
	WayRows        Option = "Rows"
	WayCells       Option = "Cells"
	WayMemory      Option = "Memory" // of what reads the file
)

// String is the option and its value as a Go program sets them.
func (w Way) String() string {
	if w.Value == "" {
		return "the option " + string(w.Option)
	}
	return fmt.Sprintf("the option %s %s", w.Option, Quote(w.Value))
}

// Error writes the place, the problem and the fix on one line.
func (e *Error) Error() string { return e.Text(Way.String) }

// Text is the message with its ways out as render writes them.
func (e *Error) Text(render func(Way) string) string {
	var place []string
	if e.File != "" {
		place = append(place, e.File)
	}
	if e.Line > 0 {
		place = append(place, "line "+strconv.Itoa(e.Line))
	}
	if e.Row > 0 {
		place = append(place, "row "+strconv.Itoa(e.Row))
	}
	switch {
	case e.Column > 0 && e.ColumnName != "":
		place = append(place, fmt.Sprintf("column %d (%s)", e.Column, Quote(e.ColumnName)))
	case e.Column > 0:
		place = append(place, "column "+strconv.Itoa(e.Column))
	case e.ColumnName != "":
		place = append(place, "column "+Quote(e.ColumnName))
	}
	text := strings.Join(place, ", ")
	if text != "" {
		text += ": "
	}
	text += e.Msg
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	for k, w := range e.Ways {
		switch {
		case k == 0 && e.Fix == "":
			text += "; give "
		case k == 0:
			text += ": "
		case k == len(e.Ways)-1:
			text += " or "
		default:
			text += ", "
		}
		text += render(w)
		if w.Meaning != "" {
			text += " (" + w.Meaning + ")"
		}
	}
	return text
}

// Unwrap gives the underlying error, such as a failure of the io.Reader.
func (e *Error) Unwrap() error { return e.Err }

// In is an Error that so far says only which file it is in.
func In(file string) *Error { return &Error{File: file} }

// Say completes an Error that has its place: what is wrong, as fmt.Sprintf writes it, and what to do about it.
func (e *Error) Say(fix, format string, args ...any) *Error {
	e.Msg, e.Fix = fmt.Sprintf(format, args...), fix
	return e
}

// By adds options any of which settles it.
func (e *Error) By(ways ...Way) *Error {
	e.Ways = ways
	return e
}

// longestQuote is how many characters of a text a message shows.
const longestQuote = 40

// quote makes text from a file safe and short enough for a message.
func Quote(s string) string {
	if runes := []rune(Beginning(s)); len(runes) > longestQuote {
		s = string(runes[:longestQuote]) + "…"
	}
	return strconv.Quote(s)
}

// beginning is as much of a text as a message may show, and a little more.
func Beginning[T string | []byte](text T) string {
	return string(text[:min(len(text), 4*(longestQuote+1))]) // whose characters have four bytes at most
}

// quoteList quotes the first few of the items and counts the rest.
func QuoteList(items []string) string {
	const most = 12
	shown := make([]string, 0, most)
	for _, s := range items[:min(len(items), most)] {
		shown = append(shown, Quote(s))
	}
	text := strings.Join(shown, ", ")
	if rest := len(items) - most; rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}

// Plural writes a count with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
