package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	maxHeader = 64 << 10 // bytes of a request's header
	// writeAllowance is how long a client may take to read its response.
	writeAllowance = 30 * time.Second
	// linger is how long connections that are open when Serve is to end may still bring
	// a request, which is then their last.
	linger = time.Second
)

// Serve answers requests that come over the listener until the context ends, and then
// those that have been sent: it accepts no more connections, answers what comes over
// the open ones and closes each after its answer, for as long as Config.Drain allows.
// The error is nil if all were answered.
//
// Over a listener on a loopback address, a server without tokens refuses requests whose
// Host is a name other than localhost: such a name is what a page of another site has
// that was made to lead here.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	var open atomic.Int64 // connections
	h := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: s.config.HeaderTimeout,
		ReadTimeout:       s.config.ReadTimeout,
		IdleTimeout:       s.config.IdleTimeout,
		// A response begins when the request is read and computed, each of which has a
		// bound of its own.
		WriteTimeout:   s.config.ReadTimeout + s.config.Deadline + writeAllowance,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // what clients do to connections
		BaseContext:    func(l net.Listener) context.Context { return withLoopback(context.Background(), l) },
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				open.Add(1)
			case http.StateClosed, http.StateHijacked:
				open.Add(-1)
			}
		},
	}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(outspoken{l, s.log}) }()
	select {
	case err := <-failed:
		return errors.Join(err, h.Close())
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.log.LogAttrs(context.Background(), slog.LevelInfo, "draining", slog.Int64("connections", open.Load()))
	_ = l.Close() // ends h.Serve; connections that are open stay so
	<-failed
	deadline, cancel := context.WithTimeout(context.Background(), s.config.Drain)
	defer cancel()
	waitUntil(deadline, min(linger, s.config.Drain/2), func() bool { return open.Load() == 0 })
	if err := h.Shutdown(deadline); err != nil {
		return errors.Join(fmt.Errorf("requests were cut off after %v: %w", s.config.Drain, err), h.Close())
	}
	return nil
}

// outspoken is a listener that logs why it accepts no connection, such as that the
// process has no file descriptors left. http.Server tries again, and says so only where
// it also says what every client does to its connection.
type outspoken struct {
	net.Listener
	log *slog.Logger
}

// Accept waits for a connection.
func (l outspoken) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		l.log.LogAttrs(context.Background(), slog.LevelWarn, "connection not accepted", slog.Any("error", err))
	}
	return conn, err
}

// waitUntil waits for something to come true, for so long at most.
func waitUntil(ctx context.Context, most time.Duration, done func() bool) {
	limit := time.NewTimer(most)
	defer limit.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !done() {
		select {
		case <-look.C:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
