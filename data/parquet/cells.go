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

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/lossep/lossep/data"
)

// batchRows is how many values of a column are decoded at a time.
const batchRows = 4096

// columnReader reads a column of a row group.
type columnReader struct {
	file      *opened
	group     int
	rows      int // of the group
	column    *column
	allocator *allocator

	chunk  file.ColumnChunkReader
	levels []int16
	read   func(n int, to *data.Cells) (int, error)
	buffer []byte
}

// guard runs part of the reading; errors say which group they are in.
func (r *columnReader) guard(do func() error) error {
	err := guard(r.file.Name, do)
	if located, ok := err.(*data.Error); ok && located.ColumnName == "" {
		located.ColumnName = r.column.Name
		if located.Err != nil && len(r.file.meta.RowGroups) > 1 {
			located.Msg += fmt.Sprintf(" (row group %d)", r.group+1)
		}
	}
	return err
}

// open begins with the first page.
func (r *columnReader) open() error {
	f, err := r.file.reader(r.allocator)
	if err != nil {
		return err
	}
	group := f.RowGroup(r.group)
	pages, err := group.GetColumnPageReader(r.column.leaf)
	if err != nil {
		return err
	}
	checked := &checkedPages{PageReader: pages, column: r.column, rows: int64(r.rows)}
	// The library's own way to a column reader leaves no room for checks between pages
	// and values, and what pages declare is what memory is asked for.
	//lint:ignore SA1019 it is deprecated for those who would make pages of their own
	r.chunk = file.NewColumnReader(r.column.descr, checked, r.allocator, f.BufferPool())
	if r.column.descr.MaxDefinitionLevel() > 0 {
		r.levels = make([]int16, batchRows)
	}
	return r.prepare()
}

// Read implements data.ColumnReader.
func (r *columnReader) Read(n int, to *data.Cells) error {
	return r.guard(func() error {
		for n > 0 {
			got, err := r.read(min(n, batchRows), to)
			if err != nil {
				return err
			}
			if got == 0 {
				return r.chunk.Err() // none at the end of the group
			}
			n -= got
		}
		return nil
	})
}

// Close implements data.ColumnReader.
func (r *columnReader) Close() error {
	var err error
	if r.chunk != nil {
		err = r.guard(r.chunk.Close)
		r.chunk = nil
	}
	r.allocator.close()
	return err
}

// prepare sets how values of the column's physical type are read.
func (r *columnReader) prepare() error {
	c := r.column
	switch chunk := r.chunk.(type) {
	case *file.BooleanColumnChunkReader:
		r.read = typed(r, chunk.ReadBatch, each(func(to *data.Cells, x bool) { to.Text(strconv.AppendBool(r.buffer[:0], x)) }))
	case *file.Float32ColumnChunkReader:
		r.read = typed(r, chunk.ReadBatch, each(r.single))
	case *file.Float64ColumnChunkReader:
		r.read = typed(r, chunk.ReadBatch, func(to *data.Cells, xs ...float64) { to.Numbers(xs) })
	case *file.Int32ColumnChunkReader:
		put := r.integers()
		r.read = typed(r, chunk.ReadBatch, each(func(to *data.Cells, x int32) {
			if c.form == unsigned {
				put(to, int64(uint32(x)))
				return
			}
			put(to, int64(x))
		}))
	case *file.Int64ColumnChunkReader:
		put := each(r.integers())
		if c.form == integer {
			put = func(to *data.Cells, xs ...int64) { to.Integers(xs) }
		}
		r.read = typed(r, chunk.ReadBatch, put)
	case *file.Int96ColumnChunkReader:
		r.read = typed(r, chunk.ReadBatch, each(func(to *data.Cells, x pq.Int96) { to.Text(momentText(x.ToTime())) }))
	case *file.ByteArrayColumnChunkReader:
		r.read = typed(r, chunk.ReadBatch, each(func(to *data.Cells, x pq.ByteArray) { r.bytes(to, x) }))
	case *file.FixedLenByteArrayColumnChunkReader:
		r.read = typed(r, chunk.ReadBatch, each(func(to *data.Cells, x pq.FixedLenByteArray) { r.bytes(to, x) }))
	default:
		return fmt.Errorf("values of type %v", c.descr.PhysicalType())
	}
	return nil
}

// typed reads values of one physical type, and puts missing cells between them.
func typed[T any](r *columnReader, batch func(n int64, values []T, levels, _ []int16) (int64, int, error), put func(*data.Cells, ...T)) func(int, *data.Cells) (int, error) {
	values := make([]T, batchRows)
	return func(n int, to *data.Cells) (int, error) {
		rows, present, err := batch(int64(n), values[:n], r.levels, nil)
		if err != nil {
			return 0, err
		}
		if r.levels == nil || int(rows) == present {
			put(to, values[:present]...)
			return present, nil
		}
		next := 0
		for _, level := range r.levels[:rows] {
			if level == 0 {
				to.Missing()
				continue
			}
			put(to, values[next])
			next++
		}
		return int(rows), nil
	}
}

// each puts values one by one.
func each[T any](put func(*data.Cells, T)) func(*data.Cells, ...T) {
	return func(to *data.Cells, xs ...T) {
		for _, x := range xs {
			put(to, x)
		}
	}
}

// single reads a 32-bit number as the decimal that it stands for.
func (r *columnReader) single(to *data.Cells, x float32) {
	const exact = 1 << 24 // integers up to here
	if wide := float64(x); wide == math.Trunc(wide) && math.Abs(wide) < exact || math.IsNaN(wide) || math.IsInf(wide, 0) {
		to.Number(wide)
		return
	}
	r.buffer = strconv.AppendFloat(r.buffer[:0], float64(x), 'e', -1, 32)
	to.Text(r.buffer)
}

// integers puts integers, which may stand for something else.
func (r *columnReader) integers() func(*data.Cells, int64) {
	switch c := r.column; c.form {
	case unsigned:
		return func(to *data.Cells, x int64) {
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
		return func(to *data.Cells, x int64) {
			const exact = 1e15 // integers and powers of ten up to 1e22 are exact, and so is one rounding
			if c.scale <= 22 && x > -exact && x < exact {
				to.Number(float64(x) / math.Pow10(c.scale))
				return
			}
			to.Text(decimalText(big.NewInt(x), c.scale))
		}
	}
	return (*data.Cells).Integer
}

// cached makes texts of integers, each once while they are not too many.
func (r *columnReader) cached(spell func(int64) []byte) func(*data.Cells, int64) {
	const most = 1 << 12
	known := make(map[int64][]byte)
	return func(to *data.Cells, x int64) {
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

// bytes puts texts, and what is written as bytes.
func (r *columnReader) bytes(to *data.Cells, x []byte) {
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
