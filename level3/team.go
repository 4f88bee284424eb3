package level3

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lossep/lossep/internal/tasks"
)

const (
	// parallelFlops is the work below which an operation stays on one core: another
	// one takes some sixty microseconds to wake. On two cores half of this work is done
	// in seven eighths of the time, by nearly twice as much of the processor.
	parallelFlops = 20_000_000

	// sharedFlops is that work where helpers are awake: those of the operation before, or of an
	// earlier step of a larger one.
	sharedFlops = 200_000

	// copyFlops is the work that copying a number stands for.
	copyFlops = 50

	// linger is how long a helper looks for the next step before it goes. Between
	// the steps of a factorisation are blocks that one core works on alone, and one
	// operation often follows another. Longer than waking takes is no faster, and wastes a core.
	linger = 60 * time.Microsecond
)

// session is one operation under way: the kernels it runs on and the cores that
// work for it. Sessions are kept in a pool.
type session struct {
	*kernels
	team
	each     func(task int) // of Share
	eachBody func(worker, task int)
}

var sessions = sync.Pool{New: func() any {
	s := new(session)
	s.idle = make(chan struct{}, 1)
	s.loop = s.help
	s.eachBody = func(_, task int) { s.each(task) }
	return s
}}

// begin starts an operation of so many floating-point operations.
func (ks *kernels) begin(work float64) *session {
	s := sessions.Get().(*session)
	s.kernels = ks
	s.workers = 1
	if s.large = work >= parallelFlops || work >= sharedFlops && (s.alive.Load() > 0 || tasks.Awake()); s.large {
		s.workers = tasks.Free()
	}
	return s
}

// cores is how many work on the operation, or would where work is being recorded.
func (s *session) cores() int {
	if s.large {
		return tasks.Workers()
	}
	return 1
}

// end keeps the session for the next operation, which may find its helpers awake.
func (s *session) end() { sessions.Put(s) }

// Share calls body(0) … body(tasks−1), on several cores where so much work, in
// floating-point operations, is worth it. Which core calls is left to chance: what a
// call does must not depend on the others.
func Share(work float64, tasks int, body func(task int)) {
	var none *kernels
	s := none.begin(work)
	defer s.end()
	s.each = body
	s.run(work, tasks, s.eachBody)
	s.each = nil
}

// Wake gets other cores up where operations of so much work in all follow each other, of which each may be too small
// to be worth that by itself, unless they are still awake.
func Wake(work float64) {
	if work < parallelFlops {
		return
	}
	var none *kernels
	s := none.begin(work)
	defer s.end()
	if int(s.alive.Load()) < s.cores()-1 && !tasks.Awake() {
		s.run(work, s.cores(), func(int, int) {})
	}
}

// team runs numbered tasks on several cores. Which worker takes a task is left to
// chance; what a task computes depends on its number alone, and no two tasks write
// the same element, so the results do not depend on the number of workers.
//
// Helpers stay between steps, since waking a core takes as long as many a step does. A
// helper that is late, or gone, is not waited for. What panics in a task panics again in
// the goroutine that leads.
type team struct {
	workers int  // with the one that leads
	large   bool // there is enough to do for several cores
	body    func(worker, task int)
	tasks   int
	next    atomic.Int64 // task to give out
	step    atomic.Int64 // odd while tasks are given out
	inside  atomic.Int64 // helpers that may be at work on the step
	entered atomic.Int64 // helpers that took part in the step
	alive   atomic.Int64 // helpers started and not gone
	blocked atomic.Bool  // the leader waits for idle
	failure atomic.Pointer[tasks.Panic]
	idle    chan struct{}
	loop    func() // help, made once so that starting a goroutine allocates nothing
}

// run calls body for every task and returns when all are done. Worker numbers are
// below workers; work is the number of floating-point operations in all.
func (t *team) run(work float64, n int, body func(worker, task int)) {
	if t.workers == 1 || n == 1 || work < sharedFlops {
		t.alone(work, n, body)
		return
	}
	t.body, t.tasks = body, n
	t.next.Store(0)
	t.entered.Store(0)
	t.step.Add(1)
	for t.alive.Load() < int64(min(t.workers, n)-1) {
		t.alive.Add(1)
		go t.loop()
	}
	t.work(0)
	t.step.Add(1)
	t.awaitIdle()
	t.body = nil
	if p := t.failure.Swap(nil); p != nil {
		panic(p)
	}
}

// alone calls body for every task on this core.
func (t *team) alone(work float64, n int, body func(worker, task int)) {
	var section *tasks.Recorded
	if t.large && work >= sharedFlops {
		section = tasks.Begin(n, tasks.Workers())
		section.Show()
		defer section.End()
	}
	for task := range n {
		if task > 0 {
			section.Next()
		}
		body(0, task)
	}
}

// work takes tasks until there are none left, or one panics.
func (t *team) work(worker int) {
	defer func() {
		if cause := recover(); cause != nil {
			t.failure.CompareAndSwap(nil, tasks.NewPanic(cause))
			t.next.Store(int64(t.tasks))
		}
	}()
	for {
		task := int(t.next.Add(1)) - 1
		if task >= t.tasks {
			return
		}
		t.body(worker, task)
	}
}

// help is a helper's life.
func (t *team) help() {
	defer t.alive.Add(-1)
	var last int64
	for {
		step, ok := t.awaitStep(last)
		if !ok {
			return
		}
		last = step
		// The leader closes the step, then looks who is inside; who enters looks
		// whether the step is still open. One of the two sees the other.
		t.inside.Add(1)
		if t.step.Load() == step {
			if worker := int(t.entered.Add(1)); worker < t.workers {
				t.work(worker)
			}
		}
		if t.inside.Add(-1) == 0 && t.blocked.CompareAndSwap(true, false) {
			t.idle <- struct{}{}
		}
	}
}

// spins is how often a waiting core looks before it lets another goroutine run.
const spins = 100

// awaitStep waits for an open step other than the last one.
func (t *team) awaitStep(last int64) (step int64, ok bool) {
	for start := time.Now(); ; {
		for range spins {
			if step := t.step.Load(); step%2 == 1 && step != last {
				return step, true
			}
		}
		if time.Since(start) > linger {
			return 0, false
		}
		runtime.Gosched()
	}
}

// awaitIdle waits until no helper works on the step that was closed: by looking for
// a while, then by sleeping.
func (t *team) awaitIdle() {
	for range spins {
		for range spins {
			if t.inside.Load() == 0 {
				return
			}
		}
		runtime.Gosched()
	}
	t.blocked.Store(true)
	if t.inside.Load() == 0 && t.blocked.CompareAndSwap(true, false) {
		return
	}
	<-t.idle
}
