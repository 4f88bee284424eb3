package drive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Request is a whole request that posts JSON, as it goes over the wire.
func Request(address, path, token string, body []byte) []byte {
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
	o    *Options
	seen *Result
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
			wait(ctx, 10*time.Millisecond)
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
		err = StatusError(status, c.answer.Bytes())
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

// StatusError is the error of an answer that is not the one wanted.
func StatusError(status int, body []byte) error {
	const enough = 300
	if len(body) > enough {
		body = append(body[:enough:enough], "…"...)
	}
	return fmt.Errorf("status %d: %s", status, bytes.TrimSpace(body))
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
