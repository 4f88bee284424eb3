package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// encoded are the features of rows, by the way that does not go through this package.
func encoded(t *testing.T, m *lossep.Model, rows []map[string]any) (x *mat.Dense, unseen [][]string) {
	t.Helper()
	x = mat.NewDense(len(rows), m.Recipe().Dim(), nil)
	for i, row := range rows {
		u, err := m.Recipe().Encode(row, x.RawRowView(i))
		if err != nil {
			t.Fatal(err)
		}
		unseen = append(unseen, u)
	}
	return x, unseen
}

// Predictions over HTTP are those of the library, bit for bit.
func TestPredict(t *testing.T) {
	s, m, rows := newServer(t), loans(), someRows(7)
	rows[3]["shoe size"] = 42
	x, unseen := encoded(t, m, rows)
	got := answer[PredictResponse](t, s, "/v1/models/loans/predict", rowsBody(t, rows, ""))
	want := PredictResponse{Model: "loans", ModelVersion: fileVersion(t, m), Method: "ep", Outcome: "bad", Ignored: []string{"shoe size"}}
	for i, p := range must(m.Predict(x)) {
		want.Predictions = append(want.Predictions, Prediction{Probability: p.Probability(), Mean: p.Mean, Variance: p.Variance, Unusual: append([]string{}, unseen[i]...)})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-library +server)\n%s", diff)
	}
	if !slices.Equal(got.Predictions[2].Unusual, []string{"job"}) {
		t.Errorf("unusual %q", got.Predictions[2].Unusual)
	}
}

// wantDecisions are the library's decisions in the form of a response.
func wantDecisions(m *lossep.Model, s *decision.Spec, decisions []lossep.Decision, unseen [][]string) (out []Decision) {
	for i, d := range decisions {
		one := Decision{
			Action: s.Actions()[d.Action], ActionIndex: d.Action, Probability: d.Probability(),
			Margin: d.Margin, Unusual: append([]string{}, unseen[i]...),
		}
		// The baseline is the first action. The differences of the other actions are as the others are
		// ordered: against all of them but the one in question.
		better := func(a, b float64) float64 {
			if s.Costs() {
				return b - a
			}
			return a - b
		}
		one.Saving = max(0, better(d.Expected[d.Action], d.Expected[0]))
		for a, x := range d.Expected {
			least := math.Inf(1)
			for b, y := range d.Expected {
				if a != b {
					least = min(least, better(x, y))
				}
			}
			one.Advantage = append(one.Advantage, least)
		}
		if s.Costs() {
			one.Cost = d.Expected
		} else {
			one.Utility = d.Expected
		}
		out = append(out, one)
	}
	return out
}

