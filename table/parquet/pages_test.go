package parquet_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lossep/lossep/table"
)

// words are n rows of one column of texts.
func words(n int, word func(i int) string) []field {
	return []field{
		column(leaf("w", format.ByteArray, format.Required, new(format.StringType)), n, func(i int) ([]byte, string, bool) { return []byte(word(i)), "", false }),
	}
}

// allocated is how much memory something asks for in all.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// coded are n rows that all refer to the only text of a dictionary.
func coded(n int, text string) []field {
	f := words(1, func(int) string { return text })
	f[0].codes, f[0].texts = make([]int32, n), make([]string, n)
	return f
}

// A text of a dictionary is held once, however many rows refer to it, and so is one that is
// spelled as the beginning of the one before.
func TestLongTextsAreHeldOnce(t *testing.T) {
	prefix := layout{codec: format.Zstd, encodings: map[string]format.Encoding{"w": format.DeltaByteArray}}
	for name, c := range map[string]struct {
		rows, size int
		content    func(n int, text string) []byte
	}{
		"dictionary": {4096, 8 << 20, func(n int, text string) []byte { return write(t, coded(n, text), 1, layout{codec: format.Zstd}) }},
		"prefix": {100, 1 << 20, func(n int, text string) []byte {
			return write(t, words(n, func(int) string { return text }), 1, prefix)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			long := strings.Repeat("x", c.size)
			content := c.content(c.rows, long)
			var data *table.Table
			var err error
			grown := allocated(func() { data, err = readAll(1<<26, table.Limits{}, content) })
			if err != nil {
				t.Fatal(err)
			}
			// The page, the dictionary of the table, and what they grow by.
			if data.Len() != c.rows || data.Row(c.rows - 1)[0] != long || grown > 12*uint64(c.size) {
				t.Errorf("%d rows, and %d MB for a text of %d", data.Len(), grown>>20, c.size>>20)
			}
			_, err = readAll(1<<26, table.Limits{Cells: c.size / 16}, content)
			refused(t, err, "table", `column 1 ("w")`, "their texts take as much memory", "leave out columns or rows, or allow more")
		})
	}
}

// Texts that were put together of others can be far longer than their page: they are refused
// before they are there.
func TestTextsLongerThanTheirPage(t *testing.T) {
	e := map[string]format.Encoding{"w": format.DeltaByteArray}
	content := write(t, words(3, func(i int) string { return strings.Repeat("x", 6<<20*(i+1)) }), 1, layout{codec: format.Zstd, encodings: e})
	_, err := readAll(1<<28, table.Limits{}, content)
	refused(t, err, "part-1.parquet", `"w"`, "a text of more than 16 MiB")
	// Different ones, of which each is a little longer.
	content = write(t, words(100, func(i int) string { return strings.Repeat("x", 1<<20+i) }), 1, layout{codec: format.Zstd, encodings: e})
	grown := allocated(func() { _, err = readAll(1<<26, table.Limits{Cells: 1 << 21}, content) })
	refused(t, err, "table", `column 1 ("w")`, "their texts take as much memory")
	if grown > 120<<20 {
		t.Errorf("%d MB were asked for under a limit of 16 MiB", grown>>20)
	}
}

// A bit that was changed in a page is found by its checksum.
func TestChecksums(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for name, l := range map[string]layout{
		"first":  {checksums: true},
		"second": {checksums: true, second: true},
		"zstd":   {checksums: true, codec: format.Zstd},
		"plain":  {checksums: true, plain: true},
	} {
		t.Run(name, func(t *testing.T) {
			var ends []int // of pages
			fields := append(integers(500)[:1], words(500, func(i int) string { return fmt.Sprint("word ", i*i%97) })...)
			meta := func(m *format.FileMetaData) {
				for _, c := range m.RowGroups[0].Columns {
					ends = append(ends, int(max(c.MetaData.DictionaryPageOffset, 4)+c.MetaData.TotalCompressedSize))
				}
			}
			if l.plain {
				meta = func(m *format.FileMetaData) {
					for _, c := range m.RowGroups[0].Columns {
						ends = append(ends, int(c.MetaData.DataPageOffset+c.MetaData.TotalCompressedSize))
					}
				}
			}
			l.meta = meta
			content := write(t, fields, 1, l)
			if _, err := readAll(1<<26, table.Limits{}, content); err != nil {
				t.Fatal(err)
			}
			for j, end := range ends {
				for range 20 {
					b := bytes.Clone(content)
					for range 2 {
						b[end-1-rng.IntN(8)] ^= 1 << rng.IntN(8)
					}
					if bytes.Equal(b, content) {
						continue
					}
					_, err := readAll(1<<26, table.Limits{}, b)
					refused(t, err, "part-1.parquet", fmt.Sprintf("column %d (%q)", j+1, fields[j].Name), "checksum")
				}
			}
		})
	}
}

