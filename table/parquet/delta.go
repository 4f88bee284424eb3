package parquet

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/bitpack"
)

// differences decodes integers that are stored as differences in packed blocks. It makes
// room for a part of a block, which has been checked.
type differences struct {
	rest   []byte
	each   int    // values of a part
	parts  int    // of a block
	widths []byte // of the parts to come in the block under way
	least  int64  // of its differences
	total  int    // values to come
	value  int64  // the one before
	first  bool   // nothing was given yet
	part   []int64
	at     int // in part
}

var errDifferences = errors.New("differences in blocks that cannot be")

// newDifferences checks the blocks, and returns also what follows them.
func newDifferences(b []byte) (d *differences, rest []byte, err error) {
	if rest, err = checkDelta(b); err != nil {
		return nil, nil, err
	}
	d = &differences{first: true}
	header := [3]uint64{}
	for k := range header {
		x, n := binary.Uvarint(b)
		header[k], b = x, b[n:]
	}
	value, n := binary.Varint(b)
	d.each, d.parts, d.value, d.rest = int(header[0]/header[1]), int(header[1]), value, b[n:]
	d.total = int(min(header[2], 1<<40))
	return d, rest, nil
}

// next fills to with the next integers.
func (d *differences) next(to []int64) error {
	if len(to) > d.total {
		return errors.New("fewer differences than values")
	}
	d.total -= len(to)
	if d.first && len(to) > 0 {
		d.first = false
		to[0] = d.value
		to = to[1:]
	}
	value := d.value
	for len(to) > 0 {
		if d.at == len(d.part) {
			d.unpack()
		}
		n := min(len(to), len(d.part)-d.at)
		for i, x := range d.part[d.at : d.at+n] {
			value += x + d.least
			to[i] = value
		}
		d.at += n
		to = to[n:]
	}
	d.value = value
	return nil
}

// unpack takes the next part, which there is.
func (d *differences) unpack() {
	if len(d.widths) == 0 {
		least, n := binary.Varint(d.rest)
		d.least, d.widths, d.rest = least, d.rest[n:n+d.parts], d.rest[n+d.parts:]
	}
	width := uint(d.widths[0])
	d.widths = d.widths[1:]
	if d.part == nil {
		d.part = make([]int64, d.each)
	}
	d.at = 0
	size := int(width) * d.each / 8
	if width == 0 {
		clear(d.part)
	} else {
		bitpack.Unpack(d.part, padded(d.rest, size), width)
	}
	d.rest = d.rest[size:]
}

// checkDelta goes through differences in packed blocks and returns what follows them. A
// block that declares to be larger than any program makes it would be unpacked whole.
func checkDelta(b []byte) (rest []byte, err error) {
	const largest = 1 << 16
	bad := errDifferences
	header := [3]uint64{} // values of a block, parts of a block, values in all
	for k := range header {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, bad
		}
		header[k], b = x, b[n:]
	}
	block, parts, total := header[0], header[1], header[2]
	if block == 0 || block > largest || parts == 0 || parts > block || block%parts != 0 || block/parts%8 != 0 {
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

// lengths are differences that are lengths, one at a time.
type lengths struct {
	from   *differences
	buffer []int64
	at     int
}

func (l *lengths) next() (int64, error) {
	if l.at == len(l.buffer) {
		n := min(128, l.from.total)
		if n == 0 {
			return 0, errors.New("fewer lengths than texts")
		}
		if cap(l.buffer) < n {
			l.buffer = make([]int64, n)
		}
		l.buffer, l.at = l.buffer[:n], 0
		if err := l.from.next(l.buffer); err != nil {
			return 0, err
		}
	}
	l.at++
	return l.buffer[l.at-1], nil
}
