package lossep

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/posterior"
)

// MethodsForSeveral are the methods that more than two outcomes can be fitted by.
func MethodsForSeveral() []Method { return slices.Clone(severalMethods) }

// terms are those of the training rows, case by case.
func (p *Problem) terms() []factor.Factor {
	if several(p.Recipe) {
		return moreOutcomes(len(p.Recipe.Target.Several)).outcomes(p.Labels, p.Weights).Terms()
	}
	return p.opt.Likelihood.terms(p.Labels)
}

// search finds the hyperparameters of a kernel.
func (p *Problem) search(ctx context.Context, k kernel.Kernel, o gp.Options) (*gp.Fit, error) {
	return p.link().search(ctx, k, p.X, p.Labels, p.Weights, o)
}

// logWithout is the log probability of the outcome of every training row by a fit with the
// row taken out; −Inf where there is none.
func (p *Problem) logWithout(f *gp.Fit) []float64 {
	if !several(p.Recipe) {
		logs := slices.Clone(f.EP.LogPredictive)
		for i, l := range logs {
			if math.IsNaN(l) {
				logs[i] = math.Inf(-1)
			}
		}
		return logs
	}
	logs, l := make([]float64, p.Len()), posterior.Largest(len(p.Recipe.Target.Several))
	for i, all := range posterior.Without(context.Background(), f.Process.LeaveOut(f.EP.Q, f.EP.Sites.Terms), l, p.Labels, p.units()) {
		logs[i] = math.Inf(-1)
		if all != nil {
			logs[i] = logOf(all[p.Labels[i]])
		}
	}
	return logs
}

// leaveOutOutcomes is leaveOut for more than two outcomes.
func (p *Problem) leaveOutOutcomes(f *gp.Fit, rows []int) (left [][]float64, logs []float64) {
	number := len(p.Recipe.Target.Several)
	left, logs = posterior.Tuples(len(rows), number), make([]float64, len(rows))
	tasks.For(len(rows), func(k int) {
		mean, cov := f.Process.OutcomesAt(f.EP.Q, p.X.RawRowView(rows[k]))
		posterior.Largest(number).Joint(left[k], mean, cov)
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
