package parquet_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/data/parquet"
)

func readAll(memory int64, limits data.Limits, files ...[]byte) (*data.Table, error) {
	table, err := parquet.Open("table", named(files...), memory)
	if err != nil {
		return nil, err
	}
	return data.ReadSource(context.Background(), table, data.Format{Limits: limits}, nil)
}

// Nested columns are refused by name, unless they are left out.
func TestNestedColumns(t *testing.T) {
	list := schema.MustGroup(schema.NewGroupNodeLogical("tags", pq.Repetitions.Optional, schema.FieldList{
		schema.MustGroup(schema.NewGroupNode("list", pq.Repetitions.Repeated, schema.FieldList{schema.NewInt32Node("element", pq.Repetitions.Optional, -1)}, -1)),
	}, schema.NewListLogicalType(), -1))
	for name, c := range map[string]struct {
		node schema.Node
		want string
	}{
		"list":      {list, `column 2 ("tags"): the column is nested (a list)`},
		"structure": {schema.MustGroup(schema.NewGroupNode("at", pq.Repetitions.Optional, schema.FieldList{schema.NewInt32Node("x", pq.Repetitions.Required, -1), schema.NewInt32Node("y", pq.Repetitions.Required, -1)}, -1)), `column 2 ("at"): the column is nested (a structure)`},
		"repeated":  {schema.NewInt32Node("many", pq.Repetitions.Repeated, -1), `column 2 ("many"): the column is nested (a list)`},
		"interval":  {schema.Must(schema.NewPrimitiveNodeLogical("span", pq.Repetitions.Optional, schema.IntervalLogicalType{}, pq.Types.FixedLenByteArray, 12, -1)), `column 2 ("span"): the column is of a type that is not read (interval)`},
	} {
		t.Run(name, func(t *testing.T) {
			fields := []field{
				column(schema.NewInt32Node("x", pq.Repetitions.Required, -1), 4, func(i int) (int32, string, bool) { return int32(i), fmt.Sprint(i), false }),
				{node: c.node},
				column(schema.NewInt32Node("y", pq.Repetitions.Required, -1), 4, func(i int) (int32, string, bool) { return int32(i % 2), fmt.Sprint(i % 2), false }),
			}
			content := write(t, fields, 0) // the schema is enough
			s := &rowsIn{opened(t, content)}
			_, err := data.ReadSource(context.Background(), s, data.Format{}, nil)
			refused(t, err, c.want, "Drop")
		})
	}
}

// rowsIn is a table that says to have rows.
type rowsIn struct{ *parquet.Table }

func (r *rowsIn) Groups() []data.SourceGroup {
	return []data.SourceGroup{{File: "a", First: 1}, {File: "a", First: 1, Rows: 4}}
}

func (r *rowsIn) Open(int, int) (data.ColumnReader, error) { return fourZeros{}, nil }

type fourZeros struct{}

func (fourZeros) Read(n int, to *data.Cells) error {
	for range n {
		to.Integer(0)
	}
	return nil
}
func (fourZeros) Close() error { return nil }

func integers(n int) []field {
	return []field{
		column(schema.NewInt32Node("x", pq.Repetitions.Optional, -1), n, func(i int) (int32, string, bool) { return int32(i % 7), fmt.Sprint(i % 7), i%5 == 0 }),
		column(schema.Must(schema.NewPrimitiveNodeLogical("w", pq.Repetitions.Required, schema.StringLogicalType{}, pq.Types.ByteArray, -1, -1)), n, func(i int) (pq.ByteArray, string, bool) { return pq.ByteArray("word"), "word", false }),
	}
}

// Declared rows beyond the limits are refused before anything is read, and cells that
// there are not are noticed.
func TestDeclaredRows(t *testing.T) {
	content := write(t, integers(1000), 1)
	_, err := readAll(1<<26, data.Limits{Rows: 999}, content)
	refused(t, err, "table: there are more than 999 rows")
	_, err = readAll(1<<26, data.Limits{Cells: 1999}, content)
	refused(t, err, "table: there are more than 1999 cells")
	s := &moreRows{opened(t, content)}
	_, err = data.ReadSource(context.Background(), s, data.Format{}, nil)
	refused(t, err, "part-1.parquet", "1000 cells in a group of 1001 rows")
}

type moreRows struct{ *parquet.Table }

func (m *moreRows) Groups() []data.SourceGroup {
	g := m.Table.Groups()[0]
	g.Rows++
	return []data.SourceGroup{g}
}

