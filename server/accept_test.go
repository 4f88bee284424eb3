package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// exhausted is a listener that finds no file descriptor for its first connections.
type exhausted struct {
	net.Listener
	left atomic.Int64
}

func (l *exhausted) Accept() (net.Conn, error) {
	if l.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

// That connections cannot be accepted is in the log; what single clients do to theirs
// is not, and neither is the end.
func TestAcceptErrorsAreLogged(t *testing.T) {
	var log lockedBuffer
	s := newServer(t, func(c *Config) { c.Logger = textLogger(&log) })
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &exhausted{Listener: inner}
	l.left.Store(3)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	// The listener speaks TLS without a certificate, so that every handshake fails.
	go func() {
		ended <- s.Serve(ctx, tls.NewListener(l, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, io.EOF }}))
	}()
	for range 3 {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		if r, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil && r.StatusCode != http.StatusBadRequest {
			t.Errorf("status %d without TLS", r.StatusCode)
		}
		_ = conn.Close()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	text := log.String()
	if n := strings.Count(text, `level=WARN msg="connection not accepted"`); n != 3 || !strings.Contains(text, syscall.EMFILE.Error()) {
		t.Errorf("%d warnings in %s", n, text)
	}
	if strings.Contains(text, "handshake") || strings.Contains(text, "closed") {
		t.Errorf("log %s", text)
	}
}
