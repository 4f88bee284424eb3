package lossep_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/corrected"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// prepared is every tenth row of the example, with a kernel that suits it.
func prepared(t testing.TB, costsText string) *lossep.Problem {
	t.Helper()
	all := example.Table()
	var rows []int
	for i := 0; i < all.Len(); i += 10 {
		rows = append(rows, i)
	}
	p, err := lossep.Prepare(all.Subset(rows), lossep.Options{
		Data:    recipe.Options{Target: example.Target, Positive: example.Positive},
		Utility: costs(t, costsText), Kernel: "rbf(variance=10, lengthscale=7)", Fixed: true, Seed: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// without is the views but for one.
func without(v *gauss.Views, i int) *gauss.Views {
	switch i {
	case 0:
		return v.Slice(1, v.Len())
	case v.Len() - 1:
		return v.Slice(0, i)
	}
	return v.Slice(0, i).Append(v.Slice(i+1, v.Len()))
}

// What is added to the kernel's diagonal is reported where it matters. A linear kernel of two columns
// has rank two, so that something is added for forty rows.
func TestNoiseIsToldWhereItMatters(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for i := range 40 {
		fmt.Fprintf(&text, "%d,%d,%d\n", i*7%11, i*5%13, i*i%7/4)
	}
	table, err := table.Read(context.Background(), strings.NewReader(text.String()), "rows", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	for variance, told := range map[string]bool{"1": false, "1e9": true} {
		m, err := lossep.Fit(context.Background(), table, lossep.Options{Kernel: "linear(variance=" + variance + ")", Fixed: true, Method: lossep.EP})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Join(m.Results(), "\n")
		if s := m.Summary(); s.Jitter == 0 || strings.Contains(lines, "noise of variance") != told {
			t.Errorf("variance %s: %v was added, and it is said\n%s", variance, s.Jitter, lines)
		}
	}
}

// The Gaussian that a model makes from its sites is the one that its method found.
func TestMethodsAreThoseOfInfer(t *testing.T) {
	ctx := context.Background()
	p := prepared(t, "fn=20,fp=1")
	l, err := p.Learn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// In the order that they are gone over in, on which draws depend, and second-order corrections.
	x, labels := mat.NewDense(p.Len(), p.X.RawMatrix().Cols, nil), make([]int, p.Len())
	for k, i := range p.Order() {
		x.SetRow(k, p.X.RawRowView(i))
		labels[k] = p.Labels[i]
	}
	process, err := gp.New(p.Kernel, x)
	if err != nil {
		t.Fatal(err)
	}
	model, err := process.Classify(labels)
	if err != nil {
		t.Fatal(err)
	}
	ep, err := infer.EP{}.Fit(ctx, model)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := p.Stakes(0).Utilities(p.Stakes(0).Zero())
	if err != nil {
		t.Fatal(err)
	}
	u, err := decision.NewUtility(decision.Probit(), p.Len(), nil, entries)
	if err != nil {
		t.Fatal(err)
	}
	calibrated := &infer.Model{Views: model.Views, Terms: model.Terms, Utility: u, Points: process.At(x)}
	lossEP, err := infer.EP{}.Fit(ctx, calibrated)
	if err != nil {
		t.Fatal(err)
	}
	vi, err := infer.VI{}.Fit(ctx, model)
	if err != nil {
		t.Fatal(err)
	}
	lossVI, err := infer.LossVI{Seed: 3}.Fit(ctx, calibrated)
	if err != nil {
		t.Fatal(err)
	}
	laplace, err := infer.Laplace{}.Fit(ctx, model)
	if err != nil {
		t.Fatal(err)
	}
	z := process.At(p.X)
	for method, want := range map[lossep.Method]infer.Posterior{
		lossep.EP:        infer.Gaussian{Gaussian: ep.Q},
		lossep.Corrected: corrected.New(model, &ep.Result, corrected.Paired),
		lossep.LossEP:    infer.Gaussian{Gaussian: lossEP.Q},
		lossep.VI:        vi.Posterior,
		lossep.LossVI:    lossVI.Posterior,
		lossep.Laplace:   laplace.Posterior,
	} {
		m, err := l.Model(ctx, method)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance := make([]float64, p.Len()), make([]float64, p.Len())
		want.Moments(z, mean, variance)
		worst := 0.0
		for i, got := range must(m.Predict(p.X)) {
			worst = max(worst, math.Abs(got.Mean-mean[i])/math.Sqrt(variance[i]), math.Abs(got.Variance-variance[i])/variance[i])
		}
		// Runs end when a step changes nothing by more than 1e-9 of a standard
		// deviation, from different starts and in different orders here; the distance to
		// the fixed point may be some hundred times the last step.
		if worst > 1e-6 {
			t.Errorf("%s: moments differ by %.2g", method, worst)
		}
		if got := m.Summary().LogEvidence; math.Abs(got-ep.LogEvidence) > 1e-8 {
			t.Errorf("%s: log evidence %v, want %v", method, got, ep.LogEvidence)
		}
	}
}

// Leave-one-out: what expectation propagation says about its own cavities, and close
// to what really leaving out each row says.
func TestLeaveOneOut(t *testing.T) {
	ctx := context.Background()
	p := prepared(t, "fn=20,fp=1")
	l, err := p.Learn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Model(ctx, lossep.EP)
	if err != nil {
		t.Fatal(err)
	}
	loo := m.Summary().LeaveOneOut
	process, err := gp.New(p.Kernel, p.X)
	if err != nil {
		t.Fatal(err)
	}
	model, err := process.Classify(p.Labels)
	if err != nil {
		t.Fatal(err)
	}
	ep, err := infer.EP{}.Fit(ctx, model)
	if err != nil {
		t.Fatal(err)
	}
	// A sum of 57 terms, each to about the tolerance 1e-9 of a run.
	if want := floats.Sum(ep.LogPredictive); math.Abs(loo.LogPredictive-want) > 1e-7 {
		t.Errorf("log predictive %v, want %v", loo.LogPredictive, want)
	}
	cost, predictive, positive := 0.0, 0.0, 0
	for i := range p.Labels {
		rest := &infer.Model{Views: without(model.Views, i), Terms: append(append(model.Terms[:0:0], model.Terms[:i]...), model.Terms[i+1:]...)}
		r, err := infer.EP{}.Fit(ctx, rest)
		if err != nil {
			t.Fatal(err)
		}
		prob, stderr := make([]float64, 1), make([]float64, 1)
		decision.Probit().Probabilities(infer.Gaussian{Gaussian: r.Q}, model.Views.Slice(i, i+1), prob, stderr)
		if p.Labels[i] == 1 {
			positive++
			predictive += math.Log(prob[0])
			if prob[0] < 1./21 {
				cost += 20
			}
		} else {
			predictive += math.Log(1 - prob[0])
			if prob[0] > 1./21 {
				cost++
			}
		}
	}
	n := float64(p.Len())
	// The cavity is the posterior without the row as the other sites, fitted with it,
	// know it: second-order small in what one row changes, 0.001 of a logarithm per row
	// here.
	if math.Abs(loo.LogPredictive-predictive) > 0.001*n {
		t.Errorf("log predictive %v, really leaving rows out %v", loo.LogPredictive, predictive)
	}
	if math.Abs(loo.Value-cost/n) > 1/n {
		t.Errorf("cost %v, really leaving rows out %v: more than one false alarm apart", loo.Value, cost/n)
	}
	if want := float64(p.Len()-positive) / n; math.Abs(loo.Constant-want) > 1e-12 || loo.ConstantAction != 1 {
		t.Errorf("always action %d costs %v, want %v by action 1", loo.ConstantAction, loo.Constant, want)
	}
}

// A row that is there twice is left out with its copy.
func TestLeaveOneOutOfCopies(t *testing.T) {
	ctx := context.Background()
	once := prepared(t, "fn=20,fp=1")
	all := example.Table()
	var rows []int
	for i := 0; i < all.Len(); i += 10 {
		rows = append(rows, i, i)
	}
	o := lossep.Options{
		Data:    recipe.Options{Target: example.Target, Positive: example.Positive},
		Utility: costs(t, "fn=20,fp=1"), Kernel: "rbf(variance=10, lengthscale=7)", Fixed: true, Method: lossep.EP,
	}
	m, err := lossep.Fit(ctx, all.Subset(rows), o)
	if err != nil {
		t.Fatal(err)
	}
	process, err := gp.New(once.Kernel, once.X)
	if err != nil {
		t.Fatal(err)
	}
	model, err := process.Classify(once.Labels)
	if err != nil {
		t.Fatal(err)
	}
	predictive := 0.0
	for i, y := range once.Labels {
		views := without(model.Views, i)
		terms := append(append(model.Terms[:0:0], model.Terms[:i]...), model.Terms[i+1:]...)
		r, err := infer.EP{}.Fit(ctx, &infer.Model{Views: views.Append(views), Terms: append(terms, terms...)})
		if err != nil {
			t.Fatal(err)
		}
		prob, stderr := make([]float64, 1), make([]float64, 1)
		decision.Probit().Probabilities(infer.Gaussian{Gaussian: r.Q}, model.Views.Slice(i, i+1), prob, stderr)
		if y == 0 {
			prob[0] = 1 - prob[0]
		}
		predictive += 2 * math.Log(prob[0])
	}
	// As in TestLeaveOneOut, with twice the information left out.
	if loo := m.Summary().LeaveOneOut.LogPredictive; math.Abs(loo-predictive) > 0.002*float64(len(rows)) {
		t.Errorf("log predictive %v, really leaving both copies out %v", loo, predictive)
	}
}

// What cannot be fitted is refused with what to do about it.
func TestOptionsRefused(t *testing.T) {
	good := lossep.Options{Utility: costs(t, "fn=5,fp=1"), Kernel: "rbf", Fixed: true}
	for _, c := range []struct {
		want string
		edit func(*lossep.Options)
	}{
		{"choose one of corrected", func(o *lossep.Options) { o.Method = "best" }},
		{"choose one of probit", func(o *lossep.Options) { o.Likelihood.Name = "cauchit" }},
		{"not between 0 and 1/2", func(o *lossep.Options) { o.Likelihood = lossep.Likelihood{Name: "robust", Noise: 0.5} }},
		{"not between 0 and 1/2", func(o *lossep.Options) { o.Likelihood = lossep.Likelihood{Name: "robust", Noise: math.NaN()} }},
		{"choose robust", func(o *lossep.Options) { o.Likelihood = lossep.Likelihood{Noise: 0.1} }},
		{"below 0", func(o *lossep.Options) { o.Restarts = -1 }},
		{"more than 4", func(o *lossep.Options) { o.MaxRows = 4 }},
		{"column 1", func(o *lossep.Options) { o.Kernel = "rbg" }},
		{"no such column", func(o *lossep.Options) { o.Utility = costs(t, "fn=amount,fp=1") }},
		{"line 2: x1 / 0 is ", func(o *lossep.Options) { o.Utility = costs(t, "fn=x1/0,fp=1") }},
	} {
		o := good
		c.edit(&o)
		if _, err := lossep.Prepare(tableOf(t, fivePoints), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, which does not say %q", err, c.want)
		}
	}
}

// An interrupted fit ends, whatever it is doing.
func TestFitInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := prepared(t, "fn=20,fp=1")
	l, err := p.Learn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := p.Fit(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("fit: %v", err)
	}
	for _, method := range []lossep.Method{lossep.EP, lossep.Corrected, lossep.LossEP, lossep.VI, lossep.LossVI, lossep.Laplace} {
		if _, err := l.Model(ctx, method); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// must is a value that there is no reason not to have.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Without costs every wrong decision costs 1, and the actions are the outcomes.
func TestNoCosts(t *testing.T) {
	p, err := lossep.Prepare(tableOf(t, fivePoints), lossep.Options{Kernel: "rbf", Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	s := p.Utility
	if got := p.Stakes(0); !got.Costs || !slices.Equal(s.Actions(), s.Outcomes()) || fmt.Sprint(got.Table) != "[[0 1] [1 0]]" {
		t.Errorf("%q: %v", s.Actions(), got)
	}
}

// Utilities may be negative: what is added to them for calibrated methods is reported, and
// the model is that of the same utilities without a negative one among them.
func TestNegativeUtilities(t *testing.T) {
	fit := func(utilities string) (*lossep.Problem, *lossep.Model) {
		p, err := lossep.Prepare(tableOf(t, fivePoints), lossep.Options{
			Utility: spec(t, "outcomes: [no, yes]\nutilities: "+utilities), Method: lossep.LossEP, Kernel: "rbf(variance=4, lengthscale=1)", Fixed: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Fit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return p, m
	}
	p, m := fit("{a: {no: 1, yes: -3}, b: {no: -1, yes: 2}}")
	_, shifted := fit("{a: {no: 4, yes: 0}, b: {no: 2, yes: 5}}")
	for i, got := range must(m.Predict(p.X)) {
		if want := must(shifted.Predict(p.X))[i]; !cmp.Equal(got, want) {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}
	for _, lines := range [][]string{p.Describe(), m.Describe()} {
		if text := strings.Join(lines, "\n"); !strings.Contains(text, "shift 3, which the method adds to utilities") {
			t.Error(text)
		}
	}
	if d := must(m.Decide(p.X))[0]; d.Expected[0] != d.Probabilities[0]-3*d.Probabilities[1] {
		t.Errorf("expected %v: not in the terms that were given", d.Expected)
	}
}
