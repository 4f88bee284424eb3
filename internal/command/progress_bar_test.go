package command

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// screen is what a terminal of one line shows.
func screen(written string) string {
	var cells []rune
	at := 0
	for _, r := range written {
		switch {
		case r == '\r':
			at = 0
			continue
		case at == len(cells):
			cells = append(cells, r)
		default:
			cells[at] = r
		}
		at++
	}
	return strings.TrimRight(string(cells), " ")
}

// A terminal shows how much is done and how long the rest takes, by what was done in this
// run, and nothing is left of it in the end.
func TestProgressBar(t *testing.T) {
	var b strings.Builder
	start := time.Now()
	p := &progressBar{to: &b, what: "folds", total: 10, done: 4, first: 4, since: start}
	p.show(start)
	if got, want := screen(b.String()), "folds ["+strings.Repeat("=", 16)+strings.Repeat(" ", 24)+"] 4/10"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.done = 6
	p.show(start.Add(30 * time.Second))
	if got := screen(b.String()); !strings.HasSuffix(got, "] 6/10, about 1m0s left") {
		t.Errorf("%q", got)
	}
	p.done = 10
	p.show(start.Add(time.Minute))
	if got := screen(b.String()); !strings.HasSuffix(got, "] 10/10") {
		t.Errorf("%q", got)
	}
	p.clear()
	if got := screen(b.String()); got != "" {
		t.Errorf("%q is left", got)
	}
	newProgressBar("folds", 2, 0, io.Discard).add() // no terminal
}

// Rows come many at a time. How long the others take is estimated by what was done until the last of them,
// once where there is no terminal, and only if it is long.
func TestRowCount(t *testing.T) {
	start := time.Now()
	for _, c := range []struct {
		total int
		want  string
	}{
		{1100, "100 of about 1100 rows, about 37s left\n"}, {150, ""}, {0, ""},
	} {
		var b strings.Builder
		r := &rowCount{errs: &b, total: c.total, since: start}
		r.show(start.Add(3 * time.Second)) // none is done
		for range 100 {
			r.add(start.Add(4 * time.Second))
		}
		r.show(start.Add(7 * time.Second)) // three seconds into those that come next
		r.show(start.Add(8 * time.Second))
		if b.String() != c.want {
			t.Errorf("of %d: %q, want %q", c.total, b.String(), c.want)
		}
	}
}

// About how many rows a file has is estimated by its lines, of which the first is the header, where it is not compressed.
func TestAboutRows(t *testing.T) {
	for written, want := range map[string]int{"a,b\n1,2\n3,4\n": 2, "a,b\n1,2\n3,4": 2, "BZh91AY\n\n\n": 0, "\x1f\x8b\n\n\n": 0} {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		in := &tableInput{text: f, files: []io.Closer{f}}
		defer in.Close()
		if got := in.about(); got != want {
			t.Errorf("%q: %d rows", written, got)
		}
		if text, err := io.ReadAll(in.text); err != nil || string(text) != written {
			t.Errorf("%q is left to read, %v", text, err)
		}
	}
}

// Where there is no terminal nothing is said in the first seconds, nor by a few rows of many.
func TestRowCountWaits(t *testing.T) {
	start := time.Now()
	for _, c := range []struct {
		rows, total int
		after       time.Duration
		want        string
	}{
		{5, 49426, time.Second, ""},
		{5, 49426, time.Minute, ""},
		{99, 49426, time.Minute, ""},
		{200, 49426, 4 * time.Second, ""},
		{200, 2000, 5 * time.Second, "200 of about 2000 rows, about 45s left\n"},
		{5, 500, 6 * time.Second, "5 of about 500 rows, about 9m54s left\n"},
	} {
		var b strings.Builder
		r := &rowCount{errs: &b, total: c.total, since: start}
		for range c.rows {
			r.add(start.Add(c.after))
		}
		r.show(start.Add(c.after))
		if b.String() != c.want {
			t.Errorf("%d of %d after %v: %q, want %q", c.rows, c.total, c.after, b.String(), c.want)
		}
	}
}
