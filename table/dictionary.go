package table

import (
	"bytes"
	"hash/maphash"
	"math"
)

// dictionary numbers different texts in the order in which they first occur. The texts
// lie one after another, so that a million of them are three blocks of memory.
type dictionary struct {
	text  []byte
	ends  []int    // of each text
	table []uint32 // code + 1 by hash, 0 where free; its length is a power of two
}

var dictionarySeed = maphash.MakeSeed() // decides where codes are looked up, not what they are

// len is the number of texts.
func (d *dictionary) len() int { return len(d.ends) }

// word is the text of a code. It is part of the dictionary.
func (d *dictionary) word(code uint32) []byte {
	start := 0
	if code > 0 {
		start = d.ends[code-1]
	}
	return d.text[start:d.ends[code]]
}

// code is that of a text, a new one if need be.
func (d *dictionary) code(text []byte) uint32 {
	if 2*len(d.ends) >= len(d.table) {
		d.grow()
	}
	slot := d.slot(text)
	if d.table[slot] == 0 {
		d.text = append(d.text, text...)
		d.ends = append(d.ends, len(d.text))
		d.table[slot] = uint32(len(d.ends))
	}
	return d.table[slot] - 1
}

// find is the code of a text that may not be there.
func (d *dictionary) find(text []byte) (uint32, bool) {
	if len(d.table) == 0 {
		return 0, false
	}
	k := d.table[d.slot(text)]
	return k - 1, k > 0
}

// slot is where a text is in the table, or would be.
func (d *dictionary) slot(text []byte) uint64 {
	mask := uint64(len(d.table) - 1)
	for slot := maphash.Bytes(dictionarySeed, text) & mask; ; slot = (slot + 1) & mask {
		if k := d.table[slot]; k == 0 || bytes.Equal(d.word(k-1), text) {
			return slot
		}
	}
}

func (d *dictionary) grow() {
	d.table = make([]uint32, max(16, 2*len(d.table)))
	for code := range d.ends {
		d.table[d.slot(d.word(uint32(code)))] = uint32(code) + 1
	}
}

// reset forgets all texts and keeps the memory.
func (d *dictionary) reset() {
	d.text, d.ends = d.text[:0], d.ends[:0]
	clear(d.table)
}

// bytes is what the dictionary holds on to.
func (d *dictionary) bytes() int { return len(d.text) + 8*len(d.ends) + 4*len(d.table) }

// A cell is eight bytes: a finite number, or the code of a text in the payload of a
// quiet NaN, which no number of a file is.
const wordBits = 0x7FF8_0000_0000_0000

func wordCell(code uint32) float64 { return math.Float64frombits(wordBits | uint64(code)) }

// wordOf is the code in a cell that holds a text.
func TextCode(cell float64) uint32 { return uint32(math.Float64bits(cell)) }

// isWord tells texts from numbers.
func IsText(cell float64) bool { return cell != cell }
