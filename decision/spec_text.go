package decision

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
)

// String writes the entry so that it reads back the same.
func (e specEntry) String() string {
	number := strconv.FormatFloat(e.factor, 'g', -1, 64)
	if e.column == "" {
		return number
	}
	if e.factor == 1 {
		if plain, msg, _ := parseEntry(e.column); msg == "" && plain == e {
			return e.column
		}
	}
	return number + " * " + e.column
}

// TableLines is the specification as an aligned table for people to read.
func (s *Spec) TableLines() []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	kind := "utilities"
	if s.costs {
		kind = "costs"
	}
	// Nothing can fail: the writers below are in memory.
	fmt.Fprintf(w, "%s\t%s\t%s\n", kind, printable(s.outcomeName(0)), printable(s.outcomeName(1)))
	for _, a := range s.actions {
		fmt.Fprintf(w, "%s\t%s\t%s\n", printable(a.name), printable(a.entries[0].String()), printable(a.entries[1].String()))
	}
	if c, ok := s.Ceiling(); ok {
		fmt.Fprintf(w, "ceiling\t%s\n", strconv.FormatFloat(c, 'g', -1, 64))
	}
	_ = w.Flush()
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// RuleLine says in words which probabilities of the positive outcome lead to which
// action.
func (s *Spec) RuleLine() string {
	positive := "P(" + printable(s.outcomeName(1)) + ")"
	if columns := s.Columns(); len(columns) > 0 {
		return fmt.Sprintf("which %s leads to which action differs from case to case with %s", positive, printable(strings.Join(columns, ", ")))
	}
	t, err := s.Table(nil)
	if err != nil {
		return err.Error() // a specification without columns was checked when it was made
	}
	name := func(a int) string { return printable(s.actions[a].name) }
	if p, b, ok := t.Threshold(); ok {
		return fmt.Sprintf("%s where %s is above %.6g, else %s (threshold %.6g on the standardised latent mean)", name(1), positive, p, name(0), b)
	}
	ranges := t.Ranges()
	if len(ranges) == 1 {
		return fmt.Sprintf("always %s: no other action is better at any %s", name(ranges[0].Action), positive)
	}
	used := make([]bool, len(t))
	var parts, never []string
	for i, r := range ranges {
		used[r.Action] = true
		switch i {
		case 0:
			parts = append(parts, fmt.Sprintf("%s where %s is below %.6g", name(r.Action), positive, r.To))
		case len(ranges) - 1:
			parts = append(parts, fmt.Sprintf("%s above %.6g", name(r.Action), r.From))
		default:
			parts = append(parts, fmt.Sprintf("%s from %.6g to %.6g", name(r.Action), r.From, r.To))
		}
	}
	for a, ok := range used {
		if !ok {
			never = append(never, name(a))
		}
	}
	if len(never) > 0 {
		parts = append(parts, "never "+strings.Join(never, ", "))
	}
	return strings.Join(parts, "; ")
}

func (s *Spec) outcomeName(y int) string {
	if s.bound() {
		return s.outcomes[y]
	}
	return [2]string{"negative", "positive"}[y]
}

// quoted makes a name from a file safe and short enough for a message.
func quoted(name string) string {
	const longest = 40
	if runes := []rune(name); len(runes) > longest {
		name = string(runes[:longest]) + "…"
	}
	return strconv.Quote(name)
}

func quotedPair(names [2]string) string { return quoted(names[0]) + " and " + quoted(names[1]) }

// printable is the name itself where that fits on a line, and quoted otherwise.
func printable(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) >= 0 {
		return strconv.Quote(name)
	}
	return name
}
