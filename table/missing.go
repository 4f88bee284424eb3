package table

import (
	"slices"
	"strings"
)

// DefaultMissing lists the spellings that always count as a missing cell. Those that
// are words count in lower and in upper case, as written here and capitalised, except
// that "none" is a category in many tables and only "None", which Python writes, is
// missing.
func DefaultMissing() []string {
	return []string{
		"", ".", "-", "--", "?", "NA", "na", "Na", "N/A", "n/a", "N/a", "#N/A", "#n/a", "#NA", "<NA>", "<na>", "NaN", "nan", "NAN", "-nan", "-NaN",
		"NULL", "null", "Null", "(null)", "None", "nil", `\N`, "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?",
	}
}

// Markers are the spellings of a missing cell: texts, and numbers by value.
type Markers struct {
	texts   map[string]bool
	numbers map[float64]bool
}

func NewMarkers(all []string) *Markers {
	m := &Markers{texts: make(map[string]bool), numbers: make(map[float64]bool)}
	for _, text := range all {
		if x, ok := Number(text); ok {
			m.numbers[x] = true
		}
		m.texts[text] = true
	}
	return m
}

// OfColumn are the markers of a column, given all of a recipe: NAME=TEXT among them is the
// spelling TEXT in the column NAME alone.
func (m *Markers) OfColumn(name string, all []string) *Markers {
	own := slices.Clone(all)
	for _, text := range all {
		if value, of := strings.CutPrefix(text, name+"="); of {
			own = append(own, value)
		}
	}
	if len(own) == len(all) {
		return m
	}
	return NewMarkers(own)
}

// Text tells whether a text, without white space around it, is a missing cell.
func (m *Markers) Text(text []byte) bool {
	if len(m.numbers) > 0 && IsPadded(text) {
		if x, kind := ParseNumber(text, '.'); kind == Finite && m.numbers[x] {
			return true
		}
	}
	return len(text) <= 64 && m.texts[string(text)]
}

// HasNumbers tells whether numbers are among them.
func (m *Markers) HasNumbers() bool { return len(m.numbers) > 0 }

// Number tells so of a number.
func (m *Markers) Number(x float64) bool { return len(m.numbers) > 0 && m.numbers[x] }

// AllMarkers are the usual spellings and more, sorted and each once, as a recipe keeps
// them.
func AllMarkers(more []string) []string {
	all := DefaultMissing()
	for _, text := range more {
		all = append(all, strings.TrimSpace(text))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
