package table

import (
	"bufio"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// windows1252 is what the bytes 0x80 to 0x9F stand for in Windows-1252; the others
// beyond ASCII are the characters of their own number, as in Latin-1.
var windows1252 = [32]rune{
	'€', utf8.RuneError, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', utf8.RuneError, 'Ž', utf8.RuneError,
	utf8.RuneError, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', utf8.RuneError, 'ž', 'Ÿ',
}

// latinReader turns Windows-1252 into UTF-8.
type latinReader struct {
	r       io.Reader
	in      [4096]byte
	pending []byte // UTF-8 that has not been asked for
	out     []byte
	err     error
}

func (l *latinReader) Read(p []byte) (int, error) {
	for len(l.pending) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		var n int
		n, l.err = l.r.Read(l.in[:])
		l.out = l.out[:0]
		for _, b := range l.in[:n] {
			r := rune(b)
			if b >= 0x80 && b < 0xA0 {
				r = windows1252[b-0x80]
			}
			l.out = utf8.AppendRune(l.out, r)
		}
		l.pending = l.out
	}
	n := copy(p, l.pending)
	l.pending = l.pending[n:]
	return n, nil
}

// utf16Reader turns UTF-16 into UTF-8: in the order of the byte-order mark, or in that
// in which the zero bytes of Latin letters make sense.
type utf16Reader struct {
	r       *bufio.Reader
	order   binary.ByteOrder
	pending []byte
	out     []byte
	high    rune // the first half of a pair
	err     error
}

func newUTF16Reader(r *bufio.Reader) *utf16Reader {
	u := &utf16Reader{r: r, order: binary.LittleEndian}
	head, _ := r.Peek(2)
	if len(head) == 2 {
		switch {
		case head[0] == 0xFE && head[1] == 0xFF:
			u.order = binary.BigEndian
			_, _ = r.Discard(2)
		case head[0] == 0xFF && head[1] == 0xFE:
			_, _ = r.Discard(2)
		case head[0] == 0:
			u.order = binary.BigEndian
		}
	}
	return u
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.pending) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.fill()
	}
	n := copy(p, u.pending)
	u.pending = u.pending[n:]
	return n, nil
}

// fill decodes what has arrived. Halves without their other half, and a byte too many
// at the end, become the replacement character.
func (u *utf16Reader) fill() {
	u.out = u.out[:0]
	// Peeking for one unit makes the buffer read; the rest is what is there already.
	if _, err := u.r.Peek(2); err != nil {
		u.err = err
		if rest, _ := u.r.Peek(1); len(rest) == 1 || u.high != 0 {
			u.out = utf8.AppendRune(u.out, utf8.RuneError)
		}
		u.pending = u.out
		return
	}
	units, _ := u.r.Peek(min(u.r.Buffered(), 8192) &^ 1)
	for i := 0; i < len(units); i += 2 {
		r := rune(u.order.Uint16(units[i:]))
		if u.high != 0 {
			pair := utf16.DecodeRune(u.high, r)
			u.out = utf8.AppendRune(u.out, pair)
			u.high = 0
			if pair != utf8.RuneError {
				continue
			}
		}
		switch {
		case r >= 0xD800 && r < 0xDC00:
			u.high = r
		default:
			u.out = utf8.AppendRune(u.out, r)
		}
	}
	_, _ = u.r.Discard(len(units))
	u.pending = u.out
}
