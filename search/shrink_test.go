package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/kernel"
)

// TestTie: the common length scale is the best one by a scan, and the gradient is that
// of differences.
func TestTie(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, strength := range []float64{0.2, 1, 5} {
		x := mat.NewDense(40, 6, nil)
		for i := range 40 {
			for k := range 6 {
				x.Set(i, k, math.Exp(float64(k-3))*rng.NormFloat64())
			}
		}
		k, err := kernel.Parse("matern32(ard) + rbf(ard) + linear(ard) + constant", 6)
		if err != nil {
			t.Fatal(err)
		}
		p := newPrior(k, x, strength, tuning{})
		if len(p.ties) != 2 || len(p.ties[1].params) != 6 {
			t.Fatalf("ties %v, want those of two terms", p.ties)
		}
		for range 20 {
			logs := p.draw(rng)
			got := make([]float64, len(logs))
			p.addGradient(got, logs)
			want := fd.Gradient(nil, p.log, logs, &fd.Settings{Formula: fd.Central})
			if !floats.EqualApprox(got, want, 1e-6) { // of differences with a step of 1e-6, of tanh
				t.Errorf("gradient %v, differences give %v", got, want)
			}
			tie := &p.ties[0]
			best, at := math.Inf(-1), 0.0
			for c := -20.0; c < 20; c += 1e-3 {
				z := (c - tie.mean) / tie.sd
				sum := -0.5 * z * z
				for i, k := range tie.params {
					sum -= strength * math.Log(math.Cosh(2*(logs[k]-tie.scale[i]-c)))
				}
				if sum > best {
					best, at = sum, c
				}
			}
			if c := tie.common(logs); math.Abs(c-at) > 1e-3 || math.Abs(tie.log(logs)-best) > 1e-4 {
				t.Errorf("the common one is %v with %v, a scan finds %v with %v", c, tie.log(logs), at, best)
			}
		}
	}
}

// few is a problem in which two of the columns matter.
func few(rows, columns int) (*mat.Dense, []factor.Factor) {
	rng := rand.New(rand.NewPCG(7, 7))
	x, terms := mat.NewDense(rows, columns, nil), make([]factor.Factor, rows)
	for i := range rows {
		row := x.RawRowView(i)
		for k := range row {
			row[k] = rng.NormFloat64()
		}
		y := -1.0
		if 2*math.Sin(1.5*row[0])+2*row[1]+rng.NormFloat64() > 0 {
			y = 1
		}
		terms[i] = factor.Probit{Y: y}
	}
	return x, terms
}

// TestShrinkage: the columns that matter are distinguished from the others, which share a length
// scale.
func TestShrinkage(t *testing.T) {
	x, terms := few(150, 12)
	k, err := kernel.Parse("matern32(ard) + constant", 12)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := Optimise(context.Background(), k, x, gp.Values{Factors: terms}, Options{Shrinkage: 1})
	if err != nil {
		t.Fatal(err)
	}
	if fit.Stop != Stationary {
		t.Errorf("the search stopped because %v", fit.Stop)
	}
	var lengths []float64
	for _, p := range fit.Process.Kernel().Describe() {
		if p.Kind == kernel.Lengthscale {
			lengths = append(lengths, p.Value)
		}
	}
	others := slices.Sorted(slices.Values(lengths[2:]))
	if matter := max(lengths[0], lengths[1]); 2*matter > others[0] || others[len(others)-1] > 3*others[0] {
		t.Errorf("columns that matter have length scales %v, the others %v", lengths[:2], others)
	}
}

// TestRefit: of all rows it is the fit itself, and of some it is the highest point of
// their own evidence.
func TestRefit(t *testing.T) {
	x, terms := few(120, 3)
	k, err := kernel.Parse("matern32(ard) + constant", 3)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	fit, err := Optimise(ctx, k, x, gp.Values{Factors: terms}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int, 120)
	for i := range rows {
		rows[i] = i
	}
	same, err := fit.Refit(ctx, rows, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if same.Evaluations > 2 || !floats.EqualApprox(same.logs, fit.logs, 1e-6) {
		t.Errorf("of all rows %v after %d evaluations, want %v", same.logs, same.Evaluations, fit.logs)
	}
	some := rows[24:]
	part, err := fit.Refit(ctx, some, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cold, err := optimise(ctx, k, fit.objective.evidence.(*full).some(some), Options{})
	if err != nil {
		t.Fatal(err)
	}
	// The prior is that of all rows, and the scale of the columns hardly differs.
	if !floats.EqualApprox(part.logs, cold.logs, 0.1) || norm(part.Gradient) > 0.01 {
		t.Errorf("of some rows %v with the gradient %v, from far away %v", part.logs, part.Gradient, cold.logs)
	}
	p, err := gp.New(part.Process.Kernel(), part.Process.Inputs())
	if err != nil {
		t.Fatal(err)
	}
	r, err := infer.EP{}.Fit(ctx, &infer.Model{Views: p.Views(), Terms: terms[24:]})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r.LogEvidence-part.EP.LogEvidence) > 1e-7 { // sites converge to 1e-9
		t.Errorf("its evidence is %v, that of these rows alone %v", part.EP.LogEvidence, r.LogEvidence)
	}
}

// A common length scale is drawn to where the prior of the term has it: to that of a distance
// over all columns, or in one of them.
func TestTiesAreCentredAsThePriorIs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	x := mat.NewDense(40, 9, nil)
	x.Apply(func(_, k int, _ float64) float64 { return float64(1+k) * rng.NormFloat64() }, x)
	for _, text := range []string{"matern32(ard)", "additive(ard)"} {
		k, err := kernel.Parse(text, 9)
		if err != nil {
			t.Fatal(err)
		}
		p := newPrior(k, x, 1, tuning{})
		for i, param := range p.ties[0].params {
			if want := p.ties[0].mean + p.ties[0].scale[i]; math.Abs(p.mean[param]-want) > 1e-12 {
				t.Errorf("%s, column %d: the prior is about %v, the tie about %v", text, i, p.mean[param], want)
			}
		}
	}
}

// TestExtendOutcomes: the search for some rows of several outcomes goes on with all of them.
func TestExtendOutcomes(t *testing.T) {
	x, o := problems.Sectors(rand.New(rand.NewPCG(2, 33)), 90, 3, 0.1)
	some := make([]int, 45)
	for i := range some {
		some[i] = 2 * i
	}
	fit, err := Optimise(t.Context(), kernel.RBF(1, 1), gp.RowsOf(x, some), o.Part(some), Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := fit.Extend(t.Context(), some, x, o, Options{Tolerance: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	cold, err := Optimise(t.Context(), kernel.RBF(1, 1), x, o, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// A search for outcomes ends where there is less than worthPerRow of each to be gained.
	if math.Abs(all.LogPosterior-cold.LogPosterior) > 2*worthPerRow*90 {
		t.Errorf("log posterior %v, from the beginning %v", all.LogPosterior, cold.LogPosterior)
	}
}
