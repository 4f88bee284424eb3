package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/internal/regular"
	"github.com/lossep/lossep/jsonlines"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
	"github.com/lossep/lossep/xlsx"
)

// tableInput is a table that is read: text, or columns in Parquet files.
type tableInput struct {
	name  string // for messages
	text  io.Reader
	above bool           // the text is made of a file, and its header is no line of that
	made  string         // what the text was made of, such as a workbook; empty if it is the file's own
	table *parquet.Table // if it is no text
	files []io.Closer
	cells int // that may be held of rows that are gone through, at eight bytes each
}

// openInput opens a table of rows: a file, a folder of Parquet files, or "-" for standard
// input. Of a workbook t says which sheet.
func openInput(c *cobra.Command, path string, t *service.Table) (*tableInput, error) {
	in, err := openTable(c, path, t)
	if err == nil && in.table != nil && t.Format.Skip != "" {
		in.Close()
		return nil, usagef("--skip-lines: %s is Parquet, which has no lines; leave it out", path)
	}
	return in, err
}

func openTable(c *cobra.Command, path string, t *service.Table) (*tableInput, error) {
	if path == "-" {
		return &tableInput{name: "standard input", text: c.InOrStdin()}, nil
	}
	in := &tableInput{name: path, cells: int(min(table.DefaultCells, maxMemory(c)/64))}
	if place := placeOf(c); place != nil && strings.Contains(path, "://") {
		table, closer, err := place.Open(c.Context(), path, maxMemory(c)/4)
		if err != nil {
			return nil, blame(err, path)
		}
		in.table, in.files = table, []io.Closer{closer}
		return in, nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		files, err := parquetFiles(path)
		if err != nil {
			return nil, err
		}
		return in, in.openParquet(c, files)
	}
	if err := checkTableName(path); err != nil {
		return nil, err
	}
	switch end := service.Ending(path); {
	case end == xlsx.Extension || end == ".xlsm":
		return in, in.openWorkbook(c, path, t.Sheet)
	case t.Sheet != "":
		return nil, usagef("--sheet: %s has no sheets; leave it out", path)
	case jsonlines.Is(end):
		return in, in.openJSONLines(c, path)
	}
	if strings.EqualFold(filepath.Ext(path), parquet.Extension) {
		return in, in.openParquet(c, []string{path})
	}
	f, err := openFile(c.Context(), path)
	if err != nil {
		return nil, &usageError{err}
	}
	if in.files = []io.Closer{f}; isParquet(f) {
		in.Close()
		return in, in.openParquet(c, []string{path})
	}
	in.text = f
	return in, nil
}

// isParquet tells by the first bytes of what can be read from its end.
func isParquet(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	begin := make([]byte, len(parquet.Magic))
	_, err = f.ReadAt(begin, 0)
	return err == nil && string(begin) == parquet.Magic
}

// parquetFiles are the files of a table in a folder, in the order of their names. What
// programs leave there for themselves begins with a point or an underscore.
func parquetFiles(folder string) (files []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, &usageError{err}
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		return strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "_")
	})
	if !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.IsDir() || strings.EqualFold(filepath.Ext(e.Name()), parquet.Extension)
	}) {
		return nil, usagef("%s: this is a directory without %s files; give a file of rows, or a folder of Parquet files", folder, parquet.Extension)
	}
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(folder, name)
		switch {
		case e.IsDir():
			return nil, usagef("%s: a folder within a folder of Parquet files is not read, and what its name may say about the rows would be lost; give a folder of files", path)
		case !strings.EqualFold(filepath.Ext(name), parquet.Extension):
			return nil, usagef("%s: this is not a %s file, and rows would be lost if it was passed over; take it out of the folder", path, parquet.Extension)
		default:
			files = append(files, path)
		}
	}
	return files, nil
}

// openParquet reads what the files say about themselves. A pipe or a device has no end to
// read that from, and is refused without waiting for it.
func (in *tableInput) openParquet(c *cobra.Command, paths []string) error {
	var files []parquet.File
	for _, path := range paths {
		f, err := regular.Open(path)
		if err != nil {
			in.Close()
			return &usageError{err}
		}
		in.files = append(in.files, f)
		info, err := f.Stat()
		if err != nil {
			in.Close()
			return &usageError{err}
		}
		files = append(files, parquet.File{Name: path, Content: f, Size: info.Size()})
	}
	var err error
	if in.table, err = parquet.Open(in.name, files, maxMemory(c)/4); err != nil {
		in.Close()
		return blame(err, in.name)
	}
	return nil
}

// workbook is what text of a sheet was made of.
const workbook = "an Excel workbook"

