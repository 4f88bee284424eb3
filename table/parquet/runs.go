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
