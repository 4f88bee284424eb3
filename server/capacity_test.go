package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// TestCapacityOfARequest: the rows of a request share its capacity, and it goes to the largest savings.
func TestCapacityOfARequest(t *testing.T) {
	s, rows := newServer(t), someRows(40)
	free := answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, rows, ""))
	got := answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, rows, `"capacity":{"positive":5}`))
	if got.Capacity == nil || got.Capacity.Limits[0].Used != 5 || got.Capacity.Gap > 1e-9 {
		t.Fatalf("capacity %+v", got.Capacity)
	}
	least, most, forgone := 1e9, 0.0, 0.0
	for i, d := range got.Decisions {
		if d.Unlimited != free.Decisions[i].Action || *d.UnlimitedIndex != free.Decisions[i].ActionIndex {
			t.Errorf("row %d: %s without the capacity, and %s before", i, d.Unlimited, free.Decisions[i].Action)
		}
		forgone += *d.Forgone
		if d.Action == "positive" {
			least = min(least, d.Saving)
		} else if d.Unlimited == "positive" {
			most = max(most, *d.Forgone)
		}
	}
	if most == 0 || least < most {
		t.Errorf("a case with a saving of %v gets the capacity, one with %v does not", least, most)
	}
	// Sums of 40 costs up to 5.
	if price := got.Capacity.Limits[0].Price; price.Value != most || price.Low > price.Value || price.High < price.Value {
		t.Errorf("price %+v, and the next case saves %v", price, most)
	}
	if d := got.Capacity.Cost.Value - forgone; d > 1e-9 || d < -1e-9 {
		t.Errorf("the capacity costs %v, cases forgo %v", got.Capacity.Cost.Value, forgone)
	}
	efforts := answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, rows,
		`"capacity":["money=500"],"utility":{"outcomes":["good","bad"],"costs":{"negative":{"good":0,"bad":5},"positive":{"good":1,"bad":0}},"effort":{"money":{"positive":"amount"}}}`))
	if l := efforts.Capacity.Limits[0]; l.Used > 500 || l.Used == 0 {
		t.Errorf("%+v", l)
	}
	for _, c := range []struct{ more, at, says string }{
		{`"capacity":{"visit":5}`, "capacity", `the capacity "visit" is that of no action`},
		{`"capacity":{"positive":-5}`, "capacity", "give a number from 0"},
		{`"capacity":{"positive":"many"}`, "capacity", "invalid capacity"},
		{`"capacity":7`, "capacity", "such as visit=100"},
		{`"capacity":{"positive":{"a":1}}`, "capacity", "takes a text"},
		{`"capacity":{"positive":5},"why":2`, "why", "decided one by one"},
		{`"capacity":["m=5"],"utility":{"outcomes":["good","bad"],"costs":{"negative":{"good":0,"bad":5},"positive":{"good":1,"bad":0}},"effort":{"m":{"positive":"0 - amount"}}}`, "rows[0]", "give efforts from 0"},
		{`"capacity":["m=5"],"utility":{"outcomes":["good","bad"],"costs":{"negative":{"good":0,"bad":5},"positive":{"good":1,"bad":0}},"effort":{"m":{"positive":"nowhere"}}}`, "rows[0].nowhere", "lacks this column"},
	} {
		w := ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, rows, c.more))
		if p := problemOf(t, w); w.Code != http.StatusUnprocessableEntity || !strings.Contains(p.Detail, c.says) || len(p.Errors) == 0 || !strings.Contains(p.Errors[0].Location, c.at) {
			t.Errorf("%s: %d %s", c.more, w.Code, w.Body)
		}
	}
}

// TestCapacityOfTheServer: cases share it as they arrive, over all requests, and never take more.
func TestCapacityOfTheServer(t *testing.T) {
	s := newServer(t, func(c *Config) {
		c.Capacity, c.Per = []decision.Capacity{{Name: "positive", Most: 7}}, table.Month
	})
	rows := someRows(30)
	taken, wanted := 0, 0
	var last *Pacing
	for k := range 30 { // in a month, whose end is far, unless the test runs at it
		got := answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, rows[k:k+1], ""))
		last = got.Pacing
		if got.Decisions[0].Action == "positive" {
			taken++
		}
		if got.Decisions[0].Unlimited == "positive" {
			wanted++
		}
	}
	if last == nil || last.Limits[0].Most != 7 || last.Limits[0].Used > 7 || last.Limits[0].Price < 0 || last.Until.IsZero() {
		t.Errorf("%+v", last)
	}
	if taken > 7 || wanted <= 7 {
		t.Errorf("%d taken of 7, %d wanted", taken, wanted)
	}
	if w := ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, rows, `"capacity":{"positive":5}`)); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("another capacity: %d %s", w.Code, w.Body)
	}
	// Other costs come with other efforts, which are not what the capacity is counted in.
	if w := ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, rows, `"utility":"fn=9,fp=1"`)); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("other costs: %d %s", w.Code, w.Body)
	}
	// Who tries the model takes nothing of it, and may move the costs.
	for _, costs := range []string{"", `"utility":"fn=9,fp=1"`} {
		w := ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, rows, costs), "X-Lossep-Trial: 1")
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), `"pacing"`) {
			t.Errorf("a trial: %d %s", w.Code, w.Body)
		}
	}
	if again := answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, rows[:1], "")); again.Pacing.Limits[0].Used > 7 {
		t.Errorf("%+v after trials", again.Pacing)
	}
	if text := ask(s, http.MethodGet, "/metrics", "").Body.String(); !strings.Contains(text, `lossep_capacity_used{limit="positive",model="loans"} `) {
		t.Error("no metric of what is used")
	}
	for _, wrong := range []Config{{Capacity: []decision.Capacity{{Name: "positive", Most: 7}}}, {Per: table.Day}} {
		wrong.Models = []Source{source(t, "loans", loans())}
		if _, err := New(wrong); err == nil {
			t.Errorf("%+v is served", wrong)
		}
	}
}

// TestUncertainCosts: the decisions that could flip are those that do between the ends of a cost's range.
func TestUncertainCosts(t *testing.T) {
	s, rows := newServer(t), someRows(40)
	decide := func(costs string) DecideResponse {
		return answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, rows, `"utility":"`+costs+`"`))
	}
	got, low, high := decide("fn=uniform(1, 9),fp=1"), decide("fn=1,fp=1"), decide("fn=9,fp=1")
	flips := 0
	for i, d := range got.Decisions {
		if does := low.Decisions[i].Action != high.Decisions[i].Action; does != *d.CouldFlip {
			t.Errorf("row %d could flip: %v; does: %v", i, *d.CouldFlip, does)
		} else if does {
			flips++
		}
	}
	if flips == 0 || len(got.Uncertain) != 1 || got.Uncertain[0].Worth <= 0 || low.Uncertain != nil || low.Decisions[0].CouldFlip != nil {
		t.Errorf("%d flips; %+v, %+v", flips, got.Uncertain, low.Uncertain)
	}
}
