package pass_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/pass"
)

// variance is that of effects in tests.
const variance = 0.7

// grouped is random rows in groups, and the same ones with the effects among the dimensions of v:
// a factor σ in the column of the row's group.
func grouped(n, m, count int, seed uint64) (plain, dense rows, groups []int32) {
	plain = random(n, m, seed, probit)
	rng := rand.New(rand.NewPCG(seed, 8))
	a, r := mat.NewDense(n, m+count, nil), make([]float64, n)
	for i := range n {
		g := rng.IntN(count - 1) // one has no rows
		groups = append(groups, int32(g))
		copy(a.RawRowView(i), plain.views.Row(i))
		a.Set(i, m+g, math.Sqrt(variance))
		r[i] = plain.views.Residual(i)
	}
	return plain, rows{gauss.NewViews(a, nil, r), plain.terms}, groups
}

// some are the rows from i to j.
func (r rows) some(i, j int) rows { return rows{r.views.Slice(i, j), r.terms[i:j]} }

func settleGrouped(t *testing.T, e *pass.Grouped, o pass.Settings) (*gauss.Gaussian, float64) {
	t.Helper()
	r, err := pass.Settle(context.Background(), e, o)
	if err != nil || !r.Status.Converged {
		t.Fatal(err, r)
	}
	sums, err := e.Look(context.Background(), r.Q.Naturals(), pass.Options{Rule: o.Rule}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Q[0], pass.Objective(o.Rule, r.Q, sums.Value)
}

// compare holds v and the effects of an engine against those of the dense posterior. Both are within
// 1e-10 of the fixed point.
func compare(t *testing.T, q, dense *gauss.Gaussian, given *gauss.Views) {
	t.Helper()
	m, sd := q.Dim(), math.Sqrt(variance)
	if d := floats.Distance(q.Mean(), dense.Mean()[:m], math.Inf(1)); d > 1e-9 {
		t.Errorf("means of v differ by %v", d)
	}
	mean, v := make([]float64, given.Len()), make([]float64, given.Len())
	q.Predict(given, mean, v, new(gauss.Workspace))
	lean := mat.NewDense(given.Len(), m, nil)
	q.Covariances(lean, given, new(gauss.Workspace))
	cov := mat.NewSymDense(dense.Dim(), nil)
	dense.Covariance(cov)
	for g := range mean {
		if d := math.Abs(mean[g] - sd*dense.Mean()[m+g]); d > 1e-9 {
			t.Errorf("means of effect %d differ by %v", g, d)
		}
		if d := math.Abs(v[g] - variance*cov.At(m+g, m+g)); d > 1e-9 {
			t.Errorf("variances of effect %d differ by %v", g, d)
		}
		for k := range m {
			if d := math.Abs(lean.At(g, k) - sd*cov.At(k, m+g)); d > 1e-9 {
				t.Errorf("covariances of effect %d differ by %v", g, d)
			}
		}
	}
}

// Effects that are eliminated are those of the dense posterior, whatever the rule, with the same objective and
// the same moments of rows left out.
func TestGroupedIsDense(t *testing.T) {
	plain, dense, groups := grouped(300, 6, 11, 3)
	for _, rule := range []infer.Rule{infer.Propagation{}, infer.Propagation{Power: 0.5}, infer.Variational{}, infer.Curvature{}} {
		o := pass.Settings{Rule: rule, Tolerance: 1e-11}
		l, want, value := settle(t, o, dense)
		e := pass.NewGrouped(pass.NewLocal([]pass.Rows{plain.some(0, 170), plain.some(170, 300)}, nil).InGroups(groups, 11), variance, nil, nil)
		q, got := settleGrouped(t, e, o)
		if math.Abs(got-value) > 1e-8 {
			t.Errorf("%T: objective %v, want %v", rule, got, value)
		}
		compare(t, q, want.Q[0], e.Given())
		var left [2][300][2]float64
		note := func(of int) pass.See {
			return func(first int, mean, variance []float64) {
				for i, m := range mean {
					left[of][first+i] = [2]float64{m, variance[i]}
				}
			}
		}
		ctx, look := context.Background(), pass.Options{Rule: rule}
		if _, err := e.Look(ctx, gauss.Gaussians{q}.Naturals(), look, note(0)); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Look(ctx, want.Q.Naturals(), look, note(1)); err != nil {
			t.Fatal(err)
		}
		for i, at := range left[0] {
			if b := left[1][i]; math.Abs(at[0]-b[0])+math.Abs(at[1]-b[1]) > 1e-8 {
				t.Errorf("%T: without row %d %v, want %v", rule, i, at, b)
			}
		}
	}
}

// What some rows told can be taken from their posterior, and others go on from there.
func TestGroupedGoesOn(t *testing.T) {
	plain, dense, groups := grouped(240, 5, 9, 4)
	o := pass.Settings{Tolerance: 1e-11}
	first := pass.NewGrouped(pass.NewLocal([]pass.Rows{plain.some(0, 150)}, nil).InGroups(groups[:150], 9), variance, nil, nil)
	q, _ := settleGrouped(t, first, o)
	told := pass.ArrowOf(q, first.Given(), variance)
	_, before, _ := settle(t, o, dense.some(0, 150))
	extra, prior := gauss.NewNaturals(1, 14), gauss.NewNaturals(1, 14)
	prior.SetStandard()
	extra.CopyFrom(before.Q.Naturals())
	extra.Times(prior, -1)
	withExtra := o
	withExtra.Extra = extra
	_, want, _ := settle(t, withExtra, dense.some(150, 240))
	next := pass.NewGrouped(pass.NewLocal([]pass.Rows{plain.some(150, 240)}, nil).InGroups(groups[150:], 9), variance, told, nil)
	o.Extra = gauss.Naturals{told.Marginal(variance)}
	q, _ = settleGrouped(t, next, o)
	compare(t, q, want.Q[0], next.Given())
}
