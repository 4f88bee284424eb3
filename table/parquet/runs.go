package parquet

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/bitpack"
)

// runs decodes small numbers that are stored as runs of one number and groups of eight packed
// numbers: definition levels, codes of a dictionary, and truth values. It makes room for
// nothing, whatever a run declares.
type runs struct {
	rest  []byte
	width uint
	left  int  // numbers of the run under way
	same  bool // they are all value
	value int32
	eight [8]int32 // the group under way, if it did not fit in whole
	ahead int      // of it, those to come
}

var errRuns = errors.New("fewer levels or codes than values")

// newRuns begins with numbers of a width in bits.
func newRuns(b []byte, width uint) (*runs, error) {
	if width > 32 {
		return nil, errors.New("codes of more than 32 bits")
	}
	return &runs{rest: b, width: width}, nil
}

// next fills to with the next numbers.
func (r *runs) next(to []int32) error {
	if r.width == 0 {
		clear(to)
		return nil
	}
	for len(to) > 0 {
		n := 0
		switch {
		case r.ahead > 0:
			n = copy(to, r.eight[8-r.ahead:])
			r.ahead -= n
		case r.left == 0:
			if err := r.begin(); err != nil {
				return err
			}
		case r.same:
			n = min(len(to), r.left)
			for i := range to[:n] {
				to[i] = r.value
			}
			r.left -= n
		case len(to) < 8:
			r.unpack(r.eight[:])
			r.ahead = 8
		default:
			n = min(len(to), r.left) &^ 7
			r.unpack(to[:n])
		}
		to = to[n:]
	}
	return nil
}

// present passes over the next n numbers if all of them are 1, as far as that is easily seen.
func (r *runs) present(n int) bool {
	if r.left == 0 && r.ahead == 0 && r.begin() != nil {
		return false
	}
	if r.ahead > 0 || !r.same || r.left < n || r.value != 1 {
		return false
	}
	r.left -= n
	return true
}

// begin reads how long the next run is.
func (r *runs) begin() error {
	head, n := binary.Uvarint(r.rest)
	if n <= 0 {
		return errRuns
	}
	r.rest = r.rest[n:]
	if head&1 == 0 {
		size := int(r.width+7) / 8
		if len(r.rest) < size {
			return errRuns
		}
		var value [4]byte
		copy(value[:], r.rest[:size])
		r.rest = r.rest[size:]
		r.same, r.value, r.left = true, int32(binary.LittleEndian.Uint32(value[:])), int(min(head>>1, 1<<31))
		return nil
	}
	// A group of eight takes as many bytes as a number has bits.
	r.same, r.left = false, 8*int(min(head>>1, uint64(len(r.rest))/uint64(r.width)))
	return nil
}

// unpack takes whole groups of the run.
func (r *runs) unpack(to []int32) {
	size := len(to) / 8 * int(r.width)
	bitpack.Unpack(to, padded(r.rest, size), r.width)
	r.rest = r.rest[size:]
	r.left -= len(to)
}

// padded is the first bytes of a part of a page, with what may be looked at behind them.
func padded(b []byte, size int) []byte { return b[:size+padding] }

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
