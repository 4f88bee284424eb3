package lossep

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
)

// MethodsForSeveral are the methods that more than two outcomes can be fitted by.
func MethodsForSeveral() []Method { return slices.Clone(severalMethods) }

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
	logs, l := make([]float64, p.Len()), posterior.Largest(len(p.Recipe.Target.Outcomes))
	for i, all := range posterior.Without(context.Background(), f.Process.LeaveOut(f.EP.Q, f.EP.Sites.Terms), l, p.Labels, p.units()) {
		logs[i] = math.Inf(-1)
		if all != nil {
			logs[i] = posterior.Log(all[p.Labels[i]])
		}
	}
	return logs
}

// leaveOutOutcomes is leaveOut for more than two outcomes.
func (p *Problem) leaveOutOutcomes(f *search.Fit, rows []int) (left [][]float64, logs []float64) {
	number := len(p.Recipe.Target.Outcomes)
	left, logs = posterior.Tuples(len(rows), number), make([]float64, len(rows))
	tasks.For(len(rows), func(k int) {
		mean, cov := f.Process.OutcomesAt(f.EP.Q, p.X.RawRowView(rows[k]))
		posterior.Largest(number).Joint(left[k], mean, cov)
		logs[k] = posterior.Log(left[k][p.Labels[rows[k]]])
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
