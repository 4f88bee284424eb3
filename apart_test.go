package lossep_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
)

// More than two outcomes with inducing points: every method that they are offered by predicts,
// decides, leaves rows out and reads back the same, near the full process; and a model that
// keeps its rows can be calibrated.
func TestSeveralWithInducingPoints(t *testing.T) {
	const n, points = 90, 25
	table := triage(t, n, 3, 7)
	rows := mat.NewDense(3, 2, []float64{-1, 0, 1, 0.1, 0.3, -2})
	o := lossep.Options{Utility: matrix(t, triageCosts), Kernel: "rbf + constant", Method: lossep.EP, Seed: 1}
	full, err := lossep.Fit(context.Background(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	want, err := full.Predict(rows)
	if err != nil {
		t.Fatal(err)
	}
	o.Inducing = points
	p, err := lossep.Prepare(table, o)
	if err != nil {
		t.Fatal(err)
	}
	found := learned(t, p)
	for _, method := range lossep.MethodsForSeveral() {
		m, err := found.Model(context.Background(), method)
		if err != nil {
			t.Fatal(err)
		}
		s := m.Summary()
		if s.Inducing == nil || s.Inducing.Points > points || s.LeaveOneOut == nil || !s.Status.Converged || s.Inducing.Bound > s.LogEvidence {
			t.Fatalf("%s: %+v, leave-one-out %+v, %+v", method, s.Inducing, s.LeaveOneOut, s.Status)
		}
		if out := s.LeaveOneOut.LogPredictive / n; !(out < 0 && out > -math.Log(3)) {
			t.Errorf("%s: leave-one-out %v a row", method, out)
		}
		predicted, err := m.Predict(rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range predicted {
			// Laplace's method is the farthest, and a power of the probabilities goes with rows.
			if d := floats.Distance(p.Probabilities, want[i].Probabilities, math.Inf(1)); d > 0.2 || math.Abs(floats.Sum(p.Probabilities)-1) > 1e-9 {
				t.Errorf("%s, row %d: %v, the full process %v", method, i, p.Probabilities, want[i].Probabilities)
			}
		}
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		read, err := lossep.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		again, err := read.Predict(rows)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(predicted, again); d != "" {
			t.Errorf("%s: read back it predicts otherwise:\n%s", method, d)
		}
		if method != lossep.EP {
			continue
		}
		calibrated, err := read.Calibrate(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if c := calibrated.Summary(); calibrated.Method() != lossep.LossEP || !c.Status.Converged {
			t.Errorf("calibrated: %s, %+v", calibrated.Method(), c.Status)
		}
	}
}

// Rows that count twice are rows that stand there twice, with inducing points too.
func TestWeightsOfSeveralByPasses(t *testing.T) {
	once, twice := "a,b,w,y\n", "a,b,y\n"
	for i, row := range []string{"0,1,x", "1,0,x", "2,2,y", "3,1,y", "0,3,z", "1,4,z", "2,0,x", "3,3,y", "0,2,z", "4,4,z", "4,0,x", "4,2,y"} {
		inputs, outcome, count := row[:4], row[4:], 1
		if i%3 == 0 {
			count = 2
		}
		once += fmt.Sprintf("%s%d,%s\n", inputs, count, outcome)
		twice += strings.Repeat(row+"\n", count)
	}
	var found [2]float64
	for k, text := range []string{once, twice} {
		o := lossep.Options{Kernel: "rbf(variance=3, lengthscale=1) + constant", Fixed: true, Inducing: 12}
		if k == 0 {
			o.Data.Weights = "w"
		}
		m, err := lossep.Fit(context.Background(), tableOf(t, text), o)
		if err != nil {
			t.Fatal(err)
		}
		if m.Summary().Inducing == nil {
			t.Fatal("there are no inducing points")
		}
		found[k] = m.Summary().LogEvidence
	}
	// Both have settled to 1e-5, and the evidence is of the second order in that.
	if math.Abs(found[0]-found[1]) > 1e-6 {
		t.Errorf("log evidence %v with weights, %v with copies", found[0], found[1])
	}
}

// Beyond the views that the full process takes on by itself there are inducing points, and the
// default kernel is chosen with them.
func TestSeveralBeyondTheFullProcess(t *testing.T) {
	m, err := lossep.Fit(context.Background(), triage(t, 1100, 3, 9), lossep.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := m.Summary()
	if s.Inducing == nil || len(s.Candidates) == 0 || s.LeaveOneOut == nil || !s.Status.Converged {
		t.Errorf("%+v", s)
	}
}
