package effects

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
)

// exactTerms are probit terms that find the means of their logarithms to the last digit.
type exactTerms []int

func (t exactTerms) Len() int { return len(t) }
func (t exactTerms) Term(i int) factor.Factor {
	return factor.NewRobustProbit(t[i], 0)
}

// One family is exact: its effects, and the bound, are those of variational inference with the
// kernel σ²·[g(x) = g(x′)] on all rows.
func TestOneFamilyIsTheDenseKernel(t *testing.T) {
	const n, groups, variance = 60, 9, 0.7
	rng := rand.New(rand.NewPCG(8, 8))
	x, y := mat.NewDense(n, 1, nil), make(exactTerms, n)
	offset, spread := make([]float64, n), make([]float64, n)
	a := mat.NewDense(n, groups, nil)
	terms := make([]factor.Factor, n)
	for i := range n {
		g := i % groups
		x.Set(i, 0, float64(g))
		a.Set(i, g, math.Sqrt(variance))
		y[i] = rng.IntN(2)
		offset[i], spread[i] = rng.NormFloat64(), 0.3*rng.Float64()
		terms[i] = y.Term(i)
	}
	dense, err := infer.VI{Tolerance: 1e-12}.Fit(context.Background(), &infer.Model{Views: gauss.NewViews(a, offset, spread), Terms: terms})
	if err != nil {
		t.Fatal(err)
	}
	f := newFit(NewTable(x, 1), y)
	f.Held = true
	rows := f.rows.(*InMemory)
	rows.Offset, rows.Spread = offset, spread
	if err := f.Add(t.Context(), Family{{0, 0}}, variance); err != nil {
		t.Fatal(err)
	}
	bound := mustRun(t, f, 100, -1, nil) // all of them: the bound is flat at its top
	if math.Abs(bound-dense.LogEvidence) > 1e-8 {
		t.Errorf("bound %.12f, want %.12f", bound, dense.LogEvidence)
	}
	unit := mat.NewDense(groups, groups, nil)
	for g := range groups {
		unit.Set(g, g, math.Sqrt(variance))
	}
	mean, variances := make([]float64, groups), make([]float64, groups)
	dense.Q.Marginals(gauss.NewViews(unit, nil, nil), mean, variances, new(gauss.Workspace))
	for g, w := range f.Effects()[0].Moments {
		if math.Abs(w.Mean-mean[g]) > 1e-8 || math.Abs(w.Variance-variances[g]) > 1e-8 {
			t.Errorf("group %d: %v, want mean %.12f and variance %.12f", g, w, mean[g], variances[g])
		}
	}
}
