package service

import (
	"fmt"
	"strings"

	"github.com/lossep/lossep/table"
)

// Table is how a table of text is written, where that is not found out.
type Table struct {
	Format table.Format
	Sheet  string // of a workbook, empty for the first
	cells  int64
}

// Options are those of the table, which they are bound to.
func (t *Table) Options() Options {
	f := &t.Format
	f.Header = table.HeaderAuto
	return Options{
		{Name: "header", Group: File, CommandOf: true, Help: "whether the first row is a header", Value: choice[table.Header]{to: &f.Header, of: []table.Header{table.HeaderAuto, table.HeaderYes, table.HeaderNo}}},
		{Name: "skip-lines", Group: File, CommandOf: true, Help: "lines that are not rows, such as titles, units and totals: line numbers, ranges, or last, such as 1-2,4,last; can be repeated", Value: skipLines{&f.Skip}},
		{Name: "sheet", Group: File, CommandOf: true, Help: "sheet of an Excel workbook (default: the first)", Value: text{&t.Sheet, "NAME"}},
		{Name: "separator", Group: File, CommandOf: true, Help: "field separator, such as ';', '|' or tab (default: detected)", Value: separator{&f.Separator}},
		{Name: "decimal", Group: File, CommandOf: true, Help: "decimal mark (default: detected)", Value: choice[string]{to: &f.Decimal, of: []string{".", ","}}},
		{Name: "encoding", Group: File, CommandOf: true, Help: "character encoding (default: detected)", Value: choice[table.Encoding]{
			to: &f.Encoding, of: []table.Encoding{table.UTF8, table.UTF16, table.Latin1},
			alias: map[string]table.Encoding{"utf8": table.UTF8, "utf16": table.UTF16, "latin1": table.Latin1, "iso-8859-1": table.Latin1, "windows-1252": table.Latin1, "cp1252": table.Latin1},
		}},
		{Name: "max-bytes", Group: Advanced, CommandOf: true, Help: "maximum size of the uncompressed text, such as 500M or 10G", Shown: "4G if the table is held in memory", Value: size{&f.Limits.Bytes}},
	}
}

// skipLines are numbers of lines, to which those that are suggested can be added.
type skipLines struct{ to *string }

func (v skipLines) String() string { return *v.to }
func (v skipLines) Type() string   { return "LINES" }
func (v skipLines) Set(lines string) error {
	if err := table.CheckLines(lines); err != nil {
		return err
	}
	*v.to = strings.TrimPrefix(*v.to+","+lines, ",")
	return nil
}

func (v skipLines) replace(lines []string) error {
	*v.to = ""
	return v.Set(strings.Join(lines, ","))
}

// separator is one character between cells, by itself or by name.
type separator struct{ to *string }

func (v separator) String() string { return *v.to }
func (v separator) Type() string   { return "CHARACTER" }
func (v separator) Set(text string) error {
	named := map[string]string{"tab": "\t", `\t`: "\t", "comma": ",", "semicolon": ";", "pipe": "|", "bar": "|"}
	character, ok := named[strings.ToLower(text)]
	if !ok {
		character = text
	}
	if len(character) != 1 {
		return fmt.Errorf("%q is not one character; give it, or tab", text)
	}
	*v.to = character
	return nil
}
