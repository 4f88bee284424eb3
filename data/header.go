package data

import (
	"fmt"
	"slices"
	"strconv"
)

// Header says whether the first row holds the names of the columns.
type Header string

// The choices for Header; the empty string means auto.
const (
	HeaderAuto Header = "auto" // compare the first row with the rest
	HeaderYes  Header = "yes"
	HeaderNo   Header = "no"
)

// check refuses a spelling that is not one of the choices.
func (h Header) check() error {
	switch h {
	case "", HeaderAuto, HeaderYes, HeaderNo:
		return nil
	}
	return fmt.Errorf("data: header %s is none of auto, yes, no", quote(string(h)))
}

// looksLikeHeader compares the first row with the rest of each column.
//
// Where a column is numeric below the first row, a word on top of it speaks for
// a header and a number against; the majority of such columns decides. Without
// numeric columns, the first row is a header if values repeat below it but none
// of its cells occurs again in its own column. A row that stands alone is one
// if it has no numbers.
func looksLikeHeader(rows [][]string) bool {
	first, rest := rows[0], rows[1:]
	if len(rest) == 0 {
		return !slices.ContainsFunc(first, func(cell string) bool {
			_, kind := parseNumber(clean(cell))
			return kind != notNumber
		})
	}
	words, numbers := 0, 0
	repeats, again := false, false
	for j, cell := range first {
		top := clean(cell)
		if numericBelow(rest, j) {
			switch _, kind := parseNumber(top); {
			case kind != notNumber:
				numbers++
			case !isMissing(DefaultMissing(), top):
				words++
			}
			continue
		}
		seen := make(map[string]bool)
		for _, row := range rest {
			value := clean(row[j])
			repeats = repeats || seen[value]
			again = again || value == top
			seen[value] = true
		}
	}
	if words+numbers > 0 {
		return words > numbers
	}
	return repeats && !again
}

// numericBelow reports whether column j of the rows has numbers and nothing
// else but missing cells.
func numericBelow(rows [][]string, j int) bool {
	missing := DefaultMissing()
	numbers := 0
	for _, row := range rows {
		value := clean(row[j])
		switch _, kind := parseNumber(value); {
		case kind != notNumber:
			numbers++
		case !isMissing(missing, value):
			return false
		}
	}
	return numbers > 0
}

// headerNames turns a header row into distinct names; a blank one (the row
// names of a spreadsheet, say) gets the name it would have without a header.
func headerNames(file string, line int, first []string) ([]string, error) {
	names := make([]string, len(first))
	where := make(map[string]int, len(first))
	for j, cell := range first {
		names[j] = clean(cell)
		if names[j] == "" {
			names[j] = generatedName(j)
		}
		if before, dup := where[names[j]]; dup {
			return nil, &Error{
				File: file, Line: line, Column: j + 1, ColumnName: names[j],
				Msg: fmt.Sprintf("duplicate header name: column %d is called %s too", before+1, quote(names[j])),
				Fix: "give every column its own name, or choose --header=no if the first row is data",
			}
		}
		where[names[j]] = j
	}
	return names, nil
}

// generatedName names column j of a file without a header: c1, c2, …
func generatedName(j int) string { return "c" + strconv.Itoa(j+1) }

// generatedNames names all columns of such a file.
func generatedNames(n int) []string {
	names := make([]string, n)
	for j := range names {
		names[j] = generatedName(j)
	}
	return names
}