// Texts take memory too, and a page may not take more than there is.
func TestMemoryIsBounded(t *testing.T) {
	const n = 20_000
	long := strings.Repeat("x", 1000)
	fields := []field{column(schema.NewByteArrayNode("w", pq.Repetitions.Required, -1), n, func(i int) (pq.ByteArray, string, bool) {
		return pq.ByteArray(fmt.Sprint(long, i)), "", false
	})}
	content := write(t, fields, 1, pq.WithDictionaryDefault(false), pq.WithCompression(compress.Codecs.Zstd))
	_, err := readAll(1<<28, data.Limits{Cells: 4 * n}, content)
	refused(t, err, "cells, or their texts take as much memory")
	big := write(t, fields, 1, pq.WithDictionaryDefault(false), pq.WithDataPageSize(1<<30), pq.WithCompression(compress.Codecs.Zstd))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = readAll(4<<20, data.Limits{}, big)
	runtime.ReadMemStats(&after)
	refused(t, err, "part-1.parquet")
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d bytes were allocated for a page of 20 MB under a limit of 4 MiB", grown)
	}
}

// Every cut and every changed byte ends in an error that names the file, or in a table.
func TestDamagedFiles(t *testing.T) {
	for name, options := range map[string][]pq.WriterProperty{
		"plain":  {pq.WithDictionaryDefault(false)},
		"dict":   {},
		"second": {pq.WithDataPageVersion(pq.DataPageV2), pq.WithCompression(compress.Codecs.Snappy)},
		"delta":  {pq.WithDictionaryDefault(false), pq.WithEncodingFor("x", pq.Encodings.DeltaBinaryPacked), pq.WithEncodingFor("w", pq.Encodings.DeltaByteArray)},
	} {
		t.Run(name, func(t *testing.T) {
			content := write(t, integers(40), 1, options...)
			try := func(b []byte) {
				table, err := readAll(1<<24, data.Limits{Cells: 1 << 20}, b)
				if err != nil {
					refused(t, err)
					if located.File == "" {
						t.Fatalf("no file: %v", err)
					}
					return
				}
				if table.Len() == 0 {
					t.Fatal("a table of nothing")
				}
			}
			for cut := range content {
				try(content[:cut])
			}
			for at := range content {
				for _, flip := range []byte{0x01, 0x80, 0xFF, 0x0F} {
					b := bytes.Clone(content)
					b[at] ^= flip
					try(b)
				}
			}
		})
	}
}

// Metadata that declares what is not there is refused before room is made for it.
func TestHostileFooter(t *testing.T) {
	deep := func(levels int) []byte { // groups of one group
		b := []byte{0x15, 2, 0x19, 0xFC}
		b = binary.AppendUvarint(b, uint64(levels))
		for range levels {
			b = append(b, 0x48, 1, 'g', 0x15, 2, 0) // name, one child
		}
		return append(b, 0x16, 0, 0x19, 0x0C, 0)
	}
	for name, footer := range map[string][]byte{
		"list":     {0x15, 2, 0x19, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0x07},
		"children": {0x15, 2, 0x19, 0x1C, 0x48, 1, 'g', 0x15, 0xFE, 0xFF, 0xFF, 0xFF, 0x0F, 0, 0x16, 0, 0x19, 0x0C, 0},
		"deep":     deep(1_000_000),
		"binary":   {0x15, 2, 0x28, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F},
		"nothing":  {},
		"nested":   bytes.Repeat([]byte{0x1C}, 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			file := append([]byte(parquet.Magic), footer...)
			file = binary.LittleEndian.AppendUint32(file, uint32(len(footer)))
			file = append(file, parquet.Magic...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := readAll(1<<30, data.Limits{}, file)
			runtime.ReadMemStats(&after)
			refused(t, err, "part-1.parquet")
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20+uint64(10*len(footer)) {
				t.Errorf("%d bytes were allocated for %d of metadata", grown, len(footer))
			}
		})
	}
}

// Files of a folder have the same columns.
func TestDifferentFiles(t *testing.T) {
	texts := func(name string) field {
		return column(schema.Must(schema.NewPrimitiveNodeLogical(name, pq.Repetitions.Optional, schema.StringLogicalType{}, pq.Types.ByteArray, -1, -1)), 3, func(int) (pq.ByteArray, string, bool) { return pq.ByteArray("a"), "a", false })
	}
	number := func(name string) field {
		return column(schema.NewFloat64Node(name, pq.Repetitions.Optional, -1), 3, func(int) (float64, string, bool) { return 1.5, "1.5", false })
	}
	whole := func(name string) field {
		return column(schema.NewInt64Node(name, pq.Repetitions.Optional, -1), 3, func(int) (int64, string, bool) { return 1, "1", false })
	}
	first := write(t, []field{number("x"), texts("y")}, 1)
	for name, c := range map[string]struct {
		fields []field
		want   string
	}{
		"lacks":  {[]field{number("x")}, `part-2.parquet, column "y": the file lacks a column that there is in part-1.parquet`},
		"more":   {[]field{number("x"), texts("y"), texts("z")}, `part-2.parquet, column "z": the file has a column that there is not in part-1.parquet`},
		"others": {[]field{texts("x"), texts("y")}, `part-2.parquet, column "x": the column holds texts here and numbers in part-1.parquet`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readAll(1<<26, data.Limits{}, first, write(t, c.fields, 1))
			refused(t, err, c.want)
		})
	}
	table, err := readAll(1<<26, data.Limits{}, first, write(t, []field{whole("x"), texts("y")}, 1))
	if err != nil || table.Row(3)[0] != "1" || table.Row(2)[0] != "1.5" {
		t.Errorf("integers after numbers: %v", err)
	}
	// Rows are counted in their files.
	if p := table.Place(4); p.File != "part-2.parquet" || p.Row != 2 || p.Line != 0 {
		t.Errorf("the fifth row is at %+v", p)
	}
}

