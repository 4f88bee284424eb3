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
)

// A journal is frames: the length of what is in one, its checksum, and then a schema, as JSON, or the decisions of
// a request by the schema before it. A frame that was begun, or torn by a machine that lost its power, ends it.
const (
	journalExtension = ".bin"
	frameHead        = 8
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
}

// batch is a batch as it stands in a journal: its time, and for each row the id, the action, the probabilities and
// the cells of the columns, as JSON has them and empty where there is none.
func (e *encoder) batch(b *Batch) ([]byte, error) {
	to := append(append(e.frame[:0], make([]byte, frameHead)...), rowsMark)
	to = binary.AppendVarint(to, b.Time.Unix())
	n := 0
	e.cells = append(e.cells[:0], make([][]byte, len(b.Columns))...)
	rowsOf(b.Body, func(name, value []byte) {
		if k, is := b.slot(name); is {
			e.cells[k] = value
		}
	}, func() {
		if n < len(b.Actions) {
			if n < len(b.IDs) && b.IDs[n] != "" {
				to = appendBytes(to, b.IDs[n])
			} else {
				to = appendBytes(to, b.Request+"-"+strconv.Itoa(n))
			}
			to = binary.AppendUvarint(to, uint64(b.Actions[n]))
			for _, p := range b.Probabilities[n*len(b.Outcomes) : (n+1)*len(b.Outcomes)] {
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
	time          int64
	id            []byte
	action        int
	probabilities []float64
	cells         [][]byte
}

// frames hands over the schemas and decisions of a journal, as far as it is whole.
func frames(path string, schema func(*Schema), use func(*decided) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return err
	}
	in, left := bufio.NewReaderSize(f, 1<<16), info.Size()
	var head [frameHead]byte
	var room []byte
	var by *Schema
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return ended(err)
		}
		size := int64(binary.LittleEndian.Uint32(head[:]))
		if left -= frameHead + size; left < 0 || size == 0 {
			return nil
		}
		room = append(room[:0], make([]byte, size)...)
		if _, err := io.ReadFull(in, room); err != nil {
			return ended(err)
		}
		switch {
		case crc32.Checksum(room, checksums) != binary.LittleEndian.Uint32(head[4:]):
			return nil
		case room[0] == schemaMark:
			by = new(Schema)
			if err := json.Unmarshal(room[1:], by); err != nil {
				return err
			}
			schema(by)
		case by == nil || room[0] != rowsMark:
			return errors.New("the journal is none of this program")
		default:
			if err := eachOf(room[1:], by, use); err != nil {
				return err
			}
		}
	}
}

// ended is nil for the end of a file, within a frame too.
func ended(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// eachOf hands over the decisions of a frame.
func eachOf(frame []byte, by *Schema, use func(*decided) error) error {
	r := &reader{rest: frame}
	at, n := binary.Varint(frame)
	d := &decided{time: at, probabilities: make([]float64, len(by.Outcomes)), cells: make([][]byte, len(by.Columns))}
	for r.rest = frame[max(n, 0):]; len(r.rest) > 0; {
		d.id, d.action = r.bytes(), int(r.number())
		for k := range d.probabilities {
			d.probabilities[k] = r.float()
		}
		for k := range d.cells {
			d.cells[k] = r.bytes()
		}
		if r.bad || n <= 0 || d.action < 0 || d.action >= len(by.Actions) {
			return errors.New("the journal is none of this program")
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
