package parquet

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"github.com/lossep/lossep/table"
)

// batchRows is how many values of a column are decoded at a time.
const batchRows = 4096

// columnReader reads a column of a row group.
type columnReader struct {
	file   *opened
	group  int
	rows   int // of the group
	column *column
	memory *budget

	pages  *pages
	page   *page // under way, nil before the first
	left   int   // of its values and missing ones
	levels *runs // which values are missing: 0, and which are not: 1; nil if none is
	values values
	buffer []int32 // levels
	text   []byte

	dictionary *page
	counted    int64 // memory of words
	words      *table.Dictionary
}

// guard runs part of the reading; errors say which group they are in.
func (r *columnReader) guard(do func() error) error {
	err := guard(r.file.Name, do)
	if located, ok := err.(*table.Error); ok && located.ColumnName == "" {
		located.ColumnName = r.column.Name
		if located.Err != nil && len(r.file.groups) > 1 {
			located.Msg += fmt.Sprintf(" (row group %d)", r.group+1)
		}
	}
	return err
}

// open finds the pages.
func (r *columnReader) open() (err error) {
	r.pages, err = newPages(r.file, r.group, r.column, r.memory, r.rows)
	return err
}

// Read implements table.ColumnReader.
func (r *columnReader) Read(n int, to *table.Cells) error {
	return r.guard(func() error {
		for n > 0 {
			if r.left == 0 {
				if more, err := r.turn(); err != nil || !more {
					return err // none at the end of the group
				}
				continue
			}
			batch := min(n, r.left, batchRows)
			if err := r.batch(batch, to); err != nil {
				return err
			}
			r.left -= batch
			n -= batch
			if err := to.Err(); err != nil {
				return err
			}
		}
		return nil
	})
}

// batch adds the next n cells, which are in the page.
func (r *columnReader) batch(n int, to *table.Cells) error {
	if r.levels == nil || r.levels.present(n) {
		if err := r.values.load(n); err != nil {
			return err
		}
		return r.values.put(0, n, to)
	}
	if r.buffer == nil {
		r.buffer = make([]int32, batchRows)
	}
	levels := r.buffer[:n]
	if err := r.levels.next(levels); err != nil {
		return err
	}
	present := 0
	for _, l := range levels {
		present += int(l & 1)
	}
	if err := r.values.load(present); err != nil {
		return err
	}
	next := 0
	for i := 0; i < n; {
		end := i
		for end < n && levels[end]&1 == levels[i]&1 {
			end++
		}
		if levels[i]&1 == 0 {
			for range end - i {
				to.Missing()
			}
		} else {
			if err := r.values.put(next, next+end-i, to); err != nil {
				return err
			}
			next += end - i
		}
		i = end
	}
	return nil
}

// turn goes to the next page of values.
func (r *columnReader) turn() (more bool, err error) {
	for {
		r.release(&r.page)
		if r.page, err = r.pages.next(); err != nil || r.page == nil {
			return false, err
		}
		if r.page.kind != format.DictionaryPage {
			break
		}
		if r.dictionary != nil {
			return false, fmt.Errorf("a second dictionary")
		}
		r.dictionary, r.page = r.page, nil
		if err := r.learn(); err != nil {
			return false, err
		}
	}
	q := r.page
	r.left, r.levels = q.count, nil
	if q.levels != nil {
		r.levels, err = newRuns(q.levels, 1) // 0 where a value is missing
	}
	if err == nil {
		r.values, err = r.decoder(q.encoding, q.values)
	}
	return true, err
}

func (r *columnReader) release(q **page) {
	if *q != nil {
		r.memory.give((*q).content)
		*q = nil
	}
}

// Close implements table.ColumnReader.
func (r *columnReader) Close() error {
	r.release(&r.page)
	r.release(&r.dictionary)
	_ = r.memory.count(-r.counted) // fewer is never too many
	r.counted, r.left, r.words = 0, 0, nil
	return nil
}

