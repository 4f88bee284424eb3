package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/lossep/lossep/table"
)

// values are those of a page, in their order.
type values interface {
	// load decodes the next n values, which put adds afterwards.
	load(n int) error
	// put adds the values from i to j of those that were loaded; each is added once, in order.
	put(i, j int, to *table.Cells) error
}

var errValues = errors.New("fewer bytes than values")

// typed are values of a type of fixed size, which are decoded many at a time.
type typed[T any] struct {
	decode func(to []T) error
	add    func(to *table.Cells, xs []T)
	buffer []T
}

func (t *typed[T]) load(n int) error {
	if cap(t.buffer) < n {
		t.buffer = make([]T, n)
	}
	t.buffer = t.buffer[:n]
	return t.decode(t.buffer)
}

func (t *typed[T]) put(i, j int, to *table.Cells) error {
	t.add(to, t.buffer[i:j])
	return nil
}

// fixed decodes values of so many bytes one after another.
func fixed[T any](b []byte, size int, value func([]byte) T) func([]T) error {
	return func(to []T) error {
		if len(b)/size < len(to) {
			return errValues
		}
		for i := range to {
			to[i] = value(b[i*size : (i+1)*size])
		}
		b = b[len(to)*size:]
		return nil
	}
}

// doubles decodes what most columns of numbers are.
func doubles(b []byte) func([]float64) error {
	return func(to []float64) error {
		if len(b)/8 < len(to) {
			return errValues
		}
		now := b[:8*len(to)]
		for i := range to {
			to[i] = math.Float64frombits(binary.LittleEndian.Uint64(now[8*i:]))
		}
		b = b[8*len(to):]
		return nil
	}
}

// striped decodes values whose first bytes come first, then their second ones, and so on.
func striped[T any](b []byte, size int, value func([]byte) T) func([]T) error {
	each := len(b) / size
	at := 0
	one := make([]byte, size)
	return func(to []T) error {
		if each-at < len(to) {
			return errValues
		}
		for i := range to {
			for k := range one {
				one[k] = b[k*each+at]
			}
			to[i] = value(one)
			at++
		}
		return nil
	}
}

// summed decodes integers that are stored by their differences.
func summed[T int32 | int64](d *differences) func([]T) error {
	var buffer [256]int64
	return func(to []T) error {
		for len(to) > 0 {
			n := min(len(to), len(buffer))
			if err := d.next(buffer[:n]); err != nil {
				return err
			}
			for i, x := range buffer[:n] {
				to[i] = T(x)
			}
			to = to[n:]
		}
		return nil
	}
}

// truths decodes bits, from the lowest on.
func truths(b []byte) func([]bool) error {
	at := 0
	return func(to []bool) error {
		if 8*len(b)-at < len(to) {
			return errValues
		}
		for i := range to {
			to[i] = b[at/8]>>(at%8)&1 == 1
			at++
		}
		return nil
	}
}

// truthRuns decodes truth values in runs.
func truthRuns(b []byte) (func([]bool) error, error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, errValues
	}
	r, err := newRuns(b[4:4+binary.LittleEndian.Uint32(b)], 1)
	if err != nil {
		return nil, err
	}
	buffer := make([]int32, batchRows)
	return func(to []bool) error {
		if err := r.next(buffer[:len(to)]); err != nil {
			return err
		}
		for i := range to {
			to[i] = buffer[i] == 1
		}
		return nil
	}, nil
}

// codes are references to the dictionary of the column.
type codes struct {
	from   *runs
	count  int // of the dictionary
	words  *table.Dictionary
	buffer []int32
}

// newCodes begins with codes, whose width comes first.
func newCodes(b []byte, count int, words *table.Dictionary) (*codes, error) {
	if words == nil {
		return nil, errors.New("codes without a dictionary")
	}
	if len(b) == 0 {
		b = append(b, 0) // a page of missing values may be empty
	}
	from, err := newRuns(b[1:], uint(b[0]))
	return &codes{from: from, count: count, words: words}, err
}

func (c *codes) load(n int) error {
	if cap(c.buffer) < n {
		c.buffer = make([]int32, n)
	}
	c.buffer = c.buffer[:n]
	if err := c.from.next(c.buffer); err != nil {
		return err
	}
	most := uint32(0)
	for _, code := range c.buffer {
		most = max(most, uint32(code))
	}
	if n > 0 && most >= uint32(c.count) {
		return fmt.Errorf("code %d in a dictionary of %d values", most, c.count)
	}
	return nil
}

func (c *codes) put(i, j int, to *table.Cells) error {
	to.Codes(c.words, c.buffer[i:j])
	return nil
}

