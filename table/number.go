package table

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/lossep/lossep/expr"
)

// Numeral says what kind of number a cell spells.
type Numeral int

const (
	NotNumber Numeral = iota
	Finite
	Infinite // spelled as infinity, or too large for a float64
	Long     // an integer of more digits than a float64 keeps: a number, but a code too
)

// ExactDigits is how many digits survive a float64.
const ExactDigits = 15

// powersOfTen that are exact.
var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// ParseNumber reads a number with the given decimal separator. Hexadecimal, digits
// grouped by underscores and NaN are text: where they occur they are codes or markers.
//
// An integer below 2⁵³ times or over an exact power of ten is one rounding from the
// decimal and so correctly rounded; everything else goes to strconv.
func ParseNumber(s []byte, decimal byte) (float64, Numeral) {
	i := 0
	negative := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		i++
	}
	var mantissa uint64
	digits, seen, scale := 0, false, 0
	point := false
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			seen = true
			if mantissa != 0 || c != '0' {
				digits++
			}
			if digits <= 18 {
				mantissa = mantissa*10 + uint64(c-'0')
				if point {
					scale--
				}
			} else if !point {
				scale++
			}
			continue
		case c == decimal && !point:
			point = true
			continue
		}
		break
	}
	if !seen {
		return maybeInfinite(s)
	}
	exponent := i < len(s)
	if exponent {
		e, ok := parseExponent(s[i:])
		if !ok {
			return 0, NotNumber
		}
		scale += e
	}
	if digits <= 18 && mantissa < 1<<53 && scale >= -22 && scale <= 22 {
		x := float64(mantissa)
		if scale < 0 {
			x /= powersOfTen[-scale]
		} else {
			x *= powersOfTen[scale]
		}
		if negative {
			x = -x
		}
		if digits > ExactDigits && !point && !exponent {
			return x, Long
		}
		return x, Finite
	}
	return parseSlowly(s, decimal, digits > ExactDigits && !point && !exponent)
}

// parseExponent reads e±k to the end of the text.
func parseExponent(s []byte) (int, bool) {
	if len(s) < 2 || s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	negative := s[0] == '-'
	if s[0] == '-' || s[0] == '+' {
		s = s[1:]
	}
	if len(s) == 0 {
		return 0, false
	}
	e := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		e = min(e*10+int(c-'0'), 100_000)
	}
	if negative {
		e = -e
	}
	return e, true
}

func parseSlowly(s []byte, decimal byte, manyDigits bool) (float64, Numeral) {
	text := string(s)
	if decimal != '.' {
		text = strings.Replace(text, string(rune(decimal)), ".", 1)
	}
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, NotNumber
	case math.IsInf(x, 0):
		return x, Infinite
	case manyDigits:
		return x, Long
	}
	return x, Finite
}

// maybeInfinite recognises inf and infinity in any case.
func maybeInfinite(s []byte) (float64, Numeral) {
	word, sign := s, 1
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		word = s[1:]
		if s[0] == '-' {
			sign = -1
		}
	}
	if bytes.EqualFold(word, []byte("inf")) || bytes.EqualFold(word, []byte("infinity")) {
		return math.Inf(sign), Infinite
	}
	return 0, NotNumber
}

// IsPadded recognises digits with a zero in front, such as 007: a number, but perhaps a
// code.
func IsPadded(text []byte) bool {
	return len(text) > 1 && text[0] == '0' && IsDigits(text)
}

// IntegerDigits is how many digits a whole number has.
func IntegerDigits(x float64) int {
	n := 1
	for n < len(powersOfTen) && x >= powersOfTen[n] {
		n++
	}
	return n
}

// IsDigits recognises what consists of digits.
func IsDigits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// Number is the finite number that a cell spells, and whether it spells one.
func Number(cell string) (float64, bool) {
	x, kind := ParseNumber(BytesOf(strings.TrimSpace(cell)), '.')
	return x, kind == Finite || kind == Long
}

// Pointed are the cells of a row with decimal points in their numbers, so that they read as the same
// where cells are separated by commas. They are changed in place.
func Pointed(cells []string, decimal byte) []string {
	if decimal == '.' {
		return cells
	}
	for j, cell := range cells {
		if _, kind := ParseNumber(BytesOf(cell), decimal); kind == Finite {
			cells[j] = strings.Replace(cell, string(rune(decimal)), ".", 1)
		}
	}
	return cells
}