// casesOf is what is at stake in rows.
func casesOf(t *testing.T, s *decision.Spec, rows []map[string]any) []decision.Stakes {
	t.Helper()
	cases, err := s.Cases(len(rows), func(i int, name string) (float64, error) { return rows[i][name].(float64), nil })
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// Decisions over HTTP are those of the library: under the model's own costs, under
// others in every form, with utilities, three actions, and costs that name columns.
func TestDecide(t *testing.T) {
	s, rows := newServer(t), someRows(9)
	for _, c := range []struct{ name, model, utility, yaml string }{
		{"own", "loans", "", ""},
		{"null", "loans", `null`, ""},
		{"text", "loans", `"fn=20,fp=1"`, "outcomes: [good, bad]\ncosts: {negative: {good: 0, bad: 20}, positive: {good: 1, bad: 0}}"},
		{
			"object", "loans", `{"outcomes":["good","bad"],"costs":{"accept":{"good":0,"bad":9},"refuse":{"good":2,"bad":0},"\u0061sk":{"good":0.7,"bad":0.9}}}`,
			"outcomes: [good, bad]\ncosts: {accept: {good: 0, bad: 9}, refuse: {good: 2, bad: 0}, ask: {good: 0.7, bad: 0.9}}",
		},
		{
			"turned round", "loans", `{"outcomes":["bad","good"],"costs":{"accept":{"good":0,"bad":9},"refuse":{"good":2,"bad":0}}}`,
			"outcomes: [good, bad]\ncosts: {accept: {good: 0, bad: 9}, refuse: {good: 2, bad: 0}}",
		},
		{
			"object in a text", "loans", `"{\"outcomes\":[\"good\",\"bad\"],\"costs\":{\"accept\":{\"good\":0,\"bad\":9},\"refuse\":{\"good\":2,\"bad\":0}}}"`,
			"outcomes: [good, bad]\ncosts: {accept: {good: 0, bad: 9}, refuse: {good: 2, bad: 0}}",
		},
		{
			"utilities", "loans", `{"outcomes":["good","bad"],"utilities":{"accept":{"good":3,"bad":0},"refuse":{"good":1,"bad":"1"}}}`,
			"outcomes: [good, bad]\nutilities: {accept: {good: 3, bad: 0}, refuse: {good: 1, bad: 1}}",
		},
		{"a column", "loans", `"fn=0.02*amount,fp=3"`, "outcomes: [good, bad]\ncosts: {negative: {good: 0, bad: 0.02 * amount}, positive: {good: 3, bad: 0}}"},
		{"its own column", "amounts", "", ""},
		{"no column in place of its own", "amounts", `"fn=2,fp=1"`, "outcomes: [good, bad]\ncosts: {negative: {good: 0, bad: 2}, positive: {good: 1, bad: 0}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := map[string]*lossep.Model{"loans": loans(), "amounts": amounts()}[c.model]
			spec := m.Utility()
			if c.yaml != "" {
				var err error
				if spec, err = decision.ParseSpec("test", []byte(c.yaml)); err != nil {
					t.Fatal(err)
				}
				if spec, err = m.Bind(spec); err != nil {
					t.Fatal(err)
				}
			}
			x, unseen := encoded(t, m, rows)
			want := DecideResponse{
				Model: c.model, ModelVersion: fileVersion(t, m), Method: "ep", Outcome: "bad", Actions: spec.Actions(), Costs: spec.Costs(), Baseline: spec.Actions()[0], Rule: spec.RuleLine(),
				Decisions: wantDecisions(m, spec, must(m.Decide(x, casesOf(t, spec, rows)...)), unseen),
			}
			more := ""
			if c.utility != "" {
				more = `"utility":` + c.utility
			}
			got := answer[DecideResponse](t, s, "/v1/models/"+c.model+"/decide", rowsBody(t, rows, more))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-library +server)\n%s", diff)
			}
			// The utility may stand before the rows.
			if more != "" {
				text, _ := json.Marshal(rows)
				if again := answer[DecideResponse](t, s, "/v1/models/"+c.model+"/decide", `{`+more+`,"rows":`+string(text)+`}`); !reflect.DeepEqual(again, got) {
					t.Errorf("another answer when the utility comes first: %+v", again)
				}
			}
		})
	}
}

// A second opinion is what the library's other methods say.
func TestSecondOpinion(t *testing.T) {
	s, m, rows := newServer(t), loans(), someRows(batchRows+50)
	x, unseen := encoded(t, m, rows)
	// Costs that put the threshold between what EP and its corrections say of a row.
	p, q := must(m.Predict(x))[7].Probability(), must(fitted(t, loansCSV(60), "fn=5,fp=1", lossep.Corrected).Predict(x))[7].Probability()
	costs := fmt.Sprintf("fn=%v,fp=%v", 1-(p+q)/2, (p+q)/2)
	spec, err := decision.ParseCosts(costs)
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = m.Bind(spec); err != nil {
		t.Fatal(err)
	}
	decisions := must(m.Decide(x, casesOf(t, spec, rows)...))
	m.Consult(x, decisions)
	got := answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, rows, `"second_opinion":true,"utility":"`+costs+`"`))
	want := wantDecisions(m, spec, decisions, unseen)
	disagree := 0
	for i, d := range decisions {
		want[i].Disagreement, want[i].Disagreeing = new(len(d.Disagreeing) > 0), map[string]string{}
		for method, a := range d.Disagreeing {
			want[i].Disagreeing = map[string]string{string(method): m.Utility().Actions()[a]}
			disagree++
		}
	}
	if diff := cmp.Diff(want, got.Decisions); diff != "" {
		t.Errorf("(-library +server)\n%s", diff)
	}
	if disagree == 0 {
		t.Error("nobody disagrees, so that nothing is tested")
	}
}

