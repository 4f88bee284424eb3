package lossep_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// grades are rows whose outcome g0, g1, … is what a latent value and noise lie between.
func grades(t testing.TB, rows, number int, seed uint64) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 35))
	var b strings.Builder
	b.WriteString("a,b,grade\n")
	for range rows {
		x, y := rng.NormFloat64(), rng.NormFloat64()
		f := 2*math.Sin(x) + y + 0.7*rng.NormFloat64()
		fmt.Fprintf(&b, "%.4f,%.4f,g%d\n", x, y, int(max(0, min(float64(number-1), math.Floor(f*float64(number)/6+float64(number)/2)))))
	}
	return tableOf(t, b.String())
}

// inOrder are options for grades from g0, or from the last, on.
func inOrder(number int, reversed bool, method lossep.Method, kernel string) lossep.Options {
	var names []string
	for k := range number {
		names = append(names, fmt.Sprintf("g%d", k))
	}
	if reversed {
		slices.Reverse(names)
	}
	return lossep.Options{
		Data:   recipe.Options{Ordered: []recipe.OrderedSet{{Column: "grade", Categories: names}}},
		Method: method, Kernel: kernel, Seed: 1,
	}
}

var gradeRows = mat.NewDense(4, 2, []float64{-1, 0, 1, 0.1, 0.3, -2, 4, 4})