// What pages declare is refused before memory is asked for it.
func TestPagesThatLie(t *testing.T) {
	lie := func(change func(h *format.PageHeader)) layout {
		return layout{codec: format.Zstd, header: change}
	}
	onData := func(change func(h *format.DataPageHeader)) layout {
		return lie(func(h *format.PageHeader) {
			if h.Type == format.DataPage {
				change(&h.DataPageHeader.V)
			}
		})
	}
	for name, l := range map[string]layout{
		"uncompressed size": lie(func(h *format.PageHeader) { h.UncompressedPageSize = math.MaxInt32 }),
		"no size":           lie(func(h *format.PageHeader) { h.UncompressedPageSize = 0 }),
		"negative size":     lie(func(h *format.PageHeader) { h.UncompressedPageSize = -1 }),
		"compressed size":   lie(func(h *format.PageHeader) { h.CompressedPageSize = math.MaxInt32 }),
		"values":            onData(func(h *format.DataPageHeader) { h.NumValues = math.MaxInt32 }),
		"no values":         onData(func(h *format.DataPageHeader) { h.NumValues = 0 }),
		"negative values":   onData(func(h *format.DataPageHeader) { h.NumValues = -1 }),
		"encoding":          onData(func(h *format.DataPageHeader) { h.Encoding = 77 }),
		"kind":              lie(func(h *format.PageHeader) { h.Type = format.DataPageV2 }),
		"dictionary": lie(func(h *format.PageHeader) {
			if h.Type == format.DictionaryPage {
				h.DictionaryPageHeader.V.NumValues = math.MaxInt32
			}
		}),
		"small dictionary": lie(func(h *format.PageHeader) {
			if h.Type == format.DictionaryPage {
				h.DictionaryPageHeader.V.NumValues = 1
			}
		}),
		"two dictionaries": lie(func(h *format.PageHeader) {
			h.Type, h.DictionaryPageHeader = format.DictionaryPage, thrift.New(format.DictionaryPageHeader{NumValues: 1})
		}),
		"rows": {meta: func(m *format.FileMetaData) { m.RowGroups[0].NumRows = 1 << 20 }},
		"other file": {meta: func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].FilePath = "secret"
		}},
		"beyond the file": {meta: func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = math.MaxInt64
		}},
		"before the file": {meta: func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.DataPageOffset, m.RowGroups[0].Columns[0].MetaData.DictionaryPageOffset = -8, 0
		}},
		"another type": {meta: func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.Type = format.Double
		}},
		"compression": {meta: func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.Codec = format.LZO
		}},
	} {
		t.Run(name, func(t *testing.T) {
			content := write(t, integers(200), 1, l)
			var err error
			grown := allocated(func() { _, err = readAll(1<<24, table.Limits{}, content) })
			refused(t, err, "part-1.parquet")
			if located.ColumnName == "" {
				t.Errorf("no column: %v", err)
			}
			if grown > 12<<20 { // at most half of the budget for a page, and what reading takes
				t.Errorf("%d MB were asked for", grown>>20)
			}
		})
	}
}

// Pages that are far smaller than what is in them are refused by every codec.
func TestDecompressionBombs(t *testing.T) {
	for codec := range compressors {
		t.Run(codec.String(), func(t *testing.T) {
			fields := words(32, func(int) string { return strings.Repeat("x", 1<<20) })
			honest := write(t, fields, 1, layout{plain: true, codec: codec})
			lying := write(t, fields, 1, layout{plain: true, codec: codec, header: func(h *format.PageHeader) { h.UncompressedPageSize = 1 << 16 }})
			for k, content := range [][]byte{honest, lying} {
				var err error
				grown := allocated(func() { _, err = readAll(1<<23, table.Limits{}, content) })
				refused(t, err, "part-1.parquet", `"w"`)
				if grown > 24<<20 {
					t.Errorf("%d: %d MB of 32 were asked for under a limit of 8 MiB", k, grown>>20)
				}
			}
		})
	}
}
