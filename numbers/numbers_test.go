package numbers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/table"
)

// drawn is a table of n rows with two columns and an outcome that draw makes of them.
func drawn(t testing.TB, n int, seed uint64, draw func(a, b float64, rng *rand.Rand) float64) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		fmt.Fprintf(&text, "%.6f,%.6f,%v\n", a, b, draw(a, b, rng))
	}
	data, err := table.Read(context.Background(), strings.NewReader(text.String()), "drawn.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func smooth(a, b float64) float64 { return math.Sin(1.5*a) + 0.5*b }

func fit(t testing.TB, data *table.Table, kernel, costs string) (*numbers.Problem, *numbers.Model) {
	t.Helper()
	return fitBy(t, data, lossep.Options{Kernel: kernel}, costs)
}

func fitBy(t testing.TB, data *table.Table, o lossep.Options, costs string) (*numbers.Problem, *numbers.Model) {
	t.Helper()
	o.Data.Target, o.Seed, o.CostFeatures = "y", 1, true
	spec, err := decision.ParseNumberCosts(costs)
	if err != nil {
		t.Fatal(err)
	}
	p, err := numbers.Prepare(data, o, spec)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Fit(context.Background())
	if err != nil {
		t.Fatal(o.Method, err)
	}
	return p, m
}

// regression is the mean and the standard deviation that exact regression by a model's hyperparameters predicts at the rows of
// at: those of N(k(K + Σ)⁻¹y, k(x,x) + σ² − k(K + Σ)⁻¹k), Σ being σ² over the weights of the rows, nil if each counts once. Of noise
// that is known, weights are precisions, and what is predicted has no σ².
func regression(t *testing.T, m *numbers.Model, x *mat.Dense, values, weights []float64, at *mat.Dense) (means, deviations []float64) {
	t.Helper()
	shape := m.Shape()
	noise, unit := 0.0, math.Pow(shape.Transform.Scale, -2)
	if shape.Noise == "normal" {
		noise = math.Exp(m.Noise()[0])
		unit = noise
	}
	if shape.Noise != "normal" && shape.Noise != "known" || shape.Transform.Name != "none" {
		t.Fatalf("%+v is chosen for normal noise", shape)
	}
	k, err := kernel.ParseColumns(m.Kernel(), kernel.Columns{Numbers: 2})
	if err != nil {
		t.Fatal(err)
	}
	var gram mat.SymDense
	k.Gram(&gram, x)
	n := len(values)
	z := mat.NewVecDense(n, nil)
	for i := range n {
		own := unit
		if weights != nil {
			own /= weights[i]
		}
		gram.SetSym(i, i, gram.At(i, i)+own)
		z.SetVec(i, (values[i]-shape.Transform.Mean)/shape.Transform.Scale)
	}
	var c mat.Cholesky
	if !c.Factorize(&gram) {
		t.Fatal("no Cholesky factor")
	}
	var cross mat.Dense
	k.Basis(x).Cross(&cross, at)
	for i, prior := range k.Diag(nil, at) {
		row, solved := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
		for j := range n {
			row.SetVec(j, cross.At(i, j))
		}
		if err := c.SolveVecTo(solved, row); err != nil {
			t.Fatal(err)
		}
		means = append(means, shape.Transform.Mean+shape.Transform.Scale*mat.Dot(solved, z))
		deviations = append(deviations, shape.Transform.Scale*math.Sqrt(prior+noise-mat.Dot(solved, row)))
	}
	return means, deviations
}

// isRegression checks predictions against it, to a bound relative to them.
func isRegression(t *testing.T, m *numbers.Model, x *mat.Dense, values, weights []float64, bound float64) {
	t.Helper()
	at := mat.NewDense(3, 2, []float64{0, 0, 0.7, -1.2, 3, 3})
	got, err := m.Predict(at)
	if err != nil {
		t.Fatal(err)
	}
	means, deviations := regression(t, m, x, values, weights, at)
	for i, mean := range means {
		if sd := got[i].Quantile(0.841344746068543) - got[i].Mean(); !near(got[i].Mean(), mean, bound*(1+math.Abs(mean))) || !near(sd, deviations[i], bound*(1+math.Abs(mean))) {
			t.Errorf("row %d: mean %.12g and deviation %.12g, exact regression has %.12g and %.12g", i, got[i].Mean(), sd, mean, deviations[i])
		}
	}
}

// noisy are rows of normal noise.
func noisy(t *testing.T, n int, seed uint64) *table.Table {
	t.Helper()
	return drawn(t, n, seed, func(a, b float64, rng *rand.Rand) float64 { return 5 + 2*smooth(a, b) + 0.3*rng.NormFloat64() })
}

// With normal noise everything is exact regression: the action is the quantile, and its cost that of the
// normal distribution. So it is by every method, but Loss-VI, whose Gaussian has the utility in it.
func TestNormalNoiseIsExactRegression(t *testing.T) {
	for _, method := range numbers.Methods() {
		if method != lossep.LossVI {
			t.Run(string(method), func(t *testing.T) { isExactRegression(t, method) })
		}
	}
}

func isExactRegression(t *testing.T, method lossep.Method) {
	p, m := fitBy(t, noisy(t, 60, 3), lossep.Options{Kernel: "rbf + constant", Method: method}, "under=3,over=1")
	isRegression(t, m, p.X, p.Values, nil, 1e-9)
	x := mat.NewDense(3, 2, []float64{0, 0, 0.7, -1.2, 3, 3})
	got, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	means, deviations := regression(t, m, p.X, p.Values, nil, x)
	for i, mean := range means {
		sd, choice := deviations[i], p.Stake(0).Choose(got[i])
		// The quantile at 3/4, and E c = (under + over)·sd·φ(q) there.
		const q = 0.6744897501960817
		if want := mean + q*sd; !near(choice.Action, want, 1e-9*(1+math.Abs(want))) {
			t.Errorf("row %d: action %v, the quantile is %v", i, choice.Action, want)
		}
		if want := 4 * sd * math.Exp(-q*q/2) / math.Sqrt(2*math.Pi); !near(choice.Expected, want, 1e-9*want) {
			t.Errorf("row %d: expected cost %v, want %v", i, choice.Expected, want)
		}
		if choice.ExpectedLower < choice.Expected || choice.ExpectedHigher < choice.Expected {
			t.Errorf("row %d: a neighbour of %+v costs less", i, choice)
		}
	}
}

func near(a, b, bound float64) bool { return math.Abs(a-b) <= bound }

// The evidence, with the Jacobian, finds how outcomes were made, whatever their units.
func TestShapeIsFoundByTheEvidence(t *testing.T) {
	for name, c := range map[string]struct {
		draw             func(a, b float64, rng *rand.Rand) float64
		transform, noise string
	}{
		"logarithm": {func(a, b float64, rng *rand.Rand) float64 { return 1000 * math.Exp(smooth(a, b)+0.4*rng.NormFloat64()) }, "log", "normal"},
		"outliers": {func(a, b float64, rng *rand.Rand) float64 {
			y := smooth(a, b) + 0.2*rng.NormFloat64()
			if rng.IntN(12) == 0 {
				y += 50 * rng.NormFloat64()
			}
			return y
		}, "none", "student"},
		"counts": {func(a, b float64, rng *rand.Rand) float64 { return drawCount(rng, math.Exp(1+smooth(a, b))) }, "count", "poisson"},
		"counts that vary": {func(a, b float64, rng *rand.Rand) float64 {
			e := 0.0 // a gamma rate of shape 2
			for range 2 {
				e += rng.ExpFloat64() / 2
			}
			return drawCount(rng, e*math.Exp(2+smooth(a, b)))
		}, "count", "negative-binomial"},
	} {
		t.Run(name, func(t *testing.T) {
			_, m := fit(t, drawn(t, 120, 5, c.draw), "matern32 + constant", "under=1,over=1")
			if s := m.Shape(); s.Transform.Name != c.transform || s.Noise != c.noise {
				t.Errorf("%+v of %+v", s, m.Summary().Shapes)
			}
		})
	}
}

// drawCount is a Poisson count: arrivals in unit time.
func drawCount(rng *rand.Rand, mean float64) (n float64) {
	for at := rng.ExpFloat64(); at < mean; at += rng.ExpFloat64() {
		n++
	}
	return n
}

// The distribution of a count adds up: to one, to its mean, and to what is short of an action.
func TestCounts(t *testing.T) {
	for _, mean := range []float64{0.5, 8} {
		_, m := fit(t, drawn(t, 80, 21, func(a, b float64, rng *rand.Rand) float64 {
			return drawCount(rng, mean*rng.ExpFloat64()*math.Exp(0.5*a))
		}), "matern32 + constant", "under=3,over=1")
		if name := m.Shape().Transform.Name; name != "count" {
			t.Fatalf("counts are fitted as %s", name)
		}
		all, err := m.Predict(mat.NewDense(2, 2, []float64{0, 0, 1, -1}))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			total, first, short := 0.0, 0.0, 0.0
			const a = 6.5
			for k := range 3000 {
				p := math.Exp(d.LogDensity(float64(k)))
				total += p
				first += p * float64(k)
				short += p * max(a-float64(k), 0)
				if k < 40 && !near(total, d.CDF(float64(k)), 1e-7) {
					t.Fatalf("P(y ≤ %d) = %v, the sum is %v", k, d.CDF(float64(k)), total)
				}
			}
			// The trapezoidal rule over f, against the quadrature of the factor.
			if !near(total, 1, 1e-7) || !near(first, d.Mean(), 1e-4*d.Mean()) || !near(short, d.Short(a), 1e-6) {
				t.Errorf("probability %v, mean %v and %v, short %v and %v", total, first, d.Mean(), short, d.Short(a))
			}
			// Far out the sum of small terms is the truth, which a mean less other parts is not.
			for _, a := range []float64{-1, 0, a, d.Quantile(1 - 1e-9)} {
				more := 0.0
				for k := range 3000 {
					more += math.Exp(d.LogDensity(float64(k))) * max(float64(k)-a, 0)
				}
				if got := d.Excess(a); !near(got, more, 1e-3*more) {
					t.Errorf("E(y − %v)⁺ = %v, the sum is %v", a, got, more)
				}
			}
			if got := d.Expect(func(y float64) float64 { return max(a-y, 0) }); !near(got, short, 1e-6) {
				t.Errorf("E(a − y)⁺ = %v, as an expectation %v", short, got)
			}
			if q := d.Quantile(0.75); d.CDF(q) < 0.75 || d.CDF(q-1) >= 0.75 {
				t.Errorf("quantile %v, with %v below and %v up to it", q, d.CDF(q-1), d.CDF(q))
			}
		}
	}
}