func fitted(t testing.TB, rows *table.Table, o lossep.Options) (*lossep.Model, []lossep.Prediction) {
	t.Helper()
	m, err := lossep.Fit(t.Context(), rows, o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(gradeRows)
	if err != nil {
		t.Fatal(err)
	}
	return m, p
}

// Two grades are two outcomes: every method finds the same kernel, evidence and probabilities, but for the
// rounding of Φ(b) − Φ(a) in place of Φ, with the full process and with inducing points.
func TestTwoGradesAreTwoOutcomes(t *testing.T) {
	rows := grades(t, 60, 2, 1)
	for _, inducing := range []int{lossep.NoInducing, 20} {
		for _, method := range lossep.Methods() {
			if inducing > 0 && method == lossep.Corrected {
				continue // which is for the full process
			}
			graded := inOrder(2, false, method, "rbf + constant")
			graded.Inducing = inducing
			plain := graded
			plain.Data = recipe.Options{Positive: "g1"}
			a, p := fitted(t, rows, graded)
			b, q := fitted(t, rows, plain)
			if got, want := a.Summary().LogEvidence, b.Summary().LogEvidence; math.Abs(got-want) > 1e-9*math.Abs(want) {
				t.Errorf("%s, %d points: log evidence %v, of two outcomes %v", method, inducing, got, want)
			}
			for i := range p {
				if d := floats.Distance(p[i].Probabilities, q[i].Probabilities, math.Inf(1)); d > 1e-9 {
					t.Errorf("%s, %d points, row %d: %v, of two outcomes %v", method, inducing, i, p[i].Probabilities, q[i].Probabilities)
				}
			}
		}
	}
}

// Grades in the opposite order have the same probabilities in the opposite order: the sign of a function, and the
// location of its cut points, mean nothing. A search stops where the gradient is below 0.01.
func TestGradesReversed(t *testing.T) {
	rows := grades(t, 80, 4, 2)
	a, p := fitted(t, rows, inOrder(4, false, lossep.EP, "rbf + constant"))
	b, q := fitted(t, rows, inOrder(4, true, lossep.EP, "rbf + constant"))
	cuts := b.Likelihood().Cuts
	slices.Reverse(cuts)
	for k, c := range a.Likelihood().Cuts {
		if math.Abs(c+cuts[k]) > 1e-2 {
			t.Errorf("cut point %d is %v, reversed %v", k, c, cuts[k])
		}
	}
	for i := range p {
		slices.Reverse(q[i].Probabilities)
		if d := floats.Distance(p[i].Probabilities, q[i].Probabilities, math.Inf(1)); d > 2e-3 || math.Abs(floats.Sum(p[i].Probabilities)-1) > 1e-12 {
			t.Errorf("row %d: %v, reversed %v", i, p[i].Probabilities, q[i].Probabilities)
		}
	}
}

// Models of grades read back the same, among them mixtures, whose parts have cut points of their own; and they are
// calibrated, updated and asked what a label is worth.
func TestGradeModels(t *testing.T) {
	rows := grades(t, 90, 3, 3)
	costs := matrix(t, "action,g0,g1,g2\nlow,0,2,9\nmiddle,1,0,2\nhigh,3,1,0\n")
	for name, o := range map[string]lossep.Options{
		"mixture":         inOrder(3, false, "", ""),
		"inducing points": inOrder(3, false, lossep.EP, "matern32 + constant + effects(auto)"),
		"calibrated":      inOrder(3, false, lossep.LossEP, "rbf + constant"),
		"variational":     inOrder(3, false, lossep.LossVI, "rbf + constant"),
	} {
		t.Run(name, func(t *testing.T) {
			o.Utility = costs
			m, want := fitted(t, rows, o)
			if loo := m.Summary().LeaveOneOut; loo == nil || !(loo.Value < loo.Constant) {
				t.Fatalf("leave-one-out %+v", loo)
			}
			var file bytes.Buffer
			if err := m.Write(&file); err != nil {
				t.Fatal(err)
			}
			read, err := lossep.Read(bytes.NewReader(file.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			again, err := read.Predict(gradeRows)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, again); d != "" {
				t.Errorf("read back it predicts otherwise:\n%s", d)
			}
			calibrated, err := read.Calibrate(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			near, err := calibrated.Predict(gradeRows)
			if err != nil {
				t.Fatal(err)
			}
			for i := range near { // the calibration moves a posterior a little
				if d := floats.Distance(near[i].Probabilities, want[i].Probabilities, math.Inf(1)); d > 0.1 {
					t.Errorf("row %d: %v calibrated, %v before", i, near[i].Probabilities, want[i].Probabilities)
				}
			}
			if _, err := m.LabelWorth(gradeRows); (err != nil) != (m.Summary().Inducing != nil) {
				t.Errorf("worth of labels: %v", err)
			}
			c := crafter{t, file.Bytes()}
			for what, bad := range map[string][]byte{
				"without an order":    c.replace(`"ordered":true`, `"ordered":false`),
				"with a cut too many": c.replace(`"cuts":[`, `"cuts":[-99,`),
				"with cuts that fall": c.replace(`"cuts":[`, `"cuts":[9e9,`),
			} {
				if _, err := lossep.Read(bytes.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "ordered") && !strings.Contains(err.Error(), "do not rise") {
					t.Errorf("a model %s: %v", what, err)
				}
			}
		})
	}
}

// Fits of grades to the same rows are the same, however many searches ran at a time.
func TestGradesAreReproducible(t *testing.T) {
	rows := grades(t, 70, 5, 4)
	_, want := fitted(t, rows, inOrder(5, false, "", ""))
	_, got := fitted(t, rows, inOrder(5, false, "", ""))
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What makes no sense for grades is refused in words.
func TestGradesRefused(t *testing.T) {
	rows := grades(t, 40, 3, 5)
	for want, change := range map[string]func(*lossep.Options){
		"whose order is not known":          func(o *lossep.Options) { o.Data = recipe.Options{Grading: recipe.Graded} },
		`"g2" is not in the order g0,g1`:    func(o *lossep.Options) { o.Data.Ordered[0].Categories = []string{"g0", "g1"} },
		"leave the positive class out":      func(o *lossep.Options) { o.Data.Positive = "g1" },
		"logit is not for ordered outcomes": func(o *lossep.Options) { o.Likelihood.Name = "logit" },
		"together with the kernel":          func(o *lossep.Options) { o.Kernel, o.Fixed = "rbf + constant", true },
		"follows from an outcome that has":  func(o *lossep.Options) { o.Likelihood.Name = "ordered" },
	} {
		o := inOrder(3, false, "", "")
		change(&o)
		_, err := lossep.Prepare(rows, o)
		var input *lossep.InputError
		var at *table.Error
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &input) && !errors.As(err, &at) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// A grade that no row has stays one.
	o := inOrder(4, false, lossep.EP, "rbf + constant")
	if m, p := fitted(t, rows, o); len(m.Likelihood().Cuts) != 3 || len(p[0].Probabilities) != 4 || !(p[0].Probabilities[3] > 0) {
		t.Errorf("%v, %v", m.Likelihood(), p[0])
	}
}
