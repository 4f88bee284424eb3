package tasks

import (
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"time"
)

// Work is what a task did, in order: stretches by itself, and sections of tasks that might have
// been shared out after each of them but the last.
type Work struct {
	Alone    []time.Duration
	Sections []Section
}

// Section is tasks that may run at the same time, so many of them; 0 is any number.
type Section struct {
	Tasks []Work
	Most  int
	// Shown says that all cores that look for work see the section, and go on looking after it.
	Shown bool
	place string // of the code that shared them out
}

// recorder notes how work is divided while one goroutine does all of it.
type recorder struct {
	cores   int
	owner   int
	current *Work
	depth   int
	last    time.Duration
	shown   time.Duration   // the end of the last section that cores see which look for work
	room    []time.Duration // for the stretches of tasks without sections
	places  map[uintptr]string
}

var recording atomic.Pointer[recorder]

// Record calls f on one processor and returns how its work divides among so many. What other
// goroutines than this one do meanwhile, such as those that parse a table or collect garbage, is
// left out. Samples of a profile that are taken outside of all sections have the label "alone".
func Record(cores int, f func()) Work {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all := new(Work)
	r := &recorder{cores: cores, owner: who(), current: all, last: clock(), places: map[uintptr]string{}}
	r.label()
	defer pprof.SetGoroutineLabels(context.Background())
	recording.Store(r)
	defer recording.Store(nil)
	f()
	r.tick()
	return *all
}

// Workers is how many tasks run at a time: the number of processors.
func Workers() int {
	if r := recording.Load(); r != nil {
		return r.cores
	}
	return runtime.GOMAXPROCS(0)
}

var alone = pprof.WithLabels(context.Background(), pprof.Labels("alone", "yes"))

func (r *recorder) label() {
	if r.depth == 0 {
		pprof.SetGoroutineLabels(alone)
	} else if r.depth == 1 {
		pprof.SetGoroutineLabels(context.Background())
	}
}

// tick gives the time since the last one to the task in work.
func (r *recorder) tick() {
	now := clock()
	if r.current.Alone == nil {
		if len(r.room) == 0 {
			r.room = make([]time.Duration, 1<<16)
		}
		r.current.Alone, r.room = r.room[:0:1], r.room[1:]
	}
	r.current.Alone = append(r.current.Alone, now-r.last)
	r.last = now
}

// Awake tells whether the last section that was shown ended so shortly ago that other cores would
// still look for work.
func Awake() bool {
	r := recording.Load()
	return r != nil && who() == r.owner && clock()-r.shown < looking
}

// Recorded is a section that is being recorded; nil is one that is not.
type Recorded struct {
	*recorder
	parent  *Work
	section Section
}

// Begin notes that tasks begin of which so many may run at the same time. Without a recording
// it is nil, and costs nothing.
func Begin(tasks, atOnce int) *Recorded {
	r := recording.Load()
	if r == nil || tasks < 2 || atOnce < 2 || who() != r.owner {
		return nil
	}
	r.tick()
	s := &Recorded{recorder: r, parent: r.current, section: Section{Tasks: make([]Work, 0, tasks), place: r.place()}}
	if atOnce < r.cores {
		s.section.Most = atOnce
	}
	r.depth++
	r.label()
	s.Next()
	r.last = clock() // the recording itself is nobody's work
	return s
}

// Show notes that all cores that look for work see the section.
func (s *Recorded) Show() {
	if s != nil {
		s.section.Shown = true
	}
}

// Next notes that one task ends and the next one begins.
func (s *Recorded) Next() {
	if s == nil {
		return
	}
	if n := len(s.section.Tasks); n > 0 {
		s.tick()
	}
	s.section.Tasks = append(s.section.Tasks, Work{})
	s.current = &s.section.Tasks[len(s.section.Tasks)-1]
}

// End notes that all tasks are done.
func (s *Recorded) End() {
	if s == nil {
		return
	}
	s.tick()
	s.parent.Sections = append(s.parent.Sections, s.section)
	s.current = s.parent
	s.depth--
	s.label()
	s.last = clock()
	if s.section.Shown {
		s.shown = s.last
	}
}

// place is the function and line that shares work out: the first caller that is neither of this
// package nor of the one for matrices.
func (r *recorder) place() string {
	var calls [12]uintptr
	for _, pc := range calls[:runtime.Callers(3, calls[:])] {
		name, known := r.places[pc]
		if !known {
			frames := runtime.CallersFrames([]uintptr{pc})
			for f, more := frames.Next(); ; f, more = frames.Next() {
				if f.Function != "" && !strings.Contains(f.Function, "/internal/tasks.") && !strings.Contains(f.Function, "/level3.") {
					name = fmt.Sprintf("%s:%d", strings.TrimPrefix(f.Function, "github.com/lossep/lossep/"), f.Line)
					break
				}
				if !more {
					break
				}
			}
			r.places[pc] = name
		}
		if name != "" {
			return name
		}
	}
	return "elsewhere"
}
