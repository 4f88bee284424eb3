package lossep

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/search"
)

// What is different where there are more than two outcomes: a case has C−1 views of the
// Gaussian in place of one (see gp.Outcomes), so that there are C−1 sites for each row, and
// the probabilities of its outcomes are those of C normals to be the largest. With two
// outcomes this is the binary model, which does it with one view of half the size and a
// closed form; a test holds both together.

// MethodsForSeveral are the methods that more than two outcomes can be fitted by.
func MethodsForSeveral() []Method { return slices.Clone(severalMethods) }

// views is how many views of the process the training rows have.
func (p *Problem) views() int { return p.Len() * viewsOf(p.Recipe) }

// many are the terms of the training rows, as passes take them.
func (p *Problem) many() gp.Terms {
	if several(p.Recipe) {
		return outcomes(p.Recipe, p.Labels, p.Weights)
	}
	return p.opt.Likelihood.many(p.Labels, p.Weights)
}

// cases are the terms of the training rows, as the full process takes them.
func (p *Problem) cases() gp.Cases { return gp.CasesOf(p.many()) }

// logWithout is the log probability of the outcome of every training row by a fit with the
// row taken out; −Inf where there is none.
func (p *Problem) logWithout(f *search.Fit) []float64 {
	if !several(p.Recipe) {
		logs := slices.Clone(f.EP.LogPredictive)
		for i, l := range logs {
			if math.IsNaN(l) {
				logs[i] = math.Inf(-1)
			}
		}
		return logs
	}
	logs := make([]float64, p.Len())
	for i, all := range leftOutSeveral(context.Background(), f.Process.LeaveOut(f.EP.Q, f.EP.Sites.Terms), p) {
		logs[i] = math.Inf(-1)
		if all != nil {
			logs[i] = logOf(all[p.Labels[i]])
		}
	}
	return logs
}

// leaveOutOutcomes is leaveOut for more than two outcomes.
func (p *Problem) leaveOutOutcomes(f *search.Fit, rows []int) (left [][]float64, logs []float64) {
	left, logs = newTuples(len(rows), len(p.Recipe.Target.Outcomes)), make([]float64, len(rows))
	tasks.For(len(rows), func(k int) {
		mean, cov := f.Process.OutcomesAt(f.EP.Q, p.X.RawRowView(rows[k]))
		outcomeProbabilities(left[k], mean, cov)
		logs[k] = logOf(left[k][p.Labels[rows[k]]])
	})
	return left, logs
}

// secondMost is how many rows the second most frequent outcome has: the rarer of two.
func (p *Problem) secondMost() int {
	of := make(map[int]int)
	for _, y := range p.Labels {
		of[y]++
	}
	counts := slices.Sorted(maps.Values(of))
	if len(counts) < 2 {
		return 0
	}
	return counts[len(counts)-2]
}

// contest is the model with the utility of several outcomes, on views of the points that
// stand for p(x).
func (l *Learned) contest(rows []int, tables []decision.Table) (*infer.Model, error) {
	points, maps := l.process.OutcomesPoints(rowsOf(l.problem.X, rows))
	u, err := decision.NewContest(maps, taken(l.problem.Weights, rows), tables...)
	if err != nil {
		return nil, fmt.Errorf("utility: %w", err)
	}
	m := *l.model
	m.Utility, m.Points = u, points
	return &m, nil
}
