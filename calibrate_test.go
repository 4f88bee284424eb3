package lossep_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/recipe"
)

// bound is a specification with the outcomes of the model.
func bound(t testing.TB, m *lossep.Model, s *decision.Spec) *decision.Spec {
	t.Helper()
	s, err := m.Bind(s)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A model that is calibrated later is the one that a fit with that utility and the same
// kernel finds: from a model of any method, fitted or loaded, however often.
func TestCalibrateIsFit(t *testing.T) {
	ctx := context.Background()
	want, err := learned(t, prepared(t, "fn=40,fp=1")).Model(ctx, lossep.LossEP)
	if err != nil {
		t.Fatal(err)
	}
	l := learned(t, prepared(t, "fn=5,fp=1"))
	for _, method := range lossep.Methods() {
		m, err := l.Model(ctx, method)
		if err != nil {
			t.Fatal(err)
		}
		before := written(t, m)
		loaded, err := lossep.Read(bytes.NewReader(before))
		if err != nil {
			t.Fatal(err)
		}
		s := bound(t, m, costs(t, "fn=40,fp=1"))
		got, err := m.Calibrate(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		if got.Method() != lossep.LossEP || got.Utility() != s || !got.Summary().Status.Converged {
			t.Errorf("%s: method %s, %s", method, got.Method(), got.Summary().Status.Text)
		}
		// The same numbers in the same order: not a bit differs.
		if !bytes.Equal(written(t, got), written(t, want)) {
			t.Errorf("%s: calibrated later it is another model", method)
		}
		again, err := got.Calibrate(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(written(t, got), written(t, again)) {
			t.Errorf("%s: calibrated twice it is another model", method)
		}
		if other, err := loaded.Calibrate(ctx, s); err != nil || !bytes.Equal(written(t, got), written(t, other)) {
			t.Errorf("%s: loaded and calibrated it is another model; %v", method, err)
		}
		if !bytes.Equal(written(t, m), before) {
			t.Errorf("%s: calibrating changed the model it started from", method)
		}
	}
	// The utility makes a difference, or nothing was tested.
	plain, err := l.Model(ctx, lossep.LossEP)
	if err != nil {
		t.Fatal(err)
	}
	far := 0.0
	x := prepared(t, "fn=5,fp=1").X
	other := must(want.Predict(x))
	for i, p := range must(plain.Predict(x)) {
		far = max(far, math.Abs(p.Probability()-other[i].Probability()))
	}
	if far < 1e-4 {
		t.Errorf("probabilities calibrated to other costs differ by %.2g at most", far)
	}
}

func learned(t testing.TB, p *lossep.Problem) *lossep.Learned {
	t.Helper()
	l, err := p.Learn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Costs that vary from row to row are those of the training rows, as far as the model
// knows them.
func TestCalibrateByColumn(t *testing.T) {
	ctx := context.Background()
	const rows = `job,amount,age,class
clerk,0,31,good
smith,900,22,bad
clerk,0.1,45,good
smith,400,,good
baker,700,28,bad
clerk,300,52,good
baker,650,41,good
smith,800,33,bad
`
	fit := func(costsText string, method lossep.Method) *lossep.Model {
		m, err := lossep.Fit(ctx, tableOf(t, rows), lossep.Options{
			Data: recipe.Options{Target: "class", Positive: "bad", Impute: true}, Utility: costs(t, costsText),
			CostFeatures: true, Method: method, Kernel: "rbf(variance=3, lengthscale=2) + constant(variance=0.5)", Fixed: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := fit("fn=5,fp=1", lossep.EP)
	s := bound(t, m, costs(t, "fn=0.6*amount,fp=90"))
	got, err := m.Calibrate(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	want := fit("fn=0.6*amount,fp=90", lossep.LossEP)
	// Standardising an amount and going back leaves an error of 1e-13 in 900.
	if zero := got.Summary().Zero; math.Abs(zero-0.6*900) > 1e-10 || want.Summary().Zero != 0.6*900 {
		t.Errorf("the ceiling is %v and not the largest cost", zero)
	}
	x, _, err := m.Recipe().Apply(tableOf(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	predicted := must(want.Predict(x))
	for i, p := range must(got.Predict(x)) {
		if math.Abs(p.Mean-predicted[i].Mean) > 1e-10 || math.Abs(p.Variance-predicted[i].Variance) > 1e-10 {
			t.Errorf("row %d: %v, fitted %v", i, p, predicted[i])
		}
	}
	// The fourth row has no age, and a job is no number.
	for text, say := range map[string]string{
		"fn=age,fp=1": "missing in some", "fn=job,fp=1": "numeric columns", "fn=price,fp=1": `"price"`,
	} {
		var input *lossep.InputError
		if _, err := m.Calibrate(ctx, bound(t, m, costs(t, text))); !errors.As(err, &input) || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v, which does not say %q", text, err, say)
		}
	}
	low := bound(t, m, spec(t, "outcomes: [good, bad]\ncosts: {lend: {good: 0, bad: amount}, refuse: {good: 1, bad: 0}}\nceiling: 500"))
	if _, err := m.Calibrate(ctx, low); err == nil || !strings.Contains(err.Error(), "raise the ceiling") {
		t.Errorf("a ceiling below a cost: %v", err)
	}
	if _, err := m.Calibrate(ctx, costs(t, "fn=5,fp=1")); err == nil || !strings.Contains(err.Error(), "bind it first") {
		t.Errorf("a specification without outcomes: %v", err)
	}
}

// A calibration ends with its context, and many at a time do not disturb each other.
func TestCalibrateAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := prepared(t, "fn=20,fp=1")
	m, err := learned(t, p).Model(ctx, lossep.EP)
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := p.Recipe.Apply(example.Table())
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"fn=2,fp=1", "fn=1,fp=3"}
	run := func(text string) []lossep.Decision {
		c, err := m.Calibrate(ctx, bound(t, m, costs(t, text)))
		if err != nil {
			t.Error(err)
			return nil
		}
		decisions := must(c.Decide(rows))
		c.Consult(rows, decisions)
		return decisions
	}
	want := make([][]lossep.Decision, len(texts))
	for i, text := range texts {
		want[i] = run(text)
	}
	var wg sync.WaitGroup
	for i, text := range append(texts, texts...) {
		wg.Go(func() {
			for k, d := range run(text) {
				if w := want[i%len(texts)][k]; d.Probability() != w.Probability() || len(d.Disagreeing) != len(w.Disagreeing) {
					t.Errorf("%s, row %d: %v, alone %v", text, k, d, w)
				}
			}
		})
	}
	wg.Wait()
	cancel()
	if _, err := m.Calibrate(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
