package decision

import (
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
)

// Predictive is what a decision asks of a posterior, whatever method it came from:
// the expectation of a factor at each view, and its Monte Carlo standard error.
type Predictive interface {
	Expect(views *gauss.Views, t factor.Factor, value, stderr []float64)
}

// Probabilities writes P(y = +1) at each view, and its Monte Carlo standard error.
func (o Outcome) Probabilities(p Predictive, views *gauss.Views, value, stderr []float64) {
	p.Expect(views, o[1], value, stderr)
	for i, v := range value {
		value[i] = min(1, max(0, v)) // rounding
	}
}

// Pair writes P(y = −1) and P(y = +1) at a single view, the smaller one by itself.
func (o Outcome) Pair(p Predictive, view *gauss.Views, pair []float64) {
	var stderr [1]float64
	o.Probabilities(p, view, pair[1:2], stderr[:])
	if pair[0] = 1 - pair[1]; pair[1] > 0.5 {
		p.Expect(view, o[0], pair[:1], stderr[:])
		pair[0] = min(1, max(0, pair[0])) // rounding
	}
}

// Choose is the best action at point j when outcome 1 has probability p1.
func (u *Utility) Choose(j int, p1 float64) Choice {
	s := u.Stakes(j)
	return s.Choose(make([]float64, len(s.Table)), []float64{1 - p1, p1})
}

// Actions writes the best action at every point.
func (u *Utility) Actions(dst []int, p1 []float64) {
	for j, p := range p1 {
		dst[j] = u.Stakes(j).Best([]float64{1 - p, p}, -1)
	}
}

// Expected is the full expected utility of the actions, Σ_j w_j U(a_j | x_j).
func (u *Utility) Expected(actions []int, p1 []float64) float64 {
	sum := 0.0
	for j, a := range actions {
		sum += u.weights[j] * u.Stakes(j).Expected(a, []float64{1 - p1[j], p1[j]})
	}
	return sum
}

// Regret is what actions lose against the best possible ones.
type Regret struct {
	// Utility and Best are the expected utilities of the actions taken and of the
	// optimal ones, Worst that of the worst action everywhere.
	Utility, Best, Worst float64
	// Absolute is Best − Utility.
	Absolute float64
	// Normalised is (Best − Utility)/(Best − Worst), the paper's figure of merit:
	// 0 for optimal actions and 1 for the worst. It is 0 when all actions are
	// equally good.
	Normalised float64
}

// Regret compares actions with the optimal ones when p1 are the true probabilities
// of outcome 1. The differences are summed point by point, so that a small regret
// is not lost in the rounding of two large utilities.
func (u *Utility) Regret(actions []int, p1 []float64) Regret {
	var r Regret
	span := 0.0
	for j, a := range actions {
		s, w, p := u.Stakes(j), u.weights[j], []float64{1 - p1[j], p1[j]}
		taken, best, worst := s.Expected(a, p), s.Expected(s.Best(p, a), p), s.Expected(s.Worst(p), p)
		r.Utility += w * taken
		r.Best += w * best
		r.Worst += w * worst
		r.Absolute += w * (best - taken)
		span += w * (best - worst)
	}
	if span > 0 {
		r.Normalised = r.Absolute / span
	}
	return r
}
