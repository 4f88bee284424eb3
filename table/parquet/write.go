package parquet

import (
	"fmt"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lossep/lossep/table"
)

// A row group that is written has so many rows, or fewer if what they hold takes so many
// bytes.
const (
	groupRows  = 1 << 16
	groupBytes = 64 << 20
)

// Writer writes a table row by row.
type Writer struct {
	GroupRows int    // of a row group at most
	Rest      func() // called between the columns of a group, if it is not nil: encoding one is the longest step

	to      io.Writer
	at      int64 // bytes written
	columns []*outColumn
	rows    int // of the group under way
	groups  []format.RowGroup
	total   int64 // rows of them

	content, stored []byte // of a page, used again
}

// outColumn is a column of the group under way. A text is held once.
type outColumn struct {
	name     string
	kind     table.CellKind
	integers []int64
	numbers  []float64
	truths   []bool
	codes    []int32 // of texts
	words    []string
	known    map[string]int32
	bytes    int     // of words
	size     int     // of texts, each as often as there is
	levels   []uint8 // 0 where missing
}

// NewWriter begins a table of the given columns. Integers, numbers and truth values are
// written as such, everything else as text; every cell may be missing.
func NewWriter(w io.Writer, columns []table.SourceColumn) (*Writer, error) {
	out := &Writer{to: w, GroupRows: groupRows}
	for _, c := range columns {
		out.columns = append(out.columns, &outColumn{name: c.Name, kind: c.Kind, known: make(map[string]int32)})
	}
	return out, out.write([]byte(Magic))
}

func (w *Writer) write(b []byte) error {
	n, err := w.to.Write(b)
	w.at += int64(n)
	return err
}

// Write adds a row: int64, float64 or where it is, bool or string for each column as it is declared, or
// nil where the cell is missing. A string is read for what the column holds; one that is
// no such thing is missing.
func (w *Writer) Write(row []any) error {
	if len(row) != len(w.columns) {
		panic(fmt.Sprintf("parquet: a row of %d cells, not %d", len(row), len(w.columns)))
	}
	bytes := 0
	for j, v := range row {
		w.columns[j].add(v)
		bytes += w.columns[j].bytes
	}
	if w.rows++; w.rows == w.GroupRows || bytes > groupBytes {
		return w.flush()
	}
	return nil
}

// add adds a cell to the group.
func (c *outColumn) add(v any) {
	level := uint8(1)
	switch x := v.(type) {
	case int64:
		c.integers = append(c.integers, x)
	case float64:
		c.numbers = append(c.numbers, x)
	case *float64:
		c.numbers = append(c.numbers, *x)
	case bool:
		c.truths = append(c.truths, x)
	case string:
		if !c.read(x) {
			level = 0
		}
	case nil:
		level = 0
	default:
		panic(fmt.Sprintf("parquet: a cell of type %T", v))
	}
	c.levels = append(c.levels, level)
}

// read adds a text as what the column holds.
func (c *outColumn) read(text string) bool {
	switch c.kind {
	case table.IntegerCells:
		x, err := strconv.ParseInt(text, 10, 64)
		if err == nil {
			c.integers = append(c.integers, x)
		}
		return err == nil
	case table.NumberCells:
		x, ok := table.Number(text)
		if ok {
			c.numbers = append(c.numbers, x)
		}
		return ok
	case table.TruthCells:
		x, err := strconv.ParseBool(text)
		if err == nil {
			c.truths = append(c.truths, x)
		}
		return err == nil
	}
	code, ok := c.known[text]
	if !ok {
		code = int32(len(c.words))
		c.known[text], c.words = code, append(c.words, text)
		c.bytes += 4 + len(text)
	}
	c.codes = append(c.codes, code)
	c.size += 4 + len(text)
	return true
}

// flush writes the group.
func (w *Writer) flush() error {
	group := format.RowGroup{NumRows: int64(w.rows), FileOffset: w.at, Ordinal: int16(min(len(w.groups), 1<<15-1))}
	begin := w.at
	for _, c := range w.columns {
		chunk := &outChunk{to: w, column: c, begin: w.at}
		if err := chunk.write(); err != nil {
			return err
		}
		group.Columns = append(group.Columns, chunk.meta())
		group.TotalByteSize += chunk.uncompressed
		c.reset()
		if w.Rest != nil {
			w.Rest()
		}
	}
	group.TotalCompressedSize = w.at - begin
	w.groups = append(w.groups, group)
	w.total += int64(w.rows)
	w.rows = 0
	return nil
}

func (c *outColumn) reset() {
	c.integers, c.numbers, c.truths, c.codes, c.levels = c.integers[:0], c.numbers[:0], c.truths[:0], c.codes[:0], c.levels[:0]
	clear(c.words)
	clear(c.known)
	c.words, c.bytes, c.size = c.words[:0], 0, 0
}

// Close writes what is left and the metadata. A table without rows is one, too.
func (w *Writer) Close() error {
	if w.rows > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	meta := &format.FileMetaData{Version: 2, NumRows: w.total, RowGroups: w.groups, CreatedBy: "lossep"}
	if meta.RowGroups == nil {
		meta.RowGroups = []format.RowGroup{}
	}
	meta.Schema = []format.SchemaElement{{Name: "schema", NumChildren: thrift.New(int32(len(w.columns)))}}
	for _, c := range w.columns {
		e := format.SchemaElement{Name: c.name, Type: thrift.New(c.physical()), RepetitionType: thrift.New(format.Optional)}
		if e.Type.V == format.ByteArray {
			e.ConvertedType = thrift.New(deprecated.UTF8)
			e.LogicalType.Value = new(format.StringType)
		}
		meta.Schema = append(meta.Schema, e)
		meta.ColumnOrders = append(meta.ColumnOrders, format.ColumnOrder{Value: new(format.TypeDefinedOrder)})
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
	if err != nil {
		return err
	}
	size := len(footer)
	footer = append(footer, byte(size), byte(size>>8), byte(size>>16), byte(size>>24))
	return w.write(append(footer, Magic...))
}

func (c *outColumn) physical() format.Type {
	switch c.kind {
	case table.IntegerCells:
		return format.Int64
	case table.NumberCells:
		return format.Double
	case table.TruthCells:
		return format.Boolean
	}
	return format.ByteArray
}
