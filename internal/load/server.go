package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lossep/lossep/internal/load/drive"
)

// server is what is asked besides the requests that are measured.
type server struct{ address, token string }

func modelPath(name string) string { return "/v1/models/" + url.PathEscape(name) }

// get reads a path of the server.
func (s *server) get(ctx context.Context, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+path, nil)
	if err != nil {
		return nil, err
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != http.StatusOK {
		err = drive.StatusError(a.StatusCode, body)
	}
	return body, err
}

// columns are those the model wants in a row.
func (s *server) columns(ctx context.Context, model string) ([]column, error) {
	body, err := s.get(ctx, modelPath(model))
	if err != nil {
		return nil, err
	}
	var m struct {
		Columns []column `json:"columns"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	if len(m.Columns) == 0 {
		return nil, errors.New("the server says of no column that the model wants it")
	}
	return m.Columns, nil
}

// watchMemory reads the resident memory of the server's process once a second, from its
// metrics, until the function it returns is called, which returns what was read.
func (s *server) watchMemory(ctx context.Context) (stop func() []float64) {
	ctx, cancel := context.WithCancel(ctx)
	var samples []float64
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			// A server that shows no metrics, or none any more, gives no samples.
			if body, err := s.get(ctx, "/metrics"); err == nil {
				if x, ok := resident(string(body)); ok {
					samples = append(samples, x)
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return func() []float64 {
		cancel()
		wg.Wait()
		return samples
	}
}

// resident finds the resident memory, in bytes, in Prometheus' text format.
func resident(metrics string) (bytes float64, ok bool) {
	for lines := bufio.NewScanner(strings.NewReader(metrics)); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), "process_resident_memory_bytes "); found {
			x, err := strconv.ParseFloat(value, 64)
			return x, err == nil
		}
	}
	return 0, false
}
