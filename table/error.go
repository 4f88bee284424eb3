package table

import (
	"errors"
	"fmt"
	"slices"
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

// ErrNoRows is within the error for a file that is a table without a row, such as one that is yet to be filled: names of columns
// and nothing else, and no line at all of JSON lines. What is known of the columns comes with it as a table without rows.
var ErrNoRows = errors.New("no rows")

// Way is an option of this package that settles what an Error is about. A program
// that gives the option another name, such as a flag, renders it by Error.Text.
type Way struct {
	Option  Option
	Value   string // to be given to the option
	Meaning string // what giving it says about the table
	With    Option // that it needs besides, if there is one
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
	WayOutcome     Option = "Outcome" // of a fit
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
		if w.With != "" {
			text += " with " + render(Way{Option: w.With})
		}
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

// Quote makes text from a file safe and short enough for a message.
func Quote(s string) string {
	if runes := []rune(Beginning(s)); len(runes) > longestQuote {
		s = string(runes[:longestQuote]) + "…"
	}
	return strconv.Quote(s)
}

// Beginning is as much of a text as a message may show, and a little more.
func Beginning[T string | []byte](text T) string {
	return string(text[:min(len(text), 4*(longestQuote+1))]) // whose characters have four bytes at most
}

// QuoteList quotes the first few of the items and counts the rest.
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

// Finding is something about a table that a person should know, or be asked.
type Finding struct {
	Check    string   `json:"check"`            // the name of the check that found it
	Severity Severity `json:"severity"`         // how much it matters
	Column   string   `json:"column,omitempty"` // that it is about, if it is one
	Rows     int      `json:"rows,omitempty"`   // that it is about, if they are counted
	Text     string   `json:"message"`          // what is so, and what to do about it, in a sentence
	Ways     []Way    `json:"-"`                // options that settle it, each with what it says
}

// Severity is how much a finding matters.
type Severity string

// The severities. What is ambiguous ends learning, by an Error.
const (
	Note      Severity = "note"      // how something was read
	Warning   Severity = "warning"   // what may be wrong
	Ambiguous Severity = "ambiguous" // what cannot be decided without an option
)

// Findings are several of them.
type Findings []Finding

// Of tells whether there are findings of a check.
func (f Findings) Of(check string) bool {
	return slices.ContainsFunc(f, func(of Finding) bool { return of.Check == check })
}

// Texts are the sentences.
func (f Findings) Texts() (texts []string) {
	for i := range f {
		texts = append(texts, f[i].Said(Way.String))
	}
	return texts
}

// Said is the sentence with the options that settle it as render writes them.
func (f *Finding) Said(render func(Way) string) string {
	text := f.Text
	for k, w := range f.Ways {
		if k == 0 {
			text += "; "
		} else {
			text += ", "
		}
		text += w.Meaning + ": " + render(w)
	}
	return text
}

// Problems are what is to be settled about one table, all of it at once.
type Problems struct {
	All []*Error
	// Suggest are options that together, and with one of each of Choices, settle all of them, if
	// what they say is so. Both are nil where nobody can tell.
	Suggest []Way
	Choices [][]Way
}

// Add takes an error down; one that is not about a cell, a column or the table is returned.
func (p *Problems) Add(err error) error {
	var several *Problems
	var one *Error
	switch {
	case err == nil:
	case errors.As(err, &several):
		p.All = append(p.All, several.All...)
	case errors.As(err, &one):
		p.All = append(p.All, one)
	default:
		return err
	}
	return nil
}

// Err is nil without problems, and the Error itself if there is but one and nothing to suggest.
func (p *Problems) Err() error {
	switch {
	case len(p.All) == 0:
		return nil
	case len(p.All) == 1 && p.Suggest == nil:
		return p.All[0]
	}
	return p
}

// Error lists the problems, one a line.
func (p *Problems) Error() string {
	return p.Text(Way.String, func(all []Way) string {
		texts := make([]string, len(all))
		for k, w := range all {
			texts[k] = w.String()
		}
		return strings.Join(texts, ", ")
	})
}

// Together are ways that are given at once: lines to leave out as one list, and others once each.
func Together(ways []Way) (all []Way) {
	for _, w := range ways {
		switch k := slices.IndexFunc(all, func(v Way) bool { return v.Option == w.Option && (v.Option == WaySkip || v.Value == w.Value) }); {
		case k < 0:
			all = append(all, w)
		case w.Option == WaySkip && !slices.Contains(strings.Split(all[k].Value, ","), w.Value):
			all[k].Value += "," + w.Value
		}
	}
	return all
}

// Unwrap gives the single errors.
func (p *Problems) Unwrap() []error {
	all := make([]error, len(p.All))
	for k, e := range p.All {
		all[k] = e
	}
	return all
}

// mostProblems is how many problems are listed.
const mostProblems = 20

// Text is the list with ways out as one writes a single one, and together all that are suggested.
func (p *Problems) Text(one func(Way) string, together func([]Way) string) string {
	var b strings.Builder
	file := p.All[0].File
	if file != "" {
		b.WriteString(file + ": ")
	}
	fmt.Fprintf(&b, "%s to resolve:", Plural(len(p.All), "problem"))
	for _, e := range p.All[:min(len(p.All), mostProblems)] {
		short := *e
		if short.File == file {
			short.File = ""
		}
		b.WriteString("\n- " + short.Text(one))
	}
	if more := len(p.All) - mostProblems; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	if p.Suggest != nil {
		b.WriteString("\nIf these readings are right, resolve them with: " + together(p.Suggest))
	}
	if p.Choices == nil {
		return b.String()
	}
	choices := make([]string, len(p.Choices))
	for k, ways := range p.Choices {
		for j, w := range ways {
			choices[k] += one(w)
			if j < len(ways)-1 {
				choices[k] += " or "
			}
		}
	}
	begin := "\nResolve them with one option from each of: "
	if p.Suggest != nil {
		begin = "\nand with one option from each of: "
	}
	return b.String() + begin + strings.Join(choices, "; ")
}
