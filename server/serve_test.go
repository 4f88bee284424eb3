package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lossep/lossep"
)

// running serves on a free port until the test ends, or stop is called, which returns
// what Serve does.
func running(t *testing.T, s *Server) (address string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = stop() })
	return l.Addr().String(), stop
}

// Clients that send their header or their body too slowly lose the connection in time,
// with an answer where one is possible, while others are served.
func TestSlowClients(t *testing.T) {
	s := newServer(t, func(c *Config) {
		c.HeaderTimeout, c.ReadTimeout = 200*time.Millisecond, 400*time.Millisecond
	})
	address, _ := running(t, s)
	for _, c := range []struct{ name, start, drip, status string }{
		{"header", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n", "X-A: b\r\n", ""},
		{"body", "POST /v1/models/loans/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n", " ", "408"},
		{"chunks", "POST /v1/models/loans/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n", "408"},
		{"nothing", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			start := time.Now()
			go func() {
				for text := c.start; ; text = c.drip {
					if _, err := io.WriteString(conn, text); err != nil {
						return
					}
					time.Sleep(50 * time.Millisecond)
				}
			}()
			_ = conn.SetReadDeadline(start.Add(20 * time.Second))
			answer, err := io.ReadAll(conn)
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				t.Fatalf("still connected after %v", time.Since(start))
			}
			if !strings.Contains(string(answer), c.status) || c.status != "" && !strings.Contains(string(answer), "application/problem+json") {
				t.Errorf("answer %q", answer)
			}
		})
	}
	t.Run("others", func(t *testing.T) {
		r, err := http.Get("http://" + address + "/v1/models")
		if err != nil || r.StatusCode != 200 {
			t.Errorf("%v %v", r, err)
		}
	})
}

// A body over the limit is refused whether its length is given or not, and a header over
// the limit as well.
func TestTooLarge(t *testing.T) {
	s := newServer(t, func(c *Config) { c.MaxBody = 1000 })
	address, _ := running(t, s)
	large := strings.Repeat(" ", 1_000_000)
	for name, body := range map[string]io.Reader{"told": strings.NewReader(large), "in chunks": io.MultiReader(strings.NewReader(large))} {
		r, err := http.Post("http://"+address+"/v1/models/loans/decide", "application/json", body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if r.StatusCode != 413 || r.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", name, r.StatusCode, text)
		}
	}
	// A client that reads nothing before it has sent everything has the answer, too, unless
	// that would be without end.
	for size, want := range map[int]string{9_000_000: "HTTP/1.1 413", 1 << 30: ""} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "POST /v1/models/loans/decide HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", address, size)
		part, sent := make([]byte, 1<<16), 0
		for err == nil && sent < size {
			var n int
			n, err = conn.Write(part[:min(len(part), size-sent)])
			sent += n
		}
		if want == "" {
			if err == nil {
				t.Errorf("all %d bytes were taken", size)
			}
		} else if line, failed := bufio.NewReader(conn).ReadString('\n'); err != nil || failed != nil || !strings.HasPrefix(line, want) {
			t.Errorf("%d bytes: %q, %v, %v", size, line, err, failed)
		}
		_ = conn.Close()
	}
	q, _ := http.NewRequest("GET", "http://"+address+"/v1/models", nil)
	q.Header.Set("X-Large", strings.Repeat("x", 1<<20))
	r, err := http.DefaultClient.Do(q)
	if err == nil && r.StatusCode != 431 {
		t.Errorf("a large header: %d", r.StatusCode)
	}
}

// loadCounts is what happened to requests under load.
type loadCounts struct{ done, refused, lost atomic.Int64 }

// load sends requests over so many connections until the context ends or the server
// takes no more connections. A request is lost when it was sent and not answered whole
// with 200.
func load(ctx context.Context, address string, connections int, body string, counts *loadCounts, lose func(string)) *sync.WaitGroup {
	request := fmt.Sprintf("POST /v1/models/loans/decide HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", address, len(body), body)
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			for ctx.Err() == nil {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					counts.refused.Add(1)
					return
				}
				reader := bufio.NewReader(conn)
				for last := false; !last && ctx.Err() == nil; {
					if _, err := io.WriteString(conn, request); err != nil {
						counts.lost.Add(1)
						lose(err.Error())
						break
					}
					r, err := http.ReadResponse(reader, nil)
					if err != nil {
						counts.lost.Add(1)
						lose(err.Error())
						break
					}
					text, err := io.ReadAll(r.Body)
					if err != nil || r.StatusCode != 200 || !bytes.Contains(text, []byte(`"decisions":[{`)) {
						counts.lost.Add(1)
						lose(fmt.Sprintf("%d %s %v", r.StatusCode, text, err))
					} else {
						counts.done.Add(1)
					}
					last = r.Close
				}
				_ = conn.Close()
			}
		})
	}
	return &all
}