// learn makes the words of the dictionary.
func (r *columnReader) learn() error {
	q, c := r.dictionary, r.column
	size := c.width()
	if int64(q.count) > int64(len(q.values))/int64(size) {
		return fmt.Errorf("a dictionary of %d values in %d bytes", q.count, len(q.values))
	}
	counted := int64(q.count) * table.DictionaryBytes
	if c.physical == format.ByteArray {
		counted += 4 * int64(q.count)
	}
	if err := r.memory.count(counted); err != nil {
		return err
	}
	r.counted = counted
	add, err := r.one()
	if err != nil {
		return err
	}
	if c.physical != format.ByteArray {
		r.words = table.NewDictionary(q.count, func(code int, to *table.Cells) { add(to, q.values[code*size:(code+1)*size]) })
		return nil
	}
	ends := make([]uint32, q.count)
	next, end := plainPieces(q.values), 0
	for k := range ends {
		x, err := next()
		if err != nil {
			return err
		}
		end += size + len(x)
		ends[k] = uint32(end)
	}
	r.words = table.NewDictionary(q.count, func(code int, to *table.Cells) {
		begin := size
		if code > 0 {
			begin += int(ends[code-1])
		}
		add(to, q.values[begin:ends[code]])
	})
	return nil
}

// width is how many bytes a value takes, of texts before them.
func (c *column) width() int {
	switch c.physical {
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return c.size
	}
	return 4
}

// one adds a value that a dictionary has.
func (r *columnReader) one() (func(to *table.Cells, x []byte), error) {
	c := r.column
	switch put := r.integers(); c.physical {
	case format.Int32:
		return func(to *table.Cells, x []byte) { put(to, c.wide(int32Of(x))) }, nil
	case format.Int64:
		return func(to *table.Cells, x []byte) { put(to, int64Of(x)) }, nil
	case format.Int96:
		return putMoment, nil
	case format.Float:
		return func(to *table.Cells, x []byte) { single(to, float32Of(x)) }, nil
	case format.Double:
		return func(to *table.Cells, x []byte) { to.Number(float64Of(x)) }, nil
	case format.ByteArray, format.FixedLenByteArray:
		return r.piece, nil
	}
	return nil, fmt.Errorf("a dictionary of values of type %v", c.physical)
}

// wide is an integer of 32 bits, which may have no sign.
func (c *column) wide(x int32) int64 {
	if c.form == unsigned {
		return int64(uint32(x))
	}
	return int64(x)
}

// decoder decodes the values of a page.
func (r *columnReader) decoder(e format.Encoding, b []byte) (values, error) {
	c := r.column
	if e == format.RLEDictionary || e == oldDictionary {
		count := 0
		if r.dictionary != nil {
			count = r.dictionary.count
		}
		return newCodes(b, count, r.words)
	}
	switch c.physical {
	case format.Boolean:
		return r.truths(e, b)
	case format.Int32:
		decode, err := integersOf(c, e, b, 4, int32Of)
		put := r.integers()
		return &typed[int32]{decode: decode, add: each(func(to *table.Cells, x int32) { put(to, c.wide(x)) })}, err
	case format.Int64:
		decode, err := integersOf(c, e, b, 8, int64Of)
		put := each(r.integers())
		if c.form == integer {
			put = (*table.Cells).Integers
		}
		return &typed[int64]{decode: decode, add: put}, err
	case format.Int96:
		if e != format.Plain {
			return nil, c.unknown(e)
		}
		return &pieces{fixedPieces(b, c.width()), putMoment}, nil
	case format.Float:
		decode, err := numbersOf(c, e, b, 4, float32Of)
		return &typed[float32]{decode: decode, add: each(single)}, err
	case format.Double:
		decode, err := numbersOf(c, e, b, 8, float64Of)
		if e == format.Plain {
			decode = doubles(b)
		}
		return &typed[float64]{decode: decode, add: (*table.Cells).Numbers}, err
	case format.ByteArray, format.FixedLenByteArray:
		next, err := c.piecesOf(e, b)
		return &pieces{next, r.piece}, err
	}
	return nil, c.unknown(e)
}

// truths decodes truth values.
func (r *columnReader) truths(e format.Encoding, b []byte) (values, error) {
	add := each(func(to *table.Cells, x bool) { to.Text(strconv.AppendBool(r.text[:0], x)) })
	switch e {
	case format.Plain:
		return &typed[bool]{decode: truths(b), add: add}, nil
	case format.RLE:
		decode, err := truthRuns(b)
		return &typed[bool]{decode: decode, add: add}, err
	}
	return nil, r.column.unknown(e)
}

// putMoment puts a time of 96 bits: nanoseconds of a day, and the day in the Julian period.
func putMoment(to *table.Cells, x []byte) {
	const epoch = 2440588 // 1970-01-01
	nanos, day := binary.LittleEndian.Uint64(x), int64(binary.LittleEndian.Uint32(x[8:]))-epoch
	to.Text(momentText(time.Unix(86400*day+int64(nanos/1e9), int64(nanos%1e9)).UTC()))
}