// Reasons are those of the library.
func TestWhy(t *testing.T) {
	s, m, rows := newServer(t), loans(), someRows(20)
	x, unseen := encoded(t, m, rows)
	decisions := must(m.Decide(x))
	if err := m.Explain(2, nil).Of(t.Context(), x, decisions); err != nil {
		t.Fatal(err)
	}
	got := answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, rows, `"why":2`))
	want, flips := wantDecisions(m, m.Utility(), decisions, unseen), 0
	for i, d := range decisions {
		if want[i].Why = d.Reasons; d.Flip != nil {
			want[i].Flip = &service.FlipJSON{Column: d.Flip.Column, From: d.Flip.From, To: d.Flip.To, Action: m.Utility().Actions()[d.Flip.Action]}
			flips++
		}
	}
	if diff := cmp.Diff(want, got.Decisions); diff != "" {
		t.Errorf("(-library +server)\n%s", diff)
	}
	if flips == 0 || len(want[0].Why) != 2 {
		t.Error("nothing flips, so that nothing is tested")
	}
	for i, d := range answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, rows, `"why":9,"why_without":["job"]`)).Decisions {
		if slices.ContainsFunc(d.Why, func(r lossep.Reason) bool { return r.Column == "job" }) || d.Flip != nil && d.Flip.Column == "job" {
			t.Errorf("row %d: job is left out: %+v, %+v", i, d.Why, d.Flip)
		}
	}
}

// Calibrated decisions are those of the library's calibrated model.
func TestCalibrate(t *testing.T) {
	s, m, rows := newServer(t), loans(), someRows(5)
	spec, err := decision.ParseCosts("fn=30,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = m.Bind(spec); err != nil {
		t.Fatal(err)
	}
	calibrated, err := m.Calibrate(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	x, unseen := encoded(t, m, rows)
	status := calibrated.Summary().Status
	want := DecideResponse{
		Model: "loans", ModelVersion: fileVersion(t, m), Method: "loss-ep", Outcome: "bad", Actions: spec.Actions(), Costs: true, Baseline: spec.Actions()[0], Rule: spec.RuleLine(), Calibrated: true,
		Status: &status, Decisions: wantDecisions(calibrated, spec, must(calibrated.Decide(x, casesOf(t, spec, rows)...)), unseen),
	}
	for range 2 { // computed, and kept
		got := answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, rows, `"utility":"fn=30,fp=1","calibrate":true`))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-library +server)\n%s", diff)
		}
	}
	plain := must(m.Predict(x))[0].Probability()
	if want.Decisions[0].Probability == plain {
		t.Errorf("calibration left the probability at %v, so that nothing is tested", plain)
	}
}

