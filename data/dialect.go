package data

import (
	"bytes"
	"encoding/csv"
	"io"
)

// delimiters in order of preference. Semicolons and tabs come before the comma
// because a file they separate may well hold commas inside its numbers, while a
// comma-separated file seldom has the same count of semicolons in every row.
const delimiters = "\t;,"

// detectDelimiter chooses the delimiter under which the rows of the sample
// agree best on a number of cells above one: the largest share of rows with
// the commonest width wins, then the order of preference. fit, if not nil, is
// asked first: it scores a first row by how well it suits what is expected.
func detectDelimiter(sample []byte, complete bool, fit func(first []string) int) rune {
	best, bestFit, bestShare := ',', 0, 0.0
	for _, comma := range delimiters {
		first, share := agreement(sample, complete, comma)
		score := 0
		if fit != nil && first != nil {
			score = fit(first)
		}
		if score > bestFit || score == bestFit && share > bestShare {
			best, bestFit, bestShare = comma, score, share
		}
	}
	return best
}

// agreement splits the sample by one delimiter and returns the first row and
// the share of rows that have the commonest number of cells; the share is zero
// when that number is one, for then the delimiter separates nothing.
func agreement(sample []byte, complete bool, comma rune) (first []string, share float64) {
	reader := newCSV(bytes.NewReader(sample), comma)
	// Mistakes in quoting are reported when the file is read, not here.
	reader.LazyQuotes = true
	var widths []int
	for {
		row, err := reader.Read()
		if err != nil {
			break
		}
		if isBlank(row) {
			continue
		}
		if first == nil {
			first = row
		}
		widths = append(widths, len(row))
	}
	if !complete && len(widths) > 1 {
		widths = widths[:len(widths)-1] // the sample ends within a row
	}
	// Among widths that are equally common the larger one separates more.
	count := make(map[int]int)
	common := 0
	for _, w := range widths {
		count[w]++
		if count[w] > count[common] || count[w] == count[common] && w > common {
			common = w
		}
	}
	if common <= 1 {
		return first, 0
	}
	return first, float64(count[common]) / float64(len(widths))
}

// newCSV is the one place that configures encoding/csv. Widths are checked by
// records, whose message says more than csv.ErrFieldCount. Space before a cell
// is skipped so that `a, "b"` is quoted, but a tab is space to encoding/csv.
func newCSV(r io.Reader, comma rune) *csv.Reader {
	reader := csv.NewReader(r)
	reader.Comma = comma
	reader.FieldsPerRecord = -1
	reader.TrimLeadingSpace = comma != '\t'
	return reader
}
