package gp_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/nuts"
	"github.com/lossep/lossep/orthant"
)

// drawnClasses are the probabilities of the outcomes at a point under draws from the exact
// posterior, and their standard errors: given a draw the functions there are Gaussian.
func drawnClasses(p *gp.Process, d *exact.Draws, z []float64, number int) (mean, stderr []float64) {
	points, maps := p.OutcomesPoints(mat.NewDense(1, len(z), z))
	views := number - 1
	sum, squares := make([]float64, number), make([]float64, number)
	d.EachBlock(points, views, func(_ int, means, within []float64) {
		var half, functions mat.Dense
		half.Mul(maps[0], mat.NewDense(views, views, within))
		functions.Mul(&half, maps[0].T())
		cov := mat.NewSymDense(number, nil)
		for a := range number {
			for b := range a + 1 {
				cov.SetSym(a, b, functions.At(a, b))
			}
		}
		read := mat.NewDense(views, d.Len(), means)
		for k := range d.Len() {
			var f mat.VecDense
			f.MulVec(maps[0], read.ColView(k))
			for c, x := range classes(f.RawVector().Data, cov) {
				sum[c] += x
				squares[c] += x * x
			}
		}
	})
	n := float64(d.Len())
	for c := range sum {
		sum[c] /= n
		squares[c] = math.Sqrt(max(0, squares[c]/n-sum[c]*sum[c]) / n)
	}
	return sum, squares
}

// Probabilities and decisions of every method against exact draws, on random problems of
// three to six outcomes and 5 to 60 cases. What the draws leave open of the truth is taken
// out of the mean square of the errors, and is part of their mean and of the regrets. A
// regret is what the action chosen costs above the
// best one, in expectation under the exact posterior, of costs that are at most 1.
func TestOutcomesRegret(t *testing.T) {
	problems, most, draws, rows := 4, 15, 500, 2
	if os.Getenv("LOSSEP_LONG") != "" { // two minutes
		problems, most, draws, rows = 50, 60, 2000, 6
	}
	names := []string{"EP", "Loss-EP", "VI", "Laplace"}
	off, squares, worst, regret := make([]float64, 4), make([]float64, 4), make([]float64, 4), make([]float64, 4)
	wrong := make([]int, 4)
	var evidence, noise float64
	cells, cases, beyond := 0, 0, 0
	for seed := 0; cases < rows*problems; seed++ {
		rng := rand.New(rand.NewPCG(uint64(seed), 17))
		number, n := 3+rng.IntN(4), 5+rng.IntN(most-4)
		x, o := contest(rng, n, number)
		k := kernel.RBF(math.Exp(rng.NormFloat64()+1), math.Exp(0.5*rng.NormFloat64()))
		p, r := settledOutcomes(t, k, x, o)
		drawn, err := exact.Sampler{Draws: draws, EvidencePoints: 2000, Seed: uint64(seed)}.Fit(context.Background(), p.Model())
		if rare := new(orthant.AcceptanceError); errors.As(err, &rare) {
			beyond++
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		evidence = max(evidence, math.Abs(r.LogEvidence-drawn.LogEvidence)-3*drawn.LogEvidenceError)
		table := make(decision.Table, number)
		for a := range table {
			table[a] = make([]float64, number)
			for y := range table[a] {
				if a != y {
					table[a][y] = rng.Float64()
				}
			}
		}
		stakes := decision.Stakes{Table: table, Costs: true}
		z := mat.NewDense(rows, 2, nil)
		z.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, z)
		qs := []*gauss.Gaussian{r.Q, calibratedQ(t, p, stakes, z), must(t, infer.VI{}.Fit, p.Model()).Q, must(t, infer.Laplace{}.Fit, p.Model()).Q}
		for i := range rows {
			truth, stderr := drawnClasses(p, drawn.Draws, z.RawRowView(i), number)
			noise += floats.Sum(stderr)
			least := stakes.Expected(stakes.Best(truth, -1), truth)
			for m, q := range qs {
				mean, cov := p.OutcomesAt(q, z.RawRowView(i))
				got := classes(mean, cov)
				off[m] += floats.Distance(got, truth, 1)
				squares[m] += math.Pow(floats.Distance(got, truth, 2), 2) - floats.Dot(stderr, stderr)
				worst[m] = max(worst[m], floats.Distance(got, truth, math.Inf(1)))
				if cost := stakes.Expected(stakes.Best(got, -1), truth) - least; cost > 0 {
					wrong[m]++
					regret[m] += cost
				}
			}
			cells += number
			cases++
		}
	}
	t.Logf("%d cases of %d problems, %d more are beyond exact draws; standard errors of the truth %.4f; EP's log evidence is off by %.3f at most", cases, problems, beyond, noise/float64(cells), evidence)
	for m, name := range names {
		t.Logf("%-8s a probability is off by %.4f on average with the noise, by %.4f in the mean square without, and %.4f at most; %d decisions are not the best, regret %.6f a case", name, off[m]/float64(cells), math.Sqrt(max(0, squares[m]/float64(cells))), worst[m], wrong[m], regret[m]/float64(cases))
	}
	if slack := 2 * noise / float64(cells); off[0]/float64(cells) > 0.003+slack || evidence > 0.5 {
		t.Error("EP is farther from the truth than it was")
	}
}