// When the context ends under load, every request that was sent is answered, the server
// is not ready any more, and Serve returns without an error.
func TestDrainUnderLoad(t *testing.T) {
	s := newServer(t)
	address, stop := running(t, s)
	var counts loadCounts
	all := load(t.Context(), address, 32, rowsBody(t, someRows(3), ""), &counts, func(why string) { t.Log(why) })
	for counts.done.Load() < 500 {
		time.Sleep(time.Millisecond)
	}
	begin := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	all.Wait()
	if counts.lost.Load() > 0 || counts.refused.Load() != 32 {
		t.Errorf("%d answered, %d lost, %d connections refused", counts.done.Load(), counts.lost.Load(), counts.refused.Load())
	}
	if s.ready() {
		t.Error("the server is still ready")
	}
	t.Logf("%d requests; drained in %v", counts.done.Load(), time.Since(begin))
}

// A request that takes longer than the drain allows is cut off, and Serve says so.
func TestDrainEnds(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Drain = 100 * time.Millisecond })
	m := (*s.models.Load())["loans"]
	entered, leave := make(chan struct{}), make(chan struct{})
	slow := m.batcher.predict
	m.batcher.predict = func(x *matDense) ([]lossep.Prediction, error) { close(entered); <-leave; return slow(x) }
	address, stop := running(t, s)
	go func() {
		if r, err := http.Post("http://"+address+"/v1/models/loans/predict", "application/json", strings.NewReader(rowsBody(t, someRows(1), ""))); err == nil {
			_ = r.Body.Close()
		}
	}()
	<-entered
	if err := stop(); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("error %v", err)
	}
	close(leave)
}

// Models are replaced under load without losing a request, and a bad file leaves the
// model that was there.
func TestReloadUnderLoad(t *testing.T) {
	files := [][]byte{modelFile(t, loans()), modelFile(t, fitted(t, loansCSV(50), "fn=3,fp=1", lossep.EP)), []byte("no model"), modelFile(t, loans())[:5000]}
	var current atomic.Int64
	var log lockedBuffer
	s := newServer(t, func(c *Config) {
		c.Models[0].Open = func() (io.ReadCloser, error) {
			if k := current.Load(); k < int64(len(files)) {
				return io.NopCloser(bytes.NewReader(files[k])), nil
			}
			return nil, errors.New("there is no file")
		}
		c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	address, stop := running(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	var counts loadCounts
	all := load(ctx, address, 8, rowsBody(t, someRows(2), ""), &counts, func(why string) { t.Log(why) })
	for k := range 40 {
		current.Store(int64(k % 5))
		before := (*s.models.Load())["loans"]
		err := s.Reload()
		after := (*s.models.Load())["loans"]
		switch k % 5 {
		case 0, 1:
			if err != nil || k > 0 && after == before {
				t.Errorf("reload of a good file: %v, new %t", err, after != before)
			}
			if err := s.Reload(); err != nil || (*s.models.Load())["loans"] != after {
				t.Errorf("the same file again is another model (%v)", err)
			}
		default:
			if err == nil || after != before || !strings.Contains(err.Error(), `"loans"`) {
				t.Errorf("reload of a bad file: %v, new %t", err, after != before)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	all.Wait()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if counts.lost.Load() > 0 || counts.done.Load() == 0 {
		t.Errorf("%d answered, %d lost", counts.done.Load(), counts.lost.Load())
	}
	if !strings.Contains(log.String(), "model not reloaded") {
		t.Error("the log says nothing of bad files")
	}
	metrics := ask(s, "GET", "/metrics", "").Body.String()
	for _, line := range []string{`lossep_model_loads_total{result="failed"} 24`, `lossep_models_loaded 2`} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %q", line)
		}
	}
}

func modelFile(t *testing.T, m *lossep.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lockedBuffer takes what several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
