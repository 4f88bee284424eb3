package parquet_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/brotli"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/lz4"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lossep/lossep/table/parquet"
)

// Files are written here by the library's encoders and compressors, which what is tested does
// not use, in any layout: with every encoding, page and codec.

// field is a column of a test table: its type, its values and what they are as text.
type field struct {
	format.SchemaElement
	values any     // slice of the physical type; bytes are [][]byte
	levels []uint8 // 0 where missing; nil if nothing can be
	texts  []string
	codes  []int32 // of the rows, if values are a dictionary
}

// layout is how a file is written.
type layout struct {
	plain     bool // no dictionaries
	second    bool // pages of the second version
	checksums bool
	codec     format.CompressionCodec
	page      int                        // rows of a page; 0 for all of a group
	encodings map[string]format.Encoding // of columns, in place of a dictionary
	header    func(*format.PageHeader)   // changes headers before they are written
	meta      func(*format.FileMetaData)
}

var compressors = map[format.CompressionCodec]compress.Codec{
	format.Snappy: new(snappy.Codec), format.Gzip: new(gzip.Codec), format.Brotli: new(brotli.Codec),
	format.Zstd: new(zstd.Codec), format.Lz4Raw: &lz4.Codec{Level: lz4.Fastest},
}

var encoders = map[format.Encoding]encoding.Encoding{
	format.Plain: new(plain.Encoding), format.DeltaBinaryPacked: new(delta.BinaryPackedEncoding),
	format.DeltaLengthByteArray: new(delta.LengthByteArrayEncoding), format.DeltaByteArray: new(delta.ByteArrayEncoding),
	format.ByteStreamSplit: new(bytestreamsplit.Encoding), format.RLE: new(rle.Encoding),
}

// leaf describes a column.
func leaf(name string, physical format.Type, repetition format.FieldRepetitionType, logical format.LogicalTypeValue) format.SchemaElement {
	e := format.SchemaElement{Name: name, Type: thrift.New(physical), RepetitionType: thrift.New(repetition)}
	e.LogicalType.Value = logical
	return e
}

func optional(name string, logical format.LogicalTypeValue, physical format.Type, size int) format.SchemaElement {
	e := leaf(name, physical, format.Optional, logical)
	if size > 0 {
		e.TypeLength = thrift.New(int32(size))
	}
	return e
}

func required(name string, physical format.Type) format.SchemaElement {
	return leaf(name, physical, format.Required, nil)
}

// column makes a field of n values; one that value says is missing has no value.
func column[T any](e format.SchemaElement, n int, value func(i int) (x T, text string, missing bool)) field {
	f := field{SchemaElement: e}
	values := []T{}
	for i := range n {
		x, text, missing := value(i)
		level := uint8(1)
		if missing {
			level, text = 0, ""
		} else {
			values = append(values, x)
		}
		f.levels, f.texts = append(f.levels, level), append(f.texts, text)
	}
	f.values = values
	if e.RepetitionType.V == format.Required {
		f.levels = nil
	}
	return f
}

// part is some rows of a column.
func (f field) part(from, to int) field {
	first, last := from, to
	if f.levels != nil {
		first, last = 0, 0
		for i, l := range f.levels[:to] {
			if l > 0 {
				if last++; i < from {
					first++
				}
			}
		}
		f.levels = f.levels[from:to]
	}
	f.texts = f.texts[from:to]
	if f.codes != nil {
		f.codes = f.codes[from:to]
		return f
	}
	f.values = reflect.ValueOf(f.values).Slice(first, last).Interface()
	return f
}

func part(fields []field, from, to int) []field {
	var cut []field
	for _, f := range fields {
		cut = append(cut, f.part(from, to))
	}
	return cut
}

// fileWriter is a file under way.
type fileWriter struct {
	t   testing.TB
	out bytes.Buffer
	layout
}

// write makes a file of columns, in groups of rows.
func write(t testing.TB, fields []field, groups int, l layout) []byte {
	t.Helper()
	w := &fileWriter{t: t, layout: l}
	w.out.WriteString(parquet.Magic)
	meta := &format.FileMetaData{Version: 2, RowGroups: []format.RowGroup{}}
	meta.Schema = []format.SchemaElement{{Name: "schema", NumChildren: thrift.New(int32(len(fields)))}}
	for _, f := range fields {
		meta.Schema = append(meta.Schema, f.SchemaElement)
	}
	n := len(fields[0].texts)
	for g := range groups {
		from, to := g*n/groups, (g+1)*n/groups
		group := format.RowGroup{NumRows: int64(to - from), Columns: []format.ColumnChunk{}}
		for _, f := range fields {
			group.Columns = append(group.Columns, format.ColumnChunk{MetaData: w.chunk(f.part(from, to), to-from)})
		}
		meta.RowGroups = append(meta.RowGroups, group)
		meta.NumRows += group.NumRows
	}
	if l.meta != nil {
		l.meta(meta)
	}
	footer := w.marshal(meta)
	w.out.Write(footer)
	w.out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	w.out.WriteString(parquet.Magic)
	return w.out.Bytes()
}

