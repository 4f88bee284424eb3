package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/lossep/lossep"
)

// As many calibrations are under way at a time as there is memory for, of any models, and
// what they take is not given away to those that are kept.
func TestRoomOfCalibrations(t *testing.T) {
	loans, amounts := loans(), amounts()
	models := loans.Bytes() + amounts.Bytes()
	largest := max(loans.CalibrationBytes(), amounts.CalibrationBytes())
	for _, c := range []struct {
		room   float64 // that the models leave
		places int
		kept   int // of loans
	}{
		{largest + 1, 1, 0},
		{2.5 * largest, 2, int(0.25 * largest / loans.Bytes())},
		{4 * largest, 4, 0},
		{4*largest + 2*loans.Bytes(), 4, 1},
		{100 * largest, 4, keptCalibrations},
	} {
		s := newServer(t, func(config *Config) {
			config.Models = []Source{source(t, "loans", loans), source(t, "amounts", amounts)}
			config.MaxModels, config.MaxCalibrations = 1e9, 4
		})
		catalogue := *s.models.Load()
		places := catalogue.shareRoom(int64(models+c.room), 4)
		if kept := catalogue["loans"].calibrated.most; places != c.places || kept != c.kept {
			t.Errorf("%v: %d at a time and %d kept, want %d and %d", c.room/largest, places, kept, c.places, c.kept)
		}
		s.calibrating.limit(places)
		for range c.places {
			if err := s.calibrating.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if free := cap(s.calibrating.places) - len(s.calibrating.places); free != 0 {
			t.Errorf("%v: %d more could be under way", c.room/largest, free)
		}
	}
}

// What there is no memory for is refused with the numbers; a smaller model beside it is
// calibrated all the same, and so is one with inducing points, however many are served.
func TestCalibrationWithoutRoom(t *testing.T) {
	large := fitted(t, loansCSV(300), "fn=5,fp=1", lossep.EP)
	small := fitted(t, loansCSV(40), "fn=5,fp=1", lossep.EP, func(o *lossep.Options) { o.Inducing = 10 })
	var sources []Source
	taken := large.Bytes()
	for k := range 5 {
		sources = append(sources, source(t, fmt.Sprintf("small%d", k), small))
		taken += small.Bytes()
	}
	sources = append(sources, source(t, "large", large))
	s := newServer(t, func(c *Config) { c.Models = sources })
	catalogue := *s.models.Load()
	s.calibrating.limit(catalogue.shareRoom(int64(taken+small.CalibrationBytes()+1), 1))
	body := rowsBody(t, someRows(1), `"utility":"fn=9,fp=1","calibrate":true`)
	if w := ask(s, http.MethodPost, "/v1/models/small3/decide", body); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	p := checkRefused(t, ask(s, http.MethodPost, "/v1/models/large/decide", body), 422)
	for _, part := range []string{"300 training rows", " MB", "without calibrating"} {
		if !strings.Contains(p.Detail, part) {
			t.Errorf("%q does not say %q", p.Detail, part)
		}
	}
}