// single puts a 32-bit number as the decimal that it stands for.
func single(to *table.Cells, x float32) { to.Number(table.Single(x)) }

// each puts values one by one.
func each[T any](put func(*table.Cells, T)) func(*table.Cells, []T) {
	return func(to *table.Cells, xs []T) {
		for _, x := range xs {
			put(to, x)
		}
	}
}

// integers puts integers, which may stand for something else.
func (r *columnReader) integers() func(*table.Cells, int64) {
	switch c := r.column; c.form {
	case unsigned:
		return func(to *table.Cells, x int64) {
			if x < 0 {
				to.Text(strconv.AppendUint(nil, uint64(x), 10))
				return
			}
			to.Integer(x)
		}
	case date:
		return r.cached(func(x int64) []byte { return time.Unix(86400*x, 0).UTC().AppendFormat(nil, time.DateOnly) })
	case moment:
		return r.cached(func(x int64) []byte { return momentText(unixTime(x, c.unit)) })
	case clock:
		return r.cached(func(x int64) []byte { return clockText(unixTime(x, c.unit)) })
	case decimal:
		return func(to *table.Cells, x int64) {
			const exact = 1e15 // integers and powers of ten up to 1e22 are exact, and so is one rounding
			if c.scale <= 22 && x > -exact && x < exact {
				to.Number(float64(x) / math.Pow10(c.scale))
				return
			}
			to.Text(decimalText(big.NewInt(x), c.scale))
		}
	}
	return (*table.Cells).Integer
}

// cached makes texts of integers, each once while they are not too many.
func (r *columnReader) cached(spell func(int64) []byte) func(*table.Cells, int64) {
	const most = 1 << 12
	known := make(map[int64][]byte)
	return func(to *table.Cells, x int64) {
		text, ok := known[x]
		if !ok {
			if len(known) == most {
				clear(known)
			}
			text = spell(x)
			known[x] = text
		}
		to.Text(text)
	}
}

// piece puts texts, and what is written as bytes.
func (r *columnReader) piece(to *table.Cells, x []byte) {
	switch c := r.column; c.form {
	case decimal:
		to.Text(decimalText(bigEndian(x), c.scale))
	case uuid:
		to.Text(uuidText(x))
	case half:
		if len(x) == 2 {
			to.Number(halfNumber(binary.LittleEndian.Uint16(x)))
			return
		}
		to.Missing()
	default:
		to.Text(x)
	}
}

// Values as texts.

// unixTime is a number of units since 1970.
func unixTime(x, perSecond int64) time.Time {
	seconds := x / perSecond
	rest := x - seconds*perSecond
	return time.Unix(seconds, rest*(1e9/perSecond)).UTC()
}

func momentText(t time.Time) []byte { return t.AppendFormat(nil, "2006-01-02 15:04:05.999999999") }

func clockText(t time.Time) []byte { return t.AppendFormat(nil, "15:04:05.999999999") }

// bigEndian reads an integer of any length in two's complement.
func bigEndian(x []byte) *big.Int {
	n := new(big.Int).SetBytes(x)
	if len(x) > 0 && x[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(x))))
	}
	return n
}

// decimalText writes n / 10^scale.
func decimalText(n *big.Int, scale int) []byte {
	digits := new(big.Int).Abs(n).Append(nil, 10)
	for len(digits) <= scale {
		digits = append([]byte{'0'}, digits...)
	}
	if scale > 0 {
		digits = slices.Insert(digits, len(digits)-scale, '.')
	}
	if n.Sign() < 0 {
		digits = append([]byte{'-'}, digits...)
	}
	return digits
}

// uuidText writes 8-4-4-4-12 hexadecimal digits.
func uuidText(x []byte) []byte {
	text := hex.AppendEncode(nil, x)
	if len(text) == 32 {
		for _, k := range []int{20, 16, 12, 8} {
			text = slices.Insert(text, k, '-')
		}
	}
	return text
}

// halfNumber is the value of a 16-bit floating-point number.
func halfNumber(bits uint16) float64 {
	exponent, fraction := int(bits>>10&0x1F), float64(bits&0x3FF)
	x := 0.0
	switch exponent {
	case 0:
		x = math.Ldexp(fraction, -24)
	case 31:
		if x = math.Inf(1); fraction != 0 {
			x = math.NaN()
		}
	default:
		x = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits&0x8000 != 0 {
		x = -x
	}
	return x
}
