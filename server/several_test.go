package server

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// wards is a model of three outcomes.
func wards(t *testing.T) *lossep.Model {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,b,where\n")
	for i := range 30 {
		angle := 2 * math.Pi * float64(i) / 30
		fmt.Fprintf(&b, "%.3f,%.3f,%s\n", math.Cos(angle), math.Sin(angle), []string{"home", "ward", "icu"}[i/10])
	}
	costs, err := decision.ParseCostMatrix("costs.csv", []byte("action,home,ward,icu\ndischarge,0,5,50\nadmit,1,0,10\nintensive,4,2,0\ncall,2,2,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := table.Read(t.Context(), strings.NewReader(b.String()), "wards.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := lossep.Fit(t.Context(), table, lossep.Options{Utility: costs, Kernel: "rbf(variance=4, lengthscale=1)", Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A model of three outcomes is described, predicts and decides, by both protocols, as the
// library does; a curve counts what its outcomes cost.
func TestSeveralOutcomes(t *testing.T) {
	model := wards(t)
	s := newServer(t, func(c *Config) { c.Models = []Source{source(t, "wards", model)} })
	var d ModelDescription
	decodeExactly(t, ask(s, http.MethodGet, "/v1/models/wards", "").Body.Bytes(), &d)
	if diff := cmp.Diff(TargetColumn{Name: "where", Outcomes: []string{"home", "icu", "ward"}, Rows: []int{10, 10, 10}}, d.Target); diff != "" {
		t.Error(diff)
	}
	const rows = `"rows":[{"a":1,"b":0.5,"where":"home"},{"a":-0.4,"b":-1,"where":"icu"}]`
	var p PredictResponse
	decodeExactly(t, ask(s, http.MethodPost, "/v1/models/wards/predict", "{"+rows+"}").Body.Bytes(), &p)
	if !cmp.Equal(p.Outcomes, []string{"home", "icu", "ward"}) || len(p.Predictions) != 2 {
		t.Fatalf("%+v", p)
	}
	for _, one := range p.Predictions {
		if len(one.Probabilities) != 3 || math.Abs(floats.Sum(one.Probabilities)-1) > 1e-10 {
			t.Errorf("%+v", one)
		}
	}
	var decided DecideResponse
	decodeExactly(t, ask(s, http.MethodPost, "/v1/models/wards/decide", "{"+rows+`,"second_opinion":true}`).Body.Bytes(), &decided)
	costs := [][]float64{{0, 50, 5}, {1, 10, 0}, {4, 0, 2}, {2, 2, 2}}
	for i, one := range decided.Decisions {
		if !cmp.Equal(one.All, p.Predictions[i].Probabilities) {
			t.Errorf("%v and %v", one.All, p.Predictions[i].Probabilities)
		}
		for a, row := range costs {
			if want := floats.Dot(row, one.All); math.Abs(one.Cost[a]-want) > 1e-12 {
				t.Errorf("action %d costs %v, want %v", a, one.Cost[a], want)
			}
		}
	}
	answer := ask(s, http.MethodPost, "/v2/models/wards/infer", `{"inputs":[{"name":"a","datatype":"FP64","shape":[2],"data":[1,-0.4]},{"name":"b","datatype":"FP64","shape":[2],"data":[0.5,-1]}]}`)
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"name":"probability","datatype":"FP64","shape":[2,3]`) {
		t.Errorf("%d: %s", answer.Code, answer.Body)
	}
	var curve CurveResponse
	decodeExactly(t, ask(s, http.MethodPost, "/v1/models/wards/curve", "{"+rows+`,"vary":{"action":"discharge","outcome":"icu"},"from":1,"to":50,"steps":2}`).Body.Bytes(), &curve)
	want := 0.0
	for i, one := range decided.Decisions {
		want += costs[one.ActionIndex][i] / 2 // home and icu are the first two outcomes
	}
	if curve.Labelled != 2 || curve.Points[1].Realised == nil || math.Abs(*curve.Points[1].Realised-want) > 1e-12 {
		t.Errorf("%+v, want a realised cost of %v", curve, want)
	}
	// The approximation can be calibrated to the costs, as that of two outcomes.
	var calibrated DecideResponse
	decodeExactly(t, ask(s, http.MethodPost, "/v1/models/wards/decide", "{"+rows+`,"calibrate":true}`).Body.Bytes(), &calibrated)
	if !calibrated.Calibrated || !calibrated.Status.Converged || cmp.Equal(calibrated.Decisions[0].All, decided.Decisions[0].All) {
		t.Errorf("%+v", calibrated)
	}
}
