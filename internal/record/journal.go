package record

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/lossep/lossep/internal/regular"
)

// A journal is frames: the length of what is in one, its checksum, and then a schema, as JSON, or the decisions of
// a request, with the checksum of the schema that they are by. It stands before them, and again after every Interval, so
// that a schema that is damaged loses no more than that. A frame that was begun, or torn by a machine that lost its
// power, ends the journal; one that is damaged within it is passed over.
const (
	journalExtension = ".bin"
	frameHead        = 8
	rowsHead         = 1 + 4
	schemaMark       = 's'
	rowsMark         = 'r'
)

var checksums = crc32.MakeTable(crc32.Castagnoli)

// sealed fills the head of a frame in.
func sealed(frame []byte) []byte {
	binary.LittleEndian.PutUint32(frame, uint32(len(frame)-frameHead))
	binary.LittleEndian.PutUint32(frame[4:], crc32.Checksum(frame[frameHead:], checksums))
	return frame
}

// schemaFrame is a schema as it stands in a journal.
func schemaFrame(s *Schema) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // texts always can be written
	}
	return sealed(append(append(make([]byte, frameHead), schemaMark), text...))
}

// encoder writes batches in room that is used again.
type encoder struct {
	frame []byte
	cells [][]byte
	order []named // the members of a row as they stood in the one before: mostly they do again
	by    *Schema // of it
}

// named is the slot of a column as a row names it, −1 if it is not recorded.
type named struct {
	name string
	slot int
}

// batch is a batch as it stands in a journal: its time, and for each row the id, the action, the numbers and
// the cells of the columns, as JSON has them and empty where there is none.
func (e *encoder) batch(b *Batch) ([]byte, error) {
	to := append(append(e.frame[:0], make([]byte, frameHead)...), rowsMark)
	to = append(to, b.frame[4:frameHead]...)
	to = binary.AppendVarint(to, b.Time.Unix())
	n, values := 0, len(b.values())
	e.cells = append(e.cells[:0], make([][]byte, len(b.Columns))...)
	if e.by != b.Schema {
		e.by, e.order = b.Schema, e.order[:0]
	}
	at := 0 // of the row
	rowsOf(b.Body, func(name, value []byte) {
		if at == len(e.order) || e.order[at].name != string(name) {
			k, is := b.slot(name)
			if !is {
				k = -1
			}
			e.order = append(e.order[:at], named{string(name), k})
		}
		if k := e.order[at].slot; k >= 0 {
			e.cells[k] = value
		}
		at++
	}, func() {
		at = 0
		if n < len(b.Actions) {
			if n < len(b.IDs) && b.IDs[n] != "" {
				to = appendBytes(to, b.IDs[n])
			} else {
				to = appendBytes(to, b.Request+"-"+strconv.Itoa(n))
			}
			to = binary.AppendUvarint(to, uint64(b.Actions[n]))
			for _, p := range b.Values[n*values : (n+1)*values] {
				to = binary.LittleEndian.AppendUint64(to, math.Float64bits(p))
			}
			for _, cell := range e.cells {
				to = appendBytes(to, cell)
			}
		}
		n++
		clear(e.cells)
	})
	if e.frame = to; n != len(b.Actions) {
		return nil, fmt.Errorf("%d rows for %d decisions", n, len(b.Actions))
	}
	return sealed(to), nil
}

func appendBytes[T string | []byte](to []byte, part T) []byte {
	return append(binary.AppendUvarint(to, uint64(len(part))), part...)
}

// decided is a decision as a journal has it. It is valid until the next.
type decided struct {
	time   int64
	id     []byte
	action int
	values []float64
	cells  [][]byte
}

// frames hands over the schemas and decisions of a journal, and counts the places where it is damaged, which it goes
// past. A last frame that is incomplete, or zeros in its place, are of a process or machine that was stopped: no damage.
func frames(path string, schema func(*Schema), use func(*decided) error) (damaged int, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	j := &scan{file: f, end: info.Size(), in: bufio.NewReaderSize(f, 1<<16)}
	schemas := make(map[uint32]*Schema) // by their checksums
	var by *Schema                      // that was handed over last
	for {
		frame, err := j.next()
		if err == errDamaged {
			damaged++
			if err = j.resume(); err == nil {
				continue
			}
		}
		switch {
		case err == io.EOF:
			return damaged, nil
		case err != nil:
			return damaged, err
		case frame[0] == schemaMark:
			if sum := crc32.Checksum(frame, checksums); schemas[sum] == nil {
				schemas[sum] = new(Schema)
				if err := json.Unmarshal(frame[1:], schemas[sum]); err != nil {
					return damaged, err
				}
			}
		case frame[0] != rowsMark || len(frame) < rowsHead:
			return damaged, errForeign
		default:
			of := schemas[binary.LittleEndian.Uint32(frame[1:])]
			switch {
			case of == nil && damaged == 0:
				return damaged, errForeign
			case of == nil: // by a schema that is lost
				damaged++
				continue
			case of != by:
				by = of
				schema(by)
			}
			if err := eachOf(frame[rowsHead:], by, use); err != nil {
				return damaged, err
			}
		}
	}
}

