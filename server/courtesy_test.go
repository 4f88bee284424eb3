package server

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
)

// A long computation rests after a long step while a short request is under way, and goes
// on as soon as none is. Times are bounded from below only: a busy machine adds to them.
func TestLongGivesWayToShort(t *testing.T) {
	c, x := new(courtesy), new(exchange)
	ctx := c.long(t.Context()).(*patient)
	steps := func() time.Duration { // one look at the context after a step of 10 ms
		ctx.rested.Store(time.Now().Add(-10 * time.Millisecond).UnixNano())
		begin := time.Now()
		if err := ctx.Err(); err != nil {
			t.Fatal(err)
		}
		return time.Since(begin)
	}
	c.enter(x)
	c.enter(x) // it is one request
	if took := steps(); took < restPerStep*10*time.Millisecond {
		t.Errorf("a rest of %v beside a short request", took)
	}
	time.AfterFunc(10*time.Millisecond, func() { c.leave(x) })
	ctx.rested.Store(0) // a step of years, and the longest rest
	if err := ctx.Err(); err != nil || c.short.Load() != 0 {
		t.Errorf("%v, with %d short requests", err, c.short.Load())
	}
	c.leave(x)
	if n := c.short.Load(); n != 0 {
		t.Errorf("%d short requests after the last has ended", n)
	}
}

// Resting ends when the request does.
func TestRestEndsWithTheRequest(t *testing.T) {
	c := new(courtesy)
	c.enter(new(exchange))
	outer, cancel := context.WithCancel(t.Context())
	ctx := c.long(outer)
	time.AfterFunc(10*time.Millisecond, cancel)
	for ctx.Err() == nil {
	}
	if err := ctx.Err(); err != context.Canceled {
		t.Error(err)
	}
}

// Small requests go before the parts of large ones, which are not left waiting for ever,
// and whose parts are as long as rows have lately taken.
func TestSmallRequestsFirst(t *testing.T) {
	release, sizes := make(chan struct{}), make(chan int, 100)
	b := &batcher{columns: 1, places: 1, predict: func(x *mat.Dense) ([]lossep.Prediction, error) {
		n, _ := x.Dims()
		sizes <- n
		<-release
		return make([]lossep.Prediction, n), nil
	}}
	var all sync.WaitGroup
	request := func(rows int) {
		all.Go(func() {
			if _, err := b.Predict(t.Context(), make([]float64, rows)); err != nil {
				t.Error(err)
			}
		})
	}
	request(1) // occupies the only place
	if n := <-sizes; n != 1 {
		t.Fatalf("%d rows first", n)
	}
	request(batchRows + 1)
	eventually(t, func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.large) == 1 })
	for range largeTurn + 2 {
		request(batchRows) // each fills a batch
	}
	eventually(t, func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.small) == largeTurn+2 })
	var order []bool // whether a batch was of a large request
	for range largeTurn + 3 {
		b.mu.Lock()
		before := len(b.large)
		b.mu.Unlock()
		release <- struct{}{}
		<-sizes
		b.mu.Lock()
		order = append(order, len(b.large) < before)
		b.mu.Unlock()
	}
	close(release)
	all.Wait()
	if at := slices.Index(order, true); at < largeTurn-2 || at >= len(order)-1 {
		t.Errorf("the part of the large request came at place %d of %v", at, order)
	}

	b.perRow.Store(int64(batchTime / 8))
	if n := b.partRows(); n != 8 {
		t.Errorf("parts of %d rows that take an eighth of the time", n)
	}
	b.perRow.Store(int64(time.Hour))
	if n := b.partRows(); n != 1 {
		t.Errorf("parts of %d rows that take an hour each", n)
	}
}

// An exploration has a deadline of its own, and those that would wait behind too many
// others are refused; decisions go on.
func TestExplorationsAreBounded(t *testing.T) {
	s := newServer(t, func(c *Config) { c.ExploreDeadline = time.Millisecond })
	slow := `{"data":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25],"utility":[[4,1],[0,3]],"threshold":1}`
	w := ask(s, http.MethodPost, "/v1/explore/reactor", slow)
	if p := checkRefused(t, w, 503); !strings.Contains(p.Detail, "longer") {
		t.Error(p.Detail)
	}
	s.exploring.places <- struct{}{}
	s.exploring.waiting.Store(s.exploring.queue)
	w = ask(s, http.MethodPost, "/v1/explore/reactor", slow)
	if p := checkRefused(t, w, 503); !strings.Contains(p.Detail, "explorations are waiting") || w.Header().Get("Retry-After") == "" {
		t.Error(p.Detail)
	}
	if w := ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, someRows(1), "")); w.Code != 200 {
		t.Errorf("a decision: %d %s", w.Code, w.Body)
	}
	if n := s.courtesy.short.Load(); n != 0 {
		t.Errorf("%d short requests are still under way", n)
	}
}

// Requests with many rows have a few places of their own.
func TestManyRowsAreBounded(t *testing.T) {
	s := newServer(t)
	for range cap(s.bulk.places) {
		s.bulk.places <- struct{}{}
	}
	s.bulk.waiting.Store(s.bulk.queue)
	many := rowsBody(t, someRows(1000), "")
	if len(many) <= shortBody {
		t.Fatalf("a body of %d bytes is not one of many rows", len(many))
	}
	w := ask(s, http.MethodPost, "/v1/models/loans/decide", many)
	if p := checkRefused(t, w, 503); !strings.Contains(p.Detail, "many rows") {
		t.Error(p.Detail)
	}
	if w := ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, someRows(1), "")); w.Code != 200 {
		t.Errorf("a decision: %d %s", w.Code, w.Body)
	}
	s.bulk.waiting.Store(0)
	<-s.bulk.places
	if w := ask(s, http.MethodPost, "/v1/models/loans/decide", many); w.Code != 200 {
		t.Errorf("many rows: %d %s", w.Code, w.Body)
	}
}