func (w *fileWriter) marshal(v any) []byte {
	w.t.Helper()
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// chunk writes a column of a group.
func (w *fileWriter) chunk(f field, rows int) format.ColumnMetaData {
	w.t.Helper()
	m := format.ColumnMetaData{
		Type: f.Type.V, Encoding: []format.Encoding{}, PathInSchema: []string{f.Name}, Codec: w.codec, NumValues: int64(rows),
	}
	begin := int64(w.out.Len())
	e, chosen := w.encodings[f.Name]
	all := reflect.ValueOf(f.values)
	var codes []int32
	width := 0
	if !chosen && !w.plain && f.Type.V != format.Boolean {
		e = format.RLEDictionary
		words := all
		if codes = f.codes; codes == nil {
			codes, words = dictionary(all)
		}
		width = bits.Len(uint(max(words.Len(), 1) - 1))
		m.DictionaryPageOffset = begin
		w.page(format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{
			NumValues: int32(words.Len()), Encoding: format.Plain,
		})}, nil, encode(w.t, f.SchemaElement, format.Plain, words.Interface()))
	}
	m.DataPageOffset = int64(w.out.Len())
	each := w.layout.page
	if each == 0 {
		each = max(rows, 1)
	}
	done := 0
	for from := 0; from < rows; from += each {
		to := min(from+each, rows)
		some := f.part(from, to)
		n := reflect.ValueOf(some.values).Len()
		if f.codes != nil {
			n = to - from
		}
		var values []byte
		if e == format.RLEDictionary {
			packed, err := (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, codes[done:done+n])
			if err != nil {
				w.t.Fatal(err)
			}
			values = append([]byte{byte(width)}, packed...)
		} else {
			values = encode(w.t, f.SchemaElement, e, some.values)
		}
		done += n
		w.data(some, to-from, n, e, values)
	}
	m.TotalCompressedSize = int64(w.out.Len()) - begin
	return m
}

// dictionary is the different values, and where each is among them.
func dictionary(all reflect.Value) (codes []int32, words reflect.Value) {
	known := map[string]int32{}
	words = reflect.MakeSlice(all.Type(), 0, 0)
	for i := range all.Len() {
		key := fmt.Sprintf("%x", all.Index(i).Interface())
		if _, ok := known[key]; !ok {
			known[key] = int32(len(known))
			words = reflect.Append(words, all.Index(i))
		}
		codes = append(codes, known[key])
	}
	return codes, words
}

// data writes a page of values.
func (w *fileWriter) data(f field, rows, present int, e format.Encoding, values []byte) {
	var levels []byte
	if f.levels != nil {
		var err error
		if levels, err = (&rle.Encoding{BitWidth: 1}).EncodeLevels(nil, f.levels); err != nil {
			w.t.Fatal(err)
		}
	}
	if w.second {
		w.page(format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
			NumValues: int32(rows), NumNulls: int32(rows - present), NumRows: int32(rows), Encoding: e, DefinitionLevelsByteLength: int32(len(levels)),
		})}, levels, values)
		return
	}
	if f.levels != nil {
		levels = append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	}
	w.page(format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: int32(rows), Encoding: e, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})}, nil, append(levels, values...))
}

// page writes a page, of which some bytes are not compressed.
func (w *fileWriter) page(h format.PageHeader, open, content []byte) {
	w.t.Helper()
	h.UncompressedPageSize = int32(len(open) + len(content))
	if w.codec != format.Uncompressed {
		var err error
		if content, err = compressors[w.codec].Encode(nil, content); err != nil {
			w.t.Fatal(err)
		}
	}
	stored := append(bytes.Clone(open), content...)
	h.CompressedPageSize = int32(len(stored))
	if w.checksums {
		h.CRC = int32(crc32.ChecksumIEEE(stored))
	}
	if w.header != nil {
		w.header(&h)
	}
	w.out.Write(w.marshal(&h))
	w.out.Write(stored)
}

// encode has the library encode values.
func encode(t testing.TB, element format.SchemaElement, e format.Encoding, values any) (b []byte) {
	t.Helper()
	enc, err := encoders[e], error(nil)
	switch v := values.(type) {
	case []int32:
		b, err = enc.EncodeInt32(nil, v)
	case []int64:
		b, err = enc.EncodeInt64(nil, v)
	case []deprecated.Int96:
		b, err = enc.EncodeInt96(nil, v)
	case []float32:
		b, err = enc.EncodeFloat(nil, v)
	case []float64:
		b, err = enc.EncodeDouble(nil, v)
	case []bool:
		packed := make([]byte, (len(v)+7)/8)
		for i, x := range v {
			if x {
				packed[i/8] |= 1 << (i % 8)
			}
		}
		b, err = enc.EncodeBoolean(nil, packed)
	case [][]byte:
		var all []byte
		offsets := []uint32{0}
		for _, x := range v {
			all = append(all, x...)
			offsets = append(offsets, uint32(len(all)))
		}
		if element.Type.V == format.FixedLenByteArray {
			b, err = enc.EncodeFixedLenByteArray(nil, all, int(element.TypeLength.V))
		} else {
			b, err = enc.EncodeByteArray(nil, all, offsets)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}
