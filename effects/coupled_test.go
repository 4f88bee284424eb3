package effects

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
)

// two is the term of the larger of two values with noise, Φ((f_y − f_j)/√2), exactly.
type two struct{ outcome int }

func (t two) LogMean(m, v, d1, d2 []float64) float64 { panic("not needed") }

func (t two) MeanLog(m, v, d1, d2 []float64) float64 {
	y, j := t.outcome, 1-t.outcome
	l, g, h := meanLog(probits[1], (m[y]-m[j])/math.Sqrt2, (v[y]+v[j])/2)
	d1[y], d1[j] = g/math.Sqrt2, -g/math.Sqrt2
	d2[y], d2[j] = h/2, h/2
	return l
}

// pairs are labels as outcomes of two functions.
type pairs struct{ labels }

func (pairs) Functions() int             { return 2 }
func (p pairs) Joint(i int) factor.Multi { return two{int(p.labels[i])} }

// Two functions are the one of their difference over √2: families, effects, evidence and rows left out are
// the same.
func TestTwoFunctionsAreOne(t *testing.T) {
	table, y := crossedRows(20_000, 3)
	one, both := newFit(table, y), newFit(table, pairs{y})
	for _, f := range []*Fit{one, both} {
		if err := f.Choose(t.Context(), DefaultChoice()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := f.Explain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(one.members) < 3 || len(one.members) != len(both.members) {
		t.Fatalf("%d and %d families", len(one.members), len(both.members))
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-8*max(1, math.Abs(want)) { // rounding, of thousands of nats
			t.Errorf("%s: %.12g, want %.12g", what, got, want)
		}
	}
	for j, m := range one.members {
		o := both.members[j]
		near("variance", o.Variance, m.Variance)
		near("nats", o.Nats(), m.Nats())
		near("divergence", o.divergence(), m.divergence())
		near("share", o.Share, m.Share)
		for g, w := range m.Moments {
			a, b := o.Of(0)[g], o.Of(1)[g]
			near("mean", (b.Mean-a.Mean)/math.Sqrt2, w.Mean)
			near("variance of a difference", (a.Variance+b.Variance)/2, w.Variance)
		}
	}
	for row := range 100 {
		a, b, w := both.Without(row, 0), both.Without(row, 1), one.Without(row, 0)
		near("mean left out", (b.Mean-a.Mean)/math.Sqrt2, w.Mean)
		near("variance left out", (a.Variance+b.Variance)/2, w.Variance)
	}
}

// outcomes are the largest of several functions with noise.
type outcomes struct {
	of     []int
	number int
}

func (o outcomes) Len() int                 { return len(o.of) }
func (o outcomes) Functions() int           { return o.number }
func (o outcomes) Joint(i int) factor.Multi { return factor.Largest{Outcome: o.of[i]} }

// groupedOutcomes are rows of so many groups and outcomes, whose functions have known effects.
func groupedOutcomes(rows, groups, number int, sd float64, seed uint64) (*Table, outcomes, [][]float64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	x, y := mat.NewDense(rows, 2, nil), outcomes{make([]int, rows), number}
	truth := make([][]float64, number)
	for c := range truth {
		truth[c] = normals(rng, groups, sd)
	}
	for i := range rows {
		g, best := rng.IntN(groups), math.Inf(-1)
		x.SetRow(i, []float64{float64(g), float64(rng.IntN(10))})
		for c := range number {
			if v := truth[c][g] + rng.NormFloat64(); v > best {
				y.of[i], best = c, v
			}
		}
	}
	return NewTable(x, 2), y, truth
}

// Of several outcomes the differences of known effects are covered by their intervals, the variance is
// found, and a column that says nothing is left out.
func TestSeveralOutcomes(t *testing.T) {
	for _, number := range []int{3, 8} {
		const groups, sd = 200, 0.6
		table, y, truth := groupedOutcomes(20_000, groups, number, sd, uint64(number))
		f := newFit(table, y)
		bounds := []float64{}
		choice := DefaultChoice()
		choice.Trace = func(p Progress) { bounds = append(bounds, p.Bound) }
		if err := f.Choose(t.Context(), choice); err != nil {
			t.Fatal(err)
		}
		mustRun(t, f, 60, 1e-6, nil)
		if len(f.members) != 1 || f.members[0].Family[0].Column != 0 {
			t.Fatalf("%d outcomes: families %v", number, f.Effects())
		}
		e := f.Effects()[0]
		// The mean square of 200·(C − 1) effects is known to 7 % or less, and that of the bound, which
		// leaves some of the noise's uncertainty out, is a little low.
		if r := math.Sqrt(e.Variance) / sd; r < 0.85 || r > 1.1 {
			t.Errorf("%d outcomes: a standard deviation of %.3f, want %.3f", number, sd*r, sd)
		}
		covered, all := 0, 0
		for g := range groups {
			common := 0.0
			for c := range number {
				common += e.Of(c)[g].Mean
				for d := range c {
					a, b := e.Of(c)[g], e.Of(d)[g]
					if math.Abs(a.Mean-b.Mean-truth[c][g]+truth[d][g]) < 1.96*math.Sqrt(a.Variance+b.Variance) {
						covered++
					}
					all++
				}
			}
			if math.Abs(common) > 1e-9 {
				t.Fatalf("%d outcomes: the effects of group %d add up to %g", number, g, common)
			}
		}
		// Of some thousand differences, which are not independent.
		if share := float64(covered) / float64(all); share < 0.92 || share > 0.98 {
			t.Errorf("%d outcomes: intervals cover %.3f of the differences", number, share)
		}
	}
}
