package drive

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Options say what to ask, and for how long.
type Options struct {
	// Requests are whole HTTP requests as Request makes them; connections take turns
	// through them.
	Requests [][]byte
	// Address is the host and port to connect to, on this machine.
	Address     string
	Connections int
	Duration    time.Duration
	// Timeout bounds each request; 0 stands for ten seconds.
	Timeout time.Duration
	// UntilClosed is for a server that is going to end: a connection that the server
	// says it closes is not opened again, and neither is one it refuses.
	UntilClosed bool
	// Check, if set, looks at the complete answer to a request, given by its number in
	// Requests. Its error counts as a wrong answer. It is called by all connections at
	// the same time and must not keep the bytes.
	Check func(request, status int, body []byte) error
}

// Run asks until the time is over or the context ends, and then lets every connection
// finish the request it has begun.
func Run(ctx context.Context, o Options) (*Result, error) {
	if len(o.Requests) == 0 || o.Connections < 1 || o.Duration <= 0 {
		return nil, errors.New("nothing to do: requests, connections and a duration are needed")
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, o.Duration)
	defer cancel()
	parts := make([]*Result, o.Connections)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range parts {
		parts[i] = newResult()
		c := &connection{o: &o, seen: parts[i], next: i * len(o.Requests) / o.Connections}
		wg.Go(func() { c.run(ctx) })
	}
	wg.Wait()
	return merge(parts, time.Since(start)), nil
}
