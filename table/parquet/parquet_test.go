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
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

// asText is the same table as CSV.
func asText(fields []field) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	record := make([]string, len(fields))
	for j, f := range fields {
		record[j] = f.Name
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
		column(optional("int8", &format.IntType{BitWidth: 8, IsSigned: true}, format.Int32, 0), n, func(int) (int32, string, bool) {
			x := int32(rng.IntN(200) - 100)
			return x, strconv.Itoa(int(x)), gap()
		}),
		column(leaf("int64", format.Int64, format.Required, nil), n, func(int) (int64, string, bool) {
			x := rng.Int64N(1e14)
			return x, strconv.FormatInt(x, 10), false
		}),
		column(optional("uint32", &format.IntType{BitWidth: 32}, format.Int32, 0), n, func(int) (int32, string, bool) {
			x := rng.Uint32()
			return int32(x), strconv.FormatUint(uint64(x), 10), gap()
		}),
		column(leaf("float", format.Float, format.Optional, nil), n, func(int) (float32, string, bool) {
			x := float32(rng.NormFloat64())
			return x, strconv.FormatFloat(float64(x), 'g', -1, 32), gap()
		}),
		column(leaf("double", format.Double, format.Optional, nil), n, func(i int) (float64, string, bool) {
			x := rng.NormFloat64() * 1e5
			if i%50 == 7 {
				x = math.NaN()
			}
			return x, strconv.FormatFloat(x, 'g', -1, 64), gap()
		}),
		column(leaf("bool", format.Boolean, format.Optional, nil), n, func(int) (bool, string, bool) {
			x := rng.IntN(2) == 0
			return x, strconv.FormatBool(x), gap()
		}),
		column(optional("job", new(format.StringType), format.ByteArray, 0), n, func(int) ([]byte, string, bool) {
			x := words[rng.IntN(len(words))]
			return []byte(x), x, gap()
		}),
		column(optional("code", new(format.StringType), format.ByteArray, 0), n, func(int) ([]byte, string, bool) {
			x := []string{"007", "7.0", "12", "3"}[rng.IntN(4)]
			return []byte(x), x, gap()
		}),
		column(optional("day", new(format.DateType), format.Int32, 0), n, func(int) (int32, string, bool) {
			k := rng.Int64N(12 * 28)
			return int32(since(k)), day(k), gap()
		}),
		column(optional("moment", &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: new(format.MicroSeconds)}}, format.Int64, 0), n, func(int) (int64, string, bool) {
			k, s, us := rng.Int64N(12*28), rng.Int64N(86400), rng.Int64N(1e6)
			text := fmt.Sprintf("%s %02d:%02d:%02d.%06d", day(k), s/3600, s/60%60, s%60, us)
			return (since(k)*86400+s)*1e6 + us, text, gap()
		}),
		column(leaf("old moment", format.Int96, format.Optional, nil), n, func(int) (deprecated.Int96, string, bool) {
			k, s := rng.Int64N(12*28), rng.Int64N(86400)
			x := deprecated.Int96{uint32(s * 1e9), uint32(s * 1e9 >> 32), uint32(since(k) + 2440588)}
			return x, fmt.Sprintf("%s %02d:%02d:%02d", day(k), s/3600, s/60%60, s%60), gap()
		}),
		column(optional("clock", &format.TimeType{Unit: format.TimeUnit{Value: new(format.MilliSeconds)}}, format.Int32, 0), n, func(int) (int32, string, bool) {
			ms := rng.Int64N(86400e3)
			return int32(ms), fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3600e3, ms/60e3%60, ms/1000%60, ms%1000), gap()
		}),
		column(optional("price", &format.DecimalType{Precision: 9, Scale: 2}, format.Int64, 0), n, func(int) (int64, string, bool) {
			x := rng.Int64N(2e7) - 1e7
			return x, decimal(x, 2), gap()
		}),
		column(optional("large", &format.DecimalType{Precision: 30, Scale: 10}, format.FixedLenByteArray, 16), n, func(int) ([]byte, string, bool) {
			x := rng.Int64() - rng.Int64()
			b := bytes.Repeat([]byte{byte(x >> 63)}, 16)
			for k := range 8 {
				b[15-k] = byte(x >> (8 * k))
			}
			return b, decimal(x, 10), gap()
		}),
		column(optional("half", new(format.Float16Type), format.FixedLenByteArray, 2), n, func(int) ([]byte, string, bool) {
			k := rng.IntN(5)
			bits := []uint16{0x3C00, 0xC000, 0x3555, 0x0001, 0x7BFF}[k]
			text := []string{"1", "-2", "0.333251953125", "5.960464477539063e-08", "65504"}[k]
			return []byte{byte(bits), byte(bits >> 8)}, text, gap()
		}),
		column(optional("nothing", new(format.NullType), format.Int32, 0), n, func(int) (int32, string, bool) { return 0, "", true }),
		column(leaf("y", format.ByteArray, format.Required, nil), n, func(i int) ([]byte, string, bool) {
			x := []string{"no", "yes"}[i%2]
			return []byte(x), x, false
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

func learn(t testing.TB, table *table.Table, o recipe.Options) (learned string, x []float64) {
	t.Helper()
	l, err := recipe.Learn(table, o)
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
	fromText, err := table.Read(context.Background(), bytes.NewReader(asText(fields)), "table", table.Format{Header: table.HeaderYes, Separator: ","})
	if err != nil {
		t.Fatal(err)
	}
	o := recipe.Options{Target: "y", Impute: true}
	recipe, x := learn(t, fromText, o)
	for name, files := range map[string][][]byte{
		"one group": {write(t, fields, 1, layout{})},
		"groups":    {write(t, fields, 7, layout{plain: true, page: 100})},
		"pages":     {write(t, fields, 2, layout{page: 77, codec: format.Snappy, checksums: true})},
		"second":    {write(t, fields, 3, layout{second: true, page: 333, codec: format.Zstd})},
		"gzip":      {write(t, fields, 2, layout{codec: format.Gzip})},
		"brotli":    {write(t, fields, 2, layout{codec: format.Brotli})},
		"lz4":       {write(t, fields, 2, layout{codec: format.Lz4Raw})},
		"delta": {write(t, fields, 2, layout{plain: true, encodings: map[string]format.Encoding{
			"int8": format.DeltaBinaryPacked, "int64": format.DeltaBinaryPacked, "uint32": format.DeltaBinaryPacked, "moment": format.DeltaBinaryPacked,
			"job": format.DeltaByteArray, "code": format.DeltaLengthByteArray, "bool": format.RLE,
		}})},
		"delta in pages": {write(t, fields, 2, layout{plain: true, second: true, page: 300, encodings: map[string]format.Encoding{
			"int64": format.DeltaBinaryPacked, "uint32": format.DeltaBinaryPacked, "large": format.DeltaByteArray, "job": format.DeltaLengthByteArray, "code": format.DeltaByteArray,
		}})},
		"striped": {write(t, fields, 2, layout{plain: true, encodings: map[string]format.Encoding{
			"int8": format.ByteStreamSplit, "int64": format.ByteStreamSplit, "float": format.ByteStreamSplit, "double": format.ByteStreamSplit,
			"large": format.ByteStreamSplit, "half": format.ByteStreamSplit,
		}})},
		"two files":   {write(t, part(fields, 0, 1000), 2, layout{}), write(t, part(fields, 1000, n), 3, layout{})},
		"other order": {write(t, part(fields, 0, 1234), 1, layout{}), write(t, turned(part(fields, 1234, n)), 1, layout{})},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := table.ReadSource(context.Background(), opened(t, files...), table.Format{}, nil)
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
func checkStream(t *testing.T, s table.Source, learned string, x []float64) {
	t.Helper()
	var r recipe.Recipe
	if err := json.Unmarshal([]byte(learned), &r); err != nil {
		t.Fatal(err)
	}
	rd, err := recipe.NewSourceReader(context.Background(), s, &r, table.Format{}, func(string) bool { return false })
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

// turned is a table with its columns in the opposite order.
func turned(fields []field) []field {
	fields = slices.Clone(fields)
	slices.Reverse(fields)
	return fields
}

var located *table.Error

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
