package numbers

import (
	"math"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
)

// utility is what actions that are numbers are worth at points that stand for p(x), as one more factor of a
// model: U(a, f) = Σ_j w_j (ceiling − E[c(a_j, y_j) | f_j]).
//
// Inference does not look into actions, which it knows by whole numbers from 0 on: that of an action is how many
// units it is above the lowest. So it can tell when actions are chosen again as they were.
type utility struct {
	at      func(j int, mean, variance float64) Distribution // of the outcome of point j
	stakes  []decision.Stake                                 // of each point, or one for all
	weights []float64                                        // of points, adding up to one; nil if all are the same
	ceiling float64                                          // that costs are taken from: more than those expected
	lowest  float64
	unit    float64
	alike   int       // so many units apart actions are as good as each other
	noise   float64   // variance of the value that the least noise of an outcome stands for
	spread  []float64 // how many times that of each point is, nil if once
}

// ceilingTimes is how many times the largest expected cost of the best action at a point the ceiling is, so that the
// utility of every point is positive: the lower it is, the more the worst points count.
const ceilingTimes = 1.5

// newUtility is the utility of acting at points whose values are N(m_j, v_j) by what is known so far. The ceiling is so
// many times the largest cost that the best action is expected to have at one of them. Actions that are not whole are a
// millionth of their range apart, and may be as far again beyond it.
func newUtility(f Family, t *Transform, at func(j int, mean, variance float64) Distribution, stakes []decision.Stake, times float64, m, v []float64) *utility {
	u := &utility{at: at, stakes: stakes, noise: 1 / f.Largest()}
	if t.Name == "count" {
		u.noise *= largestCount // of Poisson counts: one over their mean
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for j := range m {
		c := u.stake(j).Choose(u.at(j, m[j], v[j]))
		lo, hi = min(lo, c.Action), max(hi, c.Action)
		u.ceiling = max(u.ceiling, times*c.Expected)
	}
	if a := u.stake(0).Actions; a.Choices != nil || t.Name == "count" && a.List == nil && a.Step == 0 && a.From == math.Trunc(a.From) && a.To == math.Trunc(a.To) {
		u.lowest, u.unit = max(0, math.Floor(2*lo-hi)), 1
		return u
	}
	width := max(hi-lo, 1e-9*(math.Abs(lo)+math.Abs(hi)), math.SmallestNonzeroFloat64*1e12)
	u.lowest, u.unit, u.alike = lo-width, width*1e-6, 1
	return u
}

func (u *utility) stake(j int) decision.Stake { return u.stakes[j%len(u.stakes)] }
func (u *utility) action(code int) float64    { return u.lowest + float64(code)*u.unit }
func (u *utility) code(action float64) int    { return int(max(0, math.Round((action-u.lowest)/u.unit))) }

// Select implements factor.Utility. An action that is the next one is as good as the best.
func (u *utility) Select(actions []int, m, v []float64) {
	for j, before := range actions {
		code := u.code(u.stake(j).Best(u.at(j, m[j], v[j])))
		if before < 0 || code > before+u.alike || code < before-u.alike {
			actions[j] = code
		}
	}
}

// LogMean implements factor.Utility. Expected costs are closed, or sums; their derivatives are differences over
// lengths that are short beside the width of what is known of the outcome, wrong by 1e-5.
func (u *utility) LogMean(actions []int, m, v, d1, d2 []float64) float64 {
	z := 0.0
	for j, code := range actions {
		s, a, w := u.stake(j), u.action(code), 1/float64(len(actions))
		if u.weights != nil {
			w = u.weights[j]
		}
		noise := u.noise
		if u.spread != nil {
			noise *= u.spread[j]
		}
		h := 3e-3 * math.Sqrt(min(1, v[j]+noise))
		below, here, above := s.Expected(a, u.at(j, m[j]-h, v[j])), s.Expected(a, u.at(j, m[j], v[j])), s.Expected(a, u.at(j, m[j]+h, v[j]))
		z += w * (u.ceiling - here)
		d1[j], d2[j] = w*(below-above)/(2*h), w*(2*here-below-above)/(h*h)
	}
	if !(z > 0) {
		return math.NaN()
	}
	for j := range d1 {
		d1[j] /= z
		d2[j] /= z
	}
	return math.Log(z)
}

var _ factor.Utility = (*utility)(nil)
