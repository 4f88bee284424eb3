package table

import (
	"cmp"
	"fmt"
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
