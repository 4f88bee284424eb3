package parquet_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

func readAll(memory int64, limits table.Limits, files ...[]byte) (*table.Table, error) {
	data, err := parquet.Open("table", named(files...), memory)
	if err != nil {
		return nil, err
	}
	return table.ReadSource(context.Background(), data, table.Format{Limits: limits}, nil)
}

// Nested columns are refused by name, unless they are left out.
func TestNestedColumns(t *testing.T) {
	group := func(name string, logical format.LogicalTypeValue, repetition format.FieldRepetitionType, children int) format.SchemaElement {
		e := leaf(name, 0, repetition, logical)
		e.Type, e.NumChildren = thrift.Null[format.Type]{}, thrift.New(int32(children))
		return e
	}
	span := optional("span", nil, format.FixedLenByteArray, 12)
	span.ConvertedType = thrift.New(deprecated.Interval)
	old := group("tags", nil, format.Optional, 1)
	old.ConvertedType = thrift.New(deprecated.List)
	inside := []format.SchemaElement{group("list", nil, format.Repeated, 1), leaf("element", format.Int32, format.Optional, nil)}
	for name, c := range map[string]struct {
		elements []format.SchemaElement
		want     string
	}{
		"list":     {append([]format.SchemaElement{group("tags", new(format.ListType), format.Optional, 1)}, inside...), `column 2 ("tags"): the column is nested (a list)`},
		"old list": {append([]format.SchemaElement{old}, inside...), `column 2 ("tags"): the column is nested (a list)`},
		"structure": {
			[]format.SchemaElement{group("at", nil, format.Optional, 2), required("x", format.Int32), required("y", format.Int32)},
			`column 2 ("at"): the column is nested (a structure)`,
		},
		"repeated": {[]format.SchemaElement{leaf("many", format.Int32, format.Repeated, nil)}, `column 2 ("many"): the column is nested (a list)`},
		"interval": {[]format.SchemaElement{span}, `column 2 ("span"): the column is of a type that is not read (interval)`},
		"bson":     {[]format.SchemaElement{optional("blob", new(format.BsonType), format.ByteArray, 0)}, `column 2 ("blob"): the column is of a type that is not read (bson)`},
		"no date":  {[]format.SchemaElement{optional("day", new(format.DateType), format.Double, 0)}, `column 2 ("day"): the column is of a type that is not read (date of double)`},
	} {
		t.Run(name, func(t *testing.T) {
			fields := []field{
				column(required("x", format.Int32), 4, func(i int) (int32, string, bool) { return int32(i), fmt.Sprint(i), false }),
				column(required("y", format.Int32), 4, func(i int) (int32, string, bool) { return int32(i % 2), fmt.Sprint(i % 2), false }),
			}
			leaves := 0
			for _, e := range c.elements {
				if e.Type.Valid {
					leaves++
				}
			}
			content := write(t, fields, 1, layout{meta: func(m *format.FileMetaData) {
				m.Schema[0].NumChildren.V++
				m.Schema = slices.Insert(m.Schema, 2, c.elements...)
				chunks := &m.RowGroups[0].Columns
				for range leaves { // which nobody looks at
					*chunks = slices.Insert(*chunks, 1, (*chunks)[0])
				}
			}})
			_, err := readAll(1<<26, table.Limits{}, content)
			refused(t, err, c.want, "Drop")
			skip := func(column string) bool { return column != "x" && column != "y" }
			table, err := table.ReadSource(context.Background(), opened(t, content), table.Format{}, skip)
			if err != nil || table.Row(3)[0] != "3" || table.Row(3)[2] != "1" {
				t.Errorf("without the column: %v", err)
			}
		})
	}
}

func integers(n int) []field {
	return []field{
		column(leaf("x", format.Int32, format.Optional, nil), n, func(i int) (int32, string, bool) { return int32(i % 7), fmt.Sprint(i % 7), i%5 == 0 }),
		column(leaf("w", format.ByteArray, format.Required, new(format.StringType)), n, func(i int) ([]byte, string, bool) { return []byte("word"), "word", false }),
	}
}

// Declared rows beyond the limits are refused before anything is read, and cells that
// there are not are noticed.
func TestDeclaredRows(t *testing.T) {
	content := write(t, integers(1000), 1, layout{})
	_, err := readAll(1<<26, table.Limits{Rows: 999}, content)
	refused(t, err, "table: there are more than 999 rows")
	_, err = readAll(1<<26, table.Limits{Cells: 1999}, content)
	refused(t, err, "table: there are more than 1999 cells")
	s := &moreRows{opened(t, content)}
	_, err = table.ReadSource(context.Background(), s, table.Format{}, nil)
	refused(t, err, "part-1.parquet", "1000 cells in a group of 1001 rows")
}

type moreRows struct{ *parquet.Table }

func (m *moreRows) Groups() []table.SourceGroup {
	g := m.Table.Groups()[0]
	g.Rows++
	return []table.SourceGroup{g}
}

// Texts take memory too, and a page may not take more than there is.
func TestMemoryIsBounded(t *testing.T) {
	const n = 20_000
	long := strings.Repeat("x", 1000)
	fields := []field{column(leaf("w", format.ByteArray, format.Required, nil), n, func(i int) ([]byte, string, bool) {
		return []byte(fmt.Sprint(long, i)), "", false
	})}
	content := write(t, fields, 1, layout{plain: true, page: 1000, codec: format.Zstd})
	_, err := readAll(1<<28, table.Limits{Cells: 4 * n}, content)
	refused(t, err, "cells, or their texts take as much memory")
	big := write(t, fields, 1, layout{plain: true, codec: format.Zstd})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = readAll(4<<20, table.Limits{}, big)
	runtime.ReadMemStats(&after)
	refused(t, err, "part-1.parquet")
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d bytes were allocated for a page of 20 MB under a limit of 4 MiB", grown)
	}
}

