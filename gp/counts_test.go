package gp_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/pass"
)

// unequal are counts below and above one.
func unequal(n int) []float64 {
	counts := make([]float64, n)
	for i := range counts {
		counts[i] = []float64{1, 0.4, 2, 3.5, 0.9, 20}[i%6]
	}
	return counts
}

// The gradient is that of the evidence whatever the power and however often rows count.
func TestCountedInducingEvidenceGradient(t *testing.T) {
	x, terms := problems.Smooth(60, 2, 3)
	z := x.Slice(0, 8, 0, 2).(*mat.Dense)
	k, err := kernel.Parse("matern32(variance=1.3, lengthscale=0.8) + white(variance=0.4)", 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, counts := range [][]float64{slices.Repeat([]float64{1}, 60), unequal(60)} {
		for _, power := range []float64{1, 0.5} {
			rule := infer.Propagation{Power: power}
			evidence := func(logs []float64) (float64, []float64) {
				p, err := gp.NewInducing(k.With(logs), z)
				if err != nil {
					t.Fatal(err)
				}
				l := gp.NewEngine(p, p.Shards(x, gp.Values{Factors: terms.Factors, Counts: counts}, nil, 0), nil)
				r, err := pass.Settle(context.Background(), l, pass.Settings{Rule: rule, Tolerance: 1e-9})
				if err != nil || !r.Status.Converged {
					t.Fatal(err, r)
				}
				grad, sums, err := p.EvidenceGradient(context.Background(), l, r.Q, pass.Options{Rule: rule})
				if err != nil {
					t.Fatal(err)
				}
				return pass.Objective(rule, r.Q, sums.Value), grad
			}
			checkGradient(t, k, evidence, power)
		}
	}
}

// checkGradient compares with differences, which are good to about 1e-6.
func checkGradient(t *testing.T, k kernel.Kernel, evidence func(logs []float64) (float64, []float64), of any) {
	t.Helper()
	logs := k.Params(nil)
	_, grad := evidence(logs)
	for i, name := range k.ParamNames() {
		const h = 1e-4
		at := logs[i]
		logs[i] = at + h
		above, _ := evidence(logs)
		logs[i] = at - h
		below, _ := evidence(logs)
		logs[i] = at
		if slope := (above - below) / (2 * h); math.Abs(slope-grad[i]) > 1e-5*(1+math.Abs(slope)) {
			t.Errorf("%v: ∂/∂log %s is %v, by differences %v", of, name, grad[i], slope)
		}
	}
}

// The same for the full process.
func TestCountedEvidenceGradient(t *testing.T) {
	x, terms := problems.Smooth(20, 2, 4)
	k, err := kernel.Parse("rbf(variance=1.3, lengthscale=[0.8, 1.7])", 2)
	if err != nil {
		t.Fatal(err)
	}
	checkGradient(t, k, func(logs []float64) (float64, []float64) {
		p, err := gp.New(k.With(logs), x)
		if err != nil {
			t.Fatal(err)
		}
		r, err := infer.EP{Tolerance: 1e-11}.Fit(context.Background(), &infer.Model{Views: p.Views(), Terms: terms.Factors, Counts: unequal(20)})
		if err != nil || !r.Status.Converged {
			t.Fatal(err, r)
		}
		return r.LogEvidence, p.EvidenceGradient(r, nil)
	}, "counts")
}

// Rows that count twice are rows that stand there twice to passes.
func TestCountedRowsAreCopies(t *testing.T) {
	x, terms := problems.Smooth(40, 2, 5)
	counts, twice, all := make([]float64, 40), mat.NewDense(60, 2, nil), []factor.Factor(nil)
	for i := range counts {
		counts[i] = float64(1 + i%2)
		for range 1 + i%2 {
			twice.SetRow(len(all), x.RawRowView(i))
			all = append(all, terms.Factors[i])
		}
	}
	k, err := kernel.Parse("rbf(variance=1.3, lengthscale=0.8)", 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := gp.NewInducing(k, x.Slice(0, 10, 0, 2).(*mat.Dense))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []infer.Rule{infer.Propagation{}, infer.Propagation{Power: 0.5}, infer.Variational{}, infer.Curvature{}} {
		settle := func(x *mat.Dense, terms gp.Terms) (*gauss.Gaussian, float64) {
			l := gp.NewEngine(p, p.Shards(x, terms, nil, 0), nil)
			r, err := pass.Settle(context.Background(), l, pass.Settings{Rule: rule, Tolerance: 1e-11})
			if err != nil || !r.Status.Converged {
				t.Fatal(err, r)
			}
			sums, err := l.Look(context.Background(), r.Q.Naturals(), pass.Options{Rule: rule}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return r.Q[0], pass.Objective(rule, r.Q, sums.Value)
		}
		got, value := settle(x, gp.Values{Factors: terms.Factors, Counts: counts})
		want, wantValue := settle(twice, gp.Values{Factors: all})
		if math.Abs(value-wantValue) > 1e-8 || !mat.EqualApprox(mat.NewVecDense(10, got.Mean()), mat.NewVecDense(10, want.Mean()), 1e-8) {
			t.Errorf("%T: %v %v, with copies %v %v", rule, value, got.Mean(), wantValue, want.Mean())
		}
	}
}