// What is no text is refused with its place, in tables and in streams.
func TestBytesThatAreNoText(t *testing.T) {
	fields := []field{column(schema.NewByteArrayNode("w", pq.Repetitions.Required, -1), 5, func(i int) (pq.ByteArray, string, bool) {
		return pq.ByteArray([]string{"a", "b", "\xff\xfe", "d", "e"}[i]), "", false
	})}
	_, err := readAll(1<<26, data.Limits{}, write(t, fields, 2))
	refused(t, err, `part-1.parquet, row 3, column 1 ("w"): "\xff\xfe" is not text in UTF-8`)
}

// A context that has ended ends the reading.
func TestReadingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := data.ReadSource(ctx, opened(t, write(t, integers(100), 1)), data.Format{}, nil); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

// What is written reads back.
func TestWriter(t *testing.T) {
	var out bytes.Buffer
	w, err := parquet.NewWriter(&out, []data.SourceColumn{
		{Name: "i", Kind: data.IntegerCells}, {Name: "x", Kind: data.NumberCells}, {Name: "b", Kind: data.TruthCells}, {Name: "t", Kind: data.TextCells},
	})
	if err != nil {
		t.Fatal(err)
	}
	const n = 70_000 // more than a group
	for i := range n {
		row := []any{int64(i) << 40, float64(i) / 3, i%2 == 0, fmt.Sprint("t", i%9)}
		if i%10 == 3 {
			row = []any{fmt.Sprint(i), fmt.Sprint(float64(i)), "true", nil}
		}
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	table, err := data.ReadSource(context.Background(), opened(t, out.Bytes()), data.Format{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != n || strings.Join(table.Row(69_999), " ") != fmt.Sprint(69_999<<40, " ", 69_999.0/3, " false t6") || strings.Join(table.Row(13), " ") != "13 13 true " {
		t.Errorf("%d rows: %q, %q", table.Len(), table.Row(69_999), table.Row(13))
	}
	var empty bytes.Buffer
	if w, err = parquet.NewWriter(&empty, []data.SourceColumn{{Name: "x"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = readAll(1<<26, data.Limits{}, empty.Bytes())
	refused(t, err, "the table has no rows")
}

// FuzzOpen takes bytes through everything: an error that names the file, or a table whose
// cells are as many as it says.
func FuzzOpen(f *testing.F) {
	for _, options := range [][]pq.WriterProperty{
		{},
		{pq.WithDictionaryDefault(false)},
		{pq.WithDataPageVersion(pq.DataPageV2), pq.WithCompression(compress.Codecs.Zstd)},
		{pq.WithCompression(compress.Codecs.Gzip)},
		{pq.WithDictionaryDefault(false), pq.WithEncodingFor("x", pq.Encodings.DeltaBinaryPacked), pq.WithEncodingFor("w", pq.Encodings.DeltaByteArray)},
	} {
		f.Add(write(f, integers(30), 2, options...))
	}
	f.Add(write(f, everyType(8), 1))
	f.Fuzz(func(t *testing.T, content []byte) {
		table, err := readAll(1<<24, data.Limits{Cells: 1 << 20}, content)
		if err != nil {
			refused(t, err)
			return
		}
		for i := range min(table.Len(), 1000) {
			if len(table.Row(i)) != len(table.Columns()) {
				t.Fatalf("row %d: %q", i, table.Row(i))
			}
		}
		l, err := data.Learn(table, data.Options{Impute: true})
		if err != nil {
			refused(t, err)
			return
		}
		rd, err := data.NewSourceReader(context.Background(), opened(t, content), l.Recipe, data.Format{}, nil)
		if err != nil {
			refused(t, err)
			return
		}
		var got []float64
		for err == nil {
			var block *data.Block
			if block, err = rd.ReadBlock(100); err == nil {
				got = append(got, block.X.RawMatrix().Data...)
			}
		}
		if err != io.EOF {
			t.Fatalf("training rows refused: %v", err)
		}
		checkBits(t, got, l.X.RawMatrix().Data)
	})
}
