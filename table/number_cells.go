package table

import (
	"fmt"
	"strings"

	"github.com/lossep/lossep/expr"
)

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
	j, err := t.findRead(ref)
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
