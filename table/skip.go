package table

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// lines are those of a text that are no rows of its table: titles, units, totals.
type lines struct {
	ranges [][2]int // first and last, from 1
	last   bool     // the last that is not blank
}

// CheckLines refuses a text that names no lines as Format.Skip does.
func CheckLines(text string) error {
	_, err := parseLines(text)
	return err
}

func parseLines(text string) (l lines, err error) {
	if text == "" {
		return l, nil
	}
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		if part == "last" {
			l.last = true
			continue
		}
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, errA := strconv.Atoi(from)
		b, errB := strconv.Atoi(to)
		if errA != nil || errB != nil || a < 1 || b < a {
			return l, fmt.Errorf("%s names no lines; give their numbers from 1, such as 1-2,4,last", Quote(part))
		}
		l.ranges = append(l.ranges, [2]int{a, b})
	}
	return l, nil
}

func (l *lines) has(line int) bool {
	for _, r := range l.ranges {
		if line >= r[0] && line <= r[1] {
			return true
		}
	}
	return false
}

// skipReader is a text with some of its lines empty, so that the others keep their numbers.
type skipReader struct {
	r     *bufio.Reader
	file  string
	skip  lines
	line  int
	open  bool   // the line has begun
	ready []byte // to be read
	held  []byte // the last line that is not blank, and what follows it
	err   error
}

// mostHeld is from where on a line is not kept back to see whether it is the last: no row is so long.
const mostHeld = 1 << 25

func (s *skipReader) Read(p []byte) (int, error) {
	// What a stream begins with is judged by its first line, which should have something in it.
	// Lines that have arrived are given at once, as the text itself would be: its dialect is judged by them.
	for s.err == nil && (len(bytes.TrimLeft(s.ready, "\n")) == 0 || len(s.ready) < len(p) && s.arrived()) {
		piece, err := s.r.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			s.err = err
		}
		if len(piece) > 0 {
			s.take(piece)
		}
		if s.err == io.EOF {
			s.err = s.beyond()
		}
	}
	if len(s.ready) == 0 {
		return 0, s.err
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

// arrived tells whether the next line can be read without waiting for it.
func (s *skipReader) arrived() bool {
	buffered, _ := s.r.Peek(s.r.Buffered())
	return bytes.IndexByte(buffered, '\n') >= 0
}

// beyond is the end of the text, or an error about lines that were named and are after it.
func (s *skipReader) beyond() error {
	for _, r := range s.skip.ranges {
		if r[0] > s.line {
			return &Error{File: s.file, Msg: fmt.Sprintf("line %d is to be left out, and the file has %s", r[0], Plural(s.line, "line")), Fix: "name lines of the file, from 1, or last"}
		}
	}
	return io.EOF
}

// take goes on by a line, or by a part of one.
func (s *skipReader) take(piece []byte) {
	begins := !s.open
	if begins {
		s.line++
	}
	ends := bytes.HasSuffix(piece, []byte("\n"))
	s.open = !ends
	blank := len(bytes.Trim(piece, " \t\r\n,;|\"")) == 0 // a line that is left out by its number may be the last
	if s.skip.has(s.line) {
		piece = piece[len(piece):]
		if ends {
			piece = []byte("\n")
		}
	}
	if !s.skip.last {
		s.ready = append(s.ready, piece...)
		return
	}
	if begins && !blank || len(s.held) > mostHeld {
		s.ready, s.held = append(s.ready, s.held...), s.held[:0]
	}
	s.held = append(s.held, piece...)
}

// Without is the table without some lines of its text; see Format.Skip.
func (t *Table) Without(skip string) (*Table, error) {
	l, err := parseLines(skip)
	if err != nil {
		return nil, err
	}
	var rows []int
	for i := range t.n {
		if !l.has(t.Line(i)) && !(l.last && i == t.n-1) {
			rows = append(rows, i)
		}
	}
	return t.Subset(rows), nil
}

// SureDecimal is the table as if its decimal separator had been given, and whether it was in doubt.
func (t *Table) SureDecimal() (*Table, bool) {
	if t.dialect.sure {
		return t, false
	}
	sure := *t
	sure.dialect.sure, sure.dialect.doubt = true, nil
	return &sure, true
}

// skipped is the text without the lines that are no rows. A header that is no line of the file stands
// above the first.
func skipped(text io.Reader, file string, f *Format) (io.Reader, error) {
	l, err := parseLines(f.Skip)
	if err != nil || f.Skip == "" {
		return text, err
	}
	s := &skipReader{r: bufio.NewReaderSize(text, sampleBytes), file: file, skip: l}
	if f.Header == HeaderAbove {
		s.line = -1
	}
	return s, nil
}

// skipAbove is the way to leave out all lines above one.
func skipAbove(line int) Way {
	value := "1"
	if line > 2 {
		value = fmt.Sprintf("1-%d", line-1)
	}
	return Way{Option: WaySkip, Value: value, Meaning: "a title, or comments"}
}
