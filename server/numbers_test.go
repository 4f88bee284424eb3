package server

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// demand is a model of what is sold by day and heat.
var demand = sync.OnceValue(func() *numbers.Model { return demandOf(must(decision.ParseNumberCosts("under=15,over=5"))) })

func demandOf(costs *decision.NumberCosts) *numbers.Model {
	rng := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	b.WriteString("day,heat,price,sold\n")
	for range 60 {
		day, heat := rng.IntN(2), 30*rng.Float64()
		fmt.Fprintf(&b, "%s,%.2f,%.2f,%.3f\n", []string{"mon", "sat"}[day], heat, 2+4*rng.Float64(), 30+8*float64(day)+heat/2+rng.NormFloat64())
	}
	t, err := table.Read(context.Background(), strings.NewReader(b.String()), "demand.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		panic(err)
	}
	p := must(numbers.Prepare(t, lossep.Options{Data: recipe.Options{Target: "sold"}, Kernel: "linear + constant", Seed: 1}, costs))
	return must(p.Fit(context.Background()))
}

// A model whose costs have more actions than a request may ask for is not served.
func TestModelOfTooManyActions(t *testing.T) {
	costs := new(decision.NumberCosts)
	if err := json.Unmarshal([]byte(`{"under":15,"over":5,"action":{"from":0,"to":90,"step":0.04}}`), costs); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Models: []Source{source(t, "demand", demandOf(costs))}}); err == nil || !strings.Contains(err.Error(), "2251 actions") {
		t.Errorf("it is served: %v", err)
	}
}

func demandServer(t testing.TB) *Server {
	return newServer(t, func(c *Config) { c.Models = append(c.Models, source(t, "demand", demand())) })
}

const demandRows = `"rows":[{"day":"sat","heat":20,"price":3},{"day":"mon","heat":5,"price":5}]`

// demandExchanges are requests that the server takes of a model of numbers.
var demandExchanges = [][3]string{
	{"GET", "/v1/models", ""},
	{"GET", "/v1/models/{name}", ""},
	{"GET", "/v2/models/{name}", ""},
	{"POST", "/v1/models/{name}/predict", "{" + demandRows + `,"quantiles":[0.05,0.5]}`},
	{"POST", "/v1/models/{name}/predict", "{" + demandRows + `}`},
	{"POST", "/v1/models/{name}/decide", "{" + demandRows + `}`},
	{"POST", "/v1/models/{name}/decide", "{" + demandRows + `,"utility":"under=3,over=1"}`},
	{"POST", "/v1/models/{name}/decide", "{" + demandRows + `,"utility":{"under":"price","over":1,"action":{"from":0,"to":90,"step":5}}}`},
	{"POST", "/v1/models/{name}/decide", `{"utility":{"costs":{"small":"3*max(outcome-36,0)","large":9}},` + demandRows + `}`},
	{"POST", "/v1/models/{name}/decide", "{" + demandRows + `,"capacity":{"action":70}}`},
	{"POST", "/v1/models/{name}/decide", `{"utility":{"costs":{"small":"3*max(outcome-30,0)","large":9},"effort":{"large":"price"}},"capacity":{"large":4},` + demandRows + `}`},
	{"POST", "/v1/models/{name}/distribution", "{" + demandRows + `}`},
	{"POST", "/v1/models/{name}/value", "{" + demandRows + `,"ask":["day=0.5"],"utility":"under=3,over=1"}`},
	{"POST", "/v1/models/{name}/value", `{"rows":[{"heat":20,"price":3}],"ask":["day"]}`},
	{"POST", "/v1/models/{name}/distribution", "{" + demandRows + `,"utility":{"cost":"(outcome-action)*(outcome-action)","action":[30,40,50]}}`},
	{"POST", "/v2/models/{name}/infer", `{"inputs":[{"name":"day","datatype":"BYTES","shape":[1],"data":["sat"]},{"name":"heat","datatype":"FP64","shape":[1],"data":[20]},{"name":"price","datatype":"FP64","shape":[1],"data":[3]}],"parameters":{"utility":"under=3,over=1"}}`},
}