// A model is the same after it was written and read.
func TestFile(t *testing.T) {
	data := drawn(t, 80, 9, func(a, b float64, rng *rand.Rand) float64 { return math.Exp(smooth(a, b) + 0.2*rng.NormFloat64()) })
	for k := range 2 * len(numbers.Methods()) {
		method, inducing := numbers.Methods()[k/2], k%2*20
		_, m := fitBy(t, data, lossep.Options{Method: method, Kernel: "matern32 + constant", Inducing: inducing}, "under=2+a*a,over=1")
		if got := m.Method(); got != method || !m.Summary().Converged || (m.Summary().Ceiling > 0) != method.Calibrated() {
			t.Errorf("%s with %d points: %s, %+v", method, inducing, got, m.Summary())
		}
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		text := file.Bytes()
		loaded, err := numbers.Read(bytes.NewReader(text), lossep.DefaultMaxMemory)
		if err != nil {
			t.Fatal(err)
		}
		x := mat.NewDense(2, 2, []float64{0, 1, -2, 0.5})
		before, err := m.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		after, err := loaded.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range before {
			for _, q := range []float64{0.05, 0.5, 0.95} {
				if !near(before[i].Quantile(q), after[i].Quantile(q), 1e-12*math.Abs(before[i].Quantile(q))) {
					t.Errorf("%d points: quantile %v of row %d is %v, and %v after reading", inducing, q, i, before[i].Quantile(q), after[i].Quantile(q))
				}
			}
		}
		if m.Costs().String() != loaded.Costs().String() {
			t.Errorf("costs %v, read %v", m.Costs(), loaded.Costs())
		}
		if _, err := lossep.Read(bytes.NewReader(text)); err == nil || !strings.Contains(err.Error(), "number") {
			t.Errorf("read as a model of categories: %v", err)
		}
	}
}

