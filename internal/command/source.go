package command

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/internal/regular"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

// tableInput is a table that is read: text, or columns in Parquet files.
type tableInput struct {
	name  string // for messages
	text  io.Reader
	table *parquet.Table // if it is no text
	files []io.Closer
	cells int // that may be held of rows that are gone through, at eight bytes each
}

// openInput opens a table of rows: a file, a folder of Parquet files, or "-" for standard
// input.
func openInput(c *cobra.Command, path string) (*tableInput, error) {
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

// Close closes the files. Nothing was written to them.
func (in *tableInput) Close() {
	for _, f := range in.files {
		_ = f.Close()
	}
	in.files = nil
}

// read reads the whole table; a source, only the columns that the options have a use for
// and those that are named.
func (in *tableInput) read(ctx context.Context, f table.Format, o *recipe.Options, also []string) (*table.Table, error) {
	if in.table == nil {
		return table.Read(ctx, in.text, in.name, f)
	}
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
func (in *tableInput) rows(ctx context.Context, learned *recipe.Recipe, f table.Format, all bool, also []string) (*recipe.Reader, error) {
	if in.table == nil {
		return recipe.NewReader(ctx, in.text, in.name, learned, f)
	}
	if f.Limits.Cells == 0 {
		f.Limits.Cells = in.cells
	}
	return recipe.NewSourceReader(ctx, in.table, learned, f, func(name string) bool { return all || slices.Contains(also, name) })
}

// parquetRows writes rows of output as Parquet. What the new columns hold is seen from the
// first row.
type parquetRows struct {
	w      io.Writer
	names  []string
	kinds  []table.CellKind // of the columns that are kept
	to     *parquet.Writer
	record []any
}

// begin declares the columns; without rows there is nothing to see, and all are texts.
func (p *parquetRows) begin(values []any) (err error) {
	columns := make([]table.SourceColumn, len(p.names))
	for j, name := range p.names {
		columns[j].Name = name
		if j < len(p.kinds) {
			columns[j].Kind = p.kinds[j]
			continue
		}
		if k := j - len(p.kinds); k < len(values) {
			switch values[k].(type) {
			case float64:
				columns[j].Kind = table.NumberCells
			case bool:
				columns[j].Kind = table.TruthCells
			}
		}
	}
	p.to, err = parquet.NewWriter(p.w, columns)
	return err
}

func (p *parquetRows) write(cells []string, values []any) error {
	if p.to == nil {
		if err := p.begin(values); err != nil {
			return err
		}
	}
	p.record = p.record[:0]
	for _, text := range cells {
		p.record = append(p.record, text)
	}
	for _, v := range values {
		switch v.(type) {
		case float64, bool, string:
			p.record = append(p.record, v)
		default:
			p.record = append(p.record, cell(v))
		}
	}
	return p.to.Write(p.record)
}

func (p *parquetRows) close() error {
	if p.to == nil {
		if err := p.begin(nil); err != nil {
			return err
		}
	}
	return p.to.Close()
}