// The cost curve adds up what the library decides under each value.
func TestCurve(t *testing.T) {
	s, rows := newServer(t), someRows(30)
	for _, c := range []struct {
		name, model, body string
		values            []float64
		spec              func(value float64) string
	}{
		{
			"costs", "loans", `"vary":{"action":"negative","outcome":"bad"},"from":0.5,"to":32,"steps":7,"scale":"log"`,
			[]float64{0.5, 1, 2, 4, 8, 16, 32},
			func(v float64) string {
				return `{outcomes: [good, bad], costs: {negative: {good: 0, bad: ` + num(v) + `}, positive: {good: 1, bad: 0}}}`
			},
		},
		{
			"calibrated", "loans", `"calibrate":true,"vary":{"action":"negative","outcome":"bad"},"from":0.5,"to":32,"steps":7,"scale":"log"`,
			[]float64{0.5, 1, 2, 4, 8, 16, 32},
			func(v float64) string {
				return `{outcomes: [good, bad], costs: {negative: {good: 0, bad: ` + num(v) + `}, positive: {good: 1, bad: 0}}}`
			},
		},
		{
			"utilities", "loans", `"utility":{"outcomes":["good","bad"],"utilities":{"accept":{"good":3,"bad":0},"refuse":{"good":1,"bad":1}}},
			"vary":{"action":"refuse","outcome":"good"},"from":0,"to":4,"steps":5`,
			[]float64{0, 1, 2, 3, 4},
			func(v float64) string {
				return `{outcomes: [good, bad], utilities: {accept: {good: 3, bad: 0}, refuse: {good: ` + num(v) + `, bad: 1}}}`
			},
		},
		{
			"a multiple of a column", "amounts", `"vary":{"action":"negative","outcome":"bad"},"from":0.001,"to":0.021,"steps":3,"scale":"linear"`,
			[]float64{0.001, 0.011, 0.021},
			func(v float64) string {
				return `{outcomes: [good, bad], costs: {negative: {good: 0, bad: ` + num(v) + ` * amount}, positive: {good: 1, bad: 0}}}`
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := map[string]*lossep.Model{"loans": loans(), "amounts": amounts()}[c.model]
			version := fileVersion(t, m)
			if c.name == "calibrated" {
				plain := m.Utility()
				var err error
				if m, err = m.Calibrate(t.Context(), plain); err != nil {
					t.Fatal(err)
				}
			}
			x, _ := encoded(t, m, rows)
			got := answer[CurveResponse](t, s, "/v1/models/"+c.model+"/curve", rowsBody(t, rows, c.body))
			if got.Model != c.model || got.ModelVersion != version {
				t.Errorf("model %q in the version %q", got.Model, got.ModelVersion)
			}
			if len(got.Points) != len(c.values) || got.Rows != 30 || got.Labelled != 29 {
				t.Fatalf("%d points, %d rows, %d labelled", len(got.Points), got.Rows, got.Labelled)
			}
			decide := func(text string) (*decision.Spec, []lossep.Decision) {
				spec, err := decision.ParseSpec("test", []byte(text))
				if err == nil {
					spec, err = m.Bind(spec)
				}
				if err != nil {
					t.Fatal(err)
				}
				return spec, must(m.Decide(x, casesOf(t, spec, rows)...))
			}
			held := must(m.Decide(x, casesOf(t, m.Utility(), rows)...))
			if c.name == "utilities" {
				_, held = decide(c.spec(1))
			}
			flips := 0
			for k, p := range got.Points {
				// Logarithms up to 4 are rounded, and what is theirs by as much.
				if math.Abs(p.Value-c.values[k]) > 1e-15*c.values[k] {
					t.Errorf("value %v, want %v", p.Value, c.values[k])
				}
				spec, decisions := decide(c.spec(p.Value))
				var expected, kept, realised float64
				flipped := 0
				for i, d := range decisions {
					e := d.Stakes.Table
					expected += d.Expected[d.Action] / 30
					kept += d.Expected[held[i].Action] / 30
					if d.Action != held[i].Action {
						flipped++
					}
					switch rows[i]["class"] {
					case "good":
						realised += e[d.Action][0] / 29
					case "bad":
						realised += e[d.Action][1] / 29
					}
				}
				flips += flipped
				// Sums of 30 terms of a few units each.
				const tolerance = 1e-12
				if math.Abs(p.Expected-expected) > tolerance || math.Abs(p.Held-kept) > tolerance || math.Abs(*p.Realised-realised) > tolerance || p.Flipped != flipped {
					t.Errorf("at %v: %+v (realised %v), want %v, %v, %d, %v", p.Value, p, *p.Realised, expected, kept, flipped, realised)
				}
				for a, name := range spec.Actions() {
					sum := 0.0
					for _, d := range decisions {
						sum += d.Expected[a] / 30
					}
					if one := got.Constant[a]; one.Action != name || math.Abs(one.Expected[k]-sum) > tolerance {
						t.Errorf("always %s at %v: %v, want %v", name, p.Value, one.Expected[k], sum)
					}
				}
			}
			if flips == 0 {
				t.Error("nothing flips, so that nothing is tested")
			}
		})
	}
}

func num(x float64) string { b, _ := json.Marshal(x); return string(b) }

