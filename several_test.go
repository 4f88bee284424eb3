package lossep_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// triage is a table of rows with one of several outcomes, by the direction of (a, b).
func triage(t testing.TB, rows, number int, seed uint64) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 16))
	var b strings.Builder
	b.WriteString("a,b,where\n")
	for range rows {
		x, y := rng.NormFloat64(), rng.NormFloat64()
		angle := math.Atan2(y, x)/(2*math.Pi) + 1.5 + 0.05*rng.NormFloat64()
		fmt.Fprintf(&b, "%.4f,%.4f,w%d\n", x, y, int(float64(number)*angle)%number)
	}
	table, err := table.Read(context.Background(), strings.NewReader(b.String()), "triage.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

const fixedKernel = "matern32(variance=4, lengthscale=1.5) + constant(variance=0.5)"

func matrix(t testing.TB, text string) *decision.Spec {
	t.Helper()
	s, err := decision.ParseCostMatrix("costs.csv", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const triageCosts = "action,w0,w1,w2\nhome,0,5,50\nward,1,0,10\nicu,4,2,0\ncall,2,2,2\n"

// A row that counts k times is k rows by every method for several outcomes: probabilities, the
// evidence, and what rows are predicted without all of their copies, to what iterations that end at
// 1e-9 leave. A model reads back the same, one of several kernels, too.
func TestSeveralWeightsAreRepeatedRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 50))
	var once, copies strings.Builder
	once.WriteString("a,b,w,where\n")
	copies.WriteString("a,b,w,where\n")
	for i := range 36 {
		x, y, k := rng.NormFloat64(), rng.NormFloat64(), 1+rng.IntN(3)
		where := (i + int(2+x)) % 3
		fmt.Fprintf(&once, "%.4f,%.4f,%d,w%d\n", x, y, k, where)
		for range k {
			fmt.Fprintf(&copies, "%.4f,%.4f,1,w%d\n", x, y, where)
		}
	}
	cases := tableOf(t, "a,b,w\n0.3,-0.2,1\n-1,1,1\n1.5,0.8,1\n")
	fit := func(text string, o lossep.Options) (*lossep.Model, []lossep.Prediction) {
		m, err := lossep.Fit(t.Context(), tableOf(t, text), o)
		if err != nil {
			t.Fatal(err)
		}
		return m, predicted(t, m, cases)
	}
	for _, method := range []lossep.Method{lossep.EP, lossep.VI, lossep.Laplace} {
		o := lossep.Options{Data: recipe.Options{Target: "where", Weights: "w"}, Kernel: fixedKernel, Fixed: true, Method: method}
		one, a := fit(once.String(), o)
		o.Data.Weights, o.Data.Drop = "", []string{"w"}
		many, b := fit(copies.String(), o)
		for i := range a {
			if !floats.EqualApprox(a[i].Probabilities, b[i].Probabilities, 1e-7) {
				t.Errorf("%s, case %d: %v weighted, %v repeated", method, i, a[i].Probabilities, b[i].Probabilities)
			}
		}
		for _, pair := range [][2]float64{
			{one.Summary().LogEvidence, many.Summary().LogEvidence},
			{one.Summary().LeaveOneOut.Value, many.Summary().LeaveOneOut.Value},
			{one.Summary().LeaveOneOut.LogPredictive / 36, many.Summary().LeaveOneOut.LogPredictive / float64(strings.Count(copies.String(), "\n")-1)},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-6 {
				t.Errorf("%s: %v weighted, %v repeated", method, pair[0], pair[1])
			}
		}
	}
	for _, kernel := range []string{fixedKernel, lossep.AutoKernel} {
		fractions := strings.ReplaceAll(once.String(), ",3,w", ",0.3,w")
		m, want := fit(fractions, lossep.Options{Data: recipe.Options{Target: "where", Weights: "w"}, Kernel: kernel, Fixed: kernel == fixedKernel})
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		loaded, err := lossep.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		if got := predicted(t, loaded, cases); !cmp.Equal(got, want) {
			t.Errorf("%s: read back %v, want %v", kernel, got, want)
		}
	}
}

