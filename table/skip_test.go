package table

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Lines that are no rows leave the others with their numbers, however the text arrives.
func TestSkipLines(t *testing.T) {
	const rows = "a,b\n1,x\n2,y\n3,x\n"
	for _, c := range []struct{ text, skip string }{
		{rows, ""},
		{"Title\n\n" + rows, "1-2"},
		{"Title\n" + rows, "1,last-line"},
		{"Title,\nmore,\n" + rows, "1-2"},
		{"a,b\n(kg),\n1,x\n2,y\n3,x\n", "2"},
		{rows + "Total,6\n", "last"},
		{rows + "Total,6", "last"},
		{rows + "Total,6\n\n;;\n  \n", "last"},
		{"Title\r\na,b\r\n(kg),\r\n1,x\r\n2,y\r\n3,x\r\nTotal,6\r\n", "1, 3,last"},
		{"Title\n" + rows + "Total,6\nMean,2\n", "1,6-7"},
		{"Title\n" + rows + "Total,6\n", "1,6,last"},
		{rows + "Total,6\nMean,2", "5-9,last"},
	} {
		for name, r := range map[string]func(string) *Table{
			"whole": func(skip string) *Table {
				got, err := Read(context.Background(), strings.NewReader(c.text), "t.csv", Format{Skip: skip, Header: HeaderYes})
				if err != nil {
					t.Errorf("%q without %s: %v", c.text, skip, err)
				}
				return got
			},
			"by bytes": func(skip string) *Table {
				got, _ := Read(context.Background(), iotest.OneByteReader(strings.NewReader(c.text)), "t.csv", Format{Skip: skip, Header: HeaderYes})
				return got
			},
		} {
			if strings.Contains(c.skip, "-line") {
				if err := CheckLines(c.skip); err == nil {
					t.Errorf("%s names lines", c.skip)
				}
				continue
			}
			got := r(c.skip)
			if got == nil || got.Len() != 3 || got.Columns()[0] != "a" {
				t.Errorf("%s: %q without %s: %v", name, c.text, c.skip, got)
				continue
			}
			for i := range 3 {
				want := strings.Split(rows, "\n")[i+1]
				if text := strings.Join(got.Row(i), ","); text != want {
					t.Errorf("%s: row %d is %q", name, i, text)
				}
				if line := strings.TrimSpace(strings.Split(c.text, "\n")[got.Line(i)-1]); line != want {
					t.Errorf("%s: %q is line %d, which is %q", name, want, got.Line(i), line)
				}
			}
		}
	}
	for _, text := range []string{"0", "2-1", "x", "1,,2", "-3", "1-"} {
		if CheckLines(text) == nil {
			t.Errorf("%q names lines", text)
		}
	}
}

// Lines that a file does not have are not left out in silence.
func TestSkipBeyond(t *testing.T) {
	for _, skip := range []string{"5", "2,7-9", "4-5,6,last"} {
		_, err := Read(context.Background(), strings.NewReader("a,b\n1,x\n2,y\n3,x\n"), "t.csv", Format{Skip: skip})
		if err == nil || !strings.Contains(err.Error(), "t.csv: line ") || !strings.Contains(err.Error(), "the file has 4 lines") {
			t.Errorf("without %s: %v", skip, err)
		}
	}
}

// Where the header is no line of the file, lines are counted from the first below it.
func TestSkipBelowHeader(t *testing.T) {
	for skip, want := range map[string]string{"1": "2 3", "2": "1 3", "last": "1 2", "3,last": "1 2", "1-2": "3"} {
		got, err := Read(context.Background(), strings.NewReader("a,b\n1,x\n2,y\n3,x\n"), "t.jsonl", Format{Skip: skip, Header: HeaderAbove})
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for i := range got.Len() {
			rows = append(rows, got.Row(i)[0])
		}
		if text := strings.Join(rows, " "); text != want {
			t.Errorf("without %s there are %s, want %s", skip, text, want)
		}
	}
}

// What separates the cells of a stream is seen in its first line that is a row, whether the lines
// arrive together or one by one.
func TestStreamSeparator(t *testing.T) {
	const text = "Title;;\nloan;income;job\nN1;28,5;clerk\n"
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(text), "by bytes": iotest.OneByteReader(strings.NewReader(text))} {
		s, err := NewStream(context.Background(), r, "t.csv", Format{Skip: "1"}, nil, '.')
		if err != nil {
			t.Fatal(err)
		}
		if first, line := s.First(); len(first) != 3 || line != 2 {
			t.Errorf("%s: line %d is %q", name, line, first)
		}
	}
}
