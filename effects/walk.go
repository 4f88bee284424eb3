package effects

import (
	"errors"
	"math"
	"slices"
)

// Walk is how the effects of a family go on beyond the values that a number has in the rows they were learnt from. Bins tell
// numbers of few values apart, such as years, and know neither their order nor what lies beyond the last. There the effects of groups
// that differ in nothing else are taken for a Brownian motion, whose drift has the variance that a step of it has.
type Walk struct {
	Axis   int       `json:"axis"`   // of the family
	Levels []float64 `json:"levels"` // that its cells stand for, ascending
	Rate   float64   `json:"rate"`   // variance of the motion over a unit
}

// Levels are all values of a column, ascending.
type Levels struct {
	Column int
	Values []float64
}

// ErrWalk is the reason why a walk is refused.
var ErrWalk = errors.New("effects: invalid walk")

// Walking are the effects, of one function, with what becomes of them beyond the levels of columns where their order tells: where they are no less
// probable so than if each had nothing to do with those beside it.
func (s Set) Walking(columns []Levels) Set {
	if s.Functions() > 1 {
		return s
	}
	s = slices.Clone(s)
	for i, e := range s {
		c := *e
		c.Walks = nil
		for k, a := range e.Axes {
			at := slices.IndexFunc(columns, func(l Levels) bool { return l.Column == a.Column })
			if at < 0 || e.Rows != nil || a.Cuts == nil || len(columns[at].Values) < 2 || a.Cells != len(columns[at].Values)+1 {
				continue
			}
			w := Walk{Axis: k, Levels: columns[at].Values}
			if w.learn(e) {
				c.Walks = append(c.Walks, w)
			}
		}
		s[i] = &c
	}
	return s
}

// Check refuses a walk that is none of the family.
func (w *Walk) Check(g *Grouping) error {
	if w.Axis < 0 || w.Axis >= len(g.Axes) || g.Rows != nil || len(w.Levels) < 2 || !(w.Rate > 0) || math.IsInf(w.Rate, 0) {
		return ErrWalk
	}
	cuts := g.Axes[w.Axis].Cuts
	if len(cuts) != len(w.Levels)-1 {
		return ErrWalk
	}
	for k, v := range w.Levels[1:] {
		if from := w.Levels[k]; !(from < cuts[k] && cuts[k] <= v) || math.IsInf(v-from, 0) {
			return ErrWalk
		}
	}
	return nil
}

// stride is by how much the keys of cells differ that are beside each other along an axis.
func (g *Grouping) stride(axis int) int { return int(cellsOf(g.Axes[axis+1:])) }

// learn finds the rate that makes the effects most probable, of groups of levels beside each other, and tells whether they are as probable as independent
// ones of any variance. With steps d over g, and the drift integrated out, n times the rate is the sum of d²/g less the square of the way over its
// length and a mean distance; n times the variance of independent effects is the sum of squares about their mean.
func (w *Walk) learn(e *Effect) (ordered bool) {
	stride, moving, still, log := e.stride(w.Axis), 0.0, 0.0, 0.0
	steps := 0
	for g, key := range e.Keys() {
		level := key/stride%e.Axes[w.Axis].Cells - 1
		if level < 0 || level > 0 && e.of(key-stride, 0) >= 0 {
			continue
		}
		run, from := []int{g}, w.Levels[level]
		for ; level+1 < len(w.Levels); level++ {
			key += stride
			next := e.of(key, 0)
			if next < 0 {
				break
			}
			apart := w.Levels[level+1] - w.Levels[level]
			moving += e.square(run[len(run)-1], next) / apart
			log += math.Log(apart)
			run = append(run, next)
		}
		if len(run) == 1 {
			continue
		}
		way := w.Levels[level] - from
		moving -= e.square(g, run[len(run)-1]) / (way + w.gap())
		log += math.Log1p(way/w.gap()) - math.Log(float64(len(run)))
		for k, a := range run {
			for _, b := range run[:k] {
				still += e.square(a, b) / float64(len(run))
			}
		}
		steps += len(run) - 1
	}
	n := float64(max(1, steps))
	w.Rate = moving / n
	return steps > 0 && moving > 0 && n*math.Log(moving)+log <= n*math.Log(still)+1e-9*n
}

// square is the expected square of the difference of two effects.
func (e *Effect) square(a, b int) float64 {
	off := e.Moments[a].Mean - e.Moments[b].Mean
	return off*off + e.apart(a) + e.apart(b)
}

// gap is the mean distance of levels beside each other.
func (w *Walk) gap() float64 {
	last := len(w.Levels) - 1
	return (w.Levels[last] - w.Levels[0]) / float64(last)
}

// apart is the variance of an effect that no other shares: that given the smooth part, where they are known jointly.
func (e *Effect) apart(g int) float64 {
	if e.Given != nil {
		return e.Given.Residual(g)
	}
	return e.Moments[g].Variance
}

// on is what a row adds to the effect of its group, which is at the end of the levels that is nearer: the drift is that from the first
// group along the axis, at the other end as a rule. No effect goes farther beyond the levels than they reach.
func (w *Walk) on(e *Effect, row []float64, known Moment) (more Moment) {
	last := len(w.Levels) - 1
	from, to, step := 0, last, 1
	x := row[e.Axes[w.Axis].Column]
	far := x - w.Levels[last]
	if x < w.Levels[0] {
		from, to, step = last, 0, -1
		far = w.Levels[0] - x
	}
	if !(far > 0) {
		return Moment{}
	}
	far = min(far, w.Levels[last]-w.Levels[0])
	key, stride := e.key(row), e.stride(w.Axis)
	first, back := 0, 0.0
	for ; from != to && back == 0; from += step {
		if g := e.of(key+(from-to)*stride, 0); g >= 0 {
			first, back = g, math.Abs(w.Levels[to]-w.Levels[from])
		}
	}
	rest := far / (back + w.gap()) // by which the drift counts, given what is known of it
	if back > 0 {
		more.Mean = rest * (known.Mean - e.Moments[first].Mean)
		more.Variance = rest*(2+rest)*e.apart(e.of(key, 0)) + rest*rest*e.apart(first)
	}
	more.Variance += w.Rate * far * (1 + rest)
	return more
}

// within are the walks of the effects whose levels reach as far as the rows of a table do: rows beyond are learnt from as those of the last level,
// which then is no more what it was.
func (t *Table) within(e *Effect) (walks []Walk) {
	for _, w := range e.Walks {
		column, beyond := e.Axes[w.Axis].Column, false
		for i := range t.Len() {
			x := t.X.At(i, column)
			beyond = beyond || x < w.Levels[0] || x > w.Levels[len(w.Levels)-1]
		}
		if !beyond {
			walks = append(walks, w)
		}
	}
	return walks
}
