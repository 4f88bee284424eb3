package decision

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseEntry reads "5", "amount" or "0.6 * amount"; msg is empty if it succeeds.
func parseEntry(text string) (e specEntry, msg, fix string) {
	const form = "write a number, the name of a column, or a number times a column, such as 0.6 * amount"
	text = strings.TrimSpace(text)
	left, right, product := strings.Cut(text, "*")
	factor, err := strconv.ParseFloat(strings.TrimSpace(left), 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && (math.IsNaN(factor) || math.IsInf(factor, 0)):
		return e, quoted(text) + " is not a finite number", form
	case err == nil && !product:
		return specEntry{factor: factor + 0}, "", "" // the sum turns −0 into 0
	case err == nil && factor == 0:
		return specEntry{}, "", "" // whatever the column holds
	case err == nil:
		e = specEntry{factor, strings.TrimSpace(right)}
		if e.column == "" {
			return e, quoted(text) + " names no column", form
		}
		return e, "", ""
	case product:
		return e, quoted(text) + " does not begin with a number", form
	case text == "":
		return e, "nothing is given", form
	case strings.ContainsAny(text[:1], "0123456789+-."):
		return e, quoted(text) + " is neither a number nor a column", form + ", with a point for decimals and no unit; a column of that name is 1 * " + text
	}
	return specEntry{1, text}, "", ""
}

// fault says what is wrong with an entry, and what to do.
func (e specEntry) fault(costs bool) (msg, fix string) {
	switch {
	case math.IsNaN(e.factor) || math.IsInf(e.factor, 0):
		return fmt.Sprintf("%v is not a finite number", e.factor), "give a number"
	case !utf8.ValidString(e.column):
		return "the column's name is not UTF-8", "spell it in UTF-8"
	case e.column != strings.TrimSpace(e.column):
		return "the column's name begins or ends with a blank", "remove it"
	case e.column != "" && e.factor == 0:
		return "zero times a column", "write 0"
	case !costs && e.factor < 0:
		return fmt.Sprintf("the utility %v is negative", e), "utilities are at least 0: add the same amount to every entry, or give costs"
	}
	return "", ""
}

// BinaryCosts is the specification for two actions, "negative" and "positive", where
// a wrong one costs fn (negative for a case that is positive) or fp and a right one
// nothing. The names of the outcomes are set by Bind.
func BinaryCosts(fn, fp float64) (*Spec, error) {
	return binarySpec(map[string]specEntry{"fn": {factor: fn}, "fp": {factor: fp}})
}

// ParseCosts reads the costs of two actions from one line, such as "fn=5,fp=1" or
// "fn=0.6*amount,fp=1,tp=0.2": false negatives and false positives, which cost
// something, and if need be true ones, which cost 0 unless given. Entries are as in
// ParseSpec. Errors are *SpecError, with the place in the line as their column.
func ParseCosts(text string) (*Spec, error) {
	const form = "write the costs of mistakes as in fn=5,fp=1"
	entries := make(map[string]specEntry)
	column := 1
	for part := range strings.SplitSeq(text, ",") {
		refuse := func(fix, format string, args ...any) (*Spec, error) {
			return nil, &SpecError{"costs", 0, column, fmt.Sprintf(format, args...), fix}
		}
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !ok {
			return refuse(form, "%s has no =", quoted(part))
		}
		if !slices.Contains([]string{"fn", "fp", "tp", "tn"}, name) {
			return refuse("use fn and fp for false negatives and positives, and if need be tp and tn", "%s is unknown", quoted(name))
		}
		if _, twice := entries[name]; twice {
			return refuse("keep one of them", "%s is given twice", name)
		}
		e, msg, fix := parseEntry(value)
		if msg == "" {
			msg, fix = e.fault(true)
		}
		if msg == "" {
			msg, fix = e.mistake(name)
		}
		if msg != "" {
			return refuse(fix, "%s: %s", name, msg)
		}
		entries[name] = e
		column += utf8.RuneCountInString(part) + 1
	}
	for _, name := range []string{"fn", "fp"} {
		if _, ok := entries[name]; !ok {
			return nil, &SpecError{File: "costs", Msg: name + " is missing", Fix: form}
		}
	}
	return binarySpec(entries)
}

// mistake refuses a mistake, fn or fp, that costs nothing.
func (e specEntry) mistake(name string) (msg, fix string) {
	if (name == "fn" || name == "fp") && !(e.factor > 0) {
		return fmt.Sprintf("a mistake that costs %v is none", e), "give a cost above 0"
	}
	return "", ""
}

func binarySpec(entries map[string]specEntry) (*Spec, error) {
	for _, name := range []string{"fn", "fp"} {
		if msg, fix := entries[name].mistake(name); msg != "" {
			return nil, &SpecError{File: "costs", Msg: name + ": " + msg, Fix: fix}
		}
	}
	s := &Spec{costs: true, ceiling: math.NaN(), actions: []specAction{
		{"negative", [2]specEntry{entries["tn"], entries["fn"]}},
		{"positive", [2]specEntry{entries["fp"], entries["tp"]}},
	}}
	if err := s.check(); err != nil {
		err.File = "costs"
		return nil, err
	}
	return s, nil
}
