package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// What files declare is held against what is there, here.

// budget is how much memory the pages that are being read may take together. What was
// given back is used again.
type budget struct {
	used atomic.Int64
	most int64

	mutex sync.Mutex
	free  [][]byte
}

// take is memory of some size that was given back, or new memory.
func (b *budget) take(size int) []byte {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for k, m := range b.free {
		if cap(m) >= size {
			b.free = slices.Delete(b.free, k, k+1)
			m = m[:size]
			clear(m)
			return m
		}
	}
	const least = 64 << 10 // pages differ a little in size
	return make([]byte, size, max(size, min(least, 2*size)))
}

// give takes memory back, a few pieces of it.
func (b *budget) give(pieces [][]byte) {
	const most = 64
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, m := range pieces {
		if cap(m) > 0 && len(b.free) < most {
			b.free = append(b.free, m)
		}
	}
}

var errBudget = errors.New("more memory than may be used")

// allocator gives the library memory within a budget, for one column of a group. What it
// gives back is used again only when the column is closed: the library may look at it a
// little longer. What it forgets is given back then, too.
type allocator struct {
	budget *budget

	mutex  sync.Mutex // finalizers give back, too
	held   int64
	freed  [][]byte
	closed bool
}

// count takes note of n bytes more, or fewer.
func (a *allocator) count(n int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.closed {
		return
	}
	a.held += int64(n)
	if a.budget.used.Add(int64(n)) > a.budget.most {
		panic(errBudget) // guard is waiting for it; the library has no other way
	}
}

// Allocate implements memory.Allocator.
func (a *allocator) Allocate(size int) []byte {
	a.count(size)
	return a.budget.take(size)
}

// Reallocate implements memory.Allocator.
func (a *allocator) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		a.count(size - len(b))
		return b[:size]
	}
	larger := a.Allocate(size)
	copy(larger, b)
	a.Free(b)
	return larger
}

// Free implements memory.Allocator.
func (a *allocator) Free(b []byte) {
	a.count(-len(b))
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if !a.closed {
		a.freed = append(a.freed, b)
	}
}

func (a *allocator) close() {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if !a.closed {
		a.closed = true
		a.budget.used.Add(-a.held)
		a.budget.give(a.freed)
		a.freed = nil
	}
}

// checkedPages refuses pages that declare more values than there can be.
type checkedPages struct {
	file.PageReader
	column *column
	rows   int64 // that are still to come
	err    error
}

// Next implements file.PageReader.
func (p *checkedPages) Next() bool {
	if p.err != nil || !p.PageReader.Next() {
		return false
	}
	p.err = p.check(p.PageReader.Page())
	return p.err == nil
}

// Err implements file.PageReader.
func (p *checkedPages) Err() error {
	if p.err != nil {
		return p.err
	}
	return p.PageReader.Err()
}

// GetDictionaryPage implements file.PageReader.
func (p *checkedPages) GetDictionaryPage() (*file.DictionaryPage, error) {
	page, err := p.PageReader.GetDictionaryPage()
	if err == nil && page != nil {
		err = p.check(page)
	}
	return page, err
}

func (p *checkedPages) check(page file.Page) error {
	n := int64(page.NumValues())
	if page.Type() == file.PageTypeDictionaryPage {
		if width := p.column.leastBytes(); n*width > int64(len(page.Data())) {
			return fmt.Errorf("a dictionary of %d values in %d bytes", n, len(page.Data()))
		}
		return nil
	}
	if p.rows -= n; n < 0 || p.rows < 0 {
		return fmt.Errorf("a page of %d values, more than the rows that are left", n)
	}
	values, err := p.values(page)
	if err != nil {
		return err
	}
	switch pq.Encoding(page.Encoding()) {
	case pq.Encodings.DeltaBinaryPacked, pq.Encodings.DeltaLengthByteArray:
		_, err = checkDelta(values)
	case pq.Encodings.DeltaByteArray:
		// Lengths of what is the same as before, then of the rest.
		if values, err = checkDelta(values); err == nil {
			_, err = checkDelta(values)
		}
	}
	return err
}

// leastBytes is how many bytes a value takes at least.
func (c *column) leastBytes() int64 {
	switch c.descr.PhysicalType() {
	case pq.Types.Int64, pq.Types.Double:
		return 8
	case pq.Types.Int96:
		return 12
	case pq.Types.FixedLenByteArray:
		return int64(c.descr.TypeLength())
	case pq.Types.Boolean:
		return 1
	}
	return 4
}

// values is the part of a page after the levels that say which values are missing.
func (p *checkedPages) values(page file.Page) ([]byte, error) {
	content := page.Data()
	skip := int64(0)
	switch d := page.(type) {
	case *file.DataPageV2:
		skip = int64(d.DefinitionLevelByteLen()) + int64(d.RepetitionLevelByteLen())
	default:
		if p.column.descr.MaxDefinitionLevel() == 0 {
			break
		}
		if len(content) < 4 {
			return nil, errors.New("a page without levels")
		}
		skip = 4 + int64(binary.LittleEndian.Uint32(content))
	}
	if skip < 0 || skip > int64(len(content)) {
		return nil, errors.New("a page shorter than its levels")
	}
	return content[skip:], nil
}

// checkDelta goes through differences in packed blocks and returns what follows them. A
// block that declares to be larger than any program makes it would be unpacked whole.
func checkDelta(b []byte) (rest []byte, err error) {
	const largest = 1 << 16
	bad := errors.New("differences in blocks that cannot be")
	header := [3]uint64{} // values of a block, parts of a block, values in all
	for k := range header {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, bad
		}
		header[k], b = x, b[n:]
	}
	block, parts, total := header[0], header[1], header[2]
	if block == 0 || block > largest || parts == 0 || parts > block || block%parts != 0 {
		return nil, bad
	}
	if _, n := binary.Uvarint(b); n > 0 { // the first value
		b = b[n:]
	} else {
		return nil, bad
	}
	each := block / parts
	for done := uint64(1); done < total; {
		_, n := binary.Uvarint(b) // the least difference
		if n <= 0 || uint64(len(b)-n) < parts {
			return nil, bad
		}
		widths := b[n : n+int(parts)]
		b = b[n+int(parts):]
		for _, width := range widths {
			if done >= total {
				break
			}
			size := uint64(width) * each / 8
			if width > 64 || size > uint64(len(b)) {
				return nil, bad
			}
			b = b[size:]
			done += each
		}
	}
	return b, nil
}
