package parquet

import (
	"encoding/binary"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// differences is the beginning of differences in packed blocks.
func differences(block, parts, total uint64, rest ...byte) []byte {
	b := binary.AppendUvarint(nil, block)
	b = binary.AppendUvarint(b, parts)
	b = binary.AppendUvarint(b, total)
	return append(append(b, 0), rest...)
}

// Blocks that would be unpacked to gigabytes are refused, and those that programs write go
// by.
func TestCheckDelta(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		rest  int // bytes after the blocks, −1 if they are refused
	}{
		"one value":      {differences(128, 4, 1, 9, 9), 2},
		"none":           {differences(128, 4, 0), 0},
		"zeros":          {differences(128, 4, 129, 0, 0, 0, 0, 0), 0},
		"bits":           {differences(128, 4, 3, 0, 1, 0, 0, 0, 1, 2, 3, 4, 7), 1},
		"large block":    {differences(1<<31, 1, 2, 0, 0), -1},
		"no parts":       {differences(128, 0, 2, 0), -1},
		"odd parts":      {differences(128, 3, 2, 0), -1},
		"no block":       {differences(0, 4, 2), -1},
		"too wide":       {differences(128, 4, 2, 0, 65, 0, 0, 0), -1},
		"missing bits":   {differences(128, 4, 2, 0, 8, 0, 0, 0, 1), -1},
		"missing widths": {differences(128, 4, 2, 0, 8), -1},
		"nothing":        {nil, -1},
	} {
		rest, err := checkDelta(c.bytes)
		if (err != nil) != (c.rest < 0) || err == nil && len(rest) != c.rest {
			t.Errorf("%s: %d bytes left, %v", name, len(rest), err)
		}
	}
}

// onePage is a reader of one page.
type onePage struct {
	file.PageReader
	page file.Page
}

func (p *onePage) Next() bool      { return true }
func (p *onePage) Page() file.Page { return p.page }
func (p *onePage) Err() error      { return nil }

// Pages that declare more values than there are bytes or rows for are refused.
func TestCheckedPages(t *testing.T) {
	bytes := func(n int) *memory.Buffer { return memory.NewBufferBytes(make([]byte, n)) }
	node := schema.NewInt64Node("x", pq.Repetitions.Required, -1)
	c := &column{descr: schema.NewColumn(node, 0, 0)}
	for name, p := range map[string]struct {
		page file.Page
		fine bool
	}{
		"dictionary":        {file.NewDictionaryPage(bytes(80), 10, pq.Encodings.Plain), true},
		"large dictionary":  {file.NewDictionaryPage(bytes(80), 1<<30, pq.Encodings.Plain), false},
		"page":              {file.NewDataPageV1(bytes(80), 10, pq.Encodings.Plain, pq.Encodings.RLE, pq.Encodings.RLE, 80), true},
		"too many rows":     {file.NewDataPageV1(bytes(80), 101, pq.Encodings.Plain, pq.Encodings.RLE, pq.Encodings.RLE, 80), false},
		"large block":       {file.NewDataPageV1(memory.NewBufferBytes(differences(1<<40, 1, 2, 0, 0)), 2, pq.Encodings.DeltaBinaryPacked, pq.Encodings.RLE, pq.Encodings.RLE, 20), false},
		"second page":       {file.NewDataPageV2(bytes(80), 10, 0, 10, pq.Encodings.Plain, 0, 0, 80, false), true},
		"short second page": {file.NewDataPageV2(bytes(80), 10, 0, 10, pq.Encodings.Plain, 81, 0, 80, false), false},
	} {
		pages := &checkedPages{PageReader: &onePage{page: p.page}, column: c, rows: 100}
		if fine := pages.Next(); fine != p.fine || (pages.Err() == nil) != p.fine {
			t.Errorf("%s: %v, %v", name, fine, pages.Err())
		}
	}
}

// What the library takes beyond its budget is refused, and what it forgets comes back.
func TestBudget(t *testing.T) {
	b := &budget{most: 1000}
	first := &allocator{budget: b}
	piece := first.Allocate(600)
	if err := guard("f", func() error { first.Reallocate(1001, piece); return nil }); err == nil {
		t.Error("more than there is")
	}
	first.close()
	first.Free(piece) // too late, as a finalizer is
	if used := b.used.Load(); used != 0 {
		t.Errorf("%d bytes are held by nobody", used)
	}
	second := &allocator{budget: b}
	again := second.Allocate(900)
	again[0] = 7
	second.Free(again)
	second.close()
	third := &allocator{budget: b}
	if m := third.Allocate(800); len(m) != 800 || m[0] != 0 || &m[0] != &again[0] {
		t.Error("memory is not used again, or not cleared")
	}
}