// Expectations of a distribution agree with each other: closed forms, quadrature, quantiles.
func TestDistribution(t *testing.T) {
	draws := map[string]func(a, b float64, rng *rand.Rand) float64{
		"none": func(a, b float64, rng *rand.Rand) float64 { return smooth(a, b) + 0.2*rng.NormFloat64() },
		"log":  func(a, b float64, rng *rand.Rand) float64 { return math.Exp(2*smooth(a, b) + 0.5*rng.NormFloat64()) },
		"root": func(a, b float64, rng *rand.Rand) float64 {
			r := max(0, 3+smooth(a, b)+0.5*rng.NormFloat64())
			return r * r
		},
		"student": func(a, b float64, rng *rand.Rand) float64 {
			return smooth(a, b) + 0.1*rng.NormFloat64()/rng.NormFloat64()
		},
	}
	for name, draw := range draws {
		_, m := fit(t, drawn(t, 100, 11, draw), "matern32 + constant", "under=1,over=1")
		all, err := m.Predict(mat.NewDense(2, 2, []float64{0.3, 0, 1, -1}))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			for _, p := range []float64{0.02, 0.3, 0.5, 0.9, 0.99} {
				if got := d.CDF(d.Quantile(p)); !near(got, p, 1e-9) {
					t.Errorf("%s: P(y ≤ quantile %v) = %v", name, p, got)
				}
			}
			// Of tails that fall with a power the last millionth is beyond what is looked at.
			bound := 1e-7 * (1 + math.Abs(d.Mean()))
			if m.Shape().Noise == "student" {
				bound = 2e-3
			}
			if got := d.Expect(func(y float64) float64 { return y }); !near(got, d.Mean(), bound) {
				t.Errorf("%s: mean %v, by quadrature %v", name, d.Mean(), got)
			}
			a := d.Quantile(0.7)
			if got := d.Expect(func(y float64) float64 { return max(a-y, 0) }, a); !near(got, d.Short(a), bound) {
				t.Errorf("%s: E(a − y)⁺ = %v, by quadrature %v", name, d.Short(a), got)
			}
			if got := a - d.Mean() + d.Excess(a); !near(got, d.Short(a), bound) {
				t.Errorf("%s: E(a − y)⁺ = %v, a − E y + E(y − a)⁺ = %v", name, d.Short(a), got)
			}
			// At a billion to one the neighbours of the action cost more, and both sides are positive.
			for _, c := range []decision.Pinball{{Under: 1e9, Over: 1}, {Under: 1, Over: 1e9}, {Under: 1e100, Over: 1e91}} {
				best := decision.Stake{Loss: c}.Choose(d)
				if !(best.Expected > 0 && best.ExpectedLower >= best.Expected && best.ExpectedHigher >= best.Expected) || math.IsInf(best.ExpectedHigher, 0) {
					t.Errorf("%s: under %+v the choice is %+v", name, c, best)
				}
			}
			// E(a − y)⁺ falls with slope P(y ≤ a).
			h := 1e-4 * (1 + math.Abs(a))
			if slope := (d.Short(a+h) - d.Short(a-h)) / (2 * h); !near(slope, 0.7, 1e-3) {
				t.Errorf("%s: slope %v of E(a − y)⁺ at the quantile 0.7", name, slope)
			}
		}
	}
}

