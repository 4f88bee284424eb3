package table

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Format says how the text of a table is to be read. What its zero value leaves open
// is found out from the text.
type Format struct {
	Header    Header
	Separator string   // between cells: one character; empty means found out
	Decimal   string   // "." or ","; empty means found out
	Encoding  Encoding // empty means found out
	Skip      string   // lines that are no rows, such as titles, units and totals: 1-2,4,last
	Limits    Limits
	// Room, if set, is where ReadSource puts the numbers of a large table, and where they are
	// encoded to.
	Room Room `json:"-"`
}

// Room is room for many numbers elsewhere than in the memory of the process. Several may ask
// for some at a time.
type Room interface {
	// Numbers is room for so many, which are zero.
	Numbers(n int) ([]float64, error)
}

// Limits bound what is read while it is read, so that no input takes more memory than
// was meant for it. Zero means the default for Read, and no limit for NewReader, whose
// memory does not grow.
type Limits struct {
	Bytes int64 // of text, once it is uncompressed
	Rows  int   // beside the header
	Cells int   // of the table, at eight bytes each; different texts count too
}

// The limits of Read that are not given: 4 GiB of text, 1 GiB of cells.
const (
	DefaultBytes = 4 << 30
	DefaultCells = 1 << 27
)

// withDefaults are the limits of a table that is held in memory.
func (l Limits) withDefaults() Limits {
	l.Bytes, l.Cells = cmp.Or(l.Bytes, DefaultBytes), cmp.Or(l.Cells, DefaultCells)
	return l
}

// Encoding is how characters are written as bytes.
type Encoding string

// The encodings; the empty string means that it is found out. Latin-1 is read as its
// superset Windows-1252, which is what spreadsheets write under that name.
const (
	UTF8   Encoding = "utf-8"
	UTF16  Encoding = "utf-16"
	Latin1 Encoding = "latin-1"
)

// check refuses choices that are none.
func (f *Format) check() error {
	if err := f.Header.check(); err != nil {
		return err
	}
	if f.Decimal != "" && f.Decimal != "." && f.Decimal != "," {
		return fmt.Errorf("table: decimal separator %s is neither . nor ,", Quote(f.Decimal))
	}
	if !slices.Contains([]Encoding{"", UTF8, UTF16, Latin1}, f.Encoding) {
		return fmt.Errorf("table: encoding %s is none of %s, %s, %s", Quote(string(f.Encoding)), UTF8, UTF16, Latin1)
	}
	if err := CheckLines(f.Skip); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	if f.Limits.Bytes < 0 || f.Limits.Rows < 0 || f.Limits.Cells < 0 {
		return fmt.Errorf("table: a limit is below zero: %+v", f.Limits)
	}
	if f.Separator == "" {
		return nil
	}
	r, size := utf8.DecodeRuneInString(f.Separator)
	if size != len(f.Separator) || r >= utf8.RuneSelf || strings.ContainsRune("\"\r\n\x00.0123456789+-", r) {
		return fmt.Errorf("table: separator %s is not one character that can stand between cells", Quote(f.Separator))
	}
	if f.Separator == f.Decimal {
		return fmt.Errorf("table: %s separates cells and decimals; quoted cells would have to be told apart", Quote(f.Separator))
	}
	return nil
}

// The limits that are exceeded say which they are.

func tooManyBytes(file string, most int64) error {
	return In(file).Say("give fewer rows, or allow more",
		"the text is longer than %s", sizeText(most)).By(Way{Option: WayBytes})
}

func tooManyRows(file string, line, most int) error {
	return (&Error{File: file, Line: line}).Say("give fewer rows, or allow more",
		"there are more than %s", Plural(most, "row")).By(Way{Option: WayRows})
}

func tooManyCells(file string, line, most int) error {
	return (&Error{File: file, Line: line}).Say("leave out columns or rows, or allow more",
		"there are more than %s, or their texts take as much memory", Plural(most, "cell")).By(Way{Option: WayCells})
}

// sizeText is a number of bytes for people.
func sizeText(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return fmt.Sprintf("%.4g %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return Plural(int(n), "byte")
}

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
