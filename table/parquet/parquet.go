// Package parquet reads and writes tables as Parquet files. A table is one file or
// several of the same columns, and is read group by group and column by column, as
// package table asks: a row group of a file is what is read at a time, so that different
// machines can read different ones.
//
// What is read is what the same table would be as text: integers, floating-point numbers
// and decimals are numbers; dates, times and truth values are texts such as 2025-04-03,
// 2025-04-03 13:45:00, 13:45:00 and true; a 32-bit number is the shortest decimal that it
// is nearest to, for 0.1 means 0.1; null is a missing cell. Columns that are nested in any
// way are known by name and not read.
//
// Files come from anywhere and may be damaged or made to do harm. What they declare is
// held against what is there before memory is asked for, and that is asked for within a
// bound; pages that have a checksum are held against it; a text of a dictionary is there
// once, however many rows refer to it; and what panics below is an error that names the file.
//
// Of the library, what describes files is used. Its readers of pages and values make room
// for what files declare, and are not: values are decoded here, a few thousand at a time.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/lossep/lossep/table"
)

// Extension is how names of such files end.
const Extension = ".parquet"

// Magic is what the files begin and end with.
const Magic = "PAR1"

// File is a file of a table.
type File struct {
	Name    string // for messages
	Content io.ReaderAt
	Size    int64
}

// Table is a table in Parquet files: a table.Source.
type Table struct {
	name    string
	columns []table.SourceColumn
	groups  []table.SourceGroup
	places  []place // of the groups
	files   []*opened
	memory  *budget
}

// opened is a file whose metadata is known.
type opened struct {
	File
	groups  []format.RowGroup
	leaves  int      // columns of a group, those within nested ones among them
	columns []column // as many and in the order of the table's
}

// place is where a group is.
type place struct {
	file  *opened
	group int
}

