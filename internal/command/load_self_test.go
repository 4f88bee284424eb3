//go:build unix

package command

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The nearest-rank definition, on numbers small enough to count by hand.
func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, c := range []struct {
		latencies []time.Duration
		p         float64
		want      time.Duration
	}{
		{nil, 99, 0},
		{[]time.Duration{7}, 0, 7},
		{[]time.Duration{7}, 100, 7},
		{[]time.Duration{1, 2}, 50, 1},
		{[]time.Duration{1, 2, 3}, 50, 2},
		{hundred, 1, 1},
		{hundred, 7, 7}, // 7/100·100 is more than 7 in floating point
		{hundred, 99, 99},
		{hundred, 99.5, 100},
		{hundred, 100, 100},
	} {
		if got := (&loadResult{Latencies: c.latencies}).Percentile(c.p); got != c.want {
			t.Errorf("percentile %v of %v: %d, want %d", c.p, c.latencies, got, c.want)
		}
	}
}

// start serves a handler, and returns options that ask it for a moment.
func startLoad(t *testing.T, h http.HandlerFunc) loadOptions {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	address := s.Listener.Addr().String()
	var requests [][]byte
	for _, body := range []string{"a", "bb", "ccc"} {
		requests = append(requests, postRequest(address, "/ask", "secret", []byte(body)))
	}
	return loadOptions{Requests: requests, Address: address, Connections: 4, Duration: 50 * time.Millisecond}
}

func mustLoad(t *testing.T, o loadOptions) *loadResult {
	t.Helper()
	r, err := runLoad(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every answer is counted once, connections are kept, and requests arrive whole.
func TestCountsAnswers(t *testing.T) {
	var asked, opened atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/ask" || r.Method != http.MethodPost ||
			r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s, %v, %v", r.Method, r.URL, r.Header, err)
		}
		// Long enough to be sent in chunks, and by its length when short.
		w.Write([]byte(strings.Repeat(string(body), 5000)))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	address := s.Listener.Addr().String()
	bodies := []string{"a", "bb", "ccc"}
	var requests [][]byte
	for _, b := range bodies {
		requests = append(requests, postRequest(address, "/ask", "secret", []byte(b)))
	}
	r := mustLoad(t, loadOptions{
		Requests: requests, Address: address, Connections: 4, Duration: 50 * time.Millisecond,
		Check: func(i, status int, body []byte) error {
			if status != http.StatusOK || string(body) != strings.Repeat(bodies[i], 5000) {
				return errors.New("not the answer to what was asked")
			}
			return nil
		},
	})
	if n := int64(len(r.Latencies)); n == 0 || n != asked.Load() || r.Errors() != 0 {
		t.Errorf("%d answers of %d asked; %+v", n, asked.Load(), r.Messages)
	}
	if opened.Load() != 4 {
		t.Errorf("%d connections opened", opened.Load())
	}
	if r.Percentile(100) > r.Elapsed || r.Percentile(0) <= 0 {
		t.Errorf("latencies from %v to %v in %v", r.Percentile(0), r.Percentile(100), r.Elapsed)
	}
}

func TestCountsErrors(t *testing.T) {
	hijack := func(w http.ResponseWriter, text string) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(c, text)
		c.Close()
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		message string
		dropped bool
	}{
		{"status", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "it broke", http.StatusInternalServerError)
		}, "status 500: it broke", false},
		{"hung up", func(w http.ResponseWriter, _ *http.Request) { hijack(w, "") }, "no answer", true},
		{"cut short", func(w http.ResponseWriter, _ *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
		}, "cut short after 9 bytes", true},
		{"late", func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, "i/o timeout", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked atomic.Int64
			o := startLoad(t, func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				c.handler(w, r)
			})
			o.Timeout = 100 * time.Millisecond
			r := mustLoad(t, o)
			count, other := r.Wrong, r.Dropped
			if c.dropped {
				count, other = r.Dropped, r.Wrong
			}
			// On a busy machine each connection may give up before its last request has come to the handler.
			if unseen := int64(count) - asked.Load(); count == 0 || unseen < 0 || unseen > int64(o.Connections) || other != 0 {
				t.Errorf("%d dropped and %d wrong of %d asked", r.Dropped, r.Wrong, asked.Load())
			}
			if len(r.Messages) == 0 || len(r.Messages) > messageLimit || !strings.Contains(r.Messages[0], c.message) {
				t.Errorf("messages %q", r.Messages)
			}
			if c.dropped != (len(r.Latencies) == 0) {
				t.Errorf("%d latencies", len(r.Latencies))
			}
		})
	}
}

// A server that says goodbye has answered; one that is not there at all is an error,
// unless it was going to end.
func TestUntilClosed(t *testing.T) {
	var asked atomic.Int64
	o := startLoad(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Connection", "close")
	})
	o.UntilClosed, o.Duration = true, time.Minute
	if r := mustLoad(t, o); len(r.Latencies) != 4 || asked.Load() != 4 || r.Errors() != 0 {
		t.Errorf("%d answers of %d asked, messages %q", len(r.Latencies), asked.Load(), r.Messages)
	}

	o.UntilClosed, o.Duration = false, 50*time.Millisecond
	if r := mustLoad(t, o); len(r.Latencies) < 5 || r.Errors() != 0 {
		t.Errorf("after goodbyes: %d answers, messages %q", len(r.Latencies), r.Messages)
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Address = l.Addr().String()
	l.Close()
	if r := mustLoad(t, o); r.Dropped == 0 || !strings.Contains(r.Messages[0], "refused") {
		t.Errorf("nobody there: %d dropped, messages %q", r.Dropped, r.Messages)
	}
	o.UntilClosed = true
	if r := mustLoad(t, o); r.Errors() != 0 {
		t.Errorf("nobody there any more: messages %q", r.Messages)
	}
}

func TestNothingToDo(t *testing.T) {
	if _, err := runLoad(t.Context(), loadOptions{}); err == nil {
		t.Error("no error")
	}
}
