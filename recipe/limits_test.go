package recipe

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lossep/lossep/table"
)

// endless gives the same text again and again.
type endless struct {
	text string
	at   int
	n    int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	e.n += int64(n)
	return n, nil
}

// Reading stops near the limits, however much there is to come.
func TestLimitsHoldWhileReading(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits table.Limits
		read   int64 // at most so much text is read
		want   []string
	}{
		{"bytes", table.Limits{Bytes: 1 << 20}, 2 << 20, []string{"big.csv", "longer than 1 MiB", "Bytes"}},
		{"rows", table.Limits{Rows: 1000}, 16 << 20, []string{"big.csv", "line 1002", "more than 1000 rows", "Rows"}},
		{"cells", table.Limits{Cells: 100_000}, 16 << 20, []string{"big.csv", "more than 100000 cells", "Cells"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &endless{text: "1,2,yes\n3,4,no\n"}
			_, err := table.Read(context.Background(), io.MultiReader(strings.NewReader("a,b,y\n"), r), "big.csv", table.Format{Header: table.HeaderYes, Limits: c.limits})
			checkError(t, err, c.want)
			if r.n > c.read {
				t.Errorf("%d bytes were read", r.n)
			}
		})
	}
}

// A bomb of 100 kB that unpacks to 100 MB is turned away within the memory of its limit.
func TestGzipBomb(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	line := bytes.Repeat([]byte("0,0,0,0\n"), 1<<17)
	for range 100 {
		if _, err := w.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := table.Read(context.Background(), &b, "bomb.csv.gz", table.Format{Limits: table.Limits{Cells: 1 << 20}})
	runtime.ReadMemStats(&after)
	checkError(t, err, []string{"bomb.csv.gz", "cells"})
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 100<<20 {
		t.Errorf("%d bytes were allocated for a limit of 8 MiB", grown)
	}
}

// A line of millions of cells is refused, by how many they are, in little more memory than its
// text takes: first or later, plain or in quotes, in a table and in new rows.
func TestLineOfMillionsOfCells(t *testing.T) {
	recipe, _, _ := mustLearn(t, mustRead(t, trainText, table.HeaderYes), Options{})
	commas, quoted := strings.Repeat(",", 12_000_000)+"\n", strings.Repeat(`"a",`, 3_000_000)+"\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"first", commas + "1,2\n", []string{"line 1", "column 16385", "12000001 columns, more than the 16384"}},
		{"in quotes", quoted + "1,2\n", []string{"line 1", "column 16385", "3000001 columns, more than the 16384"}},
		{"later", trainText + commas, []string{"12000001 cells where the first row has"}},
		{"too long", strings.Repeat(",", 20_000_000) + "\n1,2\n", []string{"line 1", "a row of more than 16 MiB", "cases in columns"}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := table.Read(t.Context(), strings.NewReader(c.text), "wide.csv", table.Format{})
		checkError(t, err, append(c.want, "wide.csv"))
		rows, err := NewReader(t.Context(), strings.NewReader(c.text), "wide.csv", recipe, table.Format{})
		for err == nil {
			_, err = rows.ReadBlock(100)
		}
		checkError(t, err, append(c.want, "wide.csv"))
		runtime.ReadMemStats(&after)
		// The text is copied as it grows, twice.
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 200e6 {
			t.Errorf("%s: %d MB were allocated", c.name, grown/1e6)
		}
	}
}

// silent is a pipe on which nothing ever arrives.
type silent struct{}

func (silent) Read([]byte) (int, error) { select {} }

// Whatever is being read, the end of the context is the end of reading.
func TestReadingEndsWithTheContext(t *testing.T) {
	recipe, _, _ := mustLearn(t, mustRead(t, trainText, table.HeaderYes), Options{})
	for name, source := range map[string]func() io.Reader{
		"silent":        func() io.Reader { return silent{} },
		"silent in row": func() io.Reader { return io.MultiReader(strings.NewReader(trainText+"1,"), silent{}) },
		"endless":       func() io.Reader { return io.MultiReader(strings.NewReader(trainText), &endless{text: "20,a,100,no\n"}) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(50*time.Millisecond, cancel)
			if _, err := table.Read(ctx, source(), "in.csv", table.Format{}); !errors.Is(err, context.Canceled) {
				t.Errorf("Read: %v", err)
			}
			ctx, cancel = context.WithCancel(context.Background())
			time.AfterFunc(50*time.Millisecond, cancel)
			rows, err := NewReader(ctx, source(), "in.csv", recipe, table.Format{})
			for err == nil {
				_, err = rows.ReadBlock(100)
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("NewReader: %v", err)
			}
		})
	}
}