// Open reads the metadata of the files of a table. Name is used in messages about the
// whole. No more memory is used at a time to read pages of the files than the given
// number of bytes, of which one page may take half.
func Open(name string, files []File, memory int64) (*Table, error) {
	t := &Table{name: name, memory: &budget{most: memory}}
	if len(files) == 0 {
		return nil, &table.Error{File: name, Msg: "there is no file whose name ends in " + Extension, Fix: "give a folder of Parquet files"}
	}
	for _, f := range files {
		o := &opened{File: f}
		if err := guard(f.Name, func() error { return o.open(memory) }); err != nil {
			return nil, err
		}
		if err := t.add(o); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// open reads the metadata.
func (o *opened) open(memory int64) error {
	footer, err := o.footer(memory)
	if err != nil {
		return err
	}
	meta, encrypted, err := readFooter(footer, memory)
	if encrypted {
		return encryptedFile(o.Name)
	}
	if err != nil {
		return err
	}
	o.groups = meta.RowGroups
	o.columns, o.leaves, err = columnsOf(meta.Schema)
	return err
}

func encryptedFile(name string) error {
	return &table.Error{File: name, Msg: "the file is encrypted", Fix: "write it without encryption"}
}

// footer is the metadata as bytes, at the end of the file.
func (o *opened) footer(memory int64) ([]byte, error) {
	const tail = 8 // its length and the magic bytes
	end := make([]byte, tail)
	if o.Size < int64(len(Magic)+tail) {
		return nil, &table.Error{File: o.Name, Msg: fmt.Sprintf("a file of %d bytes is no Parquet", o.Size), Fix: "write it anew"}
	}
	if _, err := o.Content.ReadAt(end, o.Size-tail); err != nil {
		return nil, err
	}
	switch string(end[4:]) {
	case Magic:
	case "PARE":
		return nil, encryptedFile(o.Name)
	default:
		return nil, &table.Error{File: o.Name, Msg: "the file does not end as Parquet does: it is not a Parquet file, or not a whole one", Fix: "write or copy it anew"}
	}
	size := int64(binary.LittleEndian.Uint32(end))
	if size > o.Size-tail-int64(len(Magic)) {
		return nil, errors.New("its metadata is longer than the file")
	}
	if size > memory/thriftByteBytes {
		return nil, errBudget
	}
	footer := make([]byte, size)
	_, err := o.Content.ReadAt(footer, o.Size-tail-size)
	return footer, err
}

// add adds the rows of a file, which must have the columns of the first.
func (t *Table) add(o *opened) error {
	if t.files == nil {
		for _, c := range o.columns {
			t.columns = append(t.columns, c.SourceColumn)
		}
	} else if err := t.match(o); err != nil {
		return err
	}
	t.files = append(t.files, o)
	next := 1
	for g := range o.groups {
		n, columns := o.groups[g].NumRows, len(o.groups[g].Columns)
		if n < 0 || n > math.MaxInt32*1024 || columns != o.leaves {
			return damaged(o.Name, fmt.Errorf("row group %d has %d rows in %d columns", g+1, n, columns))
		}
		t.groups = append(t.groups, table.SourceGroup{File: o.Name, First: next, Rows: int(n)})
		t.places = append(t.places, place{o, g})
		next += int(n)
	}
	return nil
}

// match puts the columns of a further file in the order of the first.
func (t *Table) match(o *opened) error {
	differs := func(column, msg string) error {
		return &table.Error{File: o.Name, ColumnName: column, Msg: msg + " in " + t.files[0].Name, Fix: "give files of the same columns"}
	}
	ordered := make([]column, len(t.columns))
	for j, want := range t.columns {
		k := slices.IndexFunc(o.columns, func(c column) bool { return c.Name == want.Name })
		if k < 0 {
			return differs(want.Name, "the file lacks a column that there is")
		}
		c := o.columns[k]
		first := t.files[0].columns[j]
		if !c.like(&first) {
			return differs(want.Name, fmt.Sprintf("the column holds %s here and %s", c.what(), first.what()))
		}
		ordered[j] = c
		if c.Bad != "" {
			t.columns[j].Bad = c.Bad
		}
		// What is a null or an integer here and a number there is a number.
		if c.Kind != want.Kind && !c.empty {
			t.columns[j].Kind = table.NumberCells
			if first.empty {
				t.columns[j].Kind = c.Kind
			}
		}
	}
	for _, c := range o.columns {
		if !slices.ContainsFunc(t.columns, func(w table.SourceColumn) bool { return w.Name == c.Name }) {
			return differs(c.Name, "the file has a column that there is not")
		}
	}
	o.columns = ordered
	return nil
}

// Name implements table.Source.
func (t *Table) Name() string { return t.name }

// Columns implements table.Source.
func (t *Table) Columns() []table.SourceColumn { return t.columns }

// Groups implements table.Source.
func (t *Table) Groups() []table.SourceGroup { return t.groups }

// Open implements table.Source.
func (t *Table) Open(group, column int) (table.ColumnReader, error) {
	at := t.places[group]
	r := &columnReader{file: at.file, group: at.group, column: &at.file.columns[column], memory: t.memory}
	r.rows = t.groups[group].Rows
	if err := r.guard(r.open); err != nil {
		_ = r.Close() // nothing was written
		return nil, err
	}
	return r, nil
}

// guard makes an error of what the library panics with, and gives errors their file.
func guard(name string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = damaged(name, fmt.Errorf("%v", p))
		}
	}()
	err = do()
	if errors.Is(err, errBudget) {
		return tooMuch(name)
	}
	if located := (*table.Error)(nil); err == nil || errors.As(err, &located) {
		return err
	}
	return damaged(name, err)
}

// damaged is the error of a file that cannot be read.
func damaged(name string, err error) error {
	return &table.Error{File: name, Msg: fmt.Sprintf("this Parquet file is damaged, or has what is not read: %v", err), Fix: "write it anew", Err: err}
}

// tooMuch is the error of a file that asks for more memory than there is.
func tooMuch(name string) error {
	return table.In(name).Say("write it with smaller pages, or allow more",
		"the file is damaged, or its pages take more memory than may be used").By(table.Way{Option: table.WayMemory})
}
