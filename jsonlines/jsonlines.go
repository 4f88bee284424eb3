// Package jsonlines reads tables of one JSON object a line (.jsonl, .ndjson) as the text of a
// table, CSV in UTF-8 whose first row names the columns and whose others are the lines. Texts are
// read like cells of a file, null and names that an object lacks are missing cells, and objects
// and lists within an object are refused.
package jsonlines

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/table"
)

// Extensions are how names of such files end.
func Extensions() []string { return []string{".jsonl", ".ndjson"} }

const (
	maxLine    = 64 << 20 // bytes
	maxColumns = 1 << 14
)

// Table is the table in a file. The file is gone through once for the names of the columns, and
// once more as the text is read; closing it ends that. Name is used in messages.
func Table(ctx context.Context, name string, file io.ReadSeeker) (io.ReadCloser, error) {
	t := &lines{name: name, places: make(map[string]int)}
	err := t.objects(ctx, file, func(_ int, object []byte) error { return t.members(object, nil) })
	if err != nil {
		return nil, err
	}
	if len(t.columns) == 0 {
		return nil, &table.Error{File: name, Msg: "there is no JSON object with a member", Fix: "give one object a line, such as {\"age\": 31, \"job\": \"clerk\"}", Err: table.ErrNoRows}
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(tasks.Try(func() error { return t.write(ctx, w, file) })) }()
	return r, nil
}

type lines struct {
	name    string
	columns []string
	places  map[string]int
}

// objects goes over the lines that are not blank, with their numbers.
func (t *lines) objects(ctx context.Context, r io.Reader, use func(line int, object []byte) error) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(make([]byte, 1<<16), maxLine)
	n := 0
	for scanner.Scan() {
		n++
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		object := scanner.Bytes()
		if n == 1 {
			object = bytes.TrimPrefix(object, []byte("\xEF\xBB\xBF"))
		}
		if object = bytes.TrimSpace(object); len(object) == 0 {
			continue
		}
		if err := use(n, object); err != nil {
			if located := new(table.Error); errors.As(err, &located) {
				located.File, located.Line = t.name, n
			}
			return err
		}
	}
	if errors.Is(scanner.Err(), bufio.ErrTooLong) {
		return &table.Error{File: t.name, Line: n + 1, Msg: fmt.Sprintf("a line of more than %d MiB", maxLine>>20), Fix: "give one JSON object a line"}
	}
	return scanner.Err()
}

func fault(fix, format string, args ...any) error {
	return &table.Error{Msg: fmt.Sprintf(format, args...), Fix: fix}
}

// members goes over the members of an object: without a row, for their names, and otherwise for
// their values.
func (t *lines) members(object []byte, row []string) error {
	const form = "give one object a line, such as {\"age\": 31, \"job\": \"clerk\"}"
	d := jsontext.NewDecoder(bytes.NewReader(object))
	broken := func(err error) error {
		return fault(form, "not a JSON object: %s", strings.TrimPrefix(err.Error(), "jsontext: "))
	}
	begin, err := d.ReadToken()
	switch {
	case err != nil:
		return broken(err)
	case begin.Kind() != '{':
		return fault(form, "the line is not a JSON object")
	}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return broken(err)
		}
		name := token.String()
		value, err := d.ReadToken()
		if err != nil {
			return broken(err)
		}
		k, known := t.places[name]
		if !known {
			if len(t.columns) == maxColumns {
				return fault("leave out members that are not needed", "the objects have more than %d different members", maxColumns)
			}
			k = len(t.columns)
			t.places[name], t.columns = k, append(t.columns, name)
		}
		switch value.Kind() {
		case '{', '[':
			return fault("write its parts as members of their own", "the member %q is an object or a list, and cells are texts, numbers, true, false or null", name)
		case 'n':
		default:
			if k < len(row) {
				row[k] = value.String()
			}
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return broken(err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return fault(form, "there is more on the line than an object")
	}
	return nil
}

// write writes the table as CSV, a line for each.
func (t *lines) write(ctx context.Context, w io.Writer, file io.Reader) error {
	out := bufio.NewWriterSize(w, 1<<16)
	record(out, t.columns)
	row, line := make([]string, len(t.columns)), 1
	columns := len(t.columns)
	err := t.objects(ctx, file, func(n int, object []byte) error {
		clear(row)
		if err := t.members(object, row); err != nil {
			return err
		}
		if len(t.columns) != columns {
			return fault("let nobody write to it meanwhile", "the file has changed while it was read")
		}
		for ; line < n; line++ {
			_ = out.WriteByte('\n') // an error comes again
		}
		line++
		record(out, row)
		return nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// record writes a row, every cell in quotes. It has one line: what ends lines within texts is
// written as a blank.
func record(out *bufio.Writer, row []string) {
	for k, cell := range row {
		if k > 0 {
			_ = out.WriteByte(',')
		}
		_ = out.WriteByte('"')
		_, _ = out.WriteString(quotes.Replace(cell)) // an error comes again when it is flushed
		_ = out.WriteByte('"')
	}
	_ = out.WriteByte('\n')
}

var quotes = strings.NewReplacer(`"`, `""`, "\r\n", " ", "\n", " ", "\r", " ")

// Is tells whether a file's name, in small letters, ends as those of JSON lines.
func Is(ending string) bool { return slices.Contains(Extensions(), ending) }
