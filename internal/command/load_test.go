//go:build unix

package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Clients that keep a server busy and take note of what came back: how long every answer
// took, and every one that was wrong, late or missing.
//
// They share their processors with the server they measure, so they cost as little as they
// can: requests are bytes made once and written to connections that stay open, one
// request at a time on each. A request counts as dropped when it was written to an open
// connection and no complete answer came back.

// loadOptions say what to ask, and for how long.
type loadOptions struct {
	// Requests are whole HTTP requests as postRequest makes them; connections take turns
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

// runLoad asks until the time is over or the context ends, and then lets every connection
// finish the request it has begun.
func runLoad(ctx context.Context, o loadOptions) (*loadResult, error) {
	if len(o.Requests) == 0 || o.Connections < 1 || o.Duration <= 0 {
		return nil, errors.New("nothing to do: requests, connections and a duration are needed")
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, o.Duration)
	defer cancel()
	parts := make([]*loadResult, o.Connections)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range parts {
		parts[i] = newLoadResult()
		c := &connection{o: &o, seen: parts[i], next: i * len(o.Requests) / o.Connections}
		wg.Go(func() { c.run(ctx) })
	}
	wg.Wait()
	return mergeLoads(parts, time.Since(start)), nil
}

// postRequest is a whole request that posts JSON, as it goes over the wire.
func postRequest(address, path, token string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", path, address, len(body))
	if token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", token)
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

// connection is one client: it asks, waits for the answer and asks again.
type connection struct {
	o    *loadOptions
	seen *loadResult
	next int // of o.Requests

	conn   net.Conn // nil if not open
	in     *bufio.Reader
	answer bytes.Buffer
}

// Answers are read by net/http, which has to know what was asked.
var posted = &http.Request{Method: http.MethodPost}

func (c *connection) run(ctx context.Context) {
	defer c.close()
	for ctx.Err() == nil {
		if c.conn == nil && !c.open() {
			if c.o.UntilClosed {
				return
			}
			pause(ctx, 10*time.Millisecond)
			continue
		}
		last := c.ask()
		if last && c.o.UntilClosed {
			return
		}
	}
}

// open connects. A refusal is an error unless the server is meant to end: nothing was
// asked of it yet.
func (c *connection) open() bool {
	conn, err := net.DialTimeout("tcp", c.o.Address, c.o.Timeout)
	if err != nil {
		if !c.o.UntilClosed || !errors.Is(err, syscall.ECONNREFUSED) {
			c.seen.dropped(err)
		}
		return false
	}
	c.conn = conn
	if c.in == nil {
		c.in = bufio.NewReaderSize(conn, 16<<10)
	} else {
		c.in.Reset(conn)
	}
	return true
}

func (c *connection) close() {
	if c.conn != nil {
		c.conn.Close() // nothing is under way on it that could be lost
		c.conn = nil
	}
}

// ask sends the next request and reads its answer. It tells whether the connection
// ended with it.
func (c *connection) ask() (last bool) {
	i := c.next
	c.next = (c.next + 1) % len(c.o.Requests)
	begin := time.Now()
	status, last, err := c.exchange(c.o.Requests[i], begin.Add(c.o.Timeout))
	if err != nil {
		c.seen.dropped(err)
		c.close()
		return true
	}
	c.seen.answered(time.Since(begin))
	switch {
	case c.o.Check != nil:
		err = c.o.Check(i, status, c.answer.Bytes())
	case status != http.StatusOK:
		err = statusError(status, c.answer.Bytes())
	}
	if err != nil {
		c.seen.wrong(err)
	}
	if last {
		c.close()
	}
	return last
}

// exchange writes a request and reads the whole answer. A deadline that passes, a
// connection that ends and an answer that is cut short are errors.
func (c *connection) exchange(request []byte, deadline time.Time) (status int, last bool, err error) {
	if err := c.conn.SetDeadline(deadline); err != nil {
		return 0, false, err
	}
	// A server may answer and close before it has read all (a body over the limit does
	// that), so that a failed write is one only if there is no answer either.
	_, unsent := c.conn.Write(request)
	r, err := http.ReadResponse(c.in, posted)
	if err != nil {
		return 0, false, errors.Join(unsent, fmt.Errorf("no answer: %w", err))
	}
	c.answer.Reset()
	if _, err := c.answer.ReadFrom(r.Body); err != nil {
		return 0, false, fmt.Errorf("answer cut short after %d bytes: %w", c.answer.Len(), err)
	}
	return r.StatusCode, r.Close || unsent != nil, nil
}

// statusError is the error of an answer that is not the one wanted.
func statusError(status int, body []byte) error {
	const enough = 300
	if len(body) > enough {
		body = append(body[:enough:enough], "…"...)
	}
	return fmt.Errorf("status %d: %s", status, bytes.TrimSpace(body))
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// loadResult is what came back.
type loadResult struct {
	// Latencies are the times from the first byte written to the last byte read of all
	// complete answers, from the shortest to the longest.
	Latencies []time.Duration
	// Dropped counts requests without a complete answer, and connections that could not
	// be opened; Wrong counts answers that are not the ones wanted.
	Dropped, Wrong int
	// Messages are the first of each kind of error, a few of them.
	Messages []string
	// Elapsed is the time from the first request to the last answer.
	Elapsed time.Duration
}

// messageLimit is how many different errors are kept: one is a cause, a thousand are not.
const messageLimit = 5

// newLoadResult leaves room for a minute of single rows, so that nothing is allocated
// while it is measured.
func newLoadResult() *loadResult { return &loadResult{Latencies: make([]time.Duration, 0, 1<<14)} }

func (r *loadResult) answered(d time.Duration) { r.Latencies = append(r.Latencies, d) }

func (r *loadResult) dropped(err error) {
	r.Dropped++
	r.note(err.Error())
}

func (r *loadResult) wrong(err error) {
	r.Wrong++
	r.note(err.Error())
}

func (r *loadResult) note(message string) {
	if len(r.Messages) < messageLimit && !slices.Contains(r.Messages, message) {
		r.Messages = append(r.Messages, message)
	}
}

// Errors is how many requests did not get the answer wanted.
func (r *loadResult) Errors() int { return r.Dropped + r.Wrong }

// Percentile is the shortest latency that p per cent of the answers did not exceed:
// with n answers the ⌈pn/100⌉-th, always one that was measured. Without answers it is 0.
func (r *loadResult) Percentile(p float64) time.Duration {
	n := len(r.Latencies)
	if n == 0 {
		return 0
	}
	rank := int(math.Ceil(p * float64(n) / 100))
	return r.Latencies[min(max(rank, 1), n)-1]
}

// mergeLoads puts together what the connections have seen.
func mergeLoads(parts []*loadResult, elapsed time.Duration) *loadResult {
	all := &loadResult{Elapsed: elapsed}
	n := 0
	for _, p := range parts {
		n += len(p.Latencies)
	}
	all.Latencies = make([]time.Duration, 0, n)
	for _, p := range parts {
		all.Latencies = append(all.Latencies, p.Latencies...)
		all.Dropped += p.Dropped
		all.Wrong += p.Wrong
		for _, m := range p.Messages {
			all.note(m)
		}
	}
	slices.Sort(all.Latencies)
	return all
}