// A model that rows contradict is said to be one, and no other.
func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		draw func(a, b float64, rng *rand.Rand) float64
		want []string
	}{
		"right":  {func(a, b float64, rng *rand.Rand) float64 { return smooth(a, b) + 0.2*rng.NormFloat64() }, nil},
		"counts": {func(a, b float64, rng *rand.Rand) float64 { return drawCount(rng, math.Exp(smooth(a, b)-2)) }, nil},
		"zeros": {func(a, b float64, rng *rand.Rand) float64 {
			if rng.IntN(10) > 0 {
				return 0
			}
			return 60 + 5.5*rng.NormFloat64()
		}, []string{"do not rely on its costs"}},
	} {
		_, m := fit(t, drawn(t, 60, 17, c.draw), "matern32 + constant", "under=15,over=5")
		got := m.Warnings()
		if len(got) != len(c.want) {
			t.Errorf("%s: %q of %+v", name, got, m.Summary().LeaveOneOut)
			continue
		}
		for k, want := range c.want {
			if !strings.Contains(got[k], want) {
				t.Errorf("%s: %q", name, got[k])
			}
		}
	}
}

// TestGapsWiden: a case that lacks the column that its outcome depends on has an interval about as wide
// as outcomes are spread, and one that lacks a column without influence the same as before.
func TestGapsWiden(t *testing.T) {
	_, m := fit(t, drawn(t, 80, 3, func(a, _ float64, rng *rand.Rand) float64 { return 5 + 3*a + 0.3*rng.NormFloat64() }), "rbf + constant", "under=3,over=1")
	width := func(unknown ...int) float64 {
		x := mat.NewDense(1, 2, []float64{0.5, 0.1})
		for _, column := range unknown {
			x.Set(0, column, math.NaN())
		}
		d, err := m.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		return d[0].Quantile(0.95) - d[0].Quantile(0.05)
	}
	known := width()
	// The standard deviation of the outcome is 3; that of 50 rows is within 30 % of it by three
	// standard errors.
	if got, want := width(0), 2*1.645*3.0; math.Abs(got-want) > 0.3*want {
		t.Errorf("without what matters an interval is %v wide, the outcomes' %v", got, want)
	}
	if got := width(1); math.Abs(got-known) > 0.1*known {
		t.Errorf("without a column of noise an interval is %v wide, with it %v", got, known)
	}
}

