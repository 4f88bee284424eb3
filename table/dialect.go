package table

import (
	"bytes"
	"regexp"
)

// separators in order of preference. Semicolons, tabs and bars come before the comma
// because a file they separate may well hold commas inside its numbers, while a
// comma-separated file seldom has the same count of semicolons in every row.
const separators = "\t;|,"

// dialect is how rows and numbers are written.
type dialect struct {
	separator byte
	decimal   byte
	sure      bool // the decimal separator was given, or is to be seen in the text
	// doubt has by column a number that could be one of thousands, such as 12.000, where
	// nothing is sure.
	doubt map[int]string
}

// findDialect fills in what the format leaves open. fit, if not nil, scores a first
// row by how well it suits what is expected; usual is the decimal separator to be
// taken where none is to be seen.
func (in *input) findDialect(f *Format, fit func(first []string) int, usual byte) dialect {
	var d dialect
	if f.Separator != "" {
		d.separator = f.Separator[0]
	} else {
		d.separator = in.findSeparator(fit)
	}
	switch {
	case f.Decimal != "":
		d.decimal, d.sure = f.Decimal[0], true
	case d.separator == ',':
		d.decimal, d.sure = '.', true
	default:
		d.decimal, d.sure, d.doubt = in.findDecimal(d.separator)
		if !d.sure && usual != 0 {
			d.decimal = usual
		}
	}
	return d
}

// findSeparator chooses the separator under which the rows of the sample agree best on
// a number of cells above one: the largest share of rows with the commonest width
// wins, then the order of preference.
func (in *input) findSeparator(fit func(first []string) int) byte {
	best, bestFit, bestShare := byte(','), 0, 0.0
	for _, separator := range []byte(separators) {
		first, share := in.agreement(separator)
		score := 0
		if fit != nil && first != nil {
			score = fit(first)
		}
		if score > bestFit || score == bestFit && share > bestShare {
			best, bestFit, bestShare = separator, score, share
		}
	}
	return best
}

// sampleRows goes through the rows of the sample. Mistakes in quoting are reported when
// the file is read, not here.
func (in *input) sampleRows(separator byte, use func(r *rows)) {
	r := &rows{separator: separator}
	r.set(chunk{text: in.sample})
	for r.pos < len(r.text) {
		blank, err := r.split()
		if err != nil || r.pos == len(r.text) && !in.complete && r.text[r.pos-1] != '\n' {
			return // the sample may end within a row
		}
		if blank == notBlank {
			use(r)
		}
	}
}

// agreement splits the sample by one separator and returns the first row and the share
// of rows that have the commonest number of cells; the share is zero when that number
// is one, for then the separator separates nothing.
func (in *input) agreement(separator byte) (first []string, share float64) {
	count := make(map[int]int)
	common, n := 0, 0
	in.sampleRows(separator, func(r *rows) {
		if first == nil {
			first = r.strings()
		}
		n++
		w := len(r.cells)
		count[w]++
		// Among widths that are equally common the larger one separates more.
		if count[w] > count[common] || count[w] == count[common] && w > common {
			common = w
		}
	})
	if common <= 1 {
		return first, 0
	}
	return first, float64(count[common]) / float64(n)
}

// Numbers that show which decimal separator a file has. One group of three digits
// after a single separator could be thousands.
var (
	pointNumber = regexp.MustCompile(`^[-+]?(\d*\.(\d{1,2}|\d{4,})|0\.\d{3}|\d{4,}\.\d{3}|\d{1,3}(,\d{3})+\.\d+)([eE][-+]?\d+)?$`)
	commaNumber = regexp.MustCompile(`^[-+]?(\d*,(\d{1,2}|\d{4,})|0,\d{3}|\d{4,},\d{3}|\d{1,3}(\.\d{3})+,\d+)([eE][-+]?\d+)?$`)
)

// pointThousands is a number that is read otherwise under either separator.
var pointThousands = regexp.MustCompile(`^[-+]?[1-9]\d{0,2}\.\d{3}$`)

// findDecimal looks for numbers that only one decimal separator explains.
func (in *input) findDecimal(separator byte) (decimal byte, sure bool, doubt map[int]string) {
	points, commas := 0, 0
	doubt = make(map[int]string)
	in.sampleRows(separator, func(r *rows) {
		for j := range r.cells {
			cell := r.cell(j)
			if !bytes.ContainsAny(cell, ",.") {
				continue
			}
			cell, _ = cutUnit(cell)
			switch {
			case pointNumber.Match(cell):
				points++
			case commaNumber.Match(cell):
				commas++
			case doubt[j] == "" && pointThousands.Match(cell):
				doubt[j] = string(cell)
			}
		}
	})
	if commas > 0 && points == 0 {
		return ',', true, nil
	}
	return '.', points > 0, doubt
}
