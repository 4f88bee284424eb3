package decision

import (
	"math"
	"slices"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/normal"
)

// Outcome says how probable each outcome is at a latent value f: factors t_c(f) = P(y = c | f),
// which add to one. There are two of them, or more that have an order.
type Outcome []factor.Factor

// Probit is the outcome of probit classification, P(y = 1 | f) = Φ(f).
func Probit() Outcome { return Outcome{factor.NewProbit(0), factor.NewProbit(1)} }

// Exceeds is the outcome f > threshold.
func Exceeds(threshold float64) Outcome {
	return Outcome{
		factor.Step{T: threshold, Below: 1, Above: 0},
		factor.Step{T: threshold, Below: 0, Above: 1},
	}
}

// Probability is P(y = 0) and P(y = 1) when f ~ N(m, v), both to full relative
// accuracy.
func (o Outcome) Probability(m, v float64) (p0, p1 float64) {
	l, _, _ := o[1].LogMean(m, v)
	if p1 = math.Exp(l); p1 <= 0.5 {
		return 1 - p1, p1
	}
	l, _, _ = o[0].LogMean(m, v)
	p0 = math.Exp(l)
	return p0, 1 - p0
}

// At writes the probabilities of all outcomes when f ~ N(m, v), each to full relative accuracy.
func (o Outcome) At(p []float64, m, v float64) {
	if len(o) == 2 {
		p[0], p[1] = o.Probability(m, v)
		return
	}
	for c, t := range o {
		l, _, _ := t.LogMean(m, v)
		p[c] = math.Exp(l)
	}
}

// Utility is the utility of acting on many points at once: the weighted sum of each
// point's table entry for the action taken there and the outcome that occurs. It
// implements factor.Utility, and so can be one more factor of a model.
type Utility struct {
	points
	outcome Outcome
	probit  bool // the outcome is Probit
}

// NewUtility is the utility of n points that share a table, or have one each, with
// weights that stand for p(x). Nil weights are uniform; others are scaled to add
// to one.
func NewUtility(outcome Outcome, n int, weights []float64, tables ...Table) (*Utility, error) {
	p, err := newPoints(n, len(outcome), weights, tables)
	if err != nil {
		return nil, err
	}
	return &Utility{points: p, outcome: outcome, probit: slices.Equal(outcome, Probit())}, nil
}

// Outcome is how outcomes depend on the latent values.
func (u *Utility) Outcome() Outcome { return u.outcome }

// Select implements factor.Utility.
func (u *Utility) Select(actions []int, m, v []float64) {
	p := make([]float64, len(u.outcome))
	for j := range actions {
		u.outcome.At(p, m[j], v[j])
		actions[j] = u.Stakes(j).Best(p, actions[j])
	}
}

// LogMean implements factor.Utility: Z = Σ_j w_j Σ_c u[a_j][c] P_j(c).
// Where Z is zero, as it is of an action without any utility, it is −∞ and the
// derivatives are zero.
func (u *Utility) LogMean(actions []int, m, v, d1, d2 []float64) float64 {
	var z float64
	if u.probit {
		z = u.sumProbit(actions, m, v, d1, d2)
	} else {
		z = u.sum(actions, m, v, d1, d2, func(x, l float64) float64 { return x * math.Exp(l) })
	}
	shift := 0.0
	// Far on the wrong side of every action all terms may underflow. They are then
	// taken relative to the largest.
	const underflow = 0x1p-960
	if z < underflow {
		shift = math.Inf(-1)
		u.sum(actions, m, v, d1, d2, func(x, l float64) float64 {
			shift = max(shift, math.Log(x)+l)
			return 0
		})
		if math.IsInf(shift, -1) {
			return shift
		}
		z = u.sum(actions, m, v, d1, d2, func(x, l float64) float64 { return math.Exp(math.Log(x) + l - shift) })
	}
	for j := range d1 {
		d1[j] /= z
		d2[j] /= z
	}
	return shift + math.Log(z)
}

// sum returns Z and writes its derivatives, all made of terms times(x, l) that stand
// for x·eˡ with x ≥ 0.
//
// The term of a point is the smallest utility plus, for every better outcome, the difference
// times its probability, so nothing cancels. The derivatives of a
// probability p = eˡ are p·l′ and p·(l″ + l′²).
func (u *Utility) sum(actions []int, m, v, d1, d2 []float64, times func(x, l float64) float64) (z float64) {
	for j, a := range actions {
		row := u.Table(j)[a]
		w := u.weights[j]
		least := slices.Min(row)
		z += times(w*least, 0)
		d1[j], d2[j] = 0, 0
		for c, worth := range row {
			if worth == least || w == 0 {
				continue
			}
			l, g, h := u.outcome[c].LogMean(m[j], v[j])
			if p := times(w*(worth-least), l); p > 0 {
				z += p
				d1[j] += p * g
				d2[j] += p * (h + g*g)
			}
		}
	}
	return z
}

// sumProbit is sum for probit outcomes, whose probabilities Φ(±m/√(1+v)) have the derivatives
// ±N/√(1+v) and −(m/√(1+v))·N/(1+v), up to the sign of the outcome: no logarithm is needed.
// Loss-calibrated variational inference asks at every draw and point.
func (u *Utility) sumProbit(actions []int, m, v, d1, d2 []float64) (z float64) {
	for j, a := range actions {
		row := u.Table(j)[a]
		w := u.weights[j]
		worst, delta, y := row[0], row[1]-row[0], 1.0
		if delta < 0 {
			worst, delta, y = row[1], -delta, -1
		}
		z += w * worst
		if delta *= w; delta == 0 {
			d1[j], d2[j] = 0, 0
			continue
		}
		scale := 1 / math.Sqrt(1+v[j])
		at := y * m[j] * scale
		p, density := normal.CDFDensity(at)
		z += delta * p
		density *= delta * scale
		d1[j], d2[j] = y*density, -at*scale*density
		if density == 0 { // far out, where at may be infinite
			d2[j] = 0
		}
	}
	return z
}

var _ factor.Utility = (*Utility)(nil)