// predicted are the predictions for cases.
func predicted(t *testing.T, m *lossep.Model, cases *table.Table) []lossep.Prediction {
	t.Helper()
	x, _, err := m.Recipe().Apply(cases)
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every method that is for several outcomes makes a model that predicts, decides and
// reads back the same.
func TestSeveralOutcomes(t *testing.T) { severalOutcomes(t, lossep.Likelihood{}) }

// So with labels that may be wrong, from inducing points without being asked; no outcome is less probable than that.
func TestSeveralRobust(t *testing.T) {
	const noise = 0.1
	for _, d := range severalOutcomes(t, lossep.Likelihood{Name: "robust", Noise: noise}) {
		for _, p := range d.Probabilities {
			if p < noise/2 || p > 1-noise {
				t.Errorf("%v with label noise %v", d.Probabilities, noise)
			}
		}
	}
}

// severalOutcomes are the decisions of EP.
func severalOutcomes(t *testing.T, likelihood lossep.Likelihood) (byEP []lossep.Decision) {
	table := triage(t, 40, 3, 1)
	p, err := lossep.Prepare(table, lossep.Options{Utility: matrix(t, triageCosts), Kernel: fixedKernel, Fixed: true, Likelihood: likelihood})
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.Learn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	rows := mat.NewDense(3, 2, []float64{-1, 0, 1, 0.1, 0.3, -2})
	for _, method := range []lossep.Method{lossep.EP, lossep.LossEP, lossep.VI, lossep.Laplace} {
		m, err := l.Model(context.Background(), method)
		if err != nil {
			t.Fatal(err)
		}
		if s := m.Summary(); !s.Status.Converged || s.LeaveOneOut == nil || s.LeaveOneOut.Value >= 2 {
			t.Errorf("%s: %+v, leave-one-out %+v", method, s.Status, s.LeaveOneOut)
		}
		decisions, err := m.Decide(rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range decisions {
			if math.Abs(floats.Sum(d.Probabilities)-1) > 1e-10 {
				t.Errorf("%s: the probabilities of row %d add up to %v", method, i, floats.Sum(d.Probabilities))
			}
			for a, cost := range d.Expected {
				if want := floats.Dot(d.Stakes.Table[a], d.Probabilities); math.Abs(cost-want) > 1e-13 {
					t.Errorf("%s: action %d costs %v, want %v", method, a, cost, want)
				}
			}
		}
		if got, want := decisions[0].Probabilities, decisions[1].Probabilities; floats.EqualApprox(got, want, 0.3) {
			t.Errorf("%s: all rows are the same: %v", method, got)
		}
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		loaded, err := lossep.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		again, err := loaded.Decide(rows)
		if err != nil || !cmp.Equal(again, decisions) {
			t.Errorf("%s: read back, it decides otherwise: %v", method, err)
		}
		if !cmp.Equal(loaded.Describe(), m.Describe()) {
			t.Errorf("%s: read back, it is another:\n%s", method, cmp.Diff(loaded.Describe(), m.Describe()))
		}
		// The other methods are asked too, and may only be of another opinion.
		m.Consult(rows, decisions)
		if method == lossep.EP {
			byEP = decisions
		}
	}
	return byEP
}

// Leave-one-out against models that never saw the row, nor its copies, nor its group. The sites
// of the others are not settled anew in the former, so that the latter is near and no more.
func TestSeveralLeaveOneOut(t *testing.T) {
	for name, c := range map[string]struct {
		outcomes, copies, group int
	}{
		"a row":                     {4, 1, 0},
		"a row and its copy":        {4, 2, 0},
		"a group":                   {3, 1, 3},
		"a group, and two outcomes": {2, 1, 3},
	} {
		var rows []int
		for i := range 27 {
			for range c.copies {
				rows = append(rows, i)
			}
		}
		table := triage(t, 27, c.outcomes, 2).Subset(rows)
		o := lossep.Options{Kernel: fixedKernel, Fixed: true, Method: lossep.EP}
		if c.outcomes == 2 {
			o.Data.Positive = "w1"
		}
		unit := func(i int) int { return i / c.copies }
		if c.group > 0 {
			unit = func(i int) int { return i / c.group }
			o.Data.Groups = "who"
			table = grouped(t, table, unit)
		}
		o.Data.Target = "where"
		m, err := lossep.Fit(context.Background(), table, o)
		if err != nil {
			t.Fatal(name, err)
		}
		whole, err := lossep.Prepare(table, o)
		if err != nil {
			t.Fatal(name, err)
		}
		sum := 0.0
		for i := range table.Len() {
			var others []int
			for j := range table.Len() {
				if unit(j) != unit(i) {
					others = append(others, j)
				}
			}
			without := o
			without.Recipe = whole.Recipe
			part, err := lossep.Prepare(table.Subset(others), without)
			if err != nil {
				t.Fatal(name, err)
			}
			part.Recipe, err = part.Recipe.Refit(table.Subset(others))
			if err != nil {
				t.Fatal(name, err)
			}
			fitted, err := part.Fit(context.Background())
			if err != nil {
				t.Fatal(name, err)
			}
			predicted, err := fitted.Predict(whole.X.Slice(i, i+1, 0, whole.Recipe.Dim()).(*mat.Dense))
			if err != nil {
				t.Fatal(name, err)
			}
			sum += math.Log(predicted[0].Probabilities[whole.Labels[i]])
		}
		if got := m.Summary().LeaveOneOut.LogPredictive; math.Abs(got-sum) > 0.02*float64(c.copies)*math.Abs(sum) {
			t.Errorf("%s: leave-one-out log predictive %v, want about %v", name, got, sum)
		}
	}
}

// grouped is a table with one more column, "who", the unit of each row.
func grouped(t testing.TB, rows *table.Table, unit func(i int) int) *table.Table {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,b,where,who\n")
	var columns [3][]string
	for k, name := range []string{"a", "b", "where"} {
		var err error
		if columns[k], err = rows.Texts(name); err != nil {
			t.Fatal(err)
		}
	}
	for i := range rows.Len() {
		fmt.Fprintf(&b, "%s,%s,%s,u%d\n", columns[0][i], columns[1][i], columns[2][i], unit(i))
	}
	return tableOf(t, b.String())
}

// Calibrating a model of several outcomes to other costs is what a fit by these would find
// with the same kernel; and calibration moves the probabilities, though not far.
func TestCalibrateSeveral(t *testing.T) {
	table := triage(t, 30, 3, 6)
	o := lossep.Options{Utility: matrix(t, triageCosts), Kernel: fixedKernel, Fixed: true}
	m, err := lossep.Fit(context.Background(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	calibrated, err := m.Calibrate(context.Background(), nil)
	if err != nil || !calibrated.Summary().Status.Converged {
		t.Fatalf("%v, %+v", err, calibrated.Summary().Status)
	}
	o.Method = lossep.LossEP
	fitted, err := lossep.Fit(context.Background(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	rows := mat.NewDense(3, 2, []float64{-1, 0, 1, 0.1, 0.3, -2})
	plain, _ := m.Predict(rows)
	one, _ := calibrated.Predict(rows)
	other, _ := fitted.Predict(rows)
	moved := 0.0
	for i := range one {
		if !floats.EqualApprox(one[i].Probabilities, other[i].Probabilities, 1e-6) {
			t.Errorf("%v by calibration, %v by a fit", one[i].Probabilities, other[i].Probabilities)
		}
		moved = max(moved, floats.Distance(one[i].Probabilities, plain[i].Probabilities, math.Inf(1)))
	}
	if !(moved > 1e-6 && moved < 0.1) {
		t.Errorf("calibration moves a probability by %v", moved)
	}
}

// Loss-VI of three outcomes moves VI where mistakes do not cost the same, and its model reads back
// as it was; the bound is checked in package gp.
func TestSeveralLossVI(t *testing.T) {
	o := lossep.Options{Utility: matrix(t, triageCosts), Kernel: "rbf(variance=4, lengthscale=1)", Fixed: true, Method: lossep.LossVI}
	table := triage(t, 12, 3, 1)
	m, err := lossep.Fit(context.Background(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	rows := mat.NewDense(2, 2, []float64{-1, 0, 0.3, -2})
	predicted, err := m.Predict(rows)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := lossep.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := loaded.Predict(rows); err != nil || !cmp.Equal(again, predicted) {
		t.Errorf("read back, it predicts otherwise: %v", err)
	}
	o.Method = lossep.VI
	plain, err := lossep.Fit(context.Background(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	without, err := plain.Predict(rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range predicted {
		if moved := floats.Distance(p.Probabilities, without[i].Probabilities, math.Inf(1)); !(moved > 1e-6 && moved < 0.2) || math.Abs(floats.Sum(p.Probabilities)-1) > 1e-9 {
			t.Errorf("%v, and %v by VI", p.Probabilities, without[i].Probabilities)
		}
	}
}

// What is for two outcomes says so by name, and what to do.
func TestForTwoOutcomesOnly(t *testing.T) {
	table := triage(t, 30, 3, 3)
	for says, o := range map[string]lossep.Options{
		"method: corrected is for two outcomes, and there are 3; choose one of ep":             {Method: lossep.Corrected},
		"likelihood: logit is for two outcomes, and there are 3; choose one of probit, robust": {Likelihood: lossep.Likelihood{Name: "logit"}},
		"method: loss-vi does not converge with label noise of 3 outcomes":                     {Likelihood: lossep.Likelihood{Name: "robust", Noise: 0.1}, Method: lossep.LossVI},
		"inducing: robust of 3 outcomes is learned from inducing points":                       {Likelihood: lossep.Likelihood{Name: "robust", Noise: 0.1}, Inducing: lossep.NoInducing},
		"power: powers are for two outcomes, and there are 3":                                  {Inducing: 10, Power: 0.5},
		"costs of true and false negatives and positives are for two outcomes":                 {Utility: costs(t, "fn=5,fp=1")},
		`"w3" is unknown; "w2" is missing; the target has "w0", "w1" and "w2": spell them`:     {Utility: matrix(t, "action,w0,w1,w3\na,0,1,1\nb,1,0,2\n")},
	} {
		if _, err := lossep.Prepare(table, o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	// 1,700 rows of four outcomes are 5,100 views.
	var input *lossep.InputError
	if _, err := lossep.Prepare(triage(t, 1700, 4, 4), lossep.Options{Inducing: lossep.NoInducing}); !errors.As(err, &input) || !strings.Contains(err.Error(), "5100 views, more than 5000: give a sample of at most 1666 rows") {
		t.Errorf("%v", err)
	}
}

// What takes too much memory is said in views.
func TestSeveralMemory(t *testing.T) {
	_, err := lossep.Prepare(triage(t, 900, 4, 4), lossep.Options{MaxMemory: 500e6, Inducing: lossep.NoInducing})
	if want := "triage.csv has 900 rows of 4 outcomes, which are 2700 views, and a fit by ep takes about 0.7 GB"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// Without any cost every wrong outcome costs one.
func TestSeveralWithoutCosts(t *testing.T) {
	p, err := lossep.Prepare(triage(t, 30, 3, 5), lossep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Stakes(0).Table, (decision.Table{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}); !cmp.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// With the default kernel several outcomes are those of a mixture, too: it predicts, decides
// and reads back the same, leaves rows out, and what was tried is on record.
func TestSeveralOutcomesMixKernels(t *testing.T) {
	table := triage(t, 60, 3, 6) // on which two kernels have weight
	rows := mat.NewDense(3, 2, []float64{-1, 0, 1, 0.1, 0.3, -2})
	for _, method := range []lossep.Method{lossep.EP, lossep.LossEP} {
		m, err := lossep.Fit(context.Background(), table, lossep.Options{Utility: matrix(t, triageCosts), Method: method, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		s := m.Summary()
		if len(s.Candidates) < 3 || len(m.Components()) < 2 || s.LeaveOneOut == nil || !s.Status.Converged {
			t.Fatalf("%s: candidates %+v, leave-one-out %+v, %+v", method, s.Candidates, s.LeaveOneOut, s.Status)
		}
		if out := s.LeaveOneOut.LogPredictive / 60; !(out < 0 && out > -math.Log(3)) {
			t.Errorf("%s: leave-one-out %v a row", method, out)
		}
		predicted, err := m.Predict(rows)
		if err != nil {
			t.Fatal(err)
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
		decisions, err := m.Decide(rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range decisions {
			if math.Abs(floats.Sum(d.Probabilities)-1) > 1e-9 || !cmp.Equal(d.Probabilities, predicted[i].Probabilities) {
				t.Errorf("%s: decided by %v, predicted %v", method, d.Probabilities, predicted[i].Probabilities)
			}
		}
	}
}

// Where no two outcomes have ten rows kernels are not compared: the first stands alone.
func TestSeveralOutcomesCompareWhenTheyCan(t *testing.T) {
	m, err := lossep.Fit(context.Background(), triage(t, 24, 4, 2), lossep.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if c := m.Summary().Candidates; len(c) != 1 || c[0].Weight != 1 {
		t.Errorf("24 rows of four outcomes: %+v", c)
	}
}
