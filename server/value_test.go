package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
)

// The worth of knowing more is what the library says, under the model's own costs and under
// others, and calibrated.
func TestValueIsTheLibrarys(t *testing.T) {
	s := newServer(t)
	rows := someRows(12)
	m := loans()
	for body, stakes := range map[string]decision.Stakes{
		"":                      {Table: decision.Table{{0, 5}, {1, 0}}, Costs: true},
		`"utility":"fn=2,fp=1"`: {Table: decision.Table{{0, 2}, {1, 0}}, Costs: true},
		`"ask":["age","job"]`:   {Table: decision.Table{{0, 5}, {1, 0}}, Costs: true},
		`"labels":true`:         {Table: decision.Table{{0, 5}, {1, 0}}, Costs: true},
		`"utility":"fn=2,fp=1", "calibrate":true, "ask": ["income"]`: {Table: decision.Table{{0, 2}, {1, 0}}, Costs: true},
	} {
		of, q := m, lossep.Ask{Labels: strings.Contains(body, "labels")}
		for _, column := range []string{"age", "job", "income"} {
			if strings.Contains(body, `"`+column+`"`) {
				q.Columns = append(q.Columns, column)
			}
		}
		if strings.Contains(body, "calibrate") {
			spec := must(decision.ParseCosts("fn=2,fp=1"))
			of = must(m.Calibrate(t.Context(), must(m.Bind(spec))))
		}
		x := mat.NewDense(len(rows), m.Recipe().Dim(), nil)
		for i, row := range rows { // some of which lack the column
			if _, err := m.Recipe().WithOpen(q.Columns...).Encode(row, x.RawRowView(i)); err != nil {
				t.Fatal(err)
			}
		}
		want := must(of.WorthOf(t.Context(), x, q, stakes))
		got := answer[ValueResponse](t, s, "/v1/models/loans/value", rowsBody(t, rows, body))
		mean := 0.0
		for i, w := range want {
			v := got.Values[i]
			mean += w.Outcome / float64(len(want))
			if v.ActionIndex != w.Action || *v.Probability != w.Probabilities[1] || v.WorthOutcome != w.Outcome || fmt.Sprint(v.WorthColumns) != fmt.Sprint(w.Columns) ||
				q.Labels != (v.WorthLabel != nil) || q.Labels && *v.WorthLabel != w.Label {
				t.Errorf("%s, row %d: %+v, want %+v", body, i, v, w)
			}
		}
		if math.Abs(got.WorthOutcome-mean) > 1e-15 || got.Outcome != "bad" || !got.Costs || len(got.Actions) != 2 {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

// A column to be measured need not be there, and the worth of measuring it is the same
// with null, without the column, and with any value; others have to be there.
func TestValueOfWhatIsMissing(t *testing.T) {
	strict := fitted(t, bytes.ReplaceAll(loansCSV(60), []byte(",,"), []byte(",17,")), "fn=5,fp=1", lossep.EP, func(o *lossep.Options) { o.Data.Impute = false })
	s := newServer(t, func(c *Config) { c.Models = append(c.Models, source(t, "strict", strict)) })
	row := func(age, job string) string {
		return `{"income":20,"owner":true,"amount":300` + age + job + `}`
	}
	var first ValueResponse
	for k, age := range []string{`,"age":41`, `,"age":69`, `,"age":null`, ``} {
		got := answer[ValueResponse](t, s, "/v1/models/strict/value", `{"rows":[`+row(age, `,"job":"clerk"`)+`],"ask":["age"]}`)
		if k == 0 {
			first = got
		}
		if v := got.Values[0]; v.WorthColumns[0] != first.Values[0].WorthColumns[0] || k > 1 && v.WorthColumns[0] > v.WorthOutcome {
			t.Errorf("age %q: %+v, with a value %+v", age, v, first.Values[0])
		}
	}
	// Two of them.
	answer[ValueResponse](t, s, "/v1/models/strict/value", `{"rows":[`+row("", "")+`],"ask":["age","job"]}`)
	// With what it costs to know, in either form.
	for _, ask := range []string{`["age=1"]`, `{"age":1}`} {
		got := answer[ValueResponse](t, s, "/v1/models/strict/value", `{"rows":[`+row("", `,"job":"clerk"`)+`],"ask":`+ask+`}`)
		if net := got.Values[0].WorthColumns[0]; math.Abs(net-(first.Values[0].WorthColumns[0]-1)) > 1e-15 {
			t.Errorf("%s: %v, want one less than %v", ask, net, first.Values[0].WorthColumns[0])
		}
	}
	for body, want := range map[string]string{
		`{"rows":[` + row("", "") + `],"ask":["age"]}`:                                                      "rows[0].job: the row lacks this column",
		`{"rows":[` + row("", "") + `]}`:                                                                    "rows[0].age: the row lacks this column",
		`{"ask":["shoes"],"rows":[` + row(`,"age":41`, `,"job":"clerk"`) + `]}`:                             `ask: "shoes" is not a feature`,
		`{"ask":["age","job","age"],"rows":[` + row("", "") + `]}`:                                          `ask: "age" is given twice; give it once`,
		`{"ask":["age"],"labels":true,"rows":[` + row("", `,"job":"clerk"`) + `]}`:                          "labels: a column of row 1 is not known",
		`{"ask":["a","b","c","d","e","f","g","h","i"],"rows":[` + row("", "") + `]}`:                        "rows[0].age: the row lacks this column",
		`{"ask":["a","b","c","d","e","f","g","h","i"],"rows":[` + row(`,"age":41`, `,"job":"clerk"`) + `]}`: "ask: 9 columns are more than 8",
		`{"labels":1,"rows":[` + row("", "") + `]}`:                                                         "labels",
	} {
		if p := checkRefused(t, ask(s, http.MethodPost, "/v1/models/strict/value", body), 422); !strings.Contains(p.Detail, want) {
			t.Errorf("%s: %s, want %s", body, p.Detail, want)
		}
	}
	p := checkRefused(t, ask(s, http.MethodPost, "/v1/models/loans/value", rowsBody(t, someRows(maxLabelled+1), `"labels":true`)), 422)
	if !strings.Contains(p.Detail, "301 rows are more than 300") {
		t.Error(p.Detail)
	}
}

// What a question may take is bounded: in memory, at a time, and in time.
func TestValueIsBounded(t *testing.T) {
	s := newServer(t, func(c *Config) { c.MaxMemory = 2 << 20 })
	body := rowsBody(t, someRows(maxLabelled), `"labels":true`)
	if w := ask(s, http.MethodPost, "/v1/models/loans/value", body); w.Code != 413 {
		t.Errorf("%d %.200s", w.Code, w.Body)
	}
	s = newServer(t, func(c *Config) { c.Deadline = 30 * time.Millisecond })
	body = rowsBody(t, someRows(5000), `"ask":["age","job","income","owner"]`)
	if p := checkRefused(t, ask(s, http.MethodPost, "/v1/models/loans/value", body), 503); !strings.Contains(p.Detail, "longer") {
		t.Error(p.Detail)
	}
	for range cap(s.computations.places) {
		if err := s.computations.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	checkRefused(t, ask(s, http.MethodPost, "/v1/models/loans/value", rowsBody(t, someRows(2), "")), 503)
	if taken := s.memory.Taken(); taken != 0 {
		t.Errorf("%d bytes are still taken", taken)
	}
}

// What a label is worth is not known of every model, and that is said.
func TestValueWithInducingPoints(t *testing.T) {
	m := fitted(t, loansCSV(60), "fn=5,fp=1", lossep.EP, func(o *lossep.Options) { o.Inducing = 20 })
	s := newServer(t, func(c *Config) { c.Models = append(c.Models, source(t, "induced", m)) })
	answer[ValueResponse](t, s, "/v1/models/induced/value", rowsBody(t, someRows(2), `"ask":["age"]`))
	p := checkRefused(t, ask(s, http.MethodPost, "/v1/models/induced/value", rowsBody(t, someRows(2), `"labels":true`)), 422)
	if !strings.Contains(p.Detail, "labels: what a label is worth is for models without inducing points") {
		t.Error(p.Detail)
	}
}

// A probability of exactly nothing is said.
func TestValueOfImpossibleOutcome(t *testing.T) {
	text, err := json.Marshal(Value{Probability: new(0.0)})
	if err != nil || !strings.Contains(string(text), `"probability":0,`) {
		t.Errorf("%s %v", text, err)
	}
}