// Decisions over HTTP are those of the model: quantiles under under and over, the least of the curve of costs.
func TestNumbersOverHTTP(t *testing.T) {
	s := demandServer(t)
	p := answer[PredictResponse](t, s, "/v1/models/demand/predict", "{"+demandRows+`,"quantiles":[0.75],"grid":[0,40]}`)
	d := answer[NumberDecideResponse](t, s, "/v1/models/demand/decide", "{"+demandRows+"}")
	curves := answer[DistributionResponse](t, s, "/v1/models/demand/distribution", "{"+demandRows+"}")
	for i, one := range d.Decisions {
		action := one.Action.(float64)
		if back := answer[PredictResponse](t, s, "/v1/models/demand/predict", "{"+demandRows+fmt.Sprintf(`,"grid":[%v]}`, action)).Predictions[i].CDF[0]; math.Abs(back-0.75) > 1e-9 || len(p.Predictions[i].CDF) != 2 {
			t.Errorf("%v lies below the quantile at 0.75; %v", back, p.Predictions[i].CDF)
		}
		if q := p.Predictions[i].Quantiles[0]; math.Abs(action-q) > 1e-9*math.Abs(q) || p.Predictions[i].Mean != one.Mean || !(one.Cost <= *one.CostLower && one.Cost <= *one.CostHigher) {
			t.Errorf("%+v, quantile %v", one, q)
		}
		c := curves.Distributions[i]
		if c.Action != action || c.Cost != one.Cost {
			t.Errorf("%v, curve %v", action, c.Action)
		}
		mass := 0.0
		for k, a := range c.Actions {
			if c.Expected[k] < c.Cost {
				t.Errorf("action %v costs %v, the best one %v", a, c.Expected[k], c.Cost)
			}
		}
		for k := range len(c.Outcomes) - 1 {
			mass += (c.Outcomes[k+1] - c.Outcomes[k]) * (c.Density[k] + c.Density[k+1]) / 2
		}
		if math.Abs(mass-0.998) > 1e-3 { // between the quantiles at 0.001 and 0.999, by a trapezoidal rule
			t.Errorf("mass %v", mass)
		}
	}
	description := ModelDescription{}
	decodeExactly(t, ask(s, http.MethodGet, "/v1/models/demand", "").Body.Bytes(), &description)
	again := answer[NumberDecideResponse](t, s, "/v1/models/demand/decide", rowsBody(t, description.ExampleRows, `"utility":`+string(description.Utility)))
	if len(again.Decisions) != 8 || description.Kind != "number" {
		t.Errorf("%+v", again)
	}
	line := fmt.Sprintf(`lossep_expected_cost_count{model="demand"} %d`, len(d.Decisions)) // those by the model's own costs
	if text := ask(s, http.MethodGet, "/metrics", "").Body.String(); !strings.Contains(text, line+"\n") {
		t.Errorf("the metrics lack %s", line)
	}
	short := answer[NumberDecideResponse](t, s, "/v1/models/demand/decide", "{"+demandRows+`,"capacity":{"action":60}}`)
	sum := 0.0
	for i, one := range short.Decisions {
		sum += one.Action.(float64)
		if one.Unlimited != d.Decisions[i].Action || one.Effort[0] != one.Action || math.Abs(*one.Forgone-(one.Cost-d.Decisions[i].Cost)) > 1e-9 {
			t.Errorf("within a capacity: %+v", one)
		}
	}
	if math.Abs(sum-60) > 1e-9 || short.Capacity.Limits[0].Price.Value <= 0 {
		t.Errorf("%v of 60 used, %+v", sum, short.Capacity)
	}
}

// The outcome is worth all that is expected to be lost; and a column that says much, as the day does, what the model says of
// measuring it, whether its value is given or not, less its cost.
func TestValueOfNumbers(t *testing.T) {
	s := demandServer(t)
	d := answer[NumberDecideResponse](t, s, "/v1/models/demand/decide", "{"+demandRows+"}")
	v := answer[NumberValueResponse](t, s, "/v1/models/demand/value", "{"+demandRows+`,"ask":["day","price"]}`)
	less := answer[NumberValueResponse](t, s, "/v1/models/demand/value", `{"rows":[{"heat":20,"price":3},{"day":"mon","heat":5,"price":5}],"ask":{"day":0.5}}`)
	for i, one := range v.Values {
		if math.Abs(one.WorthOutcome-d.Decisions[i].Cost) > 1e-6*one.WorthOutcome || one.Action != d.Decisions[i].Action || one.WorthColumns[0] < 10*one.WorthColumns[1] {
			t.Errorf("%+v of %+v", one, d.Decisions[i])
		}
		if got := less.Values[i].WorthColumns[0]; math.Abs(got-(one.WorthColumns[0]-0.5)) > 1e-9 {
			t.Errorf("%v at a cost of 0.5, %v before", got, one.WorthColumns[0])
		}
	}
}

