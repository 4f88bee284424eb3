package table

import (
	"errors"
	"fmt"
	"strings"
)

// errMissingPart says that a cell that should be a number is missing.
var ErrMissing = errors.New("missing cell")

// Floats returns a column, found as by Column, as finite numbers: the costs of
// the single cases, for example. They may be written as those of a feature may. Cells that are
// missing are refused, by the usual spellings and those that are given.
func (t *Table) Floats(ref string, missing ...string) ([]float64, error) {
	j, err := t.Column(ref)
	if err != nil {
		return nil, err
	}
	if err := t.checkRead(j); err != nil {
		return nil, err
	}
	values := make([]float64, t.n)
	all := AllMarkers(missing)
	r := NewNumberReader(t, j, NewMarkers(all).OfColumn(t.columns[j], all))
	for i := range values {
		if values[i], err = r.Value(i); err == ErrMissing {
			err = MissingNumber(t.CellPlace(i, j))
		}
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// numberReader reads the cells of a column as numbers, in whatever notation it has.
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

// value is the number in a row; of a missing cell the error is errMissingPart.
func (r *NumberReader) Value(row int) (float64, error) {
	t, j := r.table, r.column
	cell := t.At(row, j)
	if !IsText(cell) {
		if r.markers.Number(cell) {
			return 0, ErrMissing
		}
		return cell, nil
	}
	text := t.cells[j].Bytes(cell)
	if r.markers.Text(text) {
		return 0, ErrMissing
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

// missingNumber completes an Error for a missing cell that should be a number.
func MissingNumber(at *Error) *Error {
	at.Msg = "a missing cell, and this column is needed in every row"
	at.Fix = "fill it, or leave the row out: what costs, weights or probabilities are read from is not imputed"
	return at
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
