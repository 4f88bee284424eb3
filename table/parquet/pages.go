package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/parquet-go/parquet-go/format"
)

// pages reads the pages of a column of a row group one after another. What a header says is
// checked before it is believed: a page lies within the column, the column within the file,
// and what it takes within the budget.
type pages struct {
	file   *opened
	column *column
	codec  codec
	memory *budget
	rows   int64 // whose values are still to come
	at     int64 // of the next page
	end    int64 // of the column

	window []byte // some bytes of the file
	from   int64  // where they are
	known  int    // bytes of the window that were read
}

// page is what a page says and holds.
type page struct {
	kind     format.PageType
	encoding format.Encoding
	count    int    // of values and missing ones, or of a dictionary
	content  []byte // levels and values, uncompressed; the budget's
	levels   []byte // those that say what is missing; nil if nothing is
	values   []byte
}

// The first look at a page is at so many bytes, and its header has at most so many: it may
// hold the least and the greatest of long texts.
const (
	windowBytes = 16 << 10
	mostHeader  = 16 << 20
)

// oldDictionary is what older programs call both a dictionary and codes.
//
//lint:ignore SA1019 files have it
const oldDictionary = format.PlainDictionary

// newPages finds the column in the file.
func newPages(o *opened, group int, c *column, memory *budget, rows int) (*pages, error) {
	chunk := &o.groups[group].Columns[c.leaf]
	meta := &chunk.MetaData
	switch {
	case chunk.CryptoMetadata.Value != nil || chunk.EncryptedColumnMetadata != nil:
		return nil, encryptedFile(o.Name)
	case chunk.FilePath != "":
		return nil, fmt.Errorf("its values are in another file (%q)", chunk.FilePath)
	case meta.Type != c.physical:
		return nil, fmt.Errorf("its values are of type %v in one place and %v in another", meta.Type, c.physical)
	}
	begin := meta.DataPageOffset
	if d := meta.DictionaryPageOffset; d > 0 && d < begin {
		begin = d
	}
	if size := meta.TotalCompressedSize; begin < int64(len(Magic)) || size < 0 || begin > o.Size || size > o.Size-begin {
		return nil, fmt.Errorf("its values are at bytes %d to %d of a file of %d", begin, begin+size, o.Size)
	}
	codec, err := codecOf(meta.Codec)
	return &pages{
		file: o, column: c, codec: codec, memory: memory, rows: int64(rows), at: begin, end: begin + meta.TotalCompressedSize,
	}, err
}

// next reads the next page that holds values or a dictionary; nil at the end.
func (p *pages) next() (*page, error) {
	for p.at < p.end {
		header, err := p.header()
		if err != nil {
			return nil, err
		}
		if header.Type > format.DataPageV2 || header.Type < 0 || header.Type == format.IndexPage {
			p.at += int64(header.CompressedPageSize)
			continue
		}
		return p.read(header)
	}
	return nil, nil
}

// header reads that of the page at p.at, behind which p.at is then.
func (p *pages) header() (*format.PageHeader, error) {
	for want := int64(windowBytes); ; want *= 4 {
		want = min(want, p.end-p.at, mostHeader, p.memory.most/16)
		b, err := p.look(want)
		if err != nil {
			return nil, err
		}
		header, size, err := readHeader(b)
		if errors.Is(err, errShort) && want < min(p.end-p.at, mostHeader, p.memory.most/16) {
			continue
		}
		if err != nil {
			return nil, err
		}
		p.at += int64(size)
		if n := int64(header.CompressedPageSize); n < 0 || n > p.end-p.at || header.UncompressedPageSize < 0 {
			return nil, fmt.Errorf("a page of %d bytes where there are %d", n, p.end-p.at)
		}
		return header, nil
	}
}

// look is the next n bytes.
func (p *pages) look(n int64) ([]byte, error) {
	if skip := p.at - p.from; skip >= 0 && skip+n <= int64(p.known) {
		return p.window[skip : skip+n], nil
	}
	if int64(len(p.window)) < n {
		p.window = make([]byte, n)
	}
	p.from, p.known = p.at, int(min(int64(len(p.window)), p.end-p.at))
	if _, err := p.file.Content.ReadAt(p.window[:p.known], p.at); err != nil {
		return nil, err
	}
	return p.window[:n], nil
}

// fetch reads the next bytes, of which some may have been looked at.
func (p *pages) fetch(to []byte) error {
	n := 0
	if skip := p.at - p.from; skip >= 0 && skip < int64(p.known) {
		n = copy(to, p.window[skip:p.known])
	}
	if n < len(to) {
		if _, err := p.file.Content.ReadAt(to[n:], p.at+int64(n)); err != nil {
			return err
		}
	}
	p.at += int64(len(to))
	return nil
}

