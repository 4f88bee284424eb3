package safetensors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lossep/lossep/internal/tasks"
)

const (
	metadataKey = "__metadata__"
	checksumKey = "sha256"
	// chunk is how many bytes of numbers are converted at a time.
	chunk = 64 << 10
)

// blank stands for the checksum while it is computed.
var blank = strings.Repeat("0", 2*sha256.Size)

// Write writes the file, with its checksum. Equal contents give equal bytes, in
// whatever order the tensors are listed. It returns an *Error, having written
// nothing, when the contents cannot be stored, and otherwise the error of w.
func Write(w io.Writer, f *File) error {
	tensors, head, err := laidOut(f)
	if err != nil {
		return err
	}
	// The checksum goes before the numbers it covers, so they are gone through twice.
	if err := sign(head, tensors); err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	return encodeAll(w, tensors)
}

// laidOut is the tensors in their order and what goes before them, with a blank checksum.
func laidOut(f *File) ([]Tensor, []byte, error) {
	tensors := slices.Clone(f.Tensors)
	slices.SortStableFunc(tensors, func(a, b Tensor) int { return cmp.Compare(a.Name, b.Name) })
	head, err := header(tensors, f.Metadata)
	return tensors, head, err
}

// sign puts the checksum in its place.
func sign(head []byte, tensors []Tensor) error {
	sum := sha256.New()
	sum.Write(head)
	if err := encodeAll(sum, tensors); err != nil {
		return err
	}
	// The metadata come first and the blank digest is their first value.
	at := bytes.Index(head, []byte(blank))
	hex.Encode(head[at:], sum.Sum(nil))
	return nil
}

func encodeAll(w io.Writer, tensors []Tensor) error {
	for i := range tensors {
		if err := tensors[i].encode(w); err != nil {
			return err
		}
	}
	return nil
}

// header is the length and the JSON of sorted tensors, with a blank checksum.
func header(tensors []Tensor, metadata map[string]string) ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, 8)) // the length, known at the end
	fmt.Fprintf(&b, `{%q:{%q:%q`, metadataKey, checksumKey, blank)
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		value := metadata[key]
		switch {
		case key == checksumKey:
			return nil, &Error{Kind: Reserved, Msg: fmt.Sprintf("the metadata key %q is the format's own; use another", key)}
		case !utf8.ValidString(key) || !utf8.ValidString(value):
			return nil, &Error{Kind: Reserved, Msg: fmt.Sprintf("the metadata entry %s is not UTF-8 text", quote(key))}
		}
		b.WriteByte(',')
		writeJSON(&b, key)
		b.WriteByte(':')
		writeJSON(&b, value)
	}
	b.WriteByte('}')
	offset := 0
	for i, t := range tensors {
		if err := t.check(); err != nil {
			return nil, err
		}
		switch {
		case t.Name == metadataKey:
			return nil, &Error{Kind: Reserved, Tensor: t.Name, Msg: "has a name that is the format's own; use another"}
		case !utf8.ValidString(t.Name):
			return nil, &Error{Kind: Reserved, Tensor: t.Name, Msg: "has a name that is not UTF-8 text"}
		case i > 0 && t.Name == tensors[i-1].Name:
			return nil, &Error{Kind: Duplicate, Tensor: t.Name, Msg: "occurs twice; give each tensor its own name"}
		}
		end := offset + width*(len(t.Floats)+len(t.Ints))
		b.WriteByte(',')
		writeJSON(&b, t.Name)
		b.WriteByte(':')
		writeJSON(&b, entry{t.DType, append([]int{}, t.Shape...), [2]int{offset, end}})
		offset = end
	}
	b.WriteByte('}')
	for b.Len()%width != 0 {
		b.WriteByte(' ')
	}
	size := b.Len() - 8
	if size > DefaultMaxHeader {
		return nil, &Error{Kind: HeaderSize, Msg: fmt.Sprintf("names and metadata take %d bytes, more than the %d that are read back; store the bulk as tensors", size, DefaultMaxHeader)}
	}
	head := b.Bytes()
	binary.LittleEndian.PutUint64(head, uint64(size))
	return head, nil
}

// entry is the header's line about one tensor.
type entry struct {
	DType   DType  `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// writeJSON writes a string or an entry, which cannot fail.
func writeJSON(b *bytes.Buffer, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	b.Write(text)
}

// encode writes the numbers.
func (t *Tensor) encode(w io.Writer) error {
	buffer := make([]byte, min(chunk, width*(len(t.Floats)+len(t.Ints))))
	if err := encode(w, t.Floats, math.Float64bits, buffer); err != nil {
		return err
	}
	return encode(w, t.Ints, func(v int64) uint64 { return uint64(v) }, buffer)
}

// encode writes numbers by way of a buffer.
func encode[T any](w io.Writer, numbers []T, bits func(T) uint64, buffer []byte) error {
	for block := range slices.Chunk(numbers, chunk/width) {
		for i, v := range block {
			binary.LittleEndian.PutUint64(buffer[i*width:], bits(v))
		}
		if _, err := w.Write(buffer[:len(block)*width]); err != nil {
			return err
		}
	}
	return nil
}

// WriteFile writes to a path all or nothing: a temporary file in the same directory
// is written, flushed to the disk and renamed. On failure, a full disk included, what
// was at the path stays as it was and the temporary file is removed. A symbolic link
// is followed; something that is not a regular file is refused.
func WriteFile(path string, f *File) error {
	return replace(path, func(to *os.File) error {
		tensors, head, err := laidOut(f)
		if err != nil {
			return err
		}
		// What the checksum covers is written while it is found.
		both := []func() error{
			func() error { return sign(head, tensors) },
			func() error { return encodeAll(io.NewOffsetWriter(to, int64(len(head))), tensors) },
		}
		var errs [2]error
		tasks.For(len(both), func(i int) { errs[i] = both[i]() })
		if err := cmp.Or(errs[0], errs[1]); err != nil {
			return err
		}
		_, err = to.WriteAt(head, 0)
		return err
	})
}

// replace gives the path what write writes, once it is safely written.
func replace(path string, write func(*os.File) error) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	before, absent := os.Stat(path)
	if absent == nil && !before.Mode().IsRegular() {
		return fmt.Errorf("safetensors: %s is not a regular file; give the path of a file to write", path)
	}
	temporary, err := createBeside(path)
	if at := new(fs.PathError); errors.As(err, &at) {
		return &fs.PathError{Op: at.Op, Path: path, Err: at.Err}
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			// The first error is the one to tell; closing twice does no harm.
			_ = temporary.Close()
			_ = os.Remove(temporary.Name())
			err = notWritten(path, err)
		}
	}()
	if absent == nil { // what was private stays so
		if err := temporary.Chmod(before.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := write(temporary); err != nil {
		return err
	}
	if err := temporary.Sync(); err != nil {
		return err
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

// notWritten says why a path has not got what was written. The name of the temporary file
// says nothing to anybody.
func notWritten(path string, err error) error {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		err = at.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("%s was not written: %w", path, err)
}

// createBeside makes a new file in the directory of path, with the permissions that
// path itself would get from the user's mask.
func createBeside(path string) (*os.File, error) {
	const attempts = 1000 // leftovers of killed processes with the same number
	var err error
	for i := range attempts {
		var f *os.File
		name := fmt.Sprintf(".safetensors-%d-%d.tmp", os.Getpid(), i)
		f, err = os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !os.IsExist(err) {
			return f, err
		}
	}
	return nil, err
}