// The table of methods is that of package infer, with what a page wants to know.
func TestMethods(t *testing.T) {
	var list struct{ Methods []map[string]any }
	if err := json.Unmarshal(ask(newServer(t), http.MethodGet, "/v1/methods", "").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	for i, d := range methods.List(nil) {
		want := map[string]any{
			"name": d.Name, "label": d.Label, "title": d.Title, "about": d.About,
			"calibrated": d.Calibrated, "exact": d.Exact, "bound": d.Bound,
		}
		if d.Of != "" {
			want["of"] = d.Of
		}
		if diff := cmp.Diff(want, list.Methods[i]); diff != "" {
			t.Error(diff)
		}
	}
}

// The description of a model has what its file has, and a utility that a request can
// send back.
func TestDescribe(t *testing.T) {
	examples := someRows(2)
	s := newServer(t, func(c *Config) { c.Models[1].Examples = examples })
	var list ModelList
	decodeExactly(t, ask(s, http.MethodGet, "/v1/models", "").Body.Bytes(), &list)
	want := ModelList{[]ModelSummary{
		{"amounts", "categories", "ep", 40, amounts().Recipe().NumFeatures(), []string{"good", "bad"}, []string{"negative", "positive"}},
		{"loans", "categories", "ep", 60, loans().Recipe().NumFeatures(), []string{"good", "bad"}, []string{"negative", "positive"}},
	}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var d ModelDescription
	decodeExactly(t, ask(s, http.MethodGet, "/v1/models/amounts", "").Body.Bytes(), &d)
	if diff := cmp.Diff(amounts().Summary(), *d.Summary); diff != "" {
		t.Error(diff)
	}
	if d.Name != "amounts" || d.Kernel != amounts().Kernel().String() || len(d.Digest) != 64 || !cmp.Equal(d.Target, TargetColumn{Name: "class", Negative: "good", Positive: "bad", Outcome: "bad", Share: amounts().Recipe().Target.PositiveShare()}) || len(d.ExampleRows) != 2 {
		t.Errorf("%+v", d)
	}
	if got := string(d.Utility); got != `{"outcomes":["good","bad"],"costs":{"negative":{"good":0,"bad":"0.01 * amount"},"positive":{"good":1,"bad":0}}}` {
		t.Errorf("utility %s", got)
	}
	// A row made of the examples of its columns can be decided, under the utility given.
	row := make(map[string]any)
	var names []string
	for _, c := range d.Columns {
		row[c.Name] = c.Example
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"age", "income", "job", "owner", "amount"}) {
		t.Errorf("columns %q", names)
	}
	got := answer[DecideResponse](t, s, "/v1/models/amounts/decide", rowsBody(t, []map[string]any{row}, `"utility":`+string(d.Utility)))
	if len(got.Decisions) != 1 || got.Rule != d.Rule {
		t.Errorf("%+v", got)
	}
	// Where none are given, the rows to try are those that the model keeps, as numbers where they are.
	d = ModelDescription{}
	decodeExactly(t, ask(s, http.MethodGet, "/v1/models/loans", "").Body.Bytes(), &d)
	decided := answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, d.ExampleRows, ""))
	if age, whole := d.ExampleRows[0]["age"].(float64); len(decided.Decisions) != len(loans().Examples().Rows) || decided.Ignored != nil || !whole || age != math.Round(age) {
		t.Errorf("%v %+v", d.ExampleRows, decided)
	}
}

