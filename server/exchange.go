package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/server/problem"
)

// exchange is a request and the response to it, with what the log and the metrics say
// of them.
type exchange struct {
	http.ResponseWriter
	request *http.Request
	id      string
	route   string // the pattern that matched, never the path itself
	model   string // the model asked, if there is one of that name
	rows    int    // decided or predicted
	status  int    // 0 until the header is written
	bytes   int64
	last    *atomic.Bool // whether the connection is to be closed after the response
	short   atomic.Bool  // whether it is one of those that come first; see courtesy
}

// trialHeader marks requests of people who try a model, as the page does.
const trialHeader = "X-Lossep-Trial"

// trial tells whether nobody acts on the response: its decisions use no capacity of the server, and are neither recorded
// nor counted.
func (x *exchange) trial() bool { return x.request.Header.Get(trialHeader) != "" }

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader notes the status.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
		if x.last.Load() {
			x.Header().Set("Connection", "close")
		}
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += int64(n)
	return n, err
}

// write writes a whole response. A client that has gone away is nobody to report to.
func (x *exchange) write(status int, contentType string, body []byte) {
	h := x.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	x.WriteHeader(status)
	if x.request.Method != http.MethodHead {
		_, _ = x.Write(body)
	}
}

// exchanges wraps a handler with what every exchange has: an id, headers that keep
// browsers from guessing, a line in the log, its place in the metrics, and an answer
// even if the handler panics.
func (s *Server) exchanges(next func(*exchange)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		x := &exchange{ResponseWriter: w, request: r, id: requestID(r), route: "other", last: &s.draining}
		h := w.Header()
		h.Set("X-Request-Id", x.id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		s.answering(1)
		defer s.finish(x, start)
		next(x)
	})
}

// answering counts a request that begins (1) or ended (−1).
func (s *Server) answering(change int64) {
	s.metrics.inFlight.Add(float64(change))
	if s.config.Record != nil {
		s.config.Record.Answering(change)
	}
}

// finish ends an exchange, after a panic too.
func (s *Server) finish(x *exchange, start time.Time) {
	cause := recover()
	broken := x.status != 0 && cause != nil
	if cause != nil {
		s.logPanic(x, cause)
		if !broken {
			x.writeProblem(problem.New(http.StatusInternalServerError, "the server failed on this request, and its log says more under the id %s", x.id))
		}
	}
	if x.status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	took := time.Since(start)
	s.answering(-1)
	s.metrics.observe(x, took)
	s.log.LogAttrs(context.WithoutCancel(x.request.Context()), slog.LevelInfo, "request",
		slog.String("request_id", x.id), slog.String("method", knownMethod(x.request.Method)), slog.String("route", x.route),
		slog.String("model", x.model), slog.Int("status", x.status), slog.Duration("duration", took),
		slog.Int("rows", x.rows), slog.Int64("bytes", x.bytes), slog.String("remote", x.request.RemoteAddr))
	if broken {
		panic(http.ErrAbortHandler) // part of the response is out: only closing the connection tells the client
	}
}

// logPanic writes down where a request failed, and nothing of what it held.
func (s *Server) logPanic(x *exchange, cause any) {
	p := tasks.NewPanic(cause)
	s.log.LogAttrs(context.WithoutCancel(x.request.Context()), slog.LevelError, "panic",
		slog.String("request_id", x.id), slog.String("route", x.route), slog.Any("cause", p.Cause), slog.String("stack", string(p.Stack)))
}

// knownMethod keeps what clients invent out of labels and lines.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// requestID is the id the request came with, if it is one that can stand in a log, or
// a new one.
func requestID(r *http.Request) string {
	const longest = 128
	id := r.Header.Get("X-Request-Id")
	fine := id != "" && len(id) <= longest
	for i := 0; fine && i < len(id); i++ {
		c := id[i]
		fine = '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '_' || c == '.' || c == ':'
	}
	if fine {
		return id
	}
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// writeJSON writes a value, all of whose numbers are finite.
func (x *exchange) writeJSON(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	x.write(http.StatusOK, "application/json", text)
}

// writeProblem writes the document, or what the inference protocol has in its place.
func (x *exchange) writeProblem(p *problem.Problem) {
	for name, values := range p.Header {
		x.Header()[name] = values
	}
	contentType, body := "application/problem+json", any(p)
	if isInference(x.request.URL.Path) {
		contentType, body = "application/json", map[string]string{"error": p.Detail}
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // strings and numbers always can be written
	}
	x.write(p.Status, contentType, text)
}
