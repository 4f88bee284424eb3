package methods_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/methods"
)

// randomCounted is a random model of n terms on views of so many dimensions, with a utility.
func randomCounted(t testing.TB, rng *rand.Rand, n, dim int, counts []float64) *infer.Model {
	t.Helper()
	views := func(n int, spread float64) *gauss.Views {
		a, b, r := mat.NewDense(n, dim, nil), make([]float64, n), make([]float64, n)
		for i := range n {
			for j := range dim {
				a.Set(i, j, spread*rng.NormFloat64())
			}
			b[i], r[i] = 0.3*rng.NormFloat64(), 0.5*rng.Float64()
		}
		return gauss.NewViews(a, b, r)
	}
	m := &infer.Model{Views: views(n, 1.5), Counts: counts, Points: views(20, 1)}
	for i := range n {
		y := float64(2*rng.IntN(2) - 1)
		m.Terms = append(m.Terms, []factor.Factor{factor.Probit{Y: y}, factor.Logit{Y: y}}[i%2])
	}
	u, err := decision.NewUtility(decision.Probit(), m.Points.Len(), nil, decision.Table{{1, 0}, {0.6, 1}})
	if err != nil {
		t.Fatal(err)
	}
	m.Utility = u
	return m
}

// A term that counts twice is the same as two terms, whatever the method.
func TestCountsAreCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, dim := range []int{2, 5} {
		m := randomCounted(t, rng, 9, dim, []float64{1, 2, 3, 1, 2, 1, 1, 5, 2})
		copies, err := m.Copies("")
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range methods.List(nil) {
			if d.Name == "nuts" || d.Name == "exact" && dim > 2 { // random, and not for logit terms
				continue
			}
			for _, schedule := range []infer.Schedule{infer.Sequential, infer.Parallel} {
				o := methods.Options{Schedule: schedule, Tolerance: 1e-11, Seed: 1}
				got, err := d.Fit(ctx, m, o)
				if err != nil || !got.Status.Converged {
					t.Fatalf("%s: %v %v", d.Name, err, got)
				}
				want, err := d.Fit(ctx, copies, o)
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(got.LogEvidence-want.LogEvidence) > 1e-8 {
					t.Errorf("%s: log evidence %v, with copies %v", d.Name, got.LogEvidence, want.LogEvidence)
				}
				var mean, variance, p, wantMean, wantVariance, wantP, none [20]float64
				got.Moments(m.Points, mean[:], variance[:])
				got.Expect(m.Points, factor.Probit{Y: 1}, p[:], none[:])
				want.Moments(m.Points, wantMean[:], wantVariance[:])
				want.Expect(m.Points, factor.Probit{Y: 1}, wantP[:], none[:])
				tolerance := 1e-8
				switch d.Name {
				case "evidence": // each of its runs ends at a residual of 1e-4, whose square is the error
					tolerance = 1e-7
				case "paired": // moments at a node are off by 0.05, and the error is of its square
					tolerance = 1e-3
				}
				if !floats.EqualApprox(mean[:], wantMean[:], tolerance) || !floats.EqualApprox(variance[:], wantVariance[:], tolerance) || !floats.EqualApprox(p[:], wantP[:], tolerance) {
					t.Errorf("%s in %d dimensions: %v %v %v, with copies %v %v %v", d.Name, dim, mean, variance, p, wantMean, wantVariance, wantP)
				}
			}
		}
	}
}

// The more one outcome counts, the more probable it is, and the less probable all are
// together: what counts a fraction of times lies between its neighbours. At one both ways to
// exchange a term meet.
func TestFractionalCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	m := randomCounted(t, rng, 8, 3, make([]float64, 8))
	for _, name := range []string{"ep", "corrected", "paired", "vi", "laplace"} {
		d, _ := methods.Named(name)
		last, evidence := math.Inf(-1), math.Inf(1)
		for _, w := range []float64{1e-3, 0.2, 0.7, 1 - 1e-9, 1, 1 + 1e-9, 1.3, 1.8, 2, 2.5, 7.25, 1e4, 1e6} {
			for i := range m.Counts {
				m.Counts[i] = 1
			}
			m.Counts[3] = w
			r, err := d.Fit(ctx, m, methods.Options{})
			if err != nil || !r.Status.Converged {
				t.Fatalf("%s, %v times: %v %v", name, w, err, r)
			}
			var p, none [1]float64
			r.Expect(m.Views.Slice(3, 4), m.Terms[3], p[:], none[:])
			if !(p[0] > last-1e-8) || !(r.LogEvidence < evidence+1e-8) {
				t.Errorf("%s: counted %v times the outcome has the probability %v after %v, and the log evidence is %v after %v", name, w, p[0], last, r.LogEvidence, evidence)
			}
			last, evidence = p[0], r.LogEvidence
		}
	}
}

// Terms that count from a thousandth to ten thousand times lead to a result, or to a status
// that says why not.
func TestRandomCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	failed := 0
	const problems = 200
	for k := range problems {
		n, dim := 3+rng.IntN(20), 1+rng.IntN(8)
		counts := make([]float64, n)
		for i := range counts {
			counts[i] = math.Pow(10, 7*rng.Float64()-3)
		}
		m := randomCounted(t, rng, n, dim, counts)
		for _, name := range []string{"ep", "loss-ep", "vi", "laplace"} {
			d, _ := methods.Named(name)
			r, err := d.Fit(ctx, m, methods.Options{Schedule: infer.Schedule(k % 2)})
			switch {
			case err != nil:
				t.Errorf("problem %d, %s: %v", k, name, err)
			case !r.Status.Converged && r.Status.Reason == "":
				t.Errorf("problem %d, %s: not converged, and no reason", k, name)
			case !r.Status.Converged:
				t.Logf("problem %d, %s: %v", k, name, r.Status)
				failed++
			case math.IsNaN(r.LogEvidence) || math.IsInf(r.LogEvidence, 0):
				t.Errorf("problem %d, %s: log evidence %v", k, name, r.LogEvidence)
			}
		}
	}
	if failed > problems/50 {
		t.Errorf("%d runs did not converge", failed)
	}
}
