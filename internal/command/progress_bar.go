package command

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// rowCount shows on a terminal how many rows are done, once a second. Elsewhere it is silent.
type rowCount struct {
	errs        io.Writer
	rows        int
	since, last time.Time
}

func newRowCount(errs io.Writer) *rowCount {
	now := time.Now()
	return &rowCount{errs: errs, since: now, last: now}
}

// add counts one more row.
func (r *rowCount) add() {
	r.rows++
	if now := time.Now(); now.Sub(r.last) >= time.Second && isTerminal(r.errs) {
		r.last = now
		fmt.Fprintf(raw(r.errs), "\r\x1b[K%d rows, %.3g a second", r.rows, float64(r.rows)/now.Sub(r.since).Seconds())
	}
}

// clear takes the line away.
func (r *rowCount) clear() {
	if r.last != r.since {
		clearProgress(r.errs)
	}
}

// progressBar shows on a terminal how many parts of a run are done, and about how long the
// others take. Elsewhere it is silent.
type progressBar struct {
	to    io.Writer // nil where nothing is shown
	what  string    // the parts are called
	total int
	done  int
	first int // done before
	since time.Time
	width int // of the line that stands there
}

func newProgressBar(what string, total, done int, errs io.Writer) *progressBar {
	p := &progressBar{what: what, total: total, done: done, first: done, since: time.Now()}
	if isTerminal(errs) {
		p.to = raw(errs)
	}
	p.show(time.Now())
	return p
}

// add counts one more part.
func (p *progressBar) add() {
	p.done++
	p.show(time.Now())
}

// show writes the line anew, over what is left of the one before.
func (p *progressBar) show(now time.Time) {
	const cells = 40
	full := cells * p.done / max(p.total, 1)
	line := fmt.Sprintf("%s [%s%s] %d/%d", p.what, strings.Repeat("=", full), strings.Repeat(" ", cells-full), p.done, p.total)
	if n := p.done - p.first; n > 0 && p.done < p.total {
		left := now.Sub(p.since) / time.Duration(n) * time.Duration(p.total-p.done)
		line += fmt.Sprintf(", about %v left", max(left.Round(time.Second), time.Second))
	}
	p.write(line)
}

// clear takes the line away.
func (p *progressBar) clear() {
	p.write("")
	p.write("") // and the cursor back
}

func (p *progressBar) write(line string) {
	if p.to == nil {
		return
	}
	width := utf8.RuneCountInString(line)
	// A terminal that cannot be written to is no reason to end a run.
	_, _ = io.WriteString(p.to, "\r"+line+strings.Repeat(" ", max(0, p.width-width)))
	p.width = width
}
