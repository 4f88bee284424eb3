package command

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/lossep/lossep/internal/tasks"
)

// rowCount tells how many rows are done and about how long the others take: on a terminal once a
// second, elsewhere once, if it is long.
type rowCount struct {
	errs  io.Writer
	total int // about; 0 if not known
	since time.Time

	mu    sync.Mutex
	rows  int
	last  time.Time // that a row was done
	shown bool

	ticking
}

// ticking calls something now and then, until it is stopped.
type ticking struct {
	ended chan struct{} // nil before it is started
	calls tasks.Group
}

func (t *ticking) start(every time.Duration, call func(now time.Time)) {
	t.ended = make(chan struct{})
	t.calls.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				call(now)
			case <-t.ended:
				return
			}
		}
	})
}

func (t *ticking) stop() {
	if t.ended != nil {
		close(t.ended)
		t.calls.Wait()
	}
}

func newRowCount(errs io.Writer, total int) *rowCount {
	r := &rowCount{errs: errs, total: total, since: time.Now()}
	r.start(time.Second, r.show)
	return r
}

// add counts one more row.
func (r *rowCount) add(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows++
	r.last = now
}

// Where nobody watches, a wait of at least longWait is reported once tellAfter has passed, and as many rows are done as tell how
// long one takes: enoughRows, or a hundredth of all.
const (
	longWait   = 10 * time.Second
	tellAfter  = 5 * time.Second
	enoughRows = 100
)

// show tells how far it is. Rows are done many at a time: how long one takes is how long all took
// until the last.
func (r *rowCount) show(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == 0 {
		return
	}
	took := r.last.Sub(r.since).Seconds()
	line := fmt.Sprintf("%d rows, %.3g a second", r.rows, float64(r.rows)/took)
	left := time.Duration(0)
	if r.total > r.rows {
		left = time.Duration(took * float64(r.total-r.rows) / float64(r.rows) * float64(time.Second))
		left = max(time.Second, (left - now.Sub(r.last)).Round(time.Second))
		line = fmt.Sprintf("%d of about %d rows, about %v left", r.rows, r.total, left)
	}
	switch {
	case isTerminal(r.errs):
		fmt.Fprint(raw(r.errs), "\r\x1b[K", line)
	case !r.shown && left >= longWait && now.Sub(r.since) >= tellAfter && (r.rows >= enoughRows || 100*r.rows >= r.total):
		fmt.Fprintln(r.errs, line)
	default:
		return
	}
	r.shown = true
}

// clear takes the line away.
func (r *rowCount) clear() {
	r.stop()
	if r.shown && isTerminal(r.errs) {
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

	mu sync.Mutex
	ticking
}

func newProgressBar(what string, total, done int, errs io.Writer) *progressBar {
	p := &progressBar{what: what, total: total, done: done, first: done, since: time.Now()}
	if isTerminal(errs) {
		p.to = raw(errs)
		p.start(5*time.Second, p.show) // which shows that work goes on where nothing else does
	}
	p.show(time.Now())
	return p
}

// add counts one more part.
func (p *progressBar) add() {
	p.mu.Lock()
	p.done++
	p.mu.Unlock()
	p.show(time.Now())
}

// show writes the line anew, over what is left of the one before.
func (p *progressBar) show(now time.Time) {
	const cells = 40
	p.mu.Lock()
	defer p.mu.Unlock()
	full := cells * p.done / max(p.total, 1)
	line := fmt.Sprintf("%s [%s%s] %d/%d", p.what, strings.Repeat("=", full), strings.Repeat(" ", cells-full), p.done, p.total)
	if n := p.done - p.first; n > 0 && p.done < p.total {
		left := now.Sub(p.since) / time.Duration(n) * time.Duration(p.total-p.done)
		line += fmt.Sprintf(", about %v left", max(left.Round(time.Second), time.Second))
	} else if passed := now.Sub(p.since).Round(time.Second); n == 0 && passed > 0 {
		line += fmt.Sprintf(", %v so far", passed)
	}
	p.write(line)
}

// clear takes the line away.
func (p *progressBar) clear() {
	p.stop()
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
