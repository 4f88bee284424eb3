package parquet_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/data/parquet"
)

// field is a column of a test table: its type, its values and what they are as text.
type field struct {
	node   schema.Node
	values any // slice of the physical type
	levels []int16
	texts  []string
}

func optional(name string, logical schema.LogicalType, physical pq.Type, size int) schema.Node {
	return schema.Must(schema.NewPrimitiveNodeLogical(name, pq.Repetitions.Optional, logical, physical, size, -1))
}

// write makes a file of columns, in groups of rows.
func write(t testing.TB, fields []field, groups int, options ...pq.WriterProperty) []byte {
	t.Helper()
	var nodes schema.FieldList
	for _, f := range fields {
		nodes = append(nodes, f.node)
	}
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, schema.MustGroup(schema.NewGroupNode("schema", pq.Repetitions.Required, nodes, -1)),
		file.WithWriterProps(pq.NewWriterProperties(options...)))
	n := len(fields[0].texts)
	for g := range groups {
		from, to := g*n/groups, (g+1)*n/groups
		rows, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fields {
			chunk, err := rows.NextColumn()
			if err != nil {
				t.Fatal(err)
			}
			if err := writeChunk(chunk, f, from, to); err != nil {
				t.Fatal(err)
			}
			if err := chunk.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func writeChunk(chunk file.ColumnChunkWriter, f field, from, to int) (err error) {
	// Values are there for the rows that are not missing only.
	first, last, levels := from, to, []int16(nil)
	if f.levels != nil {
		levels, first, last = f.levels[from:to], 0, 0
		for i, l := range f.levels[:to] {
			if l > 0 {
				if last++; i < from {
					first++
				}
			}
		}
	}
	switch w := chunk.(type) {
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(f.values.([]int32)[first:last], levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(f.values.([]int64)[first:last], levels, nil)
	case *file.Int96ColumnChunkWriter:
		_, err = w.WriteBatch(f.values.([]pq.Int96)[first:last], levels, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(f.values.([]float32)[first:last], levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(f.values.([]float64)[first:last], levels, nil)
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(f.values.([]bool)[first:last], levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(f.values.([]pq.ByteArray)[first:last], levels, nil)
	case *file.FixedLenByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(f.values.([]pq.FixedLenByteArray)[first:last], levels, nil)
	}
	return err
}

// asText is the same table as CSV.
func asText(fields []field) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	record := make([]string, len(fields))
	for j, f := range fields {
		record[j] = f.node.Name()
	}
	_ = w.Write(record) // to memory
	for i := range fields[0].texts {
		for j, f := range fields {
			record[j] = f.texts[i]
		}
		_ = w.Write(record)
	}
	w.Flush()
	return out.Bytes()
}

func opened(t testing.TB, files ...[]byte) *parquet.Table {
	t.Helper()
	table, err := parquet.Open("table", named(files...), 1<<28)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func named(files ...[]byte) (all []parquet.File) {
	for k, content := range files {
		all = append(all, parquet.File{Name: fmt.Sprintf("part-%d.parquet", k+1), Content: bytes.NewReader(content), Size: int64(len(content))})
	}
	return all
}

// column makes a field of n values; one that value says is missing has no value.
func column[T any](node schema.Node, n int, value func(i int) (x T, text string, missing bool)) field {
	f := field{node: node}
	var values []T
	for i := range n {
		x, text, missing := value(i)
		level := int16(1)
		if missing {
			level, text = 0, ""
		} else {
			values = append(values, x)
		}
		f.levels, f.texts = append(f.levels, level), append(f.texts, text)
	}
	f.values = values
	if node.RepetitionType() == pq.Repetitions.Required {
		f.levels = nil
	}
	return f
}

// everyType is a table with a column of every type that is read.
func everyType(n int) []field {
	rng := rand.New(rand.NewPCG(3, 4))
	gap := func() bool { return rng.IntN(10) == 0 }
	words := []string{"clerk", "smith", " baker ", "tin\"ker", "a,b", "x\r\ny", "zoë"}
	day := func(k int64) string { return fmt.Sprintf("2024-%02d-%02d", 1+k/28, 1+k%28) }
	since := func(k int64) int64 { // days from 1970 to that day
		months := []int64{0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335}
		return 19723 + months[k/28] + k%28
	}
	return []field{
		column(optional("int8", schema.NewIntLogicalType(8, true), pq.Types.Int32, -1), n, func(int) (int32, string, bool) {
			x := int32(rng.IntN(200) - 100)
			return x, strconv.Itoa(int(x)), gap()
		}),
		column(schema.NewInt64Node("int64", pq.Repetitions.Required, -1), n, func(int) (int64, string, bool) {
			x := rng.Int64N(1e14)
			return x, strconv.FormatInt(x, 10), false
		}),
		column(optional("uint32", schema.NewIntLogicalType(32, false), pq.Types.Int32, -1), n, func(int) (int32, string, bool) {
			x := rng.Uint32()
			return int32(x), strconv.FormatUint(uint64(x), 10), gap()
		}),
		column(schema.NewFloat32Node("float", pq.Repetitions.Optional, -1), n, func(int) (float32, string, bool) {
			x := float32(rng.NormFloat64())
			return x, strconv.FormatFloat(float64(x), 'g', -1, 32), gap()
		}),
		column(schema.NewFloat64Node("double", pq.Repetitions.Optional, -1), n, func(i int) (float64, string, bool) {
			x := rng.NormFloat64() * 1e5
			if i%50 == 7 {
				x = math.NaN()
			}
			return x, strconv.FormatFloat(x, 'g', -1, 64), gap()
		}),
		column(schema.NewBooleanNode("bool", pq.Repetitions.Optional, -1), n, func(int) (bool, string, bool) {
			x := rng.IntN(2) == 0
			return x, strconv.FormatBool(x), gap()
		}),
		column(optional("job", schema.StringLogicalType{}, pq.Types.ByteArray, -1), n, func(int) (pq.ByteArray, string, bool) {
			x := words[rng.IntN(len(words))]
			return pq.ByteArray(x), x, gap()
		}),
		column(optional("code", schema.StringLogicalType{}, pq.Types.ByteArray, -1), n, func(int) (pq.ByteArray, string, bool) {
			x := []string{"007", "7.0", "12", "3"}[rng.IntN(4)]
			return pq.ByteArray(x), x, gap()
		}),
		column(optional("day", schema.DateLogicalType{}, pq.Types.Int32, -1), n, func(int) (int32, string, bool) {
			k := rng.Int64N(12 * 28)
			return int32(since(k)), day(k), gap()
		}),
		column(optional("moment", schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), pq.Types.Int64, -1), n, func(int) (int64, string, bool) {
			k, s, us := rng.Int64N(12*28), rng.Int64N(86400), rng.Int64N(1e6)
			text := fmt.Sprintf("%s %02d:%02d:%02d.%06d", day(k), s/3600, s/60%60, s%60, us)
			return (since(k)*86400+s)*1e6 + us, text, gap()
		}),
		column(schema.NewInt96Node("old moment", pq.Repetitions.Optional, -1), n, func(int) (pq.Int96, string, bool) {
			k, s := rng.Int64N(12*28), rng.Int64N(86400)
			var x pq.Int96
			x.SetNanoSeconds(s * 1e9)
			julian := uint32(since(k) + 2440588)
			x[8], x[9], x[10], x[11] = byte(julian), byte(julian>>8), byte(julian>>16), byte(julian>>24)
			return x, fmt.Sprintf("%s %02d:%02d:%02d", day(k), s/3600, s/60%60, s%60), gap()
		}),
		column(optional("clock", schema.NewTimeLogicalType(false, schema.TimeUnitMillis), pq.Types.Int32, -1), n, func(int) (int32, string, bool) {
			ms := rng.Int64N(86400e3)
			return int32(ms), fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3600e3, ms/60e3%60, ms/1000%60, ms%1000), gap()
		}),
		column(optional("price", schema.NewDecimalLogicalType(9, 2), pq.Types.Int64, -1), n, func(int) (int64, string, bool) {
			x := rng.Int64N(2e7) - 1e7
			return x, decimal(x, 2), gap()
		}),
		column(optional("large", schema.NewDecimalLogicalType(30, 10), pq.Types.FixedLenByteArray, 16), n, func(int) (pq.FixedLenByteArray, string, bool) {
			x := rng.Int64() - rng.Int64()
			b := bytes.Repeat([]byte{byte(x >> 63)}, 16)
			for k := range 8 {
				b[15-k] = byte(x >> (8 * k))
			}
			return b, decimal(x, 10), gap()
		}),
		column(optional("half", schema.Float16LogicalType{}, pq.Types.FixedLenByteArray, 2), n, func(int) (pq.FixedLenByteArray, string, bool) {
			k := rng.IntN(5)
			bits := []uint16{0x3C00, 0xC000, 0x3555, 0x0001, 0x7BFF}[k]
			text := []string{"1", "-2", "0.333251953125", "5.960464477539063e-08", "65504"}[k]
			return pq.FixedLenByteArray{byte(bits), byte(bits >> 8)}, text, gap()
		}),
		column(optional("nothing", schema.NullLogicalType{}, pq.Types.Int32, -1), n, func(int) (int32, string, bool) { return 0, "", true }),
		column(schema.NewByteArrayNode("y", pq.Repetitions.Required, -1), n, func(i int) (pq.ByteArray, string, bool) {
			x := []string{"no", "yes"}[i%2]
			return pq.ByteArray(x), x, false
		}),
	}
}

func decimal(x int64, scale int) string {
	sign := ""
	if x < 0 {
		sign, x = "-", -x
	}
	text := fmt.Sprintf("%0*d", scale+1, x)
	return sign + text[:len(text)-scale] + "." + text[len(text)-scale:]
}

func learn(t testing.TB, table *data.Table, o data.Options) (recipe string, x []float64) {
	t.Helper()
	l, err := data.Learn(table, o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(l.Recipe)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), l.X.RawMatrix().Data
}

// The same table gives the same recipe and the same features as text and as Parquet,
// whatever the groups, the files, the compression and the encoding.
func TestSameAsText(t *testing.T) {
	const n = 3000
	fields := everyType(n)
	fromText, err := data.Read(context.Background(), bytes.NewReader(asText(fields)), "table", data.Format{Header: data.HeaderYes, Separator: ","})
	if err != nil {
		t.Fatal(err)
	}
	o := data.Options{Target: "y", Impute: true}
	recipe, x := learn(t, fromText, o)
	for name, files := range map[string][][]byte{
		"one group":   {write(t, fields, 1)},
		"groups":      {write(t, fields, 7, pq.WithDictionaryDefault(false), pq.WithDataPageSize(1000))},
		"second":      {write(t, fields, 3, pq.WithDataPageVersion(pq.DataPageV2), pq.WithCompression(compress.Codecs.Zstd))},
		"gzip":        {write(t, fields, 2, pq.WithCompression(compress.Codecs.Gzip))},
		"delta":       {write(t, fields, 2, pq.WithDictionaryDefault(false), pq.WithEncodingFor("int64", pq.Encodings.DeltaBinaryPacked), pq.WithEncodingFor("job", pq.Encodings.DeltaByteArray), pq.WithEncodingFor("code", pq.Encodings.DeltaLengthByteArray), pq.WithEncodingFor("double", pq.Encodings.ByteStreamSplit))},
		"two files":   {write(t, part(fields, 0, 1000), 2), write(t, part(fields, 1000, n), 3)},
		"other order": {write(t, part(fields, 0, 1234), 1), write(t, turned(part(fields, 1234, n)), 1)},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := data.ReadSource(context.Background(), opened(t, files...), data.Format{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				a, b := table.Row(i), fromText.Row(i)
				for j := range a {
					if a[j] != b[j] && !sameMoment(a[j], b[j]) {
						t.Fatalf("row %d, column %s: %q, and %q as text", i+1, table.Columns()[j], a[j], b[j])
					}
				}
			}
			gotRecipe, got := learn(t, table, o)
			if gotRecipe != recipe {
				t.Errorf("recipe\n%s\nas text\n%s", gotRecipe, recipe)
			}
			checkBits(t, got, x)
			checkStream(t, opened(t, files...), recipe, x)
		})
	}
}

// sameMoment compares times whose fractions may be written with more or fewer zeros.
func sameMoment(a, b string) bool {
	trim := func(s string) string {
		if strings.Contains(s, ":") && strings.Contains(s, ".") {
			return strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return strings.ToLower(s) // NaN
	}
	return trim(a) == trim(b)
}

func checkBits(t *testing.T, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d features, want %d", len(got), len(want))
	}
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("feature %d: %v, want %v", i, got[i], want[i])
		}
	}
}

// checkStream encodes the rows again as new ones.
func checkStream(t *testing.T, s data.Source, recipe string, x []float64) {
	t.Helper()
	var r data.Recipe
	if err := json.Unmarshal([]byte(recipe), &r); err != nil {
		t.Fatal(err)
	}
	rd, err := data.NewSourceReader(context.Background(), s, &r, data.Format{}, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for {
		block, err := rd.ReadBlock(700)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range block.Rows {
			if _, ok, err := block.Rows[i].Label(); !ok || err != nil {
				t.Fatalf("no outcome: %v", err)
			}
		}
		got = append(got, block.X.RawMatrix().Data...)
	}
	checkBits(t, got, x)
}

// part is some rows of a table.
func part(fields []field, from, to int) []field {
	var cut []field
	for _, f := range fields {
		first, last := from, to
		if f.levels != nil {
			first, last = 0, 0
			for i, l := range f.levels[:to] {
				if l > 0 {
					if last++; i < from {
						first++
					}
				}
			}
			f.levels = f.levels[from:to]
		}
		f.texts = f.texts[from:to]
		switch v := f.values.(type) {
		case []int32:
			f.values = v[first:last]
		case []int64:
			f.values = v[first:last]
		case []pq.Int96:
			f.values = v[first:last]
		case []float32:
			f.values = v[first:last]
		case []float64:
			f.values = v[first:last]
		case []bool:
			f.values = v[first:last]
		case []pq.ByteArray:
			f.values = v[first:last]
		case []pq.FixedLenByteArray:
			f.values = v[first:last]
		}
		cut = append(cut, f)
	}
	return cut
}

// turned is a table with its columns in the opposite order. Nodes know their parents, so
// they are made anew.
func turned(fields []field) []field {
	again := everyType(1)
	var out []field
	for j := len(fields) - 1; j >= 0; j-- {
		f := fields[j]
		f.node = again[j].node
		out = append(out, f)
	}
	return out
}

var located *data.Error

func refused(t *testing.T, err error, want ...string) {
	t.Helper()
	if !errors.As(err, &located) {
		t.Fatalf("error %v is not located", err)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("message %q lacks %q", err, w)
		}
	}
}