// read reads what follows a header.
func (p *pages) read(header *format.PageHeader) (*page, error) {
	q, plain, codec, err := p.describe(header)
	if err != nil {
		return nil, err
	}
	stored, err := p.memory.take(int64(header.CompressedPageSize))
	if err != nil {
		return nil, err
	}
	if err = p.fetch(stored); err == nil && header.CRC != 0 && crc32.ChecksumIEEE(stored) != uint32(header.CRC) {
		err = errors.New("a page is not what its checksum says, so its bytes were changed after they were written")
	}
	q.content = stored
	if err == nil && codec != nil {
		q.content, err = p.uncompress(stored, plain, int64(header.UncompressedPageSize), codec)
	}
	if err == nil {
		err = q.split(header, p.column)
	}
	if err != nil {
		p.memory.give(q.content)
		return nil, err
	}
	return q, nil
}

// describe takes from a header what a page is, how many bytes of it are never compressed, and
// how the others are; nil if they are not.
func (p *pages) describe(header *format.PageHeader) (q *page, plain int64, _ codec, err error) {
	q = &page{kind: header.Type}
	codec := p.codec
	switch {
	case header.Type == format.DictionaryPage && header.DictionaryPageHeader.Valid:
		h := &header.DictionaryPageHeader.V
		q.encoding, q.count = h.Encoding, int(h.NumValues)
		if h.Encoding != format.Plain && h.Encoding != oldDictionary {
			return nil, 0, nil, fmt.Errorf("a dictionary in encoding %v", h.Encoding)
		}
		if q.count < 0 {
			return nil, 0, nil, fmt.Errorf("a dictionary of %d values", q.count)
		}
		return q, 0, codec, nil
	case header.Type == format.DataPage && header.DataPageHeader.Valid:
		h := &header.DataPageHeader.V
		q.encoding, q.count = h.Encoding, int(h.NumValues)
	case header.Type == format.DataPageV2 && header.DataPageHeaderV2.Valid:
		h := &header.DataPageHeaderV2.V
		q.encoding, q.count = h.Encoding, int(h.NumValues)
		plain = int64(h.RepetitionLevelsByteLength) + int64(h.DefinitionLevelsByteLength)
		if h.RepetitionLevelsByteLength < 0 || h.DefinitionLevelsByteLength < 0 || plain > min(int64(header.CompressedPageSize), int64(header.UncompressedPageSize)) {
			return nil, 0, nil, errors.New("a page shorter than its levels")
		}
		if h.IsCompressed.Valid && !h.IsCompressed.V {
			codec = nil
		}
	default:
		return nil, 0, nil, fmt.Errorf("a page of type %v without what it says", header.Type)
	}
	if p.rows -= int64(q.count); q.count < 0 || p.rows < 0 {
		return nil, 0, nil, fmt.Errorf("a page of %d values, more than the rows that are left", q.count)
	}
	return q, plain, codec, nil
}

// uncompress gives the compressed page back and returns the whole of it.
func (p *pages) uncompress(stored []byte, plain, size int64, codec codec) ([]byte, error) {
	defer p.memory.give(stored)
	content, err := p.memory.take(size)
	if err != nil {
		return nil, err
	}
	copy(content, stored[:plain])
	if from, to := stored[plain:], content[plain:]; len(to) > 0 {
		err = codec(to, from)
	}
	return content, err
}

// split finds the levels and the values of a page.
func (q *page) split(header *format.PageHeader, c *column) error {
	q.values = q.content
	switch {
	case q.kind == format.DictionaryPage:
	case q.kind == format.DataPageV2:
		h := &header.DataPageHeaderV2.V
		skip := int(h.RepetitionLevelsByteLength)
		end := skip + int(h.DefinitionLevelsByteLength)
		if end > len(q.content) {
			return errors.New("a page shorter than its levels")
		}
		if q.values = q.content[end:]; c.optional {
			q.levels = q.content[skip:end]
		}
	case c.optional:
		if e := header.DataPageHeader.V.DefinitionLevelEncoding; e == format.BitPacked {
			return fmt.Errorf("levels in encoding %v, which was given up before 2014", e)
		}
		const begin = 4
		size := int64(len(q.content)) - begin
		if size >= 0 {
			size = int64(binary.LittleEndian.Uint32(q.content))
		}
		if size < 0 || begin+size > int64(len(q.content)) {
			return errors.New("a page shorter than its levels")
		}
		q.levels, q.values = q.content[begin:begin+size], q.content[begin+size:]
	}
	return nil
}