// Answers say what their probabilities are of and for whom, and which rows are far from
// all that was trained on.
func TestOutcomePopulationAndNovelty(t *testing.T) {
	table, err := table.Read(t.Context(), bytes.NewReader(loansCSV(60)), "test.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		t.Fatal(err)
	}
	m, err := lossep.Fit(t.Context(), table, lossep.Options{
		Data:   recipe.Options{Target: "amount >= 500", Drop: []string{"class"}, Prevalence: 0.02, Impute: true},
		Kernel: "matern32(variance=4, lengthscale=3) + constant(variance=1)", Fixed: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, func(c *Config) { c.Models = []Source{source(t, "large", m)} })
	rows := someRows(2)
	rows[0]["age"], rows[1]["age"] = 1e9, 40.0
	body := rowsBody(t, rows, "")
	predicted := answer[PredictResponse](t, s, "/v1/models/large/predict", body)
	decided := answer[DecideResponse](t, s, "/v1/models/large/decide", body)
	for _, got := range []struct {
		outcome    string
		prevalence float64
		far, near  []string
	}{
		{predicted.Outcome, predicted.Prevalence, predicted.Predictions[0].Unusual, predicted.Predictions[1].Unusual},
		{decided.Outcome, decided.Prevalence, decided.Decisions[0].Unusual, decided.Decisions[1].Unusual},
	} {
		if got.outcome != "amount >= 500" || got.prevalence != 0.02 || !slices.Equal(got.far, []string{"age"}) || len(got.near) > 0 {
			t.Errorf("%+v", got)
		}
	}
	// What is said of rows together needs most of them.
	if predicted.Notes != nil || decided.Notes != nil {
		t.Errorf("one of two rows far out: %q, %q", predicted.Notes, decided.Notes)
	}
	rows[1]["age"] = 1e8
	body = rowsBody(t, rows, "")
	for path, notes := range map[string][]string{
		"predict": answer[PredictResponse](t, s, "/v1/models/large/predict", body).Notes,
		"decide":  answer[DecideResponse](t, s, "/v1/models/large/decide", body).Notes,
		"value":   answer[ValueResponse](t, s, "/v1/models/large/value", body).Notes,
		"curve":   answer[CurveResponse](t, s, "/v1/models/large/curve", rowsBody(t, rows, `"utility":"fn=5,fp=1","vary":{"action":"positive","outcome":"no"},"from":1,"to":2`)).Notes,
	} {
		if len(notes) != 1 || !strings.HasPrefix(notes[0], `column "age": ALL 2 rows are far outside the values seen in training, which are from `) {
			t.Errorf("%s: %q", path, notes)
		}
	}
	rows = rows[:1]
	if alone := answer[PredictResponse](t, s, "/v1/models/large/predict", rowsBody(t, rows, "")).Notes; alone != nil {
		t.Errorf("a row by itself: %q", alone)
	}
	// So far out the rows tell nothing: the latent value is as uncertain as before them.
	if v := predicted.Predictions[0].Variance; math.Abs(v-5) > 1 {
		t.Errorf("variance %v far out, and 4 + 1 before any row", v)
	}
	var d ModelDescription
	decodeExactly(t, ask(s, http.MethodGet, "/v1/models/large", "").Body.Bytes(), &d)
	if d.Target.Outcome != "amount >= 500" || d.Target.Prevalence != 0.02 || d.Target.Share != m.Recipe().Target.PositiveShare() {
		t.Errorf("%+v", d.Target)
	}
	// The protocol says so in one text.
	inputs, _ := inferInputs(rows, false)
	inputs = slices.DeleteFunc(inputs, func(in map[string]any) bool { return in["name"] == "amount" })
	text, err := json.Marshal(map[string]any{"inputs": inputs})
	if err != nil {
		t.Fatal(err)
	}
	far := ask(s, http.MethodPost, "/v2/models/large/infer", string(text))
	if far.Code != http.StatusOK || !strings.Contains(far.Body.String(), `"parameters":{"unusual":"row 0: age"}`) {
		t.Errorf("%d %s", far.Code, far.Body)
	}
}

// The rows that a model keeps are decided as they are shown, also where the training file has decimal
// commas and costs are made of a column that is no feature; and so is that column as the file writes it.
func TestExamplesOfDecimalCommas(t *testing.T) {
	var text strings.Builder
	text.WriteString("age;rate;amount;bad\n")
	for i := range 60 {
		amount := fmt.Sprintf("%d.%03d,50", 1+i%9, i)
		if i%10 == 7 {
			amount = "n/a"
		}
		fmt.Fprintf(&text, "%d;%d,%d;%s;%v\n", 20+i*37%50, i%7, 1+i%9, amount, i*37%50 < 15 != (i%11 == 0))
	}
	past, err := table.Read(t.Context(), strings.NewReader(text.String()), "loans.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	costs, err := decision.ParseCosts("fn=0.1*default(amount, 900),fp=70")
	if err != nil {
		t.Fatal(err)
	}
	for _, drop := range [][]string{{"amount"}, nil} {
		m, err := lossep.Fit(t.Context(), past, lossep.Options{
			Data: recipe.Options{Target: "bad", Impute: true, Drop: drop}, Utility: costs, Method: lossep.EP,
			Kernel: "rbf(variance=4, lengthscale=1)", Fixed: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(t, func(c *Config) { c.Models = []Source{source(t, "loans", m)} })
		var d ModelDescription
		decodeExactly(t, ask(s, http.MethodGet, "/v1/models/loans", "").Body.Bytes(), &d)
		for _, c := range d.Columns {
			if _, number := c.Example.(float64); !number {
				t.Errorf("%s, a number, has the example %v", c.Name, c.Example)
			}
		}
		row := maps.Clone(d.ExampleRows[0])
		row["amount"] = "1.495,50"
		same := maps.Clone(row)
		same["amount"] = 1495.5
		got := answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, append(d.ExampleRows, row, same), "")).Decisions
		if n := len(got); n != 10 || !cmp.Equal(got[n-2], got[n-1]) {
			t.Errorf("%+v", got)
		}
	}
}
