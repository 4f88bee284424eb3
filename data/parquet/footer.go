package parquet

import (
	"encoding/binary"
	"errors"
)

// The metadata of a file is a structure in Thrift's compact protocol. The library makes
// room for as many elements of a list, and for as many fields of a group of columns, as
// the file says there are, and follows groups within groups however deep they go. So it
// is gone through once before, by its form alone.

// mostNesting is how deep groups of columns, and structures of the protocol, may lie in
// each other.
const mostNesting = 100

var errFooter = errors.New("its metadata cannot be right")

// checkFooter refuses metadata that declares what is not there.
func checkFooter(footer []byte) error {
	f := &footerReader{rest: footer}
	err := f.structure(0, func(field int, kind byte) error {
		const schema = 2
		if field == schema && kind == thriftList {
			return f.schema()
		}
		return f.skip(kind, 1)
	})
	if err != nil {
		return err
	}
	return f.checkTree()
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
}

// uvarint reads an unsigned number.
func (f *footerReader) uvarint() (uint64, error) {
	x, n := binary.Uvarint(f.rest)
	if n <= 0 {
		return 0, errFooter
	}
	f.rest = f.rest[n:]
	return x, nil
}

func (f *footerReader) drop(n uint64) error {
	if n > uint64(len(f.rest)) {
		return errFooter
	}
	f.rest = f.rest[n:]
	return nil
}

func (f *footerReader) next() (byte, error) {
	if len(f.rest) == 0 {
		return 0, errFooter
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
		return 0, 0, errFooter
	}
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
	if n > uint64(len(f.rest)) || depth > mostNesting {
		return errFooter
	}
	kinds, err := f.next()
	for i := uint64(0); i < n && err == nil; i++ {
		if err = f.skip(kinds>>4, depth+1); err == nil {
			err = f.skip(kinds&0x0F, depth+1)
		}
	}
	return err
}