func must(t *testing.T, fit func(context.Context, *infer.Model) (*infer.Result, error), m *infer.Model) *infer.Result {
	t.Helper()
	r, err := fit(context.Background(), m)
	if err != nil || !r.Status.Converged {
		t.Fatalf("%v: %+v", err, r)
	}
	return r
}

// calibratedQ is the q of Loss-EP with the points to be decided as those of the utility.
func calibratedQ(t *testing.T, p *gp.Process, stakes decision.Stakes, z *mat.Dense) *gauss.Gaussian {
	t.Helper()
	utilities, err := stakes.Utilities(1)
	if err != nil {
		t.Fatal(err)
	}
	points, maps := p.OutcomesPoints(z)
	u, err := decision.NewContest(maps, nil, utilities)
	if err != nil {
		t.Fatal(err)
	}
	m := p.Model()
	m.Utility, m.Points = u, points
	return must(t, func(ctx context.Context, m *infer.Model) (*infer.Result, error) {
		r, err := infer.EP{}.Fit(ctx, m)
		if err != nil {
			return nil, err
		}
		return &r.Result, nil
	}, m).Q
}

// Chains by NUTS and independent draws are of the same posterior of several outcomes.
func TestOutcomesByNUTS(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 18))
	x, o := contest(rng, 8, 3)
	p, _ := settledOutcomes(t, kernel.RBF(3, 1), x, o)
	drawn, err := exact.Sampler{Draws: 4000, EvidencePoints: 100, Seed: 1}.Fit(context.Background(), p.Model())
	if err != nil {
		t.Fatal(err)
	}
	chains, err := exact.NUTS{Options: nuts.Options{Seed: 2}}.Fit(context.Background(), p.Model())
	if err != nil || !chains.Status.Converged {
		t.Fatalf("%v: %+v", err, chains)
	}
	for _, z := range [][]float64{{0.5, 0.5}, {-1, 0}, {0, -2}} {
		want, one := drawnClasses(p, drawn.Draws, z, 3)
		got, other := drawnClasses(p, chains.Draws, z, 3)
		for c := range 3 {
			// States of a chain depend on each other; ten of them are worth one at least.
			if limit := 4*math.Hypot(one[c], math.Sqrt(10)*other[c]) + 1e-3; !(math.Abs(got[c]-want[c]) <= limit) {
				t.Errorf("at %v outcome %d has %.4f by NUTS and %.4f by independent draws, farther apart than %.4f", z, c, got[c], want[c], limit)
			}
		}
	}
}
