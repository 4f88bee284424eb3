package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/orthant"
)

// gridTruth is the exact posterior of a classifier on a grid, by independent draws in
// batches: a sum over the grid has the error that its batches tell, whatever the
// correlations between points that share their draws.
type gridTruth struct {
	p           [][]float64   // of the outcomes, at each point
	noise       [][]float64   // the covariance of their errors, row by row
	batches     [][][]float64 // of p
	draws       int
	proposed    int
	logEvidence float64
	logError    float64
}

// gridQuestion is what is computed from draws: the probabilities of the outcomes at every point of
// a grid, and the covariance of their errors.
type gridQuestion struct {
	points, outcomes int
	ask              func(d *exact.Sampled, p, noise [][]float64)
}

// onGrid asks about two outcomes.
func onGrid(grid *gauss.Views) gridQuestion {
	return gridQuestion{grid.Len(), 2, func(d *exact.Sampled, p, noise [][]float64) {
		stderr := make([]float64, len(p))
		decision.Probit().Both(d, grid, p, stderr)
		for j, e := range stderr {
			copy(noise[j], []float64{e * e, -e * e, -e * e, e * e})
		}
	}}
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
	drawSeed            = 1
)

// exactShare is the part of the time for a view that its exact answer may take: the others
// are of use without it.
const exactShare = 0.6

// timeForExact is a context that ends with that part of the time that ctx has left.
func timeForExact(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(exactShare*float64(time.Until(end))))
}

var errTookLong = errors.New("independent draws take longer than this view may; use fewer points, a coarser grid or a smoother kernel")

// newTruth draws from the posterior of the model. A few draws tell how many can be
// afforded.
func newTruth(ctx context.Context, m *infer.Model, at gridQuestion) (*gridTruth, error) {
	survey, err := exact.Sampler{Draws: fewDraws, EvidencePoints: evidencePoints, Seed: drawSeed}.Fit(ctx, m)
	if err != nil {
		return nil, outOfReach(err)
	}
	affordable := survey.Acceptance * proposals / float64(batches*len(m.Terms))
	if affordable < fewDraws/2 {
		return nil, tooFew(fewDraws, survey.Status.Sweeps)
	}
	draws := max(min(effort/at.points/batches, mostDraws, int(affordable)), fewDraws)
	t := &gridTruth{
		p: zeros(at.points, at.outcomes), noise: zeros(at.points, at.outcomes*at.outcomes), draws: batches * draws,
		logEvidence: survey.LogEvidence, logError: survey.LogEvidenceError,
	}
	for b := range batches {
		r, err := exact.Sampler{Draws: draws, EvidencePoints: 1, Seed: drawSeed + 1 + uint64(b)}.Fit(ctx, m)
		if err != nil {
			return nil, outOfReach(err)
		}
		t.proposed += r.Status.Sweeps
		p, noise := zeros(at.points, at.outcomes), zeros(at.points, at.outcomes*at.outcomes)
		at.ask(r, p, noise)
		t.batches = append(t.batches, p)
		for j := range p {
			floats.AddScaled(t.p[j], 1.0/batches, p[j])
			floats.AddScaled(t.noise[j], 1.0/batches/batches, noise[j])
		}
	}
	if !finite.All(slices.Concat(t.p...)...) || !finite.All(slices.Concat(t.noise...)...) || !finite.All(t.logEvidence, t.logError) {
		return nil, errNotFinite
	}
	return t, nil
}

func zeros(rows, columns int) [][]float64 {
	all := make([][]float64, rows)
	for i := range all {
		all[i] = make([]float64, columns)
	}
	return all
}

// stderr is the standard error of Σ_y contrast_y P(y) at a point.
func (t *gridTruth) stderr(j int, contrast []float64) float64 {
	sum, n := 0.0, len(contrast)
	for a, x := range contrast {
		sum += x * floats.Dot(contrast, t.noise[j][a*n:(a+1)*n])
	}
	return math.Sqrt(max(0, sum))
}

// outOfReach says in other words that draws would take too long.
func outOfReach(err error) error {
	var low *orthant.AcceptanceError
	if errors.As(err, &low) {
		return tooFew(low.Accepted, low.Proposals)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errTookLong
	}
	return err
}

func tooFew(accepted, proposed int) error {
	return fmt.Errorf("independent draws take too long: %d of %d proposals were accepted; use fewer points, a smoother kernel or one of less variance", accepted, proposed)
}

// gridUtility are what actions on a grid are worth: a decision.Utility or a decision.Contest.
type gridUtility interface {
	Stakes(j int) decision.Stakes
	Actions(dst []int, p [][]float64)
	Expected(actions []int, p [][]float64) float64
	Regret(actions []int, p [][]float64) decision.Regret
}

// answer is the truth with the best actions.
func (t *gridTruth) answer(u gridUtility) *ExactAnswer {
	a := &ExactAnswer{
		Draws:       t.draws,
		Status:      fmt.Sprintf("%d independent draws, %.3g %% of the proposals accepted", t.draws, 100*float64(t.draws)/float64(t.proposed)),
		LogEvidence: t.logEvidence, LogEvidenceError: t.logError, Action: make([]int, len(t.p)),
	}
	n := len(t.p[0])
	of := func(y int) (p, stderr []float64) {
		one := make([]float64, n)
		one[y] = 1
		for j := range t.p {
			p, stderr = append(p, t.p[j][y]), append(stderr, t.stderr(j, one))
		}
		return p, stderr
	}
	if n == 2 {
		a.Probability, a.StdErr = of(1)
	} else {
		a.Probabilities, a.StdErrs = make([][]float64, n), make([][]float64, n)
		for y := range n {
			a.Probabilities[y], a.StdErrs[y] = of(y)
		}
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

// computedTo is the error of a probability beside that of its draws; see orthant.Three.
const computedTo = 1e-8

// doubtful reports whether the draws leave the best action at a point in doubt: whether
// another is worth less by no more than two standard errors of the difference, and what
// probabilities are computed to: far from all points actions are worth the same.
func (t *gridTruth) doubtful(u gridUtility, j int) bool {
	s, p := u.Stakes(j), t.p[j]
	best := s.Best(p, -1)
	contrast := make([]float64, len(p))
	for a := range s.Table {
		if a == best {
			continue
		}
		floats.SubTo(contrast, s.Table[best], s.Table[a])
		rounding := computedTo * (floats.Max(contrast) - floats.Min(contrast))
		if floats.Dot(contrast, p) <= 2*t.stderr(j, contrast)+rounding {
			return true
		}
	}
	return false
}

// regret judges actions. Where an action is not the best, what it loses is linear in
// p; the sum over the grid in each batch gives its standard error.
func (t *gridTruth) regret(u gridUtility, best, actions []int) *Regret {
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

// compare fills in what an answer is against the truth, whose best actions are given.
func (t *gridTruth) compare(a *ClassifierAnswer, u gridUtility, best []int) {
	flips, doubtful := 0, 0
	for j, action := range a.Action {
		if action != best[j] {
			flips++
			if t.doubtful(u, j) {
				doubtful++
			}
		}
	}
	a.Flips, a.DoubtfulFlips = &flips, &doubtful
	a.Regret = t.regret(u, best, a.Action)
}
