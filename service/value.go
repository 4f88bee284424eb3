package service

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Value is what an option holds. What Set returns as an error completes "--name: ".
type Value interface {
	// String is the value as text.
	String() string
	// Type is what the option takes, as help shows it; bool for a switch.
	Type() string
	// Set reads the value from text.
	Set(text string) error
}

// asText is a value of JSON as one types it.
func asText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case fmt.Stringer: // such as json.Number
		return v.String(), nil
	}
	return "", fmt.Errorf("takes a text, a number or true or false, not %T", v)
}

// Text is an option's value that may be any text, of a kind that help names.
func Text(to *string, kind string) Value { return text{to, kind} }

type text struct {
	to   *string
	kind string
}

func (v text) String() string        { return *v.to }
func (v text) Type() string          { return v.kind }
func (v text) Set(text string) error { *v.to = text; return nil }

// choice is one of some words. Some are spelled in several ways.
type choice[T ~string] struct {
	to    *T
	of    []T
	alias map[string]T
}

func (v choice[T]) String() string { return string(*v.to) }

func (v choice[T]) Type() string {
	words := make([]string, 0, len(v.of))
	for _, word := range v.of {
		if word != "" {
			words = append(words, string(word))
		}
	}
	return strings.Join(words, "|")
}

func (v choice[T]) Set(text string) error {
	word := T(strings.ToLower(text))
	if other, ok := v.alias[string(word)]; ok {
		word = other
	}
	if !slices.Contains(v.of, word) {
		return fmt.Errorf("invalid value %q; choose one of %s", text, strings.ReplaceAll(v.Type(), "|", ", "))
	}
	*v.to = word
	return nil
}

// toggle is true or false.
type toggle struct{ to *bool }

func (v toggle) String() string { return strconv.FormatBool(*v.to) }
func (v toggle) Type() string   { return "bool" }
func (v toggle) Set(text string) error {
	b, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("invalid value %q; give true or false", text)
	}
	*v.to = b
	return nil
}

// whole is a whole number from a least one on.
type whole struct {
	to    *int
	least int
}

func (v whole) String() string { return strconv.Itoa(*v.to) }
func (v whole) Type() string   { return "N" }
func (v whole) Set(text string) error {
	n, err := parseWhole(text)
	if err != nil {
		return err
	}
	if n < v.least {
		return fmt.Errorf("%d is below %d", n, v.least)
	}
	*v.to = n
	return nil
}

func parseWhole(text string) (int, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	switch {
	case err == nil && n == int64(int(n)):
		return int(n), nil
	case err == nil || err.(*strconv.NumError).Err == strconv.ErrRange:
		return 0, fmt.Errorf("%s is too large a number", text)
	}
	return 0, fmt.Errorf("%q is not a whole number", text)
}

// seed is a whole number from 0 on, of 64 bits.
type seed struct{ to *uint64 }

func (v seed) String() string { return strconv.FormatUint(*v.to, 10) }
func (v seed) Type() string   { return "N" }
func (v seed) Set(text string) error {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a whole number from 0 to 18446744073709551615", text)
	}
	*v.to = n
	return nil
}

// number is a finite number.
type number struct{ to *float64 }

func (v number) String() string { return strconv.FormatFloat(*v.to, 'g', -1, 64) }
func (v number) Type() string   { return "X" }
func (v number) Set(text string) error {
	x, err := parseNumber(text)
	if err != nil {
		return err
	}
	*v.to = x
	return nil
}

func parseNumber(text string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return x, nil
}

// share is a number between 0 and 1, or in percent.
type share struct{ to *float64 }

func (v share) String() string { return strconv.FormatFloat(*v.to, 'g', -1, 64) }
func (v share) Type() string   { return "SHARE" }
func (v share) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	x, err := parseNumber(number)
	if err != nil {
		return fmt.Errorf("%q is not a share such as 0.02 or 2%%", text)
	}
	if percent {
		x /= 100
	}
	if !(x > 0 && x < 1) {
		return fmt.Errorf("%s is not between 0 and 1; write such as 0.02 or 2%%", text)
	}
	*v.to = x
	return nil
}

// list is texts. On a command line they are separated by commas, in quotes where they
// contain one, and an option that comes again adds to them.
type list struct {
	to    *[]string
	kind  string
	whole bool // a text is one element, whatever it contains
	begun *bool
}

func newList(to *[]string, kind string) list { return list{to: to, kind: kind, begun: new(bool)} }
func newRepeatable(to *[]string, kind string) list {
	return list{to: to, kind: kind, whole: true, begun: new(bool)}
}

func (v list) String() string { return strings.Join(*v.to, ",") }
func (v list) Type() string   { return v.kind }

func (v list) Set(text string) error {
	elements := []string{text}
	if !v.whole && text != "" {
		var err error
		if elements, err = csv.NewReader(strings.NewReader(text)).Read(); err != nil {
			return fmt.Errorf("%q is not a list such as a,b,c; put names that contain a comma or a quote in double quotes", text)
		}
	}
	if !v.whole && text == "" {
		elements = nil
	}
	if !*v.begun { // what was there is the default
		*v.to = nil
	}
	*v.begun = true
	*v.to = append(*v.to, elements...)
	return nil
}

func (v list) replace(texts []string) error {
	*v.begun = true
	*v.to = texts
	return nil
}

// size is a number with k, M, G or T after it; each is a thousand times the one before.
type size struct{ to *int64 }

func (v size) String() string { return SizeText(*v.to) }
func (v size) Type() string   { return "SIZE" }
func (v size) Set(text string) error {
	n, err := ParseSize(text)
	if err != nil {
		return err
	}
	*v.to = n
	return nil
}

// ParseSize reads a number with k, M, G or T after it; each is a thousand times the one
// before.
func ParseSize(text string) (int64, error) {
	number := strings.TrimRight(text, "iBb")
	factor := 1.0
	for k, unit := range []string{"k", "m", "g", "t"} {
		if rest, ok := strings.CutSuffix(strings.ToLower(number), unit); ok {
			number, factor = rest, math.Pow(1000, float64(k+1))
			break
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if n := x * factor; err == nil && n >= 1 && n < 1e18 {
		return int64(n), nil
	}
	return 0, fmt.Errorf("%q is not a size such as 500M or 10G", text)
}

// SizeText is a number of bytes in a unit that suits it.
func SizeText(bytes int64) string {
	x, units := float64(bytes), []string{"", "kB", "MB", "GB", "TB"}
	k := 0
	for ; x >= 1000 && k < len(units)-1; k++ {
		x /= 1000
	}
	return strconv.FormatFloat(x, 'g', 4, 64) + units[k]
}
