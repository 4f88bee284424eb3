package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

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
	fmt.Fprintf(&b, "%s to settle:", Plural(len(p.All), "problem"))
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
		b.WriteString("\nCheck whether it is so, and settle all of it by: " + together(p.Suggest))
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
	begin := "\nSettle all of it by a choice of: "
	if p.Suggest != nil {
		begin = "\nand by a choice of: "
	}
	return b.String() + begin + strings.Join(choices, "; ")
}
