package safetensors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"

	"github.com/lossep/lossep/internal/regular"
)

// DefaultMaxHeader is the longest header, in bytes, that is read unless Options say
// otherwise, and that is written.
const DefaultMaxHeader = 16 << 20

// Options say what Read accepts. The zero value is ready to use.
type Options struct {
	// MaxHeader is the longest header in bytes; 0 stands for DefaultMaxHeader.
	MaxHeader int
	// MaxBytes is the most bytes of a file, its header included; 0 stands for no bound.
	MaxBytes int64
	// RequireChecksum refuses files without a checksum, which other programs write. A
	// checksum that is there is always verified.
	RequireChecksum bool
}

// Read reads a whole file from r, to its end. Whatever is wrong with the contents is
// an *Error; a failure of r itself is returned as it is.
//
// Memory grows with the bytes that arrive and not with those that are promised.
func Read(r io.Reader, o Options) (*File, error) { return read(r, -1, o) }

// ReadFile reads the file at path, which must be a regular one. Because its size is known
// beforehand, tensors are allocated once, at their size.
func ReadFile(path string, o Options) (*File, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return read(f, info.Size(), o)
}

// read reads a file of the size given, or of unknown size if that is −1.
func read(r io.Reader, size int64, o Options) (*File, error) {
	if o.MaxHeader == 0 {
		o.MaxHeader = DefaultMaxHeader
	}
	head, err := readHead(r, o.MaxHeader)
	if err != nil {
		return nil, err
	}
	f, err := parseHeader(head[8:])
	if err != nil {
		return nil, err
	}
	end, err := f.place()
	if err != nil {
		return nil, err
	}
	if o.MaxBytes > 0 && int64(end) > o.MaxBytes-int64(len(head)) {
		return nil, &Error{Kind: TooLarge, Msg: fmt.Sprintf("the file has %d bytes, more than the %d that may be read", int64(len(head))+int64(end), o.MaxBytes)}
	}
	// A known size settles at once whether the numbers are all there.
	if size >= 0 && size-int64(len(head)) < int64(end) {
		return nil, &Error{Kind: Truncated, Msg: fmt.Sprintf("the file has %d bytes of numbers where its header promises %d: it was cut short; copy or write it again", size-int64(len(head)), end)}
	}
	sum := sha256.New()
	input := &source{r: r, buffer: make([]byte, min(chunk, end)), sized: size >= 0}
	switch {
	case f.file.Checksum != "":
		sum.Write(bytes.ReplaceAll(head, []byte(f.file.Checksum), []byte(blank)))
		input.r = io.TeeReader(r, sum)
	case o.RequireChecksum:
		return nil, &Error{Kind: NoChecksum, Msg: "the file has no checksum, so another program wrote it; its contents cannot be trusted to be whole"}
	}
	for i := range f.file.Tensors {
		if err := input.numbers(&f.file.Tensors[i]); err != nil {
			return nil, err
		}
	}
	if n, err := io.ReadFull(r, make([]byte, 1)); n > 0 {
		return nil, &Error{Kind: Trailing, Msg: "bytes follow the last tensor: the file was appended to or its header is damaged; copy or write it again"}
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return f.verified(sum)
}

// verified compares the checksum of what was read.
func (l *layout) verified(sum hash.Hash) (*File, error) {
	if want := l.file.Checksum; want != "" {
		if got := hex.EncodeToString(sum.Sum(nil)); got != want {
			return nil, &Error{Kind: Checksum, Msg: fmt.Sprintf("the contents do not match their checksum (%s…, stored %s…): the file was damaged or edited; copy or write it again", got[:8], want[:8])}
		}
	}
	return l.file, nil
}

// readHead reads the length and the header, as they stand in the file.
func readHead(r io.Reader, most int) ([]byte, error) {
	length := make([]byte, 8)
	if n, err := io.ReadFull(r, length); err != nil {
		return nil, short(err, "", fmt.Sprintf("the file has %d bytes, too few to be one of this format", n))
	}
	size := binary.LittleEndian.Uint64(length)
	switch {
	case size > uint64(most):
		return nil, &Error{Kind: HeaderSize, Msg: fmt.Sprintf("the header claims %d bytes, more than the limit of %d: this is not a safetensors file, or a damaged one", size, most)}
	case size == 0 || size%width != 0:
		return nil, &Error{Kind: HeaderSize, Msg: fmt.Sprintf("the header claims %d bytes, not a positive multiple of %d: this is not a safetensors file, or one whose numbers are not aligned", size, width)}
	}
	var head bytes.Buffer
	head.Write(length)
	n, err := io.CopyN(&head, r, int64(size))
	if err != nil {
		return nil, short(err, "", fmt.Sprintf("the file ends %d bytes into a header of %d: it was cut short; copy or write it again", n, size))
	}
	return head.Bytes(), nil
}

// short turns the end of the file into an *Error and leaves other errors alone.
func short(err error, tensor, msg string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Kind: Truncated, Tensor: tensor, Msg: msg, Err: err}
	}
	return err
}

// place checks that the tensors lie end to end, puts them in the order of the file and
// gives the number of bytes they take.
func (l *layout) place() (int, error) {
	tensors, spans := l.file.Tensors, l.spans
	// An empty tensor may share its place with the one after it: it goes first.
	slices.SortStableFunc(tensors, func(a, b Tensor) int {
		x, y := spans[a.Name], spans[b.Name]
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
	})
	end := 0
	for _, t := range tensors {
		from, to := spans[t.Name][0], spans[t.Name][1]
		n, ok := elements(t.Shape)
		fault := ""
		switch {
		case !ok:
			return 0, &Error{Kind: Shape, Tensor: t.Name, Msg: fmt.Sprintf("has the impossible shape %v", t.Shape)}
		case to < from:
			fault = "end before they begin"
		case to-from != width*n:
			return 0, &Error{Kind: Shape, Tensor: t.Name, Msg: fmt.Sprintf("has shape %v, which takes %d bytes, and offsets %d to %d, which hold %d", t.Shape, width*n, from, to, to-from)}
		case from%width != 0:
			fault = "are not aligned to eight bytes"
		case from < end:
			fault = "overlap those of another tensor"
		case from > end:
			fault = fmt.Sprintf("leave a gap after byte %d", end)
		}
		if fault != "" {
			return 0, &Error{Kind: Offsets, Tensor: t.Name, Msg: fmt.Sprintf("has offsets %d to %d, which %s", from, to, fault)}
		}
		end = to
	}
	return end, nil
}

// source reads numbers a chunk at a time.
type source struct {
	r      io.Reader
	buffer []byte
	sized  bool // the file is known to be long enough
}

// numbers reads those of one tensor. Only if the file is known to hold them are they
// given all their memory before they have arrived.
func (s *source) numbers(t *Tensor) error {
	left, _ := elements(t.Shape)
	room := left
	if !s.sized {
		room = min(left, chunk/width)
	}
	if t.DType == F64 {
		t.Floats = make([]float64, 0, room)
	} else {
		t.Ints = make([]int64, 0, room)
	}
	for left > 0 {
		block := s.buffer[:min(len(s.buffer), left*width)]
		if _, err := io.ReadFull(s.r, block); err != nil {
			return short(err, t.Name, "is incomplete: the file was cut short; copy or write it again")
		}
		left -= len(block) / width
		for ; len(block) > 0; block = block[width:] {
			bits := binary.LittleEndian.Uint64(block)
			if t.DType == F64 {
				t.Floats = append(t.Floats, math.Float64frombits(bits))
			} else {
				t.Ints = append(t.Ints, int64(bits))
			}
		}
	}
	return nil
}
