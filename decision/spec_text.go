package decision

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
)

// TableLines is the specification as an aligned table for people to read.
func (s *Spec) TableLines() []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	kind := "utilities"
	if s.costs {
		kind = "costs"
	}
	// Nothing can fail: the writers below are in memory.
	fmt.Fprint(w, kind)
	for y := range s.entries[0] {
		fmt.Fprint(w, "\t", printable(s.outcomeName(y)))
	}
	for a, row := range s.entries {
		fmt.Fprint(w, "\n", printable(s.actions[a]))
		for _, e := range row {
			fmt.Fprint(w, "\t", printable(e.String()))
		}
	}
	fmt.Fprintln(w)
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
	rule, by, ok := s.Rule()
	if !ok {
		of := printable(strings.Join(s.Columns(), ", "))
		switch {
		case len(s.entries[0]) != 2:
			return "which probabilities lead to which action depends on " + of
		case len(s.entries) == 2:
			return "the threshold of " + positive + " depends on " + of
		}
		return "the thresholds of " + positive + " depend on " + of
	}
	if len(s.entries[0]) != 2 {
		return map[bool]string{true: "the action with the lowest expected cost", false: "the action with the highest expected utility"}[s.Costs()]
	}
	return s.ruleText(rule, positive) + proportional(by)
}

// proportional says why the rule is the same in all cases, where that is not plain.
func proportional(by string) string {
	if by == "" {
		return ""
	}
	return fmt.Sprintf("; the same in every case with %[1]s > 0, as all entries are multiples of %[1]s", printable(by))
}

func (s *Spec) ruleText(t Stakes, positive string) string {
	name := func(a int) string { return printable(s.actions[a]) }
	if p, _, ok := t.Threshold(); ok {
		text := fmt.Sprintf("%s if %s > %.6g, else %s", name(1), positive, p, name(0))
		if low, high, ok := t.thresholds(); ok {
			text += fmt.Sprintf("; the threshold is %.6g to %.6g within the ranges of the %s", low, high, map[bool]string{true: "costs", false: "utilities"}[s.costs])
		}
		return text
	}
	ranges := t.Ranges()
	if len(ranges) == 1 {
		return fmt.Sprintf("always %s: no other action is better at any %s", name(ranges[0].Action), positive)
	}
	used := make([]bool, len(t.Table))
	var parts, never []string
	for i, r := range ranges {
		used[r.Action] = true
		switch i {
		case 0:
			parts = append(parts, fmt.Sprintf("%s if %s < %.6g", name(r.Action), positive, r.To))
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
	if s.outcomes != nil {
		return s.outcomes[y]
	}
	return [2]string{"negative", "positive"}[y]
}

// printable is the name itself where that fits on a line, and quoted otherwise.
func printable(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) >= 0 {
		return strconv.Quote(name)
	}
	return name
}