var errForeign = errors.New("the journal is none of this program")

// scan reads a journal frame by frame.
type scan struct {
	file    *os.File
	in      *bufio.Reader // at the frame
	at, end int64
	room    []byte
}

var errDamaged = errors.New("the journal is damaged")

// next is what is in the frame that follows, valid until the next. For one that is damaged the error is errDamaged; the
// end, of a frame that is incomplete too, is io.EOF.
func (j *scan) next() ([]byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(j.in, head[:]); err != nil {
		return nil, ended(err)
	}
	size := int64(binary.LittleEndian.Uint32(head[:]))
	after := j.at + frameHead + size
	if size == 0 || after > j.end {
		return nil, j.damage(j.at, after > j.end)
	}
	j.room = append(j.room[:0], make([]byte, size)...)
	if _, err := io.ReadFull(j.in, j.room); err != nil {
		return nil, ended(err)
	}
	if crc32.Checksum(j.room, checksums) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, j.damage(after, false)
	}
	j.at = after
	return j.room, nil
}

// damage is errDamaged if there is more than zeros from a place on: another frame, where the one before is incomplete.
func (j *scan) damage(from int64, incomplete bool) error {
	if incomplete {
		if _, err := j.find(); err != nil {
			return err
		}
		return errDamaged
	}
	in := bufio.NewReader(io.NewSectionReader(j.file, from, j.end-from))
	for {
		if b, err := in.ReadByte(); err != nil {
			return err
		} else if b != 0 {
			return errDamaged
		}
	}
}

// resume goes to the frame after one that is damaged; where there is none the error is io.EOF.
func (j *scan) resume() error {
	at, err := j.find()
	if err != nil {
		return err
	}
	j.at = at
	if _, err := j.file.Seek(at, io.SeekStart); err != nil {
		return err
	}
	j.in.Reset(j.file)
	return nil
}

// find is where the next whole frame begins after a place. None is within another: the length of one below 16 MB has
// a byte of zero, which JSON does not.
func (j *scan) find() (int64, error) {
	in := bufio.NewReader(io.NewSectionReader(j.file, j.at+1, j.end-j.at-1))
	for at := j.at + 1; ; at++ {
		head, err := in.Peek(frameHead + 1)
		if err != nil {
			return 0, err
		}
		size, mark := int64(binary.LittleEndian.Uint32(head)), head[frameHead]
		if size > 0 && at+frameHead+size <= j.end && (mark == schemaMark || mark == rowsMark) {
			sum := crc32.New(checksums)
			if _, err := io.Copy(sum, io.NewSectionReader(j.file, at+frameHead, size)); err != nil {
				return 0, err
			}
			if sum.Sum32() == binary.LittleEndian.Uint32(head[4:]) {
				return at, nil
			}
		}
		if _, err := in.Discard(1); err != nil {
			return 0, err
		}
	}
}

// ended is io.EOF for the end of a file, within a frame too.
func ended(err error) error {
	if err == io.ErrUnexpectedEOF {
		return io.EOF
	}
	return err
}

// eachOf hands over the decisions of a frame.
func eachOf(frame []byte, by *Schema, use func(*decided) error) error {
	r := &reader{rest: frame}
	at, n := binary.Varint(frame)
	d := &decided{time: at, values: make([]float64, len(by.values())), cells: make([][]byte, len(by.Columns))}
	for r.rest = frame[max(n, 0):]; len(r.rest) > 0; {
		d.id, d.action = r.bytes(), int(r.number())
		for k := range d.values {
			d.values[k] = r.float()
		}
		for k := range d.cells {
			d.cells[k] = r.bytes()
		}
		if r.bad || n <= 0 || d.action < 0 || d.action >= max(1, len(by.Actions)) {
			return errForeign
		}
		if err := use(d); err != nil {
			return err
		}
	}
	return nil
}

// reader reads the parts of a frame; bad is that it ended too early.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	part := r.rest[:n]
	r.rest = r.rest[n:]
	return part
}

func (r *reader) number() uint64 {
	x, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, n = true, len(r.rest)
	}
	r.rest = r.rest[n:]
	return x
}

func (r *reader) bytes() []byte { return r.take(r.number()) }

func (r *reader) float() float64 {
	if part := r.take(8); part != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(part))
	}
	return 0
}
