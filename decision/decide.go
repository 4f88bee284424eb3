package decision

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

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

// nearlyCertain is the probability of an outcome beyond which that of the other is asked
// for by itself. Below, one minus it has thirteen digits.
const nearlyCertain = 0.999

// Both writes P(y = −1) and P(y = +1) at each view, each accurate by itself, and the Monte
// Carlo standard error of the latter.
func (o Outcome) Both(p Predictive, views *gauss.Views, both [][]float64, stderr []float64) {
	value := make([]float64, len(both))
	o.Probabilities(p, views, value, stderr)
	for i, v := range value {
		if both[i][0], both[i][1] = 1-v, v; v > nearlyCertain {
			var other [1]float64
			p.Expect(views.Slice(i, i+1), o[0], both[i][:1], other[:])
			both[i][0] = min(1, max(0, both[i][0])) // rounding
		}
	}
}

// Pair does the same at a single view.
func (o Outcome) Pair(p Predictive, view *gauss.Views, pair []float64) {
	o.Both(p, view, [][]float64{pair}, make([]float64, 1))
}

// Expected writes the probabilities of all outcomes where the expectation of a factor is at hand.
func (o Outcome) Expected(m interface{ Expect(t factor.Factor) float64 }, p []float64) {
	expect := func(c int) float64 { return min(1, max(0, m.Expect(o[c]))) } // rounding
	if len(o) > 2 {
		for c := range p {
			p[c] = expect(c)
		}
		return
	}
	if p[1] = expect(1); p[1] > nearlyCertain {
		p[0] = expect(0)
	} else {
		p[0] = 1 - p[1]
	}
}

// Pair is the probabilities of two outcomes where all that is known is that of the second.
func Pair(p1 float64) []float64 { return []float64{1 - p1, p1} }

// Pairs are those of several cases.
func Pairs(p1 []float64) [][]float64 {
	all, each := make([][]float64, len(p1)), make([]float64, 2*len(p1))
	for i, p := range p1 {
		all[i] = each[2*i : 2*i+2 : 2*i+2]
		all[i][0], all[i][1] = 1-p, p
	}
	return all
}

// points are points to act on, whatever their outcomes depend on: what actions are worth
// there, and how much each point counts.
type points struct {
	tables  []Table // one for all points, or one for each
	weights []float64
}

// newPoints are n points that share a table of so many outcomes, or have one each, with weights
// that stand for p(x). Nil weights are uniform; others are scaled to add to one.
func newPoints(n, outcomes int, weights []float64, tables []Table) (points, error) {
	if n == 0 {
		return points{}, &TableError{-1, -1, "there are no points to act on"}
	}
	if len(tables) != 1 && len(tables) != n || weights != nil && len(weights) != n {
		panic(fmt.Sprintf("decision: %d tables and %d weights for %d points", len(tables), len(weights), n))
	}
	most := 0.0
	for _, t := range tables {
		if err := t.valid(outcomes); err != nil {
			return points{}, err
		}
		most = max(most, t.size())
	}
	if err := checkSize(most); err != nil {
		return points{}, err
	}
	p := points{tables, make([]float64, n)}
	total := 0.0
	for j := range p.weights {
		p.weights[j] = 1
		if weights != nil {
			p.weights[j] = weights[j]
		}
		if w := p.weights[j]; !(w >= 0) || math.IsInf(w, 1) {
			return points{}, fmt.Errorf("decision: weight %d is %v; weights are finite and at least 0", j+1, w)
		}
		total += p.weights[j]
	}
	if total == 0 {
		return points{}, fmt.Errorf("decision: all weights are 0; give at least one point some weight")
	}
	if math.IsInf(total, 1) {
		return points{}, fmt.Errorf("decision: the sum of the weights overflows; only their ratios matter, so make them smaller")
	}
	for j := range p.weights {
		p.weights[j] /= total
	}
	return p, nil
}

// logSum is log Z of Z = Σ worth, whose derivatives become those of Z over Z. Where Z is zero it is
// −∞ and they are zero.
func logSum(worth, d1, d2 []float64) float64 {
	z := floats.Sum(worth)
	if !(z > 0) {
		if z == 0 {
			clear(d1)
			clear(d2)
			return math.Inf(-1)
		}
		return math.NaN()
	}
	floats.Scale(1/z, d1)
	floats.Scale(1/z, d2)
	return math.Log(z)
}

// Len is the number of points.
func (u points) Len() int { return len(u.weights) }

// Table is the table of point j.
func (u points) Table(j int) Table { return u.tables[j%len(u.tables)] }

// Stakes are those of point j.
func (u points) Stakes(j int) Stakes { return Stakes{Table: u.Table(j)} }

// Choose is the best action at point j when the outcomes have these probabilities.
func (u points) Choose(j int, p []float64) Choice {
	s := u.Stakes(j)
	return s.Choose(make([]float64, len(s.Table)), p)
}

// Actions writes the best action at every point, by the probabilities of the outcomes
// there.
func (u points) Actions(dst []int, p [][]float64) {
	for j := range p {
		dst[j] = u.Stakes(j).Best(p[j], -1)
	}
}

// Expected is the full expected utility of the actions, Σ_j w_j U(a_j | x_j).
func (u points) Expected(actions []int, p [][]float64) float64 {
	sum := 0.0
	for j, a := range actions {
		sum += u.weights[j] * u.Stakes(j).Expected(a, p[j])
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

// Regret compares actions with the optimal ones when p are the true probabilities of the
// outcomes. The differences are summed point by point, so that a small regret
// is not lost in the rounding of two large utilities.
func (u points) Regret(actions []int, p [][]float64) Regret {
	var r Regret
	span := 0.0
	for j, a := range actions {
		s, w, p := u.Stakes(j), u.weights[j], p[j]
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
