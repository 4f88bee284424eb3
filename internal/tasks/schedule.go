package tasks

import (
	"container/heap"
	"math"
	"time"
)

// slowing is what twice as many cores leave of the speed of each: they share memory, caches and
// power. It is fitted to commands that were timed on 2 to 16 cores (docs/research/scale.md).
const slowing = 0.97

// Speed is what is left of that of a core when so many work.
func Speed(cores int) float64 { return math.Pow(slowing, math.Log2(float64(cores))) }

// A core that has had nothing to do for longer than it looks for work takes a while to wake.
const (
	looking = 60 * time.Microsecond
	waking  = 60 * time.Microsecond
)

// Total is how long the work takes on one core.
func (w Work) Total() (sum time.Duration) {
	for _, d := range w.Alone {
		sum += d
	}
	for _, s := range w.Sections {
		for _, t := range s.Tasks {
			sum += t.Total()
		}
	}
	return sum
}

// Outside is how much of the work is in no section.
func (w Work) Outside() (sum time.Duration) {
	for _, d := range w.Alone {
		sum += d
	}
	return sum
}

// On is how long the work takes on so many cores, each of which takes the next task of the
// section that was begun last as soon as it is free. That cores share memory and caches is not
// in it.
func (w Work) On(cores int) time.Duration { return w.schedule(cores, nil) }

// Waits is how long cores wait, in all, while so many do the work, by what they wait for: the place of
// the section whose tasks are under way, or the places of two that one core works between.
func (w Work) Waits(cores int) map[string]time.Duration {
	waits := map[string]time.Duration{}
	w.schedule(cores, waits)
	return waits
}

func (w Work) schedule(cores int, waits map[string]time.Duration) time.Duration {
	s := &schedule{}
	for range cores {
		s.idle = append(s.idle, -looking)
	}
	s.ready = []*strand{{work: &w}}
	for s.assign(); len(s.busy) > 0; s.assign() {
		if waits != nil {
			each := (s.busy[0].at - s.now) * time.Duration(cores-len(s.busy)) / time.Duration(len(s.busy))
			for _, e := range s.busy {
				waits[e.strand.place()] += each
			}
		}
		done := heap.Pop(&s.busy).(event)
		s.now = done.at
		s.idle = append(s.idle, s.now)
		s.advance(done.strand)
	}
	return s.now
}

// schedule is a moment of the run.
type schedule struct {
	now   time.Duration
	idle  []time.Duration // since when cores are, the latest last
	busy  events
	ready []*strand // what may go on, the most urgent last
}

// strand is a task under way.
type strand struct {
	work *Work
	next int // stretch
	of   *fork
}

// place is what the strand is doing: a task without sections, or what is between two sections.
func (t *strand) place() string {
	if len(t.work.Sections) == 0 && t.of != nil {
		return t.of.section.place
	}
	before, after := "the beginning", "the end"
	if t.next > 0 {
		before = t.work.Sections[t.next-1].place
	}
	if t.next < len(t.work.Sections) {
		after = t.work.Sections[t.next].place
	}
	return before + " → " + after
}

// fork is a section under way.
type fork struct {
	section *Section
	begun   int
	left    int
	parent  *strand
}

// assign gives ready strands to idle cores.
func (s *schedule) assign() {
	for len(s.ready) > 0 && len(s.idle) > 0 {
		t := s.ready[len(s.ready)-1]
		s.ready = s.ready[:len(s.ready)-1]
		since := s.idle[len(s.idle)-1]
		s.idle = s.idle[:len(s.idle)-1]
		at := s.now + t.work.Alone[t.next]
		if s.now-since > looking && s.now > 0 {
			at += waking
		}
		heap.Push(&s.busy, event{at, t})
	}
}

// advance goes on after a stretch of a strand: with a section, or with what waits for its end.
func (s *schedule) advance(t *strand) {
	if t.next < len(t.work.Sections) {
		f := &fork{section: &t.work.Sections[t.next], parent: t}
		f.left = len(f.section.Tasks)
		most := f.left
		if f.section.Most > 0 {
			most = min(most, f.section.Most)
		}
		f.begun = most
		if f.section.Shown {
			s.show()
		}
		for k := most - 1; k >= 0; k-- { // the first is the most urgent
			s.ready = append(s.ready, &strand{work: &f.section.Tasks[k], of: f})
		}
		return
	}
	f := t.of
	if f == nil {
		return
	}
	if f.begun < len(f.section.Tasks) {
		s.ready = append(s.ready, &strand{work: &f.section.Tasks[f.begun], of: f})
		f.begun++
	}
	if f.left--; f.left == 0 {
		f.parent.next++
		s.ready = append(s.ready, f.parent)
	}
}

// show has the cores that look for work go on looking.
func (s *schedule) show() {
	for i, since := range s.idle {
		if s.now-since <= looking {
			s.idle[i] = s.now
		}
	}
}

// event is the end of a stretch.
type event struct {
	at     time.Duration
	strand *strand
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}
