package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A page that is written has about so many bytes, and a dictionary of integers at most so
// many values.
const (
	pageBytes       = 1 << 20
	dictionaryCount = 1 << 12
)

// outChunk writes a column of a row group: a dictionary if that is shorter, and pages.
type outChunk struct {
	to           *Writer
	column       *outColumn
	begin        int64 // of all
	data         int64 // of the pages behind the dictionary
	dictionary   bool
	values       int   // written, without those that are missing
	uncompressed int64 // bytes, with headers
}

func (k *outChunk) write() error {
	c := k.column
	codes, count, words := c.dictionary()
	if codes != nil {
		k.dictionary = true
		header := format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(count), Encoding: format.Plain})}
		if err := k.page(header, words); err != nil {
			return err
		}
	}
	k.data = k.to.at
	width := max(bits.Len(uint(max(count, 1)-1)), 1)
	for row := 0; row < len(c.levels); {
		end, present := c.cut(row, k.values, codes != nil)
		levels, err := (&rle.Encoding{BitWidth: 1}).EncodeLevels(nil, c.levels[row:end])
		if err != nil {
			return err
		}
		content := append(binary.LittleEndian.AppendUint32(k.to.content[:0], uint32(len(levels))), levels...)
		encoding := format.Plain
		if codes != nil {
			encoding = format.RLEDictionary
			packed, err := (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, codes[k.values:k.values+present])
			if err != nil {
				return err
			}
			content = append(append(content, byte(width)), packed...)
		} else {
			content = c.plain(slices.Grow(content, 8*present), k.values, k.values+present)
		}
		k.to.content = content
		header := format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: int32(end - row), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
			Statistics: format.Statistics{NullCount: int64(end - row - present)},
		})}
		if err := k.page(header, content); err != nil {
			return err
		}
		row, k.values = end, k.values+present
	}
	return nil
}

// cut is where the page that begins at a row ends, and how many of its cells are not missing;
// value is the first of those.
func (c *outColumn) cut(row, value int, coded bool) (end, present int) {
	size := 0
	for end = row; end < len(c.levels) && size < pageBytes; end++ {
		if c.levels[end] == 0 {
			continue
		}
		switch {
		case coded:
			size += 2
		case len(c.codes) > 0:
			size += 4 + len(c.words[c.codes[value+present]])
		default:
			size += 8
		}
		present++
	}
	return end, present
}

// page writes a page.
func (k *outChunk) page(header format.PageHeader, content []byte) error {
	stored := snappy.Encode(k.to.stored[:cap(k.to.stored)], content)
	k.to.stored = stored
	header.UncompressedPageSize, header.CompressedPageSize = int32(len(content)), int32(len(stored))
	header.CRC = int32(crc32.ChecksumIEEE(stored))
	head, err := thrift.Marshal(new(thrift.CompactProtocol), &header)
	if err != nil {
		return err
	}
	k.uncompressed += int64(len(head) + len(content))
	if err := k.to.write(head); err != nil {
		return err
	}
	return k.to.write(stored)
}

// meta is what the metadata of the file says about the column.
func (k *outChunk) meta() format.ColumnChunk {
	c := k.column
	m := format.ColumnMetaData{
		Type: c.physical(), Encoding: []format.Encoding{format.Plain, format.RLE}, PathInSchema: []string{c.name}, Codec: format.Snappy,
		NumValues: int64(len(c.levels)), TotalUncompressedSize: k.uncompressed, TotalCompressedSize: k.to.at - k.begin, DataPageOffset: k.data,
	}
	if k.dictionary {
		m.Encoding = append(m.Encoding, format.RLEDictionary)
		m.DictionaryPageOffset = k.begin
	}
	m.Statistics.NullCount = int64(len(c.levels) - k.values)
	m.Statistics.MinValue, m.Statistics.MaxValue = c.extremes()
	return format.ColumnChunk{FileOffset: k.begin, MetaData: m}
}

// dictionary is codes, how many they are for, and their values, if that is shorter than the
// values themselves; nil if not.
func (c *outColumn) dictionary() (codes []int32, count int, values []byte) {
	if len(c.codes) > 0 {
		if 2*c.bytes > c.size {
			return nil, 0, nil
		}
		for _, word := range c.words {
			values = append(binary.LittleEndian.AppendUint32(values, uint32(len(word))), word...)
		}
		return c.codes, len(c.words), values
	}
	if len(c.integers) == 0 {
		return nil, 0, nil
	}
	known := make(map[int64]int32)
	codes = make([]int32, len(c.integers))
	for i, x := range c.integers {
		code, ok := known[x]
		if !ok {
			if len(known) == min(dictionaryCount, len(c.integers)/2+1) {
				return nil, 0, nil
			}
			code = int32(len(known))
			known[x] = code
			values = binary.LittleEndian.AppendUint64(values, uint64(x))
		}
		codes[i] = code
	}
	return codes, len(known), values
}

// plain adds values as they are.
func (c *outColumn) plain(to []byte, from, end int) []byte {
	switch c.physical() {
	case format.Int64:
		for _, x := range c.integers[from:end] {
			to = binary.LittleEndian.AppendUint64(to, uint64(x))
		}
	case format.Double:
		for _, x := range c.numbers[from:end] {
			to = binary.LittleEndian.AppendUint64(to, math.Float64bits(x))
		}
	case format.Boolean:
		packed := make([]byte, (end-from+7)/8)
		for i, x := range c.truths[from:end] {
			if x {
				packed[i/8] |= 1 << (i % 8)
			}
		}
		to = append(to, packed...)
	default:
		for _, code := range c.codes[from:end] {
			word := c.words[code]
			to = append(binary.LittleEndian.AppendUint32(to, uint32(len(word))), word...)
		}
	}
	return to
}

// extremes are the least and the greatest number; nil where there is none, or one that cannot
// be compared. A zero may have either sign.
func (c *outColumn) extremes() (least, greatest []byte) {
	switch c.physical() {
	case format.Int64:
		if len(c.integers) == 0 {
			return nil, nil
		}
		low, high := c.integers[0], c.integers[0]
		for _, x := range c.integers {
			low, high = min(low, x), max(high, x)
		}
		return binary.LittleEndian.AppendUint64(nil, uint64(low)), binary.LittleEndian.AppendUint64(nil, uint64(high))
	case format.Double:
		low, high := math.Inf(1), math.Inf(-1)
		for _, x := range c.numbers {
			low, high = min(low, x), max(high, x)
		}
		if !(low <= high) {
			return nil, nil
		}
		if low == 0 {
			low = math.Copysign(0, -1)
		}
		if high == 0 {
			high = 0
		}
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(low)), binary.LittleEndian.AppendUint64(nil, math.Float64bits(high))
	}
	return nil, nil
}
