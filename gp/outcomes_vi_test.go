package gp_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// Loss-VI of several outcomes: what it states of E log U is what independent draws of its
// Gaussian say, its bound is above that of plain VI with the same utility, and a utility that is
// the same whatever happens changes nothing but the bound.
func TestOutcomesLossVI(t *testing.T) {
	for number, draws := range map[int]int{3: 128, 4: 32} {
		rng := rand.New(rand.NewPCG(31, uint64(number)))
		x, o := contest(rng, 8, number)
		p, err := gp.NewOutcomes(kernel.RBF(2, 1), x, o)
		if err != nil {
			t.Fatal(err)
		}
		m := p.Model()
		var maps []*mat.Dense
		m.Points, maps = p.OutcomesPoints(mat.NewDense(3, 2, []float64{0.1, 0.2, -1, 0.5, 1, -1}))
		utilities := make(decision.Table, number)
		for a := range utilities {
			utilities[a] = make([]float64, number)
			for c := range utilities[a] {
				utilities[a][c] = math.Exp(1.5 * rng.NormFloat64())
			}
		}
		if m.Utility, err = decision.NewContest(maps, nil, utilities); err != nil {
			t.Fatal(err)
		}
		plain, err := infer.VI{}.Fit(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		r, err := infer.LossVI{Draws: draws}.Fit(context.Background(), m)
		if err != nil || !r.Status.Converged {
			t.Fatalf("%v, %v", err, r)
		}
		got, stderr := meanLogUtility(r.Q, m.Points, maps, utilities, r.Sites.Actions)
		// Four standard errors of both estimates; those of fixed draws are sixteen times as even.
		if off := math.Abs(got - r.MeanLogUtility); !(off < 4*math.Hypot(stderr, r.StdErr)) || stderr > 0.1 {
			t.Errorf("%d outcomes: E log U is %v ± %v, and by draws %v ± %v", number, r.MeanLogUtility, r.StdErr, got, stderr)
		}
		before, stderr := meanLogUtility(plain.Q, m.Points, maps, utilities, r.Sites.Actions)
		if !(r.LogEvidence > plain.LogEvidence+before-4*stderr) || !(got > before) {
			t.Errorf("%d outcomes: bound %v, and %v + %v by plain VI", number, r.LogEvidence, plain.LogEvidence, before)
		}
		for a := range utilities {
			utilities[a] = []float64{2, 2, 2, 2}[:number]
		}
		if m.Utility, err = decision.NewContest(maps, nil, utilities); err != nil {
			t.Fatal(err)
		}
		same, err := infer.LossVI{Draws: 16}.Fit(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		// Probabilities of outcomes add up to one to 1e-9.
		near(t, "bound", same.LogEvidence, plain.LogEvidence+math.Log(2), 1e-8)
		for i, mean := range same.Q.Mean() {
			near(t, "mean", mean, plain.Q.Mean()[i], 1e-7)
		}
	}
}

// meanLogUtility estimates E log U by draws of q, with the standard error: U is the mean over the
// points of what the outcomes are worth under the actions.
func meanLogUtility(q *gauss.Gaussian, points *gauss.Views, maps []*mat.Dense, utilities decision.Table, actions []int) (mean, stderr float64) {
	const draws = 500
	cov := mat.NewSymDense(q.Dim(), nil)
	q.Covariance(cov)
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		return math.NaN(), 0
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	rng := rand.New(rand.NewPCG(31, 31))
	number, views := maps[0].Dims()
	logs, read := make([]float64, draws), make([]float64, points.Len())
	for k := range logs {
		z := mat.NewVecDense(q.Dim(), nil)
		for i := range q.Dim() {
			z.SetVec(i, rng.NormFloat64())
		}
		var v mat.VecDense
		v.MulVec(&lower, z)
		floats.Add(v.RawVector().Data, q.Mean())
		points.At(read, v.RawVector().Data)
		worth := 0.0
		for j, b := range maps {
			var f mat.VecDense
			f.MulVec(b, mat.NewVecDense(views, read[j*views:(j+1)*views]))
			left := mat.NewSymDense(number, nil)
			for s := range views {
				left.SymRankOne(left, points.Residual(j*views+s), b.ColView(s))
			}
			worth += floats.Dot(utilities[actions[j]], classes(f.RawVector().Data, left)) / float64(len(maps))
		}
		logs[k] = math.Log(worth)
	}
	mean, sd := stat.MeanStdDev(logs, nil)
	return mean, sd / math.Sqrt(draws)
}
