package parquet

import (
	"fmt"
	"io"
	"strconv"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/lossep/lossep/data"
)

// groupRows is how many rows a row group that is written has.
const groupRows = 1 << 16

// Writer writes a table row by row.
type Writer struct {
	to      *file.Writer
	columns []*outColumn
	rows    int // of the group under way
}

// outColumn is a column of the group under way.
type outColumn struct {
	name     string
	kind     data.CellKind
	integers []int64
	numbers  []float64
	truths   []bool
	texts    []pq.ByteArray
	levels   []int16 // 0 where missing
}

// NewWriter begins a table of the given columns. Integers, numbers and truth values are
// written as such, everything else as text; every cell may be missing.
func NewWriter(w io.Writer, columns []data.SourceColumn) (*Writer, error) {
	out := new(Writer)
	var fields schema.FieldList
	for _, c := range columns {
		out.columns = append(out.columns, &outColumn{name: c.Name, kind: c.Kind})
		var node schema.Node
		var err error
		switch c.Kind {
		case data.IntegerCells:
			node = schema.NewInt64Node(c.Name, pq.Repetitions.Optional, -1)
		case data.NumberCells:
			node = schema.NewFloat64Node(c.Name, pq.Repetitions.Optional, -1)
		case data.TruthCells:
			node = schema.NewBooleanNode(c.Name, pq.Repetitions.Optional, -1)
		default:
			node, err = schema.NewPrimitiveNodeLogical(c.Name, pq.Repetitions.Optional, schema.StringLogicalType{}, pq.Types.ByteArray, -1, -1)
		}
		if err != nil {
			return nil, err
		}
		fields = append(fields, node)
	}
	root, err := schema.NewGroupNode("schema", pq.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, err
	}
	props := []pq.WriterProperty{pq.WithCompression(compress.Codecs.Snappy), pq.WithCreatedBy("lossep")}
	for _, c := range columns {
		if c.Kind == data.NumberCells { // few of them are the same
			props = append(props, pq.WithDictionaryPath(pq.ColumnPath{c.Name}, false))
		}
	}
	out.to, err = file.NewParquetWriterWithError(w, root, file.WithWriterProps(pq.NewWriterProperties(props...)))
	return out, err
}

// Write adds a row: int64, float64, bool or string for each column as it is declared, or
// nil where the cell is missing. A string is read for what the column holds; one that is
// no such thing is missing.
func (w *Writer) Write(row []any) error {
	if len(row) != len(w.columns) {
		panic(fmt.Sprintf("parquet: a row of %d cells, not %d", len(row), len(w.columns)))
	}
	for j, v := range row {
		w.columns[j].add(v)
	}
	if w.rows++; w.rows == groupRows {
		return w.flush()
	}
	return nil
}

// add adds a cell to the group.
func (c *outColumn) add(v any) {
	level := int16(1)
	switch x := v.(type) {
	case int64:
		c.integers = append(c.integers, x)
	case float64:
		c.numbers = append(c.numbers, x)
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
	case data.IntegerCells:
		x, err := strconv.ParseInt(text, 10, 64)
		if err == nil {
			c.integers = append(c.integers, x)
		}
		return err == nil
	case data.NumberCells:
		x, ok := data.Number(text)
		if ok {
			c.numbers = append(c.numbers, x)
		}
		return ok
	case data.TruthCells:
		x, err := strconv.ParseBool(text)
		if err == nil {
			c.truths = append(c.truths, x)
		}
		return err == nil
	}
	c.texts = append(c.texts, pq.ByteArray(text))
	return true
}

// flush writes the group.
func (w *Writer) flush() error {
	group, err := w.to.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	for _, c := range w.columns {
		chunk, err := group.NextColumn()
		if err != nil {
			return err
		}
		if err := c.write(chunk); err != nil {
			return err
		}
		if err := chunk.Close(); err != nil {
			return err
		}
	}
	w.rows = 0
	return group.Close()
}

func (c *outColumn) write(chunk file.ColumnChunkWriter) (err error) {
	switch to := chunk.(type) {
	case *file.Int64ColumnChunkWriter:
		_, err = to.WriteBatch(c.integers, c.levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = to.WriteBatch(c.numbers, c.levels, nil)
	case *file.BooleanColumnChunkWriter:
		_, err = to.WriteBatch(c.truths, c.levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = to.WriteBatch(c.texts, c.levels, nil)
	}
	c.integers, c.numbers, c.truths, c.texts, c.levels = c.integers[:0], c.numbers[:0], c.truths[:0], c.texts[:0], c.levels[:0]
	return err
}

// Close writes what is left and the metadata. A table without rows is one, too.
func (w *Writer) Close() error {
	if w.rows > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	return w.to.Close()
}
