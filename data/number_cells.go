package data

import "errors"

// errMissingPart says that a cell that should be a number is missing.
var errMissingPart = errors.New("missing cell")

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
	all := allMarkers(missing)
	r := newNumberReader(t, j, newMarkers(all).ofColumn(t.columns[j], all))
	for i := range values {
		if values[i], err = r.value(i); err == errMissingPart {
			err = missingNumber(t.cell(i, j))
		}
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// numberReader reads the cells of a column as numbers, in whatever notation it has.
type numberReader struct {
	table    *Table
	column   int
	markers  *markers
	scanned  bool
	notation *Notation
}

func newNumberReader(t *Table, column int, m *markers) *numberReader {
	return &numberReader{table: t, column: column, markers: m}
}

// value is the number in a row; of a missing cell the error is errMissingPart.
func (r *numberReader) value(row int) (float64, error) {
	t, j := r.table, r.column
	cell := t.at(row, j)
	if !isWord(cell) {
		if r.markers.number(cell) {
			return 0, errMissingPart
		}
		return cell, nil
	}
	text := t.cells[j].Bytes(cell)
	if r.markers.text(text) {
		return 0, errMissingPart
	}
	if !r.scanned {
		r.notation, _ = scan(t, j, r.markers).notation()
		r.scanned = true
	}
	if r.notation != nil {
		if x, ok := r.notation.parse(text); ok {
			return x, nil
		}
	}
	return 0, notFinite(t.cell(row, j), string(text))
}

// missingNumber completes an Error for a missing cell that should be a number.
func missingNumber(at *Error) *Error {
	at.Msg = "a missing cell, and this column is needed in every row"
	at.Fix = "fill it, or leave the row out: what costs, weights or probabilities are read from is not imputed"
	return at
}

// notFinite completes an Error for a cell that should be a finite number.
func notFinite(at *Error, cell string) *Error {
	at.Msg = quote(cell) + " is not a finite number"
	at.Fix = "write a finite number, with a decimal point if it needs one"
	return at
}
