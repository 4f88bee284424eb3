package pass_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/pass"
)

// together is rows with a term on the values of several functions.
type together struct {
	views  *gauss.Views
	terms  []factor.Multi
	number int
	counts []float64
}

func (r together) Len() int                    { return r.views.Len() }
func (r together) Dim() int                    { return r.views.Dim() }
func (r together) Views(i, j int) *gauss.Views { return r.views.Slice(i, j) }
func (r together) Functions() int              { return r.number }
func (r together) Joint(i int) factor.Multi    { return r.terms[i] }

func (r together) Count(i int) float64 {
	if r.counts == nil {
		return 1
	}
	return r.counts[i]
}

// product is a term that does not couple anything.
type product []factor.Factor

func (p product) each(ask func(f factor.Factor, m, v float64) (l, d1, d2 float64), m, v, d1, d2 []float64) (sum float64) {
	for c, f := range p {
		var l float64
		l, d1[c], d2[c] = ask(f, m[c], v[c])
		sum += l
	}
	return sum
}

func (p product) LogMean(m, v, d1, d2 []float64) float64 {
	return p.each(factor.Factor.LogMean, m, v, d1, d2)
}

func (p product) MeanLog(m, v, d1, d2 []float64) float64 {
	return p.each(factor.Factor.MeanLog, m, v, d1, d2)
}

// Functions whose terms are not coupled are found as if each were alone.
func TestUncoupled(t *testing.T) {
	first, second := random(300, 12, 31, probit), random(300, 12, 32, probit)
	second.views = first.views
	both := together{views: first.views, number: 2}
	for i := range first.terms {
		both.terms = append(both.terms, product{first.terms[i], second.terms[i]})
	}
	for _, rule := range []infer.Rule{infer.Propagation{}, infer.Variational{}, infer.Curvature{}} {
		o := pass.Settings{Rule: rule, Tolerance: 1e-9}
		_, a, one := settle(t, o, first)
		_, b, two := settle(t, o, second)
		l, got, value := settle(t, o, both)
		// All of them are within 1e-8 or so of the fixed point.
		if d := max(far(got.Q[0], a.Q[0]), far(got.Q[1], b.Q[0])); d > 1e-8 || math.Abs(value-one-two) > 1e-8 {
			t.Errorf("rule %v: objective %v in place of %v, means differ by %v", rule, value, one+two, d)
		}
		// What is seen of a row without it, too.
		var alone, coupled []float64
		la := pass.NewLocal([]pass.Rows{first}, nil)
		if _, err := pass.Settle(context.Background(), la, o); err != nil {
			t.Fatal(err)
		}
		see := func(to *[]float64, functions int) pass.See { // of the first
			return func(_ int, mean, variance []float64) {
				for i := 0; i < len(mean); i += functions {
					*to = append(*to, mean[i], variance[i])
				}
			}
		}
		if _, err := la.Look(context.Background(), a.Q.Naturals(), pass.Options{Rule: rule}, see(&alone, 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Look(context.Background(), got.Q.Naturals(), pass.Options{Rule: rule}, see(&coupled, 2)); err != nil {
			t.Fatal(err)
		}
		for i, x := range alone {
			if math.Abs(x-coupled[i]) > 1e-7 {
				t.Fatalf("rule %v: without row %d: %v, and %v alone", rule, i/2, coupled[i], x)
			}
		}
	}
}

// outcomes are rows of the multinomial probit model.
func outcomes(n, m, number int, seed uint64) together {
	rng := rand.New(rand.NewPCG(seed, 8))
	r := together{views: random(n, m, seed, probit).views, number: number}
	v := mat.NewDense(number, m, nil)
	for c := range number {
		for k := range m {
			v.Set(c, k, 1.5*rng.NormFloat64())
		}
	}
	for i := range n {
		best, y := math.Inf(-1), 0
		for c := range number {
			f := mat.Dot(v.RowView(c), mat.NewVecDense(m, r.views.Row(i))) + rng.NormFloat64()
			if f > best {
				best, y = f, c
			}
		}
		r.terms = append(r.terms, factor.Largest{Outcome: y})
	}
	return r
}

// A row that counts three times is three rows.
func TestCountsAreCopies(t *testing.T) {
	counted := outcomes(60, 5, 3, 33)
	copies := together{number: 3}
	var a []float64
	var residual []float64
	for i := range 60 {
		counted.counts = append(counted.counts, float64(1+i%3))
		for range 1 + i%3 {
			a = append(a, counted.views.Row(i)...)
			residual = append(residual, counted.views.Residual(i))
			copies.terms = append(copies.terms, counted.terms[i])
		}
	}
	copies.views = gauss.NewViews(mat.NewDense(len(residual), 5, a), nil, residual)
	for _, rule := range []infer.Rule{infer.Propagation{}, infer.Variational{}} {
		o := pass.Settings{Rule: rule, Tolerance: 1e-9}
		_, want, value := settle(t, o, copies)
		_, got, counts := settle(t, o, counted)
		for c := range 3 {
			if d := far(got.Q[c], want.Q[c]); d > 1e-7 || math.Abs(counts-value) > 1e-7 {
				t.Errorf("rule %v: objective %v, of copies %v; means of function %d differ by %v", rule, counts, value, c, d)
			}
		}
	}
}

// Results are the same bits on any number of processors, and shards end at the same place.
func TestCoupledBits(t *testing.T) {
	whole := outcomes(1500, 30, 4, 34)
	half := together{whole.views.Slice(0, 700), whole.terms[:700], 4, nil}
	rest := together{whole.views.Slice(700, 1500), whole.terms[700:], 4, nil}
	var first []gauss.Scalar
	for _, processors := range []int{1, 3} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			l, _, _ := settle(t, pass.Settings{Tolerance: 1e-4}, half, rest)
			if first == nil {
				first = slices.Clone(l.Sites())
			}
			if !slices.Equal(first, l.Sites()) {
				t.Errorf("%d processors give other bits", processors)
			}
		}()
	}
	_, a, one := settle(t, pass.Settings{Tolerance: 1e-9}, whole)
	_, b, two := settle(t, pass.Settings{Tolerance: 1e-9}, half, rest)
	for c := range a.Q {
		if d := far(a.Q[c], b.Q[c]); d > 1e-8 || math.Abs(one-two) > 1e-7 {
			t.Errorf("evidence %v and %v, means of function %d differ by %v", one, two, c, d)
		}
	}
}

