package parquet

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The metadata of a file and the headers of pages are structures in Thrift's compact
// protocol. The library makes room for as many elements of a list as the file says there
// are, and follows structures within structures however deep they go. So they are gone
// through once before, by their form alone.

// mostNesting is how deep groups of columns, and structures of the protocol, may lie in
// each other.
const mostNesting = 100

// What the library makes of a byte of metadata, of an element of a list and of a structure
// takes at most so many bytes of memory; the largest structure is a ColumnChunk.
const (
	thriftByteBytes   = 2
	thriftItemBytes   = 32
	thriftStructBytes = 1 << 10
)

var (
	errFooter = errors.New("its metadata cannot be right")
	errShort  = errors.New("a page without a whole header")
)

// readFooter refuses metadata that declares what is not there, or takes more than so many
// bytes of memory.
func readFooter(footer []byte, memory int64) (meta *format.FileMetaData, encrypted bool, err error) {
	f := &footerReader{rest: footer}
	err = f.structure(0, func(field int, kind byte) error {
		const schema, encryption = 2, 8
		if field == schema && kind == thriftList {
			return f.schema()
		}
		encrypted = encrypted || field == encryption
		return f.skip(kind, 1)
	})
	if err == nil {
		err = f.checkTree()
	}
	if err == nil && f.memory+thriftByteBytes*int64(len(footer)) > memory {
		err = errBudget
	}
	if err != nil || encrypted {
		if errors.Is(err, errShort) {
			err = errFooter
		}
		return nil, encrypted, err
	}
	meta = new(format.FileMetaData)
	return meta, false, decode(footer[:len(footer)-len(f.rest)], meta)
}

// readHeader reads the header of a page, and how long it is; errShort means that it goes on
// behind the bytes that are given.
func readHeader(b []byte) (header *format.PageHeader, size int, err error) {
	f := &footerReader{rest: b}
	if err := f.skip(thriftStruct, 0); err != nil {
		return nil, 0, err
	}
	size = len(b) - len(f.rest)
	header = new(format.PageHeader)
	return header, size, decode(b[:size], header)
}

// decode has the library read a structure that was gone through.
func decode(b []byte, to any) error {
	err := thrift.Unmarshal(new(thrift.CompactProtocol), b, to)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errFooter
	}
	return err
}

// The kinds of values of the protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

type footerReader struct {
	rest     []byte
	children []int32 // of each element of the schema
	memory   int64   // that what was read takes, beside its bytes
}

// uvarint reads an unsigned number.
func (f *footerReader) uvarint() (uint64, error) {
	x, n := binary.Uvarint(f.rest)
	if n == 0 {
		return 0, errShort
	}
	if n < 0 {
		return 0, errFooter
	}
	f.rest = f.rest[n:]
	return x, nil
}

func (f *footerReader) drop(n uint64) error {
	if n > uint64(len(f.rest)) {
		return errShort
	}
	f.rest = f.rest[n:]
	return nil
}

func (f *footerReader) next() (byte, error) {
	if len(f.rest) == 0 {
		return 0, errShort
	}
	b := f.rest[0]
	f.rest = f.rest[1:]
	return b, nil
}

// structure hands the fields of a structure over; use has to read each.
func (f *footerReader) structure(depth int, use func(field int, kind byte) error) error {
	if depth > mostNesting {
		return errFooter
	}
	f.memory += thriftStructBytes
	field := 0
	for {
		head, err := f.next()
		if err != nil {
			return err
		}
		kind := head & 0x0F
		if kind == 0 {
			return nil
		}
		if step := int(head >> 4); step > 0 {
			field += step
		} else {
			x, err := f.uvarint()
			if err != nil {
				return err
			}
			field = int(int16(x>>1) ^ -int16(x&1))
		}
		if err := use(field, kind); err != nil {
			return err
		}
	}
}

// list reads how many elements a list has, which take a byte each at least.
func (f *footerReader) list() (n uint64, kind byte, err error) {
	head, err := f.next()
	if err != nil {
		return 0, 0, err
	}
	if n, kind = uint64(head>>4), head&0x0F; n == 15 {
		if n, err = f.uvarint(); err != nil {
			return 0, 0, err
		}
	}
	if n > uint64(len(f.rest)) {
		return 0, 0, errShort
	}
	f.memory += int64(n) * thriftItemBytes
	return n, kind, nil
}

// schema reads the elements of the schema for the number of their children.
func (f *footerReader) schema() error {
	n, kind, err := f.list()
	if err != nil || kind != thriftStruct {
		return errFooter
	}
	for range n {
		children := int32(0)
		err := f.structure(1, func(field int, kind byte) error {
			const numChildren = 5
			if field != numChildren || kind != thriftI32 {
				return f.skip(kind, 2)
			}
			x, err := f.uvarint()
			children = int32(uint32(x)>>1) ^ -int32(x&1)
			return err
		})
		if err != nil {
			return err
		}
		f.children = append(f.children, children)
	}
	return nil
}

// checkTree refuses groups of more columns than there are, and groups too deep in each
// other.
func (f *footerReader) checkTree() error {
	var open []int32 // fields to come of the groups around
	for k, n := range f.children {
		if n < 0 || int(n) > len(f.children)-k-1 {
			return errFooter
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if n > 0 {
			open = append(open, n)
		}
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) > mostNesting {
			return errFooter
		}
	}
	return nil
}

// skip passes over a value.
func (f *footerReader) skip(kind byte, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse:
		return nil
	case thriftByte:
		return f.drop(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := f.uvarint()
		return err
	case thriftDouble:
		return f.drop(8)
	case thriftUUID:
		return f.drop(16)
	case thriftBinary:
		n, err := f.uvarint()
		if err != nil {
			return err
		}
		return f.drop(n)
	case thriftList, thriftSet:
		if depth > mostNesting {
			return errFooter
		}
		n, kind, err := f.list()
		for i := uint64(0); i < n && err == nil; i++ {
			if kind == thriftTrue || kind == thriftFalse {
				err = f.drop(1) // in lists they take a byte
				continue
			}
			err = f.skip(kind, depth+1)
		}
		return err
	case thriftMap:
		return f.skipMap(depth)
	case thriftStruct:
		return f.structure(depth, func(_ int, kind byte) error { return f.skip(kind, depth+1) })
	}
	return errFooter
}

func (f *footerReader) skipMap(depth int) error {
	n, err := f.uvarint()
	if err != nil || n == 0 {
		return err
	}
	if depth > mostNesting {
		return errFooter
	}
	if n > uint64(len(f.rest)) {
		return errShort
	}
	f.memory += int64(n) * 2 * thriftItemBytes
	kinds, err := f.next()
	for i := uint64(0); i < n && err == nil; i++ {
		if err = f.skip(kinds>>4, depth+1); err == nil {
			err = f.skip(kinds&0x0F, depth+1)
		}
	}
	return err
}
