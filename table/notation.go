package table

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Notation is how the numbers of a column are written where they are not plain: with
// groups of digits, another decimal separator, or a unit that all of them have.
type Notation struct {
	Decimal string `json:"decimal,omitempty"` // "," if it is not a point
	Group   string `json:"group,omitempty"`   // between groups of three digits
	Unit    string `json:"unit,omitempty"`    // such as % or $, before or after
	// Brackets says that numbers below zero are in brackets, where nothing else is unusual.
	Brackets bool `json:"brackets,omitempty"`
}

// String says it in words.
func (n *Notation) String() string {
	var parts []string
	if n.Decimal != "" {
		parts = append(parts, "decimal comma")
	}
	if n.Group != "" {
		parts = append(parts, "thousands by "+Quote(n.Group))
	}
	if n.Unit != "" {
		parts = append(parts, "in "+n.Unit)
	}
	if n.Brackets {
		parts = append(parts, "below zero in brackets")
	}
	return strings.Join(parts, ", ")
}

// units are what may stand before or after a number.
var units = []string{"%", "$", "€", "£", "¥", "₹", "₽", "₩", "USD", "EUR", "GBP", "CHF", "JPY", "CAD", "AUD", "SEK", "NOK", "DKK", "PLN", "CZK", "BRL", "INR", "CNY", "R$", "kr", "zł"}

// groups are what may stand between thousands: the last two are spaces that do not
// break.
var groups = []string{",", ".", " ", "'", "’", "\u00a0", "\u202f"}

// cutUnit takes a unit away, and the space and brackets that go with one: ($5) is how
// accountants write -5.
func cutUnit(text []byte) (number []byte, unit string) {
	text = bytes.TrimSpace(text)
	if n := len(text); n > 2 && text[0] == '(' && text[n-1] == ')' {
		if inside, u := cutUnit(text[1 : n-1]); len(inside) > 0 && inside[0] >= '0' && inside[0] <= '9' {
			return append([]byte{'-'}, inside...), u
		}
	}
	sign := []byte(nil)
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		sign = text[:1]
	}
	for _, u := range units {
		b := []byte(u)
		if rest, ok := bytes.CutSuffix(text, b); ok && len(rest) > 0 {
			return bytes.TrimSpace(rest), u
		}
		if rest, ok := bytes.CutPrefix(text, b); ok && len(rest) > 0 {
			return bytes.TrimSpace(rest), u
		}
		// The sign comes first: -$5.
		if rest, ok := bytes.CutPrefix(text[len(sign):], b); ok && len(sign) > 0 && len(rest) > 0 {
			return append(bytes.Clone(sign), bytes.TrimSpace(rest)...), u
		}
	}
	return text, ""
}

// WordUnit is the word after a number, such as mg/dl or km, or nothing.
func WordUnit(text []byte) string {
	k := bytes.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("+-.,'’\u00a0\u202f 0123456789", r) })
	if k <= 0 || len(text)-k > 16 || !bytes.ContainsAny(text[:k], "0123456789") || bytes.ContainsAny(text[k:], "0123456789\"(") {
		return ""
	}
	if first, _ := utf8.DecodeRune(text[k:]); !unicode.IsLetter(first) && first != '°' {
		return ""
	}
	return string(text[k:])
}

// cut takes the unit away, which may be one of the usual or the notation's own.
func (n *Notation) cut(text []byte) (number []byte, unit string) {
	number, unit = cutUnit(text)
	if unit == "" && n.Unit != "" {
		if rest, ok := bytes.CutSuffix(number, []byte(n.Unit)); ok && len(rest) > 0 {
			return bytes.TrimSpace(rest), n.Unit
		}
	}
	return number, unit
}

// Parse reads a number of this notation. The unit may be left out.
func (n *Notation) Parse(text []byte) (float64, bool) {
	number, unit := n.cut(text)
	if unit != "" && unit != n.Unit {
		return 0, false
	}
	decimal := byte('.')
	if n.Decimal != "" {
		decimal = n.Decimal[0]
	}
	if n.Group != "" {
		var ok bool
		if number, ok = ungroup(number, n.Group, decimal); !ok {
			return 0, false
		}
	}
	x, kind := ParseNumber(number, decimal)
	return x, kind == Finite || kind == Long
}

// ungroup takes the separators of thousands away, which must be where they belong.
func ungroup(number []byte, group string, decimal byte) ([]byte, bool) {
	if !bytes.Contains(number, []byte(group)) {
		return number, true
	}
	whole, rest := number, []byte(nil)
	if k := bytes.IndexByte(number, decimal); k >= 0 {
		whole, rest = number[:k], number[k:]
	}
	if bytes.Contains(rest, []byte(group)) {
		return nil, false
	}
	parts := bytes.Split(whole, []byte(group))
	first := bytes.TrimLeft(parts[0], "+-")
	if len(first) < 1 || len(first) > 3 {
		return nil, false
	}
	for _, p := range parts[1:] {
		if len(p) != 3 {
			return nil, false
		}
	}
	return append(bytes.Join(parts, nil), rest...), true
}

// candidates are the notations that texts could have, the likelier first: those of the
// table's decimal separator, and of the other one where that is not certain.
func candidates(d dialect, unit string) []Notation {
	var all []Notation
	add := func(decimal byte) {
		n := Notation{Unit: unit}
		if decimal == ',' {
			n.Decimal = ","
		}
		all = append(all, n)
		for _, g := range groups {
			if g[0] != decimal {
				all = append(all, Notation{Decimal: n.Decimal, Group: g, Unit: unit})
			}
		}
	}
	add(d.decimal)
	if !d.sure {
		add(',' + '.' - d.decimal)
	}
	return all
}

// mayBeNumber turns away most text before notations are tried on it.
func mayBeNumber(text []byte) bool {
	if len(text) == 0 || len(text) > 40 || !utf8.Valid(text) {
		return false
	}
	number, _ := cutUnit(text)
	return len(number) > 0 && bytes.ContainsAny(number[:min(2, len(number))], "0123456789") && bytes.IndexFunc(number, func(r rune) bool {
		return r >= 'A' && r != 'e' && r != 'E' && r != '’' && r != '\u202f' && r != '\u00a0'
	}) < 0
}