// A model does not depend on the order of the rows of a table, whatever is dealt at random.
func TestOrderOfRows(t *testing.T) {
	data := drawn(t, 40, 5, func(a, b float64, rng *rand.Rand) float64 { return drawCount(rng, math.Exp(1+a/2)) })
	order := rand.New(rand.NewPCG(9, 9)).Perm(data.Len())
	_, one := fit(t, data, "matern32 + constant", "under=3,over=1")
	_, other := fit(t, data.Subset(order), "matern32 + constant", "under=3,over=1")
	// Columns are standardised by sums in the order of the table: their last bits differ, nothing else.
	for k, a := range one.Summary().Shapes {
		if b := other.Summary().Shapes[k]; !near(a.Evidence, b.Evidence, 1e-6*math.Abs(a.Evidence)) {
			t.Errorf("%v: log evidence %v and %v", a.Transform, a.Evidence, b.Evidence)
		}
	}
}

// A case beyond what a kernel takes is refused with its column, even where the kernel would forget it.
func TestFarNumbers(t *testing.T) {
	_, m := fit(t, drawn(t, 40, 3, func(a, b float64, rng *rand.Rand) float64 { return a + b + 0.2*rng.NormFloat64() }), "rbf", "under=1,over=1")
	var far *lossep.FarError
	if _, err := m.Predict(mat.NewDense(2, 2, []float64{0, 0, 0, 10 * lossep.Farthest})); !errors.As(err, &far) || far.Row != 1 || far.Column != "b" {
		t.Errorf("a far case: %v", err)
	}
	if _, err := m.Predict(mat.NewDense(1, 2, []float64{0, lossep.Farthest / 10})); err != nil {
		t.Error(err)
	}
}
