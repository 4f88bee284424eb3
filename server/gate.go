package server

import (
	"context"
	"sync/atomic"

	"github.com/lossep/lossep/server/problem"
)

// gate lets a bounded number of computations run at a time, and a bounded number wait.
type gate struct {
	places  chan struct{}
	waiting atomic.Int64
	queue   int64 // how many may wait
	closed  int   // places that nobody gets; see limit
	what    string
}

func newGate(places, queue int, what string) *gate {
	return &gate{places: make(chan struct{}, places), queue: int64(queue), what: what}
}

// enter waits for a place, which leave gives back. The error is a *Problem if too many
// wait already, or that of the context.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.places <- struct{}{}:
		return nil
	default:
	}
	if g.waiting.Add(1) > g.queue {
		g.waiting.Add(-1)
		return problem.Busy("too many requests for " + g.what + " are waiting")
	}
	defer g.waiting.Add(-1)
	select {
	case g.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) leave() { <-g.places }

// limit lets so many run at a time, of the places there are, from when those beyond have
// left. It must not be called twice at the same time.
func (g *gate) limit(n int) {
	closed := max(0, cap(g.places)-n)
	for ; g.closed < closed; g.closed++ {
		g.places <- struct{}{}
	}
	for ; g.closed > closed; g.closed-- {
		<-g.places
	}
}

// deadline is the context of a request's computations: it ends with the time they may
// take, and when the client goes away.
func (s *Server) deadline(x *exchange) (context.Context, context.CancelFunc) {
	return context.WithTimeout(x.request.Context(), s.config.Deadline)
}
