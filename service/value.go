package service

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
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

// lister is a Value of several texts.
type lister interface{ replace(texts []string) error }

// TextOf, ToggleOf, WholeOf, NumberOf, SeedOf, ListOf and ChoiceOf are values for options that are defined elsewhere. A
// text and a list are of a kind, as help shows it, and a whole number is from a least one on.
func TextOf(to *string, kind string) Value { return text{to, kind} }

func ToggleOf(to *bool) Value { return toggle{to} }

func WholeOf(to *int, least int) Value { return whole{to, least} }

func NumberOf(to *float64) Value { return number{to} }

func SeedOf(to *uint64) Value { return seed{to} }

func ListOf(to *[]string, kind string) Value { return newList(to, kind) }

func ChoiceOf[T ~string](to *T, of ...T) Value { return choice[T]{to: to, of: of} }

// setAll gives a value that takes several texts each of them.
func setAll(v Value, texts []string) error {
	for _, text := range texts {
		if err := v.Set(text); err != nil {
			return err
		}
	}
	return nil
}

// Texts are a value of JSON as one types it: one text, those of a list, or name=text of an object.
func Texts(v any) (texts []string, err error) {
	add := func(before string, element any) {
		text, bad := asText(element)
		texts, err = append(texts, before+text), cmp.Or(err, bad)
	}
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			add("", element)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			add(name+"=", v[name])
		}
	default:
		add("", v)
	}
	return texts, err
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
	return "", errors.New("takes a text, a number, true or false")
}

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
		return fmt.Errorf("%d is too small; give at least %d", n, v.least)
	}
	*v.to = n
	return nil
}

// Duration is a time above 0.
type Duration struct{ To *time.Duration }

func (v Duration) String() string { return v.To.String() }
func (v Duration) Type() string   { return "DURATION" }

func (v Duration) Set(text string) error {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return fmt.Errorf("%q is no time such as 30s, 1m30s or 2h", text)
	case d <= 0:
		return fmt.Errorf("%v is not above 0", d)
	}
	*v.To = d
	return nil
}

// Numbers are as everybody writes them: without other bases, which 010 and 0x10 would be of,
// underscores, and what is not finite.
var (
	wholeForm  = regexp.MustCompile(`^[+-]?(0|[1-9]\d*)$`)
	numberForm = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)
)

func parseWhole(text string) (int, error) {
	text = strings.TrimSpace(text)
	if !wholeForm.MatchString(text) {
		return 0, fmt.Errorf("%q is not a whole number", text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n != int64(int(n)) {
		return 0, fmt.Errorf("%q is too large a number", text)
	}
	return int(n), nil
}

// seed is a whole number from 0 on, of 64 bits.
type seed struct{ to *uint64 }

func (v seed) String() string { return strconv.FormatUint(*v.to, 10) }
func (v seed) Type() string   { return "N" }
func (v seed) Set(text string) error {
	text = strings.TrimSpace(text)
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || !wholeForm.MatchString(text) {
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
	x, err := ParseNumber(text)
	if err != nil {
		return err
	}
	*v.to = x
	return nil
}

// above is a number above zero; unset, it stays what it is.
type above struct{ number }

func (v above) Set(text string) error {
	x, err := ParseNumber(text)
	if err != nil {
		return err
	}
	if !(x > 0) {
		return fmt.Errorf("%v is not above 0", x)
	}
	*v.to = x
	return nil
}

// ParseNumber reads a finite number as everybody writes it.
func ParseNumber(text string) (float64, error) {
	text = strings.TrimSpace(text)
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case !numberForm.MatchString(text):
		return 0, fmt.Errorf("%q is not a number", text)
	case err != nil:
		return 0, fmt.Errorf("%q is too large a number", text)
	}
	return x, nil
}

// share is a number between 0 and 1, or in percent.
type share struct{ to *float64 }

func (v share) String() string { return strconv.FormatFloat(*v.to, 'g', -1, 64) }
func (v share) Type() string   { return "SHARE" }
func (v share) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	x, err := ParseNumber(number)
	if err != nil {
		return fmt.Errorf("%q is not a share such as 0.02 or 2%%", text)
	}
	if percent {
		x /= 100
	}
	if !(x > 0 && x < 1) {
		return fmt.Errorf("%s is not between 0 and 1; give a share such as 0.02 or 2%%", text)
	}
	*v.to = x
	return nil
}

// prevalence is the share of the positive outcome, or shares of outcomes by name.
type prevalence struct {
	positive *float64
	of       *map[string]float64
}

func (v prevalence) Type() string { return "SHARE|OUTCOME=SHARE,..." }

func (v prevalence) String() string {
	if *v.of == nil {
		return share{v.positive}.String()
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(*v.of)) {
		texts = append(texts, fmt.Sprintf("%s=%v", name, (*v.of)[name]))
	}
	return strings.Join(texts, ",")
}

func (v prevalence) Set(text string) error {
	*v.positive, *v.of = 0, nil
	if !strings.Contains(text, "=") {
		return share{v.positive}.Set(text)
	}
	elements, err := csv.NewReader(strings.NewReader(text)).Read()
	if err != nil {
		return fmt.Errorf("%q is not a list such as mild=0.3,severe=5%%; put names that contain a comma or a quote in double quotes", text)
	}
	*v.of = make(map[string]float64)
	for _, element := range elements {
		at := strings.LastIndexByte(element, '=')
		if at < 1 {
			return fmt.Errorf("%q does not name an outcome; give a share such as severe=5%%", element)
		}
		name, x := element[:at], 0.0
		if err := (share{&x}).Set(element[at+1:]); err != nil {
			return err
		}
		if _, twice := (*v.of)[name]; twice {
			return fmt.Errorf("%s has a prevalence already; give one of them", name)
		}
		(*v.of)[name] = x
	}
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
	if !v.whole {
		var err error
		if elements, err = csv.NewReader(strings.NewReader(text)).Read(); err != nil {
			return fmt.Errorf("%q is not a list such as a,b,c; put names that contain a comma or a quote in double quotes", text)
		}
	}
	if slices.Contains(elements, "") {
		return errors.New("an element is empty; leave it out")
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
	x, err := ParseNumber(number)
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

// asks are columns that could be measured, with what that costs: COLUMN=COST, or COLUMN where
// the cost is 0.
type asks struct {
	columns *[]string
	prices  *[]float64
}

func newAsks(columns *[]string, prices *[]float64) asks { return asks{columns, prices} }

func (v asks) Type() string { return "COLUMN=COST" }

func (v asks) String() string {
	texts := make([]string, len(*v.columns))
	for k, column := range *v.columns {
		texts[k] = column + "=" + strconv.FormatFloat((*v.prices)[k], 'g', -1, 64)
	}
	return strings.Join(texts, ",")
}

func (v asks) Set(text string) error {
	column, price := text, 0.0
	if cut := strings.LastIndex(text, "="); cut > 0 {
		if x, err := ParseNumber(text[cut+1:]); err == nil || strings.TrimSpace(text[cut+1:]) == "" {
			if err != nil || !(x >= 0) || x > 1e300 {
				return fmt.Errorf("invalid cost %q of measuring %q; give a number from 0 to 1e300", text[cut+1:], text[:cut])
			}
			column, price = text[:cut], x
		}
	}
	if slices.Contains(*v.columns, column) {
		return fmt.Errorf("%q is given twice; give it once", column)
	}
	*v.columns, *v.prices = append(*v.columns, column), append(*v.prices, price)
	return nil
}

func (v asks) replace(texts []string) error {
	*v.columns, *v.prices = nil, nil
	return setAll(v, texts)
}
