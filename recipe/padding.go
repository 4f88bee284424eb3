package recipe

import (
	"math"

	"github.com/lossep/lossep/table"
)

// padding finds whole numbers that are written with zeros in front, and whether they make the
// column one of codes, such as 01067 or 007. They do if all cells consist of digits and
// have one width, or if two or more numbers have zeros in front and none is written in two ways:
// where 7 stands beside 007 the zeros mean nothing. Who names a scaling of the column has said that it is
// a quantity. All rows of the table are looked at, of which these may be a part.
func (l *learner) padding() (example string, codes bool) {
	words := l.Cells
	first := 0 // that has zeros in front: most columns have none
	for first < words.Words() && !table.IsPadded(words.Word(uint32(first))) {
		first++
	}
	if first == words.Words() {
		return "", false
	}
	numbers := make(map[float64]bool) // that have zeros in front
	codes = true
	width, widths := 0, false // of a cell, and whether there are others
	see := func(n int) {
		widths = widths || width > 0 && n != width
		width = n
	}
	for k := range words.Words() {
		word := words.Word(uint32(k))
		if l.Markers.Text(word) {
			continue
		}
		if table.IsPadded(word) {
			x, _ := table.ParseNumber(word, '.')
			if example == "" {
				example = string(word)
			}
			codes = codes && !numbers[x]
			numbers[x] = true
		}
		codes = codes && table.IsDigits(word)
		see(len(word))
	}
	if _, quantity := l.options.Bends[l.Name()]; example == "" || quantity {
		return "", false
	}
	for _, segment := range l.Cells.Segments() {
		for _, x := range segment {
			if !codes {
				return example, false
			}
			if table.IsText(x) || l.Markers.Number(x) {
				continue
			}
			codes = x >= 0 && x == math.Trunc(x) && !numbers[x]
			see(table.IntegerDigits(x))
		}
	}
	return example, codes && (!widths || len(numbers) > 1)
}

// notePadding says that zeros in front mean nothing in a column that became one of numbers.
func (l *learner) notePadding(example string) {
	if l.column.Kind == Numeric {
		l.notef("leading zeros", "has whole numbers with zeros in front, such as %s, which are treated as numeric; if they are codes, make it categorical", table.Quote(example))
	}
}
