package numbers

import (
	"math"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
)

// utility is what actions that are numbers are worth at points that stand for p(x), as one more factor of a
// model: U(a, f) = Σ_j (ceiling − E[c(a_j, y_j) | f_j])/n.
//
// Inference does not look into actions, which it knows by whole numbers from 0 on: that of an action is how many
// units it is above the lowest. So it can tell when actions are chosen again as they were.
type utility struct {
	family    Family
	transform *Transform
	stakes    []decision.Stake // of each point, or one for all
	ceiling   float64          // that costs are taken from: more than those expected
	lowest    float64
	unit      float64
}

// newUtility is the utility of acting at points whose values are N(m_j, v_j) by what is known so far. The ceiling is so
// many times the largest cost that the best action is expected to have at one of them: the lower it is, the
// more the worst points count. Actions are a millionth of their range apart, and may be as far again beyond it.
func newUtility(f Family, t *Transform, stakes []decision.Stake, times float64, m, v []float64) *utility {
	u := &utility{family: f, transform: t, stakes: stakes}
	lo, hi := math.Inf(1), math.Inf(-1)
	for j := range m {
		c := u.stake(j).Choose(u.at(m[j], v[j]))
		lo, hi = min(lo, c.Action), max(hi, c.Action)
		u.ceiling = max(u.ceiling, times*c.Expected)
	}
	width := max(hi-lo, 1e-9*(math.Abs(lo)+math.Abs(hi)), math.SmallestNonzeroFloat64*1e12)
	u.lowest, u.unit = lo-width, width*1e-6
	return u
}

func (u *utility) at(m, v float64) Distribution { return u.family.Predict(m, v, u.transform) }
func (u *utility) stake(j int) decision.Stake   { return u.stakes[j%len(u.stakes)] }
func (u *utility) action(code int) float64      { return u.lowest + float64(code)*u.unit }
func (u *utility) code(action float64) int      { return int(max(0, math.Round((action-u.lowest)/u.unit))) }

// Select implements factor.Utility. An action that is the next one is as good as the best.
func (u *utility) Select(actions []int, m, v []float64) {
	for j, before := range actions {
		code := u.code(u.stake(j).Choose(u.at(m[j], v[j])).Action)
		if before < 0 || code > before+1 || code < before-1 {
			actions[j] = code
		}
	}
}

// LogMean implements factor.Utility. Expected costs are closed, or sums; their derivatives are differences over
// lengths that are short beside the noise, wrong by 1e-5.
func (u *utility) LogMean(actions []int, m, v, d1, d2 []float64) float64 {
	const h = 3e-3
	z, n := 0.0, float64(len(actions))
	for j, code := range actions {
		s, a := u.stake(j), u.action(code)
		below, here, above := s.Expected(a, u.at(m[j]-h, v[j])), s.Expected(a, u.at(m[j], v[j])), s.Expected(a, u.at(m[j]+h, v[j]))
		z += (u.ceiling - here) / n
		d1[j], d2[j] = (below-above)/(2*h*n), (2*here-below-above)/(h*h*n)
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
