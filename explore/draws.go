package explore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/orthant"
)

// truth is the exact posterior of a classifier on a grid, by independent draws in
// batches: a sum over the grid has the error that its batches tell, whatever the
// correlations between points that share their draws.
type truth struct {
	p           [][]float64 // of the outcomes, at each point
	stderr      []float64
	batches     [][][]float64 // of p
	draws       int
	proposed    int
	logEvidence float64
	logError    float64
}

// What draws may take, and how many that makes.
const (
	batches = 8
	// effort is about how many draws are asked at how many points in all.
	effort = 2_000_000
	// proposals bounds how many coordinates of proposals are drawn, where few of them
	// are accepted.
	proposals           = 8_000_000
	mostDraws, fewDraws = 1250, 64 // in a batch
	evidencePoints      = 2048
	seed                = 1
)

// newTruth draws from the posterior of the model. A few draws tell how many can be
// afforded.
func newTruth(ctx context.Context, m *infer.Model, grid *gauss.Views) (*truth, error) {
	survey, err := infer.Exact{Draws: fewDraws, EvidencePoints: evidencePoints, Seed: seed}.Fit(ctx, m)
	if err != nil {
		return nil, outOfReach(err)
	}
	n := grid.Len()
	affordable := survey.Acceptance * proposals / float64(batches*len(m.Terms))
	if affordable < fewDraws/2 {
		return nil, tooFew(fewDraws, survey.Status.Sweeps)
	}
	draws := max(min(effort/n/batches, mostDraws, int(affordable)), fewDraws)
	t := &truth{
		p: make([][]float64, n), stderr: make([]float64, n), draws: batches * draws,
		logEvidence: survey.LogEvidence, logError: survey.LogEvidenceError,
	}
	for j := range t.p {
		t.p[j] = make([]float64, 2)
	}
	for b := range batches {
		r, err := infer.Exact{Draws: draws, EvidencePoints: 1, Seed: seed + 1 + uint64(b)}.Fit(ctx, m)
		if err != nil {
			return nil, outOfReach(err)
		}
		t.proposed += r.Status.Sweeps
		both, stderr := decision.Pairs(make([]float64, n)), make([]float64, n)
		decision.Probit().Both(r, grid, both, stderr)
		t.batches = append(t.batches, both)
		for j, v := range both {
			floats.AddScaled(t.p[j], 1.0/batches, v)
			t.stderr[j] = math.Hypot(t.stderr[j], stderr[j]/batches)
		}
	}
	if !finite.All(slices.Concat(t.p...)...) || !finite.All(t.stderr...) || !finite.All(t.logEvidence, t.logError) {
		return nil, errNotFinite
	}
	return t, nil
}

// outOfReach says in other words that draws would take too long.
func outOfReach(err error) error {
	var low *orthant.AcceptanceError
	if errors.As(err, &low) {
		return tooFew(low.Accepted, low.Proposals)
	}
	return err
}

func tooFew(accepted, proposed int) error {
	return fmt.Errorf("independent draws take too long: %d of %d proposals were accepted; use fewer points, a smoother kernel or one of less variance", accepted, proposed)
}

// answer is the truth with the best actions.
func (t *truth) answer(u *decision.Utility) *ExactAnswer {
	a := &ExactAnswer{
		Draws:       t.draws,
		Status:      fmt.Sprintf("%d independent draws, %.2g %% of the proposals accepted", t.draws, 100*float64(t.draws)/float64(t.proposed)),
		LogEvidence: t.logEvidence, LogEvidenceError: t.logError,
		StdErr: t.stderr, Action: make([]int, len(t.p)),
	}
	for _, p := range t.p {
		a.Probability = append(a.Probability, p[1])
	}
	u.Actions(a.Action, t.p)
	a.ExpectedUtility = u.Expected(a.Action, t.p)
	for j := range t.p {
		if t.doubtful(u, j) {
			a.Doubtful++
		}
	}
	return a
}

// doubtful reports whether the draws leave the best action at a point in doubt.
func (t *truth) doubtful(u *decision.Utility, j int) bool {
	for _, r := range u.Stakes(j).Ranges()[1:] {
		if math.Abs(t.p[j][1]-r.From) < 2*t.stderr[j] {
			return true
		}
	}
	return false
}

// regret judges actions. Where an action is not the best, what it loses is linear in
// p; the sum over the grid in each batch gives its standard error.
func (t *truth) regret(u *decision.Utility, best, actions []int) *Regret {
	r := newRegret(u.Regret(actions, t.p))
	losses := make([]float64, batches)
	for j, a := range actions {
		if a == best[j] {
			continue
		}
		stakes := u.Stakes(j)
		for b := range losses {
			p := t.batches[b][j]
			losses[b] += (stakes.Expected(best[j], p) - stakes.Expected(a, p)) / float64(len(actions))
		}
	}
	_, sd := stat.MeanStdDev(losses, nil)
	r.StdErr = stat.StdErr(sd, batches)
	if span := r.Best - r.Worst; span > 0 {
		r.NormalisedStdErr = r.StdErr / span
	}
	return r
}
