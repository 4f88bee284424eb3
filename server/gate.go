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

// deadline is the context of a request's computations: it ends with the time they may
// take, and when the client goes away.
func (s *Server) deadline(x *exchange) (context.Context, context.CancelFunc) {
	return context.WithTimeout(x.request.Context(), s.config.Deadline)
}