// BytesOf are the bytes of a string, to be read only.
func BytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Spelled is the text of a number as a file would have it: 250000, not 2.5e+05, for
// it may be a code.
func Spelled(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatFloat(x+0, 'f', -1, 64) // + 0: never −0
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Key is what categories and outcomes are compared by: numbers by their value, so that
// 3, 3.0 and 03 are the same, and everything else by its text. Integers of more digits
// than a float64 keeps are texts: as numbers, different codes would be the same. Texts that look
// the same are the same.
func Key(text []byte, decimal byte) string {
	if x, kind := ParseNumber(text, decimal); kind == Finite {
		return Spelled(x)
	}
	return expr.Composed(string(text))
}

// Floats returns a column, found as by Column, as finite numbers: weights of rows, for example.
// They may be written as those of a feature may. Cells that are missing are refused, by the usual
// spellings and those that are given.
func (t *Table) Floats(ref string, missing ...string) ([]float64, error) {
	r, err := t.numbers(ref, missing)
	if err != nil {
		return nil, err
	}
	values := make([]float64, t.n)
	for i := range values {
		if values[i], err = r.Value(i); err == expr.ErrMissing {
			err = t.CellPlace(i, r.column).missing("fill it, or leave the row out: what weights or probabilities are read from is not imputed")
		}
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// Values gives the number in a row of a column, found as by Column, to expressions such as those of
// costs. Of a missing cell, by the usual spellings and those that are given, the error is that of
// MissingValue. It is not for concurrent use.
func (t *Table) Values(missing ...string) func(row int, column string) (float64, error) {
	readers := make(map[string]*NumberReader)
	return func(row int, column string) (x float64, err error) {
		r := readers[column]
		if r == nil {
			if r, err = t.numbers(column, missing); err != nil {
				return 0, err
			}
			readers[column] = r
		}
		if x, err = r.Value(row); err == expr.ErrMissing {
			err = MissingValue(t.CellPlace(row, r.column), column)
		}
		return x, err
	}
}

// numbers reads a column as numbers.
func (t *Table) numbers(ref string, missing []string) (*NumberReader, error) {
	j, err := t.ReadColumn(ref)
	if err != nil {
		return nil, err
	}
	all := AllMarkers(missing)
	return NewNumberReader(t, j, NewMarkers(all).OfColumn(t.columns[j], all)), nil
}

// NumberReader reads the cells of a column as numbers, in whatever notation it has.
type NumberReader struct {
	table    *Table
	column   int
	markers  *Markers
	scanned  bool
	notation *Notation
}

func NewNumberReader(t *Table, column int, m *Markers) *NumberReader {
	return &NumberReader{table: t, column: column, markers: m}
}

// Value is the number in a row; of a missing cell the error is expr.ErrMissing.
func (r *NumberReader) Value(row int) (float64, error) {
	t, j := r.table, r.column
	cell := t.At(row, j)
	if !IsText(cell) {
		if r.markers.Number(cell) {
			return 0, expr.ErrMissing
		}
		return cell, nil
	}
	text := t.cells[j].Bytes(cell)
	if r.markers.Text(text) {
		return 0, expr.ErrMissing
	}
	if !r.scanned {
		r.notation, _ = NewScan(t, j, r.markers).Notation()
		r.scanned = true
	}
	if r.notation != nil {
		if x, ok := r.notation.Parse(text); ok {
			return x, nil
		}
	}
	return 0, notFinite(t.CellPlace(row, j), string(text), t.Decimal())
}

// MissingValue completes an Error for a missing cell of a column that an expression names, as
// expr.ErrMissing.
func MissingValue(at *Error, column string) *Error {
	return at.missing(fmt.Sprintf("fill it, leave the row out, or say in the costs what stands in for a missing cell, such as default(%s, 0)", expr.Name(column)))
}

func (e *Error) missing(fix string) *Error {
	e.Msg, e.Fix, e.Err = "a missing cell, and this column is needed in every row", fix, expr.ErrMissing
	return e
}

// notFinite completes an Error for a cell that should be a finite number.
func notFinite(at *Error, cell string, decimal byte) *Error {
	at.Msg = Quote(cell) + " is not a finite number"
	at.Fix = "write a finite number, with a decimal point if it needs one"
	at.OtherMark(cell, decimal)
	return at
}

// OtherMark completes an Error about a cell that is a number with the other decimal mark than the one
// that separates decimals.
func (e *Error) OtherMark(cell string, decimal byte) {
	other := ',' + '.' - decimal
	if _, kind := ParseNumber(BytesOf(cell), other); kind != Finite || strings.IndexByte(cell, other) < 0 {
		return
	}
	e.Msg = fmt.Sprintf("%s is not a finite number with the decimal mark %q, which is expected", Quote(cell), string(rune(decimal)))
	e.Fix = "write all numbers with one decimal mark, or say which it is"
	e.Ways = []Way{{Option: WayDecimal, Value: string(rune(other))}}
}
