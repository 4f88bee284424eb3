package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lossep/lossep"
)

// Calibrations run one by one, so many wait, and those beyond are refused for now.
func TestCalibrationsAreBounded(t *testing.T) {
	s := newServer(t)
	for range cap(s.calibrating.places) { // somebody else calibrates
		if err := s.calibrating.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	body := func(k int) string {
		return rowsBody(t, someRows(1), fmt.Sprintf(`"utility":"fn=%d,fp=1","calibrate":true`, 100+k))
	}
	const requests = 20
	answers := make([]*httptest.ResponseRecorder, requests)
	var all sync.WaitGroup
	for k := range requests {
		all.Go(func() { answers[k] = ask(s, http.MethodPost, "/v1/models/loans/decide", body(k)) })
	}
	for s.calibrating.waiting.Load() < s.calibrating.queue {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // the others are turned away meanwhile
	s.calibrating.leave()
	all.Wait()
	done, refused := 0, 0
	for _, w := range answers {
		switch w.Code {
		case 200:
			done++
		case 503:
			refused++
			checkRefused(t, w, 503)
			if w.Header().Get("Retry-After") == "" {
				t.Error("nobody says when to come again")
			}
		default:
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if done < int(s.calibrating.queue) || refused == 0 {
		t.Errorf("%d done and %d refused of %d", done, refused, requests)
	}
	c := (*s.models.Load())["loans"].calibrated
	if len(c.kept) != keptCalibrations || len(c.all) != keptCalibrations {
		t.Errorf("%d calibrations are kept, %d known", len(c.kept), len(c.all))
	}
}

// The same calibration is made once, however many ask, and goes on while one of them
// waits.
func TestCalibrationIsShared(t *testing.T) {
	s := newServer(t)
	m := (*s.models.Load())["loans"]
	if err := s.calibrating.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	spec, err := parseUtilityText(m.model, "fn=77,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	impatient, cancel := context.WithCancel(t.Context())
	results := make(chan *served, 10)
	var all sync.WaitGroup
	for k := range 10 {
		ctx := t.Context()
		if k == 0 {
			ctx = impatient
		}
		all.Go(func() {
			got, err := m.calibrated.get(ctx, spec)
			if (err != nil) != (k == 0) {
				t.Errorf("request %d: %v", k, err)
			}
			results <- got
		})
	}
	for {
		m.calibrated.mu.Lock()
		joined := 0
		for _, one := range m.calibrated.all {
			joined += one.waiting
		}
		m.calibrated.mu.Unlock()
		if joined == 10 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	s.calibrating.leave()
	all.Wait()
	close(results)
	var first *served
	for got := range results {
		if got == nil {
			continue
		}
		if first == nil {
			first = got
		}
		if got != first {
			t.Error("two calibrations to the same costs")
		}
	}
	if again, err := m.calibrated.get(t.Context(), spec); err != nil || again != first {
		t.Errorf("it is not kept (%v)", err)
	}
}

// Whoever gave up and is the last to leave takes nothing away that was finished meanwhile.
func TestCalibrationFinishedBeforeTheLastLeaves(t *testing.T) {
	s := newServer(t)
	m := (*s.models.Load())["loans"]
	spec, err := parseUtilityText(m.model, "fn=79,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	first, err := m.calibrated.get(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 { // each sees the end of its request or the finished calibration, whichever is chosen
		_, _ = m.calibrated.get(gone, spec)
	}
	if again, err := m.calibrated.get(t.Context(), spec); err != nil || again != first {
		t.Errorf("it is not kept (%v)", err)
	}
}

// A calibration that everybody has given up ends, and the next request starts anew.
func TestCalibrationIsGivenUp(t *testing.T) {
	s := newServer(t)
	m := (*s.models.Load())["loans"]
	spec, err := parseUtilityText(m.model, "fn=78,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.calibrating.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.calibrated.get(ctx, spec); err == nil {
		t.Error("there is no error")
	}
	if len(m.calibrated.all) != 0 {
		t.Error("it is still known")
	}
	s.calibrating.leave()
	if _, err := m.calibrated.get(t.Context(), spec); err != nil {
		t.Error(err)
	}
}

// What takes longer than the deadline is refused, with the time to come again.
func TestDeadline(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Deadline = time.Nanosecond })
	w := ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, someRows(1), `"utility":"fn=9,fp=1","calibrate":true`))
	if p := checkRefused(t, w, 503); !strings.Contains(p.Detail, "longer") || w.Header().Get("Retry-After") == "" {
		t.Errorf("%s %v", p.Detail, w.Header())
	}
}

// A model that is calibrated already is not calibrated again to its own costs.
func TestCalibratedAlready(t *testing.T) {
	m := fitted(t, loansCSV(40), "fn=5,fp=1", lossep.LossEP)
	s := newServer(t, func(c *Config) { c.Models = []Source{source(t, "m", m)} })
	got := answer[DecideResponse](t, s, "/v1/models/m/decide", rowsBody(t, someRows(3), `"calibrate":true`))
	x, unseen := encoded(t, m, someRows(3))
	want := wantDecisions(m, m.Utility(), must(m.Decide(x)), unseen)
	if got.Decisions[0].Probability != want[0].Probability || !got.Calibrated || got.Status.Text != m.Summary().Status.Text {
		t.Errorf("%+v, want %+v", got, want)
	}
	if len((*s.models.Load())["m"].calibrated.all) != 0 {
		t.Error("it was calibrated again")
	}
}
