package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/lossep/lossep/internal/regular"
	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

// Rows is where some rows of a table are: in row groups of one file or of several that
// follow each other. It is the element of a pipeline.
type Rows struct {
	Number int      `json:"number"` // of the shard, or of the part
	Table  string   `json:"table"`  // for messages
	Files  []string `json:"files"`
	From   int      `json:"from"` // first row, from the beginning of the first file
	To     int      `json:"to"`   // the row after the last
}

// cut is a table cut into pieces that begin at these rows, the first of them 0.
func cut(t *parquet.Table, begins []int) []Rows {
	type file struct {
		name        string
		first, rows int
	}
	var files []file
	rows := 0
	for _, g := range t.Groups() {
		if k := len(files) - 1; k < 0 || files[k].name != g.File {
			files = append(files, file{g.File, rows, 0})
		}
		files[len(files)-1].rows += g.Rows
		rows += g.Rows
	}
	var pieces []Rows
	for k, from := range begins {
		to := rows
		if k+1 < len(begins) {
			to = begins[k+1]
		}
		p := Rows{Number: k, Table: t.Name(), From: -1}
		for _, f := range files {
			if f.first+f.rows <= from || f.first >= to {
				continue
			}
			if p.From < 0 {
				p.From, p.To = from-f.first, to-f.first
			}
			p.Files = append(p.Files, f.name)
		}
		pieces = append(pieces, p)
	}
	return pieces
}

// every is where shards of so many rows begin.
func every(size, rows int) []int {
	var begins []int
	for from := 0; from < rows; from += size {
		begins = append(begins, from)
	}
	return begins
}

// groups is where the row groups of a table begin, but for empty ones.
func groups(t *parquet.Table) []int {
	var begins []int
	row := 0
	for _, g := range t.Groups() {
		if g.Rows > 0 {
			begins = append(begins, row)
		}
		row += g.Rows
	}
	return begins
}

// Open opens a table whose files are those that a pattern of Beam's file systems stands for,
// one Parquet file, or all of them in a folder.
func Open(ctx context.Context, path string, memory int64) (*parquet.Table, io.Closer, error) {
	var names []string
	s := store{path}
	var patterns []string
	if strings.Contains(path, "*") || strings.HasSuffix(path, parquet.Extension) {
		patterns = append(patterns, path)
	}
	if !strings.Contains(path, "*") { // a folder may be called table.parquet, too
		patterns = append(patterns, s.path("*"+parquet.Extension))
	}
	err := s.with(ctx, func(fs filesystem.Interface) (err error) {
		for _, pattern := range patterns {
			if names, err = fs.List(ctx, pattern); err != nil || len(names) > 0 {
				break
			}
		}
		return err
	})
	if err != nil {
		return nil, nil, &table.Error{File: path, Msg: err.Error(), Fix: "give a folder of Parquet files that can be read", Err: err}
	}
	slices.Sort(names)
	return openFiles(ctx, path, names, memory)
}

// openFiles opens some files of a table.
func openFiles(ctx context.Context, table string, names []string, memory int64) (*parquet.Table, io.Closer, error) {
	var open closers
	var files []parquet.File
	for _, name := range names {
		f, err := openFile(ctx, name)
		if err != nil {
			return nil, nil, errors.Join(lost(name, err), open.Close())
		}
		open = append(open, f)
		info, err := f.Stat()
		if err != nil {
			return nil, nil, errors.Join(err, open.Close())
		}
		files = append(files, parquet.File{Name: name, Content: f, Size: info.Size()})
	}
	t, err := parquet.Open(table, files, memory)
	if err != nil {
		return nil, nil, errors.Join(err, open.Close())
	}
	return t, open, nil
}

// stateOf tells the content of files from what they may have later, by their sizes and by
// when they were changed, as far as their file system knows that.
func stateOf(ctx context.Context, names []string) (string, error) {
	var b strings.Builder
	for _, name := range names {
		size, changed, err := stat(ctx, name)
		if err != nil {
			return "", lost(name, err)
		}
		fmt.Fprintf(&b, "%q %d %d ", name, size, changed.UnixNano())
	}
	return b.String(), nil
}

func stat(ctx context.Context, name string) (size int64, changed time.Time, err error) {
	if !remote(name) {
		info, err := os.Stat(name)
		if err != nil {
			return 0, changed, err
		}
		return info.Size(), info.ModTime(), nil
	}
	err = store{name}.with(ctx, func(fs filesystem.Interface) (err error) {
		if dated, ok := fs.(filesystem.LastModifiedGetter); ok {
			if changed, err = dated.LastModified(ctx, name); err != nil {
				return err
			}
		}
		size, err = fs.Size(ctx, name)
		return err
	})
	return size, changed, err
}

// lost is about a file of the table that cannot be read.
func lost(name string, err error) error {
	return &table.Error{File: name, Msg: err.Error(), Fix: "put the file back, or begin again without it", Err: err}
}

type closers []io.Closer

func (c closers) Close() (err error) {
	for _, f := range c {
		err = errors.Join(err, f.Close())
	}
	return err
}

// copies are files of other machines that were brought here, which they are once.
var copies = struct {
	sync.Mutex
	paths map[string]string
}{paths: make(map[string]string)}

// openFile opens a file that can be read anywhere in it. What is not a file of this machine
// is copied to one.
func openFile(ctx context.Context, name string) (*os.File, error) {
	if !remote(name) {
		return regular.Open(name)
	}
	copies.Lock()
	defer copies.Unlock()
	if path, ok := copies.paths[name]; ok {
		return os.Open(path)
	}
	f, err := os.CreateTemp("", "lossep-*"+parquet.Extension)
	if err != nil {
		return nil, err
	}
	err = store{name}.with(ctx, func(fs filesystem.Interface) error {
		r, err := fs.OpenRead(ctx, name)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		return errors.Join(err, r.Close())
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close(), os.Remove(f.Name()))
	}
	copies.paths[name] = f.Name()
	return f, nil
}

// Forget removes the copies of files of other machines.
func Forget() {
	copies.Lock()
	defer copies.Unlock()
	for name, path := range copies.paths {
		_ = os.Remove(path) // it is in the folder of temporary files
		delete(copies.paths, name)
	}
}