func TestNumbersRefused(t *testing.T) {
	s := demandServer(t)
	for _, r := range []struct{ path, more, want string }{
		{"decide", `,"utility":"fn=1,fp=2"`, "under=COST"},
		{"decide", `,"utility":{"under":1}`, "not one kind of costs"},
		{"decide", `,"utility":{"cost":"outcome-action"}`, "does not rise again"},
		{"decide", `,"utility":{"under":1,"over":1,"action":{"from":0,"to":9,"step":0.001}}`, "at most 2000"},
		{"decide", `,"utility":{"under":"price-3","over":1}`, "a unit costs 0"},
		{"decide", `,"utility":{"under":"rent","over":1}`, "rent"},
		{"decide", `,"utility":5`, "such as"},
		{"decide", `,"why":2`, "why"},
		{"decide", `,"capacity":{"van":2}`, "is that of no action"},
		{"predict", `,"quantiles":[2]`, "not between 0 and 1"},
		{"predict", `,"grid":[1,1]`, "given twice"},
		{"predict", `,"grid":["a"]`, "grid"},
		{"predict", `,"grid":[` + strings.Join(slices.Repeat([]string{"1"}, 1001), ",") + `]`, "given twice"},
		{"predict", `,"utility":"under=1,over=1"`, "utility"},
		{"value", `,"ask":["sold"]`, "not a feature"},
		{"value", `,"ask":["price"],"utility":"under=price,over=1"`, "says what actions cost"},
		{"value", `,"calibrate":true`, "calibrate"},
		{"curve", "", "is a number"},
		{"outcomes", "", "records nothing"},
	} {
		w := ask(s, http.MethodPost, "/v1/models/demand/"+r.path, "{"+demandRows+r.more+"}")
		if p := problemOf(t, w); w.Code < 400 || w.Code > 499 || !strings.Contains(w.Body.String(), r.want) {
			t.Errorf("%s %s: %d %+v", r.path, r.more, w.Code, p)
		}
	}
	if w := ask(s, http.MethodPost, "/v1/models/loans/distribution", "{}"); w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if _, err := New(Config{Models: []Source{source(t, "demand", demand())}, Capacity: []decision.Capacity{{Name: "visit"}}}); err == nil || !strings.Contains(err.Error(), "capacity") {
		t.Errorf("a capacity: %v", err)
	}
}

// Decisions on numbers are recorded with their action, what it is expected to cost and the mean: actions that have names by
// these, beside others as text. Outcomes are numbers, as JSON has them or as text, that the model could have been fitted to.
func TestRecordNumbers(t *testing.T) {
	dir := t.TempDir()
	s := newServer(t, recording(t, dir, "price"), func(c *Config) { c.Models = []Source{source(t, "demand", demand())} })
	d := answer[NumberDecideResponse](t, s, "/v1/models/demand/decide", "{"+demandRows+"}")
	named := answer[NumberDecideResponse](t, s, "/v1/models/demand/decide", `{"utility":{"costs":{"small":"3*max(outcome-36,0)","large":9}},`+demandRows+"}")
	last := demandExchanges[len(demandExchanges)-1]
	if w := ask(s, last[0], strings.Replace(last[1], "{name}", "demand", 1), last[2]); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	if got := answer[OutcomesResponse](t, s, "/v1/outcomes", `{"outcomes":[{"id":"a","outcome":31.5},{"id":"b","outcome":"4e1"}]}`); got.Recorded != 2 {
		t.Errorf("%+v", got)
	}
	for outcome, want := range map[string]string{`"many"`: `\"many\" is no number`, `""`: "is no number", `true`: "outcome", `1e60`: "beyond", `"NaN"`: "beyond"} {
		if w := ask(s, http.MethodPost, "/v1/outcomes", `{"outcomes":[{"id":"a","outcome":`+outcome+`}]}`); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", outcome, w.Code, w.Body)
		}
	}
	if err := s.config.Record.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "demand", "_outcomes.jsonl"))
	if err != nil || !strings.Contains(string(text), `"sold":"31.5"`) || !strings.Contains(string(text), `"sold":"40"`) {
		t.Errorf("%s, %v", text, err)
	}
	rows := recordedIn(t, dir, "demand")
	action := func(k int) string { return fmt.Sprint(d.Decisions[k].Action) }
	want := []string{action(0), action(1), named.Decisions[0].Action.(string), named.Decisions[1].Action.(string)}
	if len(rows) != 6 || strings.Join(rows[0], ",") != "_id,_time,_digest,_action,_cost,_mean,day,heat" {
		t.Fatalf("%q", rows)
	}
	for k, a := range want {
		if rows[k+1][3] != a {
			t.Errorf("row %d: %q; want the action %s", k, rows[k+1], a)
		}
	}
	if rows[5][6] != "sat" || rows[5][7] != "20" {
		t.Errorf("tensors: %q", rows[5])
	}
}
