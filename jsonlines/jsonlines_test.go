package jsonlines

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
)

func read(t *testing.T, text string) (*table.Table, error) {
	t.Helper()
	r, err := Table(t.Context(), "t.jsonl", strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return table.Read(t.Context(), r, "t.jsonl", table.Format{Separator: ",", Decimal: ".", Encoding: table.UTF8, Header: table.HeaderAbove})
}

// A line is a row, whatever members it has and in whatever order, and keeps its number.
func TestLinesAreRows(t *testing.T) {
	table, err := read(t, "{\"age\": 31, \"job\": \"a \\\"b\\\"\\nc\"}\n\n{\"job\": null, \"age\": 1e-3, \"owner\": true}\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(table.Columns(), "|"); got != "age|job|owner" || table.Len() != 2 {
		t.Fatalf("columns %s, %d rows", got, table.Len())
	}
	for i, want := range []string{`31|a "b" c|`, `0.001||true`} {
		if got := strings.Join(table.Row(i), "|"); got != want || table.Line(i) != 1+2*i {
			t.Errorf("line %d: %s, want %s on line %d", table.Line(i), got, want, 1+2*i)
		}
	}
}

func TestBadLines(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "t.jsonl: there is no JSON object with a member",
		"{\"a\": 1}\n[1]\n":          "t.jsonl, line 2: the line is not a JSON object",
		"{\"a\": 1}\n{\"a\": [1]}\n": "t.jsonl, line 2: the member \"a\" is an object or a list",
		"{\"a\": 1} {\"a\": 2}\n":    "t.jsonl, line 1: there is more on the line than an object",
		"{\"a\": 1,\n\"b\": 2}\n":    "t.jsonl, line 1: not a JSON object",
		"{\"a\": 1, \"a\": 2}\n":     "t.jsonl, line 1: not a JSON object: duplicate",
	} {
		_, err := read(t, text)
		if located := new(table.Error); !errors.As(err, &located) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add("{\"a\": 1}\n{\"b\": \"x\"}\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Table(t.Context(), "t.jsonl", strings.NewReader(text))
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		if located := new(table.Error); err != nil && !errors.As(err, &located) {
			t.Errorf("%v", err)
		}
	})
}
