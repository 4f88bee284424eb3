package server

import (
	"context"
	"sync/atomic"
	"time"
)

// Short requests come first: a decision about a few cases takes a fraction of a
// millisecond, and an exploration, a calibration or ten thousand rows take seconds, in
// goroutines of which the scheduler knows no more than that they want to run. So the long
// ones ask now and then whether anybody short is waiting, and if so work in turns: each at
// its own time, and all together for a tenth of it. A processor is then free for a decision
// within the length of a turn, or of one step of a long computation, and long requests go
// on all the same.
//
// They ask by way of their context, whose Err every computation looks at between steps.
const (
	turnEvery = 20 * time.Millisecond
	turn      = 2 * time.Millisecond
	// A step that was longer than a turn is followed by a rest of several times its
	// length, within bounds.
	restPerStep = 8
	longestRest = 400 * time.Millisecond
	// restLook is how often a resting computation looks whether it is needed.
	restLook = 5 * time.Millisecond
)

// courtesy counts the short requests under way, the goroutines of long ones that rest, and
// the long ones there have been.
type courtesy struct{ short, resting, longs atomic.Int64 }

// enter notes that a request is a short one, until leave, which may be called twice.
func (c *courtesy) enter(x *exchange) {
	if x.short.CompareAndSwap(false, true) {
		c.short.Add(1)
	}
}

func (c *courtesy) leave(x *exchange) {
	if x.short.CompareAndSwap(true, false) {
		c.short.Add(-1)
	}
}

// long is the context of a long computation.
func (c *courtesy) long(ctx context.Context) context.Context {
	// Their turns are apart: 7 and 20 have no common divisor.
	l := &patient{Context: ctx, courtesy: c, phase: time.Duration(c.longs.Add(1)) * 7 * time.Millisecond}
	l.rested.Store(time.Now().UnixNano())
	return l
}

// long makes a request a long one from here on, if it was not from the beginning.
func (s *Server) long(ctx context.Context, x *exchange) context.Context {
	s.courtesy.leave(x)
	return s.courtesy.long(ctx)
}

// patient is a context whose Err waits while short requests are to come first.
type patient struct {
	context.Context
	courtesy *courtesy
	phase    time.Duration // when its turns are
	rested   atomic.Int64  // when one of the computation's goroutines last went on, in ns
}

// Err gives way, and then says whether the computation is to end.
func (p *patient) Err() error {
	if p.courtesy.short.Load() > 0 {
		p.rest(time.Now())
	}
	p.rested.Store(time.Now().UnixNano())
	return p.Context.Err()
}

// rest waits for the next turn, or until no short request is under way.
func (p *patient) rest(now time.Time) {
	until := now
	if step := time.Duration(now.UnixNano() - p.rested.Load()); step > turn {
		until = now.Add(restPerStep * min(step, longestRest/restPerStep))
	}
	p.courtesy.resting.Add(1)
	defer p.courtesy.resting.Add(-1)
	for p.courtesy.short.Load() > 0 {
		period := turnEvery * time.Duration(p.courtesy.resting.Load())
		into := (time.Duration(now.UnixNano()) + p.phase) % period // how far the present one has come
		if into < turn && !now.Before(until) {
			return
		}
		look := time.NewTimer(min(restLook, period-into))
		select {
		case <-look.C:
		case <-p.Done():
			look.Stop()
			return
		}
		now = time.Now()
	}
}