// Of several functions the Gaussians that Loss-VI ends at maximise the bound with the mean logarithm of the utility: it falls on either
// side along random directions of their natural parameters, as much on one as on the other.
func TestCalibrateBoundOfSeveral(t *testing.T) {
	const m, number, points = 6, 3, 30
	rows, at := outcomes(150, m, number, 41), random(points, m, 42, probit).views
	u, err := decision.NewApart(points, number, nil, decision.Table{{1, 0.2, 0}, {0, 1, 0.6}, {0.4, 0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, rule := context.Background(), infer.Variational{}
	l, plain, _ := settle(t, pass.Settings{Rule: rule}, rows)
	r, err := pass.Calibrate(ctx, l, u, at, pass.Settings{Rule: rule, Tolerance: 1e-8, Draws: 64})
	if err != nil || !r.Status.Converged {
		t.Fatal(r, err)
	}
	if d := far(r.Q[1], plain.Q[1]); d < 1e-4 {
		t.Errorf("the utility moves means by %v", d)
	}
	var ws gauss.Workspace
	drawn := infer.NewDrawnUtility(u, at, number, 64, 0)
	bound := func(n gauss.Naturals) float64 {
		q := gauss.NewGaussians(number, m)
		copied := gauss.NewNaturals(number, m)
		copied.CopyFrom(n)
		if q.Exchange(copied) != nil {
			t.Fatal("improper")
		}
		sums, err := l.Look(ctx, n, pass.Options{Rule: rule}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := drawn.Hold(q, r.Actions, 0, &ws); err != nil {
			t.Fatal(err)
		}
		return pass.Objective(rule, q, sums.Value) + drawn.Propose(q, gauss.NewNaturals(number, m), gauss.NewNaturals(number, m), &ws)
	}
	best := bound(r.Q.Naturals())
	if math.Abs(best-r.LogEvidence) > 1e-9 {
		t.Errorf("the bound is %v, and %v was found", best, r.LogEvidence)
	}
	rng := rand.New(rand.NewPCG(43, 8))
	for range 20 {
		var sides [2]float64
		step := gauss.NewNaturals(number, m)
		for _, one := range step {
			for i := range m {
				one.H[i] = rng.NormFloat64()
				for j := range i + 1 {
					one.P.SetSym(i, j, 0.3*rng.NormFloat64())
				}
			}
		}
		for k, by := range []float64{0.01, -0.01} {
			n := gauss.NewNaturals(number, m)
			n.CopyFrom(r.Q.Naturals())
			n.Times(step, by)
			sides[k] = best - bound(n)
		}
		// What is of the third order in a step of a hundredth is a small part of what is of the second.
		if !(min(sides[0], sides[1]) > 0 && math.Abs(sides[0]-sides[1]) < 0.2*(sides[0]+sides[1])) {
			t.Errorf("along one direction the bound falls by %v", sides)
		}
	}
}
