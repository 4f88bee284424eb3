package command

import (
	"io"
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