// Every cut and every changed byte ends in an error that names the file, or in a table.
func TestDamagedFiles(t *testing.T) {
	for name, l := range map[string]layout{
		"plain":     {plain: true},
		"dict":      {},
		"second":    {second: true, codec: format.Snappy},
		"delta":     {encodings: map[string]format.Encoding{"x": format.DeltaBinaryPacked, "w": format.DeltaByteArray}},
		"lengths":   {encodings: map[string]format.Encoding{"x": format.ByteStreamSplit, "w": format.DeltaLengthByteArray}},
		"checksums": {checksums: true, codec: format.Zstd},
	} {
		t.Run(name, func(t *testing.T) {
			content := write(t, integers(40), 1, l)
			try := func(b []byte) {
				table, err := readAll(1<<24, table.Limits{Cells: 1 << 20}, b)
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
			_, err := readAll(1<<30, table.Limits{}, file)
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
		return column(optional(name, new(format.StringType), format.ByteArray, 0), 3, func(int) ([]byte, string, bool) { return []byte("a"), "a", false })
	}
	number := func(name string) field {
		return column(leaf(name, format.Double, format.Optional, nil), 3, func(int) (float64, string, bool) { return 1.5, "1.5", false })
	}
	whole := func(name string) field {
		return column(leaf(name, format.Int64, format.Optional, nil), 3, func(int) (int64, string, bool) { return 1, "1", false })
	}
	first := write(t, []field{number("x"), texts("y")}, 1, layout{})
	for name, c := range map[string]struct {
		fields []field
		want   string
	}{
		"lacks":  {[]field{number("x")}, `part-2.parquet, column "y": the file lacks a column that there is in part-1.parquet`},
		"more":   {[]field{number("x"), texts("y"), texts("z")}, `part-2.parquet, column "z": the file has a column that there is not in part-1.parquet`},
		"others": {[]field{texts("x"), texts("y")}, `part-2.parquet, column "x": the column holds texts here and numbers in part-1.parquet`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readAll(1<<26, table.Limits{}, first, write(t, c.fields, 1, layout{}))
			refused(t, err, c.want)
		})
	}
	table, err := readAll(1<<26, table.Limits{}, first, write(t, []field{whole("x"), texts("y")}, 1, layout{}))
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
	fields := []field{column(leaf("w", format.ByteArray, format.Required, nil), 5, func(i int) ([]byte, string, bool) {
		return []byte([]string{"a", "b", "\xff\xfe", "d", "e"}[i]), "", false
	})}
	_, err := readAll(1<<26, table.Limits{}, write(t, fields, 2, layout{}))
	refused(t, err, `part-1.parquet, row 3, column 1 ("w"): "\xff\xfe" is not text in UTF-8`)
}

// A context that has ended ends the reading.
func TestReadingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := table.ReadSource(ctx, opened(t, write(t, integers(100), 1, layout{})), table.Format{}, nil); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

// What is written reads back.
func TestWriter(t *testing.T) {
	var out bytes.Buffer
	w, err := parquet.NewWriter(&out, []table.SourceColumn{
		{Name: "i", Kind: table.IntegerCells}, {Name: "x", Kind: table.NumberCells}, {Name: "b", Kind: table.TruthCells}, {Name: "t", Kind: table.TextCells},
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
	data, err := table.ReadSource(context.Background(), opened(t, out.Bytes()), table.Format{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if data.Len() != n || strings.Join(data.Row(69_999), " ") != fmt.Sprint(69_999<<40, " ", 69_999.0/3, " false t6") || strings.Join(data.Row(13), " ") != "13 13 true " {
		t.Errorf("%d rows: %q, %q", data.Len(), data.Row(69_999), data.Row(13))
	}
	var empty bytes.Buffer
	if w, err = parquet.NewWriter(&empty, []table.SourceColumn{{Name: "x"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	none, err := table.ReadSource(context.Background(), opened(t, empty.Bytes()), table.Format{}, nil)
	if refused(t, err, "the table has no rows"); none == nil || none.ColumnName(0) != "x" || none.Len() != 0 {
		t.Errorf("the table without rows is %v", none)
	}
}

// FuzzOpen takes bytes through everything: an error that names the file, or a table whose
// cells are as many as it says.
func FuzzOpen(f *testing.F) {
	for _, l := range []layout{
		{},
		{plain: true},
		{second: true, codec: format.Zstd},
		{codec: format.Gzip, checksums: true},
		{codec: format.Brotli},
		{codec: format.Lz4Raw},
		{encodings: map[string]format.Encoding{"x": format.DeltaBinaryPacked, "w": format.DeltaByteArray}},
	} {
		f.Add(write(f, integers(30), 2, l))
	}
	f.Add(write(f, everyType(8), 1, layout{}))
	f.Fuzz(func(t *testing.T, content []byte) {
		data, err := readAll(1<<24, table.Limits{Cells: 1 << 20}, content)
		if err != nil {
			refused(t, err)
			return
		}
		for i := range min(data.Len(), 1000) {
			if len(data.Row(i)) != len(data.Columns()) {
				t.Fatalf("row %d: %q", i, data.Row(i))
			}
		}
		l, err := recipe.Learn(data, recipe.Options{Impute: true})
		if err != nil {
			refused(t, err)
			return
		}
		rd, err := recipe.NewSourceReader(context.Background(), opened(t, content), l.Recipe, table.Format{}, nil)
		if err != nil {
			refused(t, err)
			return
		}
		var got []float64
		for err == nil {
			var block *recipe.Block
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
