package service

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep/internal/jsonappend"
	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
	"github.com/lossep/lossep/xlsx"
)

// Format is how rows are written.
type Format string

// The formats.
const (
	CSV       Format = "csv"
	JSONLines Format = "jsonl"
	Parquet   Format = "parquet"
	Workbook  Format = "xlsx"
)

func formats() []Format { return []Format{CSV, JSONLines, Parquet, Workbook} }

// endings are those of files by format.
var endings = []struct {
	ending string
	format Format
}{
	{".csv", CSV}, {parquet.Extension, Parquet}, {".jsonl", JSONLines}, {".ndjson", JSONLines}, {xlsx.Extension, Workbook},
}

func endingsText() string {
	names := make([]string, len(endings))
	for k, e := range endings {
		names[k] = e.ending
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// Ending is that of a file's name, in small letters; empty if it has none.
func Ending(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	k := strings.LastIndexByte(name, '.')
	if k <= 0 || k == len(name)-1 {
		return ""
	}
	return strings.ToLower(name[k:])
}

// formatOf is how rows are written to a file, given what is asked for, if anything is.
func formatOf(path string, asked Format) (Format, error) {
	ending := Ending(path)
	if ending == "" {
		return cmp.Or(asked, CSV), nil
	}
	for _, e := range endings {
		if e.ending != ending {
			continue
		}
		if asked != "" && asked != e.format {
			return "", optionError("format", "a file whose name ends in %s is written as %s, not %s; leave one of them out", ending, e.format, asked)
		}
		return e.format, nil
	}
	return "", optionError("output", "%s: unknown format %s; give a name that ends in %s", path, ending, endingsText())
}

// RowWriter writes rows of an answer.
type RowWriter interface {
	// Write takes the cells of the input that are kept, and a Record of the fields.
	Write(cells []string, record []any) error
	Close() error
}

// NewRowWriter begins to write rows in a format: the columns of the input that are kept, and
// the fields. What they are is the name of a workbook's sheet. Where the input has the name of a
// field already, the field gets a prefix.
func NewRowWriter(w io.Writer, f Format, what string, input []table.SourceColumn, fields []Field) (RowWriter, error) {
	if f == JSONLines {
		return &jsonRows{w: bufio.NewWriter(w), input: input, fields: fields}, nil
	}
	columns := slices.Clone(input)
	for k := range fields {
		for at, name := range fields[k].Columns {
			if slices.ContainsFunc(input, func(c table.SourceColumn) bool { return c.Name == name }) {
				name = "lossep_" + name
			}
			columns = append(columns, table.SourceColumn{Name: name, Kind: fields[k].kind(at)})
		}
	}
	names := make([]string, len(columns))
	for j, c := range columns {
		names[j] = c.Name
	}
	t := &tableRows{fields: fields}
	var err error
	switch f {
	case Parquet:
		t.to, err = parquet.NewWriter(w, columns)
	case Workbook:
		t.to, err = xlsx.NewWriter(w, what, names)
	default:
		t.to, err = newCSVTable(w, names)
	}
	return t, err
}

// kind is what a column of a field holds.
func (f *Field) kind(column int) table.CellKind {
	switch {
	case f.Kinds != nil:
		return f.Kinds[column]
	case f.Number != nil || f.Numbers != nil:
		return table.NumberCells
	case f.Truth != nil:
		return table.TruthCells
	}
	return table.TextCells
}

// tableRows writes records as rows of a table, in which a list takes several cells.
type tableRows struct {
	fields []Field
	to     rowFile
	row    []any
}

// rowFile is a file of rows of strings, numbers and truth values.
type rowFile interface {
	Write(row []any) error
	Close() error
}

func (t *tableRows) Write(cells []string, record []any) error {
	t.row = t.row[:0]
	for _, cell := range cells {
		t.row = append(t.row, cell)
	}
	for k := range t.fields {
		if t.fields[k].Columns == nil {
			continue
		}
		switch v := record[k].(type) {
		case []float64:
			for _, x := range v {
				t.row = append(t.row, x)
			}
		case []string:
			t.row = append(t.row, strings.Join(v, ";"))
		case Object:
			t.row = append(t.row, v.Cells()...)
		default:
			t.row = append(t.row, v)
		}
	}
	return t.to.Write(t.row)
}

func (t *tableRows) Close() error { return t.to.Close() }

// csvTable is CSV with a header.
type csvTable struct {
	w      *csv.Writer
	record []string
}

func newCSVTable(w io.Writer, names []string) (rowFile, error) {
	t := &csvTable{w: csv.NewWriter(w)}
	return t, t.w.Write(names)
}

func (t *csvTable) Write(row []any) error {
	t.record = t.record[:0]
	for _, v := range row {
		if x, ok := v.(float64); ok { // so that it reads back the same
			t.record = append(t.record, strconv.FormatFloat(x, 'g', -1, 64))
		} else {
			t.record = append(t.record, fmt.Sprint(v))
		}
	}
	return t.w.Write(t.record)
}

func (t *csvTable) Close() error {
	t.w.Flush()
	return t.w.Error()
}

// jsonRows writes one JSON object a line. What was in the file keeps to itself.
type jsonRows struct {
	w      *bufio.Writer
	input  []table.SourceColumn
	fields []Field
	line   []byte
}

func (j *jsonRows) Write(cells []string, record []any) error {
	b := append(j.line[:0], '{')
	for k := range j.fields {
		f := &j.fields[k]
		b = append(append(b, jsonappend.Quoted(f.Key())...), ':')
		if numbers, ok := record[k].([]float64); ok {
			b = append(appendNamed(b, f.Over, numbers), ',')
			continue
		}
		value, err := json.Marshal(record[k])
		if err != nil {
			return err
		}
		b = append(append(b, value...), ',')
	}
	if j.input != nil {
		b = append(b, `"input":{`...)
		for k, c := range j.input {
			b = append(append(append(b, jsonappend.Quoted(c.Name)...), ':'), jsonappend.Quoted(cells[k])...)
			b = append(b, ',')
		}
		b = append(b[:len(b)-1], "},"...)
	}
	j.line = append(b[:len(b)-1], "}\n"...)
	_, err := j.w.Write(j.line)
	return err
}

// appendNamed writes a list as an object: a line has no head to say what its elements are of.
func appendNamed(b []byte, names []string, numbers []float64) []byte {
	b = append(b, '{')
	for k, x := range numbers {
		if k > 0 {
			b = append(b, ',')
		}
		b = jsonappend.Float(append(append(b, jsonappend.Quoted(names[k])...), ':'), x)
	}
	return append(b, '}')
}

func (j *jsonRows) Close() error { return j.w.Flush() }

// AppendJSON writes the fields of a case as members of a JSON object, lists in the order of
// what they are over.
func AppendJSON(b []byte, fields []Field, c *Case, scratch []float64) []byte {
	for k := range fields {
		f := &fields[k]
		if k > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), f.Key()...), `":`...)
		switch {
		case f.Text != nil:
			b = jsonappend.Text(b, f.Text(c))
		case f.Texts != nil:
			b = jsonappend.Texts(b, f.Texts(c))
		case f.Whole != nil:
			b = strconv.AppendInt(b, int64(f.Whole(c)), 10)
		case f.Number != nil:
			b = jsonappend.Float(b, f.Number(c))
		case f.Numbers != nil:
			b = jsonappend.Floats(b, f.Numbers(c, scratch[:0]))
		case f.Truth != nil:
			b = strconv.AppendBool(b, f.Truth(c))
		case f.Object != nil:
			text, err := json.Marshal(f.Object(c))
			if err != nil {
				panic(err) // texts and finite numbers
			}
			b = append(b, text...)
		default:
			b = appendTextsByName(b, f.Named(c))
		}
	}
	return b
}

func appendTextsByName(b []byte, texts map[string]string) []byte {
	b = append(b, '{')
	for k, name := range slices.Sorted(maps.Keys(texts)) {
		if k > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, jsonappend.Quoted(name)...), ':'), jsonappend.Quoted(texts[name])...)
	}
	return append(b, '}')
}