// pieces are values of bytes, one at a time.
type pieces struct {
	next func() ([]byte, error) // good until the next call
	add  func(to *table.Cells, x []byte)
}

func (p *pieces) load(int) error { return nil }

func (p *pieces) put(i, j int, to *table.Cells) error {
	for range j - i {
		x, err := p.next()
		if err != nil {
			return err
		}
		p.add(to, x)
	}
	return nil
}

// plainPieces have their lengths before them.
func plainPieces(b []byte) func() ([]byte, error) {
	return func() ([]byte, error) {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errValues
		}
		end := 4 + int(binary.LittleEndian.Uint32(b))
		x := b[4:end]
		b = b[end:]
		return x, nil
	}
}

// fixedPieces have the same length.
func fixedPieces(b []byte, size int) func() ([]byte, error) {
	return func() ([]byte, error) {
		if len(b) < size {
			return nil, errValues
		}
		x := b[:size]
		b = b[size:]
		return x, nil
	}
}

// stripedPieces have the same length, and their first bytes come first.
func stripedPieces(b []byte, size int) func() ([]byte, error) {
	one := make([][]byte, 1)
	next := striped(b, size, func(x []byte) []byte { return x })
	return func() ([]byte, error) {
		err := next(one)
		return one[0], err
	}
}

// lengthPieces have all their lengths before all of them.
func lengthPieces(b []byte) (func() ([]byte, error), error) {
	d, b, err := newDifferences(b)
	if err != nil {
		return nil, err
	}
	sizes := &lengths{from: d}
	return func() ([]byte, error) {
		n, err := sizes.next()
		if err != nil {
			return nil, err
		}
		if n < 0 || n > int64(len(b)) {
			return nil, errValues
		}
		x := b[:n]
		b = b[n:]
		return x, nil
	}, nil
}

// prefixPieces begin as the ones before them do. Only one of them is there at a time, for
// together they may be far longer than the page.
func prefixPieces(b []byte) (func() ([]byte, error), error) {
	d, b, err := newDifferences(b)
	if err != nil {
		return nil, err
	}
	rest, err := lengthPieces(b)
	if err != nil {
		return nil, err
	}
	same := &lengths{from: d}
	var now []byte
	return func() ([]byte, error) {
		n, err := same.next()
		if err != nil {
			return nil, err
		}
		if n < 0 || n > int64(len(now)) {
			return nil, errors.New("a text that begins as a shorter one does")
		}
		x, err := rest()
		if err != nil {
			return nil, err
		}
		if n+int64(len(x)) > mostPiece {
			return nil, fmt.Errorf("a text of more than %d MiB", mostPiece>>20)
		}
		now = append(now[:n], x...)
		return now, nil
	}, nil
}

// mostPiece is the length of a value that may be put together of others.
const mostPiece = 16 << 20

// piecesOf decodes values of bytes.
func (c *column) piecesOf(e format.Encoding, b []byte) (func() ([]byte, error), error) {
	whole := c.physical == format.FixedLenByteArray
	switch {
	case e == format.Plain && whole:
		return fixedPieces(b, c.size), nil
	case e == format.Plain:
		return plainPieces(b), nil
	case e == format.DeltaLengthByteArray && !whole:
		return lengthPieces(b)
	case e == format.DeltaByteArray:
		return prefixPieces(b)
	case e == format.ByteStreamSplit && whole:
		return stripedPieces(b, c.size), nil
	}
	return nil, c.unknown(e)
}

// numbersOf decodes values of fixed size.
func numbersOf[T any](c *column, e format.Encoding, b []byte, size int, value func([]byte) T) (func([]T) error, error) {
	switch e {
	case format.Plain:
		return fixed(b, size, value), nil
	case format.ByteStreamSplit:
		return striped(b, size, value), nil
	}
	return nil, c.unknown(e)
}

// integersOf decodes integers.
func integersOf[T int32 | int64](c *column, e format.Encoding, b []byte, size int, value func([]byte) T) (func([]T) error, error) {
	if e == format.DeltaBinaryPacked {
		d, _, err := newDifferences(b)
		if err != nil {
			return nil, err
		}
		return summed[T](d), nil
	}
	return numbersOf(c, e, b, size, value)
}

func (c *column) unknown(e format.Encoding) error {
	return fmt.Errorf("values of type %v in encoding %v", c.physical, e)
}

// Values as they are stored.

func int32Of(b []byte) int32     { return int32(binary.LittleEndian.Uint32(b)) }
func int64Of(b []byte) int64     { return int64(binary.LittleEndian.Uint64(b)) }
func float32Of(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
func float64Of(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
