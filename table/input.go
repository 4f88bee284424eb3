package table

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/lossep/lossep/internal/tasks"
)

// sampleBytes is how much of the text its dialect is judged by.
const sampleBytes = 64 << 10

// input is the text of a table: uncompressed, in UTF-8, bounded, and given up when its
// context ends. sample is what it begins with.
type input struct {
	file     string
	text     io.Reader
	sample   []byte
	complete bool     // the sample is all there is
	latin    bool     // it was not UTF-8 and is taken for Latin-1
	utf8     Encoding // what was found or given
}

// openInput recognises compression and encoding, and turns away what is no text. A
// stream is judged by what arrives up to its first line end, so that the first rows of
// a slow pipe are not held up.
func openInput(ctx context.Context, r io.Reader, file string, f *Format, stream bool) (*input, error) {
	in := &input{file: file, utf8: f.Encoding}
	raw := bufio.NewReaderSize(interruptible(ctx, r), sampleBytes)
	plain, err := decompress(raw, file)
	if err != nil {
		return nil, err
	}
	head, complete := peekSample(plain, stream)
	if err := namedBinary(head, file); err != nil {
		return nil, err
	}
	if in.utf8 == "" {
		in.utf8 = guessEncoding(head, complete)
		in.latin = in.utf8 == Latin1
	}
	text := io.Reader(plain)
	switch in.utf8 {
	case UTF16:
		text = utf16Text(plain)
	case Latin1:
		text = charmap.Windows1252.NewDecoder().Reader(plain)
	default:
		if bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")) {
			_, _ = plain.Discard(3) // just seen
		}
	}
	if f.Limits.Bytes > 0 {
		text = &limitedReader{r: text, file: file, most: f.Limits.Bytes}
	}
	if text, err = skipped(text, file, f); err != nil {
		return nil, err
	}
	final := bufio.NewReaderSize(text, sampleBytes)
	in.text = final
	in.sample, in.complete = peekSample(final, stream)
	return in, nil
}

// utf16Text is UTF-16 as UTF-8: in the order of the byte-order mark, or in that in which the zero
// bytes of Latin letters make sense.
func utf16Text(r *bufio.Reader) io.Reader {
	order := unicode.LittleEndian
	if head, _ := r.Peek(1); len(head) == 1 && head[0] == 0 {
		order = unicode.BigEndian
	}
	return unicode.UTF16(order, unicode.UseBOM).NewDecoder().Reader(r)
}

// Compressed tells whether a file that begins so is decompressed as it is read.
func Compressed(begin []byte) bool { return isGzip(begin) || isBzip2(begin) }

func isGzip(begin []byte) bool { return bytes.HasPrefix(begin, []byte{0x1f, 0x8b}) }

func isBzip2(begin []byte) bool {
	return len(begin) >= 4 && bytes.HasPrefix(begin, []byte("BZh")) && begin[3] >= '1' && begin[3] <= '9'
}

// decompress looks for the magic bytes of gzip and bzip2.
func decompress(plain *bufio.Reader, file string) (*bufio.Reader, error) {
	magic, _ := plain.Peek(4)
	switch {
	case isGzip(magic):
		unzipped, err := gzip.NewReader(plain)
		if err != nil {
			return nil, &Error{File: file, Msg: "broken gzip data: " + err.Error(), Fix: "compress the file again", Err: err}
		}
		return bufio.NewReaderSize(unzipped, sampleBytes), nil
	case isBzip2(magic):
		return bufio.NewReaderSize(bzip2.NewReader(plain), sampleBytes), nil
	}
	return plain, nil
}

// peekSample looks ahead without consuming and reports whether the sample is
// all there is. For a stream it stops as soon as it has a line end.
func peekSample(r *bufio.Reader, stream bool) (sample []byte, complete bool) {
	// Peeking one byte beyond what is buffered makes the buffer read once more.
	for want := 1; want <= r.Size(); want = r.Buffered() + 1 {
		if _, err := r.Peek(want); err != nil {
			sample, _ = r.Peek(r.Buffered())
			return sample, errors.Is(err, io.EOF)
		}
		sample, _ = r.Peek(r.Buffered())
		if stream && bytes.IndexByte(sample, '\n') >= 0 {
			break
		}
	}
	return sample, false
}

// binaries are files that people give in place of text, by the bytes they begin with.
var binaries = []struct{ magic, name, fix string }{
	{"PK\x03\x04", "a zip archive or a spreadsheet of several sheets (.xlsx, .ods)", "save the sheet as CSV, or unpack the archive"},
	{"\xD0\xCF\x11\xE0", "an old Excel workbook (.xls)", "save the sheet as CSV"},
	{"PAR1", "Parquet", "give the file itself and not a pipe, for it is read from its end"},
	{"ARROW1", "an Arrow or Feather file", "write it as Parquet or CSV"},
	{"ORC", "an ORC file", "write it as Parquet or CSV"},
	{"Obj\x01", "an Avro file", "write it as Parquet or CSV"},
	{"SQLite format 3", "an SQLite database", "export the table as CSV"},
	{"\x89HDF", "an HDF5 file", "write the table as Parquet or CSV"},
	{"$FL2", "an SPSS file", "export it as CSV"},
	{"<stata_dta>", "a Stata file", "export it as CSV"},
	{"RDX", "an R data file", "write the table with write.csv"},
	{"\x80\x04\x95", "a Python pickle", "write the table with to_csv or to_parquet"},
	{"\x28\xB5\x2F\xFD", "zstd-compressed", "uncompress it (zstd -d), or use gzip"},
	{"\xFD7zXZ", "xz-compressed", "uncompress it (xz -d), or use gzip"},
	{"7z\xBC\xAF", "a 7-zip archive", "unpack it"},
	{"%PDF", "a PDF document", "give the table as CSV"},
	{"\x89PNG", "a picture", "give the table as CSV"},
}