// openWorkbook reads a sheet of a workbook.
func (in *tableInput) openWorkbook(c *cobra.Command, path, sheet string) error {
	f, err := in.openRegular(path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return &usageError{err}
	}
	book, err := xlsx.Open(in.name, f, info.Size(), maxMemory(c)/4)
	if err != nil {
		return blame(err, in.name)
	}
	text, err := book.Table(c.Context(), sheet)
	if err != nil {
		return blame(err, in.name)
	}
	if all := book.Sheets(); sheet == "" && len(all) > 1 {
		fmt.Fprintf(c.ErrOrStderr(), "note: %s has %d sheets, of which the first, %q, is read; --sheet NAME reads another: %q\n", path, len(all), all[0], all[1:])
	}
	in.text, in.files, in.made = text, append(in.files, text), workbook
	return nil
}

// openJSONLines reads a file of one JSON object a line.
func (in *tableInput) openJSONLines(c *cobra.Command, path string) error {
	f, err := in.openRegular(path)
	if err != nil {
		return err
	}
	text, err := jsonlines.Table(c.Context(), in.name, f)
	if err != nil {
		return blame(err, in.name)
	}
	in.text, in.files, in.made, in.above = text, append(in.files, text), "JSON lines", true
	return nil
}

// openRegular opens a file that is read more than once.
func (in *tableInput) openRegular(path string) (*os.File, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, &usageError{err}
	}
	in.files = append(in.files, f)
	return f, nil
}

// format is how the text is read: as it is written, if it was made here.
func (in *tableInput) format(f table.Format) (table.Format, error) {
	if in.made == "" {
		return f, nil
	}
	if f.Separator != "" || f.Encoding != "" || f.Decimal != "" || in.above && f.Header != "" && f.Header != table.HeaderAuto {
		return f, &table.Error{File: in.name, Msg: "separator, decimal mark, encoding and header are those of text files, and this is " + in.made, Fix: "leave them out"}
	}
	f.Separator, f.Decimal, f.Encoding = ",", ".", table.UTF8
	if in.above {
		f.Header = table.HeaderAbove
	}
	return f, nil
}

// several tells whether the table has more than one file.
func (in *tableInput) several() bool {
	if in.table == nil {
		return false
	}
	groups := in.table.Groups()
	return slices.ContainsFunc(groups, func(g table.SourceGroup) bool { return g.File != groups[0].File })
}

// about is how many rows the table has, as far as its files tell without being understood: those of
// Parquet files, or lines but for the first, which is mostly a header; 0 where that would take reading what can be read only once, or long.
func (in *tableInput) about() (rows int) {
	if in.table != nil {
		for _, g := range in.table.Groups() {
			rows += g.Rows
		}
		return rows
	}
	if len(in.files) == 0 || in.made == workbook {
		return 0
	}
	const most = 1 << 30 // bytes, of which nobody waits long for the lines to be counted
	f, ok := in.files[0].(*os.File)
	if !ok {
		return 0
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return 0
	}
	piece, last := make([]byte, 1<<16), byte('\n')
	for at := int64(0); ; {
		n, err := f.ReadAt(piece, at)
		if at == 0 && table.Compressed(piece[:n]) {
			return 0
		}
		if at += int64(n); n > 0 {
			rows += bytes.Count(piece[:n], []byte{'\n'})
			last = piece[n-1]
		}
		if err != nil {
			if last != '\n' {
				rows++
			}
			return max(0, rows-1)
		}
	}
}

// Close closes the files. Nothing was written to them.
func (in *tableInput) Close() {
	for _, f := range in.files {
		_ = f.Close()
	}
	in.files = nil
}

// read reads the whole table; a source, only the columns that the options have a use for
// and those that are named.
func (in *tableInput) read(ctx context.Context, t service.Table, o *recipe.Options, also []string) (*table.Table, error) {
	if in.table == nil {
		f, err := in.format(t.Format)
		if err != nil {
			return nil, err
		}
		return table.Read(ctx, in.text, in.name, f)
	}
	f := t.Format
	var skip func(string) bool
	if o != nil {
		var names []string
		for _, c := range in.table.Columns() {
			names = append(names, strings.TrimSpace(c.Name))
		}
		skip = o.Skips(names, also...)
	}
	return table.ReadSource(ctx, in.table, f, skip)
}

// rows begins to read new rows; of a source, the columns that the recipe needs and those
// that are named, or all of them.
func (in *tableInput) rows(ctx context.Context, learned *recipe.Recipe, t service.Table, all bool, also []string) (*recipe.Reader, error) {
	f := t.Format
	if in.table == nil {
		f, err := in.format(f)
		if err != nil {
			return nil, err
		}
		return recipe.NewReader(ctx, in.text, in.name, learned, f)
	}
	if f.Limits.Cells == 0 {
		f.Limits.Cells = in.cells
	}
	return recipe.NewSourceReader(ctx, in.table, learned, f, func(name string) bool { return all || slices.Contains(also, name) })
}
