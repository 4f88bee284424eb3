package data

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// DefaultMissing lists the spellings that count as a missing cell unless other
// ones are chosen. "None" is not among them: it is a category in many tables.
func DefaultMissing() []string {
	return []string{"", "?", "N/A", "NA", "NAN", "NULL", "NaN", "nan", "null"}
}

// isMissing reports whether a trimmed cell is one of the missing spellings.
func isMissing(markers []string, cell string) bool { return slices.Contains(markers, cell) }

// clean is a cell as the recipe sees it: without surrounding white space.
func clean(cell string) string { return strings.TrimSpace(cell) }

// numeral says what kind of number a cell spells.
type numeral int

const (
	notNumber numeral = iota
	finite
	infinite // spelled as infinity, or too large for a float64
)

// parseNumber reads a decimal number. Hexadecimal, digits grouped by
// underscores and NaN are text: where they occur they are codes or markers.
func parseNumber(s string) (float64, numeral) {
	// Most text is turned away here, before strconv allocates an error for it.
	digits := strings.TrimLeft(s, "+-")
	if digits == "" || !strings.ContainsRune("0123456789.iI", rune(digits[0])) || strings.ContainsAny(digits, "xX_") {
		return 0, notNumber
	}
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, notNumber
	case math.IsInf(x, 0):
		return x, infinite
	}
	return x, finite
}
