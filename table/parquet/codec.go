package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// A codec uncompresses a page into memory of exactly the size that it declares, and never
// asks for more: what is longer or shorter is an error.
type codec func(to, from []byte) error

var codecs = map[format.CompressionCodec]codec{
	format.Snappy: unsnappy,
	format.Gzip:   ungzip,
	format.Brotli: unbrotli,
	format.Zstd:   unzstd,
	format.Lz4Raw: unlz4,
}

// codecOf is nil where nothing is compressed.
func codecOf(c format.CompressionCodec) (codec, error) {
	if c == format.Uncompressed {
		return nil, nil
	}
	if f := codecs[c]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("compression %v is not read; SNAPPY, GZIP, BROTLI, ZSTD and LZ4_RAW are", c)
}

var errSize = errors.New("a page is not as long as it declares")

func unsnappy(to, from []byte) error {
	n, err := snappy.DecodedLen(from)
	if err != nil {
		return err
	}
	if n != len(to) {
		return errSize
	}
	_, err = snappy.Decode(to, from)
	return err
}

func unlz4(to, from []byte) error {
	n, err := lz4.UncompressBlock(from, to)
	if err == nil && n != len(to) {
		err = errSize
	}
	return err
}

// zstdDecoder serves all pages: what it decodes it puts where there is room, and nowhere else.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
})

func unzstd(to, from []byte) error {
	d, err := zstdDecoder()
	if err != nil {
		return err
	}
	out, err := d.DecodeAll(from, to[:0:len(to)])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || err == nil && len(out) != len(to) {
		err = errSize
	}
	return err
}

var gzips = sync.Pool{New: func() any { return new(gzip.Reader) }}

func ungzip(to, from []byte) error {
	r := gzips.Get().(*gzip.Reader)
	defer gzips.Put(r)
	if err := r.Reset(bytes.NewReader(from)); err != nil {
		return err
	}
	return fill(to, r)
}

var brotlis = sync.Pool{New: func() any { return brotli.NewReader(nil) }}

func unbrotli(to, from []byte) error {
	r := brotlis.Get().(*brotli.Reader)
	defer brotlis.Put(r)
	if err := r.Reset(bytes.NewReader(from)); err != nil {
		return err
	}
	return fill(to, r)
}

// fill reads as much as there is room for, which has to be all.
func fill(to []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, to); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			err = errSize
		}
		return err
	}
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case n > 0:
		return errSize
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}