// namedBinary says what a file is that is no text.
func namedBinary(head []byte, file string) error {
	for _, b := range binaries {
		if bytes.HasPrefix(head, []byte(b.magic)) {
			if b.magic == "PK\x03\x04" && bytes.Contains(head, []byte("xl/")) {
				b.name, b.fix = "an Excel workbook (.xlsx)", "save the sheet as CSV"
			}
			return &Error{File: file, Msg: "this is " + b.name + ", not text", Fix: b.fix}
		}
	}
	first := strings.ToLower(string(bytes.TrimSpace(head[:min(len(head), 512)])))
	switch {
	case strings.HasPrefix(first, "<!doctype html"), strings.HasPrefix(first, "<html"), strings.HasPrefix(first, "<?xml"):
		return &Error{File: file, Msg: "this is a web page or XML, not a table of text", Fix: "download or export the table as CSV"}
	case strings.HasPrefix(first, "{\""), strings.HasPrefix(first, "[{"), strings.HasPrefix(first, "[["), strings.HasPrefix(first, "{\n"):
		return &Error{File: file, Msg: "this is JSON, not a table of text", Fix: "name a file of one object a line .jsonl, uncompressed, or write the rows as CSV or Parquet"}
	}
	return nil
}

// guessEncoding looks for byte-order marks, for the zero bytes of UTF-16 and for bytes
// that cannot be UTF-8.
func guessEncoding(head []byte, complete bool) Encoding {
	if bytes.HasPrefix(head, []byte("\xFF\xFE")) || bytes.HasPrefix(head, []byte("\xFE\xFF")) {
		return UTF16
	}
	// Text of mostly Latin letters has a zero in every second byte of UTF-16.
	if n := len(head) &^ 1; n >= 4 {
		zeros := [2]int{}
		for i, b := range head[:n] {
			if b == 0 {
				zeros[i&1]++
			}
		}
		if max(zeros[0], zeros[1]) > n*2/5 && min(zeros[0], zeros[1]) == 0 {
			return UTF16
		}
	}
	if !complete { // the sample may end within a character
		for k := 1; k <= min(3, len(head)); k++ {
			if c := head[len(head)-k]; utf8.RuneStart(c) {
				if c >= utf8.RuneSelf {
					head = head[:len(head)-k]
				}
				break
			}
		}
	}
	if utf8.Valid(head) || bytes.IndexByte(head, 0) >= 0 {
		return UTF8
	}
	// Latin-1 is believed where what is not ASCII is a letter or a usual sign, and rare.
	high := 0
	for _, b := range head {
		if b < utf8.RuneSelf {
			continue
		}
		high++
		if strings.IndexByte("\x81\x8D\x8F\x90\x9D", b) >= 0 { // which Windows-1252 leaves out
			return UTF8
		}
	}
	if high*3 > len(head) {
		return UTF8
	}
	return Latin1
}

// limitedReader fails beyond a number of bytes.
type limitedReader struct {
	r    io.Reader
	file string
	most int64
	used int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.used += int64(n); l.used > l.most {
		return 0, tooManyBytes(l.file, l.most)
	}
	return n, err
}

// interruptible gives up a Read that does not come back when the context ends, as one
// from a terminal or a pipe does not. What the reader below then does is nobody's
// business any more.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	if ctx.Done() == nil {
		return r
	}
	i := &interruptibleReader{ctx: ctx, parts: make(chan part), free: make(chan []byte, 2)}
	i.free <- make([]byte, sampleBytes)
	i.free <- make([]byte, sampleBytes)
	go i.pump(r)
	return i
}

// part is what one Read gave, and the buffer it is in.
type part struct {
	buffer []byte
	n      int
	err    error
}

type interruptibleReader struct {
	ctx   context.Context
	parts chan part
	free  chan []byte
	now   part // not yet consumed from used on
	used  int
}

// pump reads ahead by two buffers.
func (i *interruptibleReader) pump(r io.Reader) {
	for {
		var p part
		select {
		case p.buffer = <-i.free:
		case <-i.ctx.Done():
			return
		}
		for p.n == 0 && p.err == nil {
			p.err = tasks.Try(func() (err error) {
				p.n, err = r.Read(p.buffer)
				return err
			})
		}
		select {
		case i.parts <- p:
		case <-i.ctx.Done():
			return
		}
		if p.err != nil {
			return
		}
	}
}

func (i *interruptibleReader) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, context.Cause(i.ctx)
	}
	for i.used == i.now.n {
		if i.now.err != nil {
			return 0, i.now.err
		}
		if i.now.buffer != nil {
			i.free <- i.now.buffer // has room: there are no more buffers than that
		}
		select {
		case i.now = <-i.parts:
			i.used = 0
		case <-i.ctx.Done():
			i.now, i.used = part{}, 0
			return 0, context.Cause(i.ctx)
		}
	}
	n := copy(p, i.now.buffer[i.used:i.now.n])
	i.used += n
	return n, nil
}

// cannotRead passes a failure of the reader below on, with its place.
func cannotRead(file string, line int, err error) error {
	var located *Error
	if errors.As(err, &located) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{File: file, Line: line, Msg: fmt.Sprintf("cannot read on: %v", err), Err: err}
}
