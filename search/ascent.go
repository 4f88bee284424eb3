package search

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// memory is what a search has learnt about curvature: pairs of steps and of what
// the gradient fell by over them, newest last (L-BFGS; Nocedal and Wright 2006,
// section 7.2).
type memory struct {
	steps, falls [][]float64
}

const memoryDepth = 12

// learn takes a pair in, unless the objective does not curve downwards along it.
func (m *memory) learn(step, fall []float64) bool {
	if !(floats.Dot(step, fall) > 1e-8*floats.Norm(step, 2)*floats.Norm(fall, 2)) {
		return false
	}
	if len(m.steps) == memoryDepth {
		m.steps, m.falls = m.steps[1:], m.falls[1:]
	}
	m.steps, m.falls = append(m.steps, step), append(m.falls, fall)
	return true
}

// scaled is the memory for an objective whose evidence curves that many times as much, and
// whose prior curves as before; one that is empty does not count.
func (m *memory) scaled(by float64, p prior) memory {
	c := memory{steps: slices.Clone(m.steps)}
	for i, fall := range m.falls {
		scaled := floats.ScaleTo(make([]float64, len(fall)), by, fall)
		for k, step := range m.steps[i] {
			if p.sd != nil && p.sd[k] > 0 && (p.isTied == nil || !p.isTied[k]) {
				scaled[k] -= (by - 1) * step / (p.sd[k] * p.sd[k])
			}
		}
		c.falls = append(c.falls, scaled)
	}
	return c
}

// newton replaces a gradient by the step towards the maximum, by the two loops of
// L-BFGS, among the parameters that are free.
func (m *memory) newton(d []float64, free []bool) {
	dot := func(a, b []float64) (sum float64) {
		for k, f := range free {
			if f {
				sum += a[k] * b[k]
			}
		}
		return sum
	}
	scale := 0.0
	alpha, curvature := make([]float64, len(m.steps)), make([]float64, len(m.steps))
	for i := len(m.steps) - 1; i >= 0; i-- {
		s, y := m.steps[i], m.falls[i]
		curvature[i] = dot(s, y)
		if !(curvature[i] > 0) { // all of it lies in parameters that are held
			continue
		}
		if scale == 0 {
			scale = curvature[i] / dot(y, y)
		}
		alpha[i] = dot(s, d) / curvature[i]
		floats.AddScaled(d, -alpha[i], y)
	}
	if scale > 0 {
		floats.Scale(scale, d)
	}
	for i, s := range m.steps {
		if curvature[i] > 0 {
			floats.AddScaled(d, alpha[i]-dot(m.falls[i], d)/curvature[i], s)
		}
	}
	hold(d, free)
}

// hold makes zero what is not free.
func hold(d []float64, free []bool) {
	for k, f := range free {
		if !f {
			d[k] = 0
		}
	}
}

// ascent climbs an objective within its box by projected L-BFGS, backtracking along
// each direction.
//
// The objective may be −∞ where expectation propagation fails; the search then draws
// back. Steps are bounded in every log parameter: sites are a good start only for
// a point nearby.
type ascent struct {
	*objective
	tolerance float64 // of the gradient
	budget    int     // the number of the last evaluation allowed
}

// mostFailures is how many evaluations of a climb may have no value. One that is drawn back once goes on elsewhere; where
// the evidence rises up to where expectation propagation fails, as it does where outcomes are the same for noise of Student's t that
// vanishes, every second step fails, for hours.
const mostFailures = 8

const (
	longestStep  = 2.0
	firstStep    = 0.7  // before anything is known of the curvature
	shortestStep = 1e-6 // after which there is nothing to be gained
)

// climb goes up from a point. It returns the highest one and why it stopped, and an
// error only when the context ends.
func (s ascent) climb(ctx context.Context, at *point, m *memory) (*point, Stop, error) {
	reach, failed := firstStep, s.failed
	for {
		if s.failed-failed >= mostFailures {
			return at, Cornered, nil
		}
		gradient, free := s.projected(at)
		size := norm(gradient)
		if size <= s.tolerance {
			// The sites are as good as the gradient before this one asked for. One
			// as small as this has to be seen by sites that have converged for it.
			refined, err := s.refine(ctx, at, s.tolerance)
			if err != nil || refined == at {
				return at, Stationary, err
			}
			at = refined
			continue
		}
		direction := slices.Clone(gradient)
		known := len(m.steps) > 0
		if known {
			m.newton(direction, free)
			known = floats.Dot(direction, gradient) > 0
		}
		if !known {
			*m = memory{}
			floats.ScaleTo(direction, reach/size, gradient)
		} else if 0.5*floats.Dot(direction, gradient) < s.worth*float64(s.evidence.rows()) {
			return at, Stationary, nil
		}
		if length := norm(direction); length > longestStep {
			floats.Scale(longestStep/length, direction)
		}
		next, err := s.along(ctx, at, direction, size, failed+mostFailures)
		if err != nil {
			return nil, 0, err
		}
		switch {
		case next != nil:
			step, fall := make([]float64, len(gradient)), make([]float64, len(gradient))
			floats.SubTo(step, next.logs, at.logs)
			floats.SubTo(fall, at.slope, next.slope)
			if !m.learn(step, fall) { // still curving upwards: go further
				reach = min(2*norm(step), longestStep)
				*m = memory{}
			}
			at = next
		case s.evaluations >= s.budget:
			return at, Exhausted, nil
		case known: // the memory misleads
			*m = memory{}
			reach = firstStep / 4
		case s.failed-failed >= mostFailures: // seen above
		default:
			return at, Flat, nil
		}
	}
}

// along goes along the direction, shortening the step until the objective has risen
// by a fair part of what its slope promises. It returns nil where that does not
// happen, or once so many evaluations have failed.
func (s ascent) along(ctx context.Context, at *point, direction []float64, size float64, failures int) (*point, error) {
	const fair = 1e-4
	tolerance := s.siteTolerance(size, s.tolerance)
	// What sites that have not quite converged, and rounding, do to a value.
	noise := float64(s.evidence.rows())*tolerance*tolerance + 1e-12*math.Abs(at.value)
	length := norm(direction)
	for alpha := 1.0; alpha*length > shortestStep && s.evaluations < s.budget && s.failed < failures; {
		logs := slices.Clone(at.logs)
		floats.AddScaled(logs, alpha, direction)
		s.prior.clamp(logs)
		promise := 0.0
		for k, x := range logs {
			promise += at.slope[k] * (x - at.logs[k])
		}
		next, err := s.at(ctx, logs, at, tolerance)
		if err != nil {
			return nil, err
		}
		gain := math.Inf(-1)
		if next != nil {
			gain = next.value - at.value
		}
		if gain >= fair*promise-noise {
			ok, err := s.differentiate(ctx, next)
			if err != nil {
				return nil, err
			}
			if ok {
				at.before = nil // what was before that is of no more use
				next.before = at
				return next, nil
			}
		}
		// The maximum of the parabola through both values and the slope.
		shorter := 0.1
		if !math.IsInf(gain, -1) {
			shorter = min(max(0.5*promise/(promise-gain), 0.1), 0.5)
		}
		alpha *= shorter
	}
	return nil, nil
}

// projected is the gradient without what points out of the box, and which
// parameters are free to move.
func (s ascent) projected(p *point) (gradient []float64, free []bool) {
	gradient = slices.Clone(p.slope)
	free = make([]bool, len(gradient))
	for k, g := range gradient {
		free[k] = !(p.logs[k] <= s.prior.low(k) && g < 0 || p.logs[k] >= s.prior.high(k) && g > 0)
	}
	hold(gradient, free)
	return gradient, free
}

// norm is the largest magnitude.
func norm(x []float64) float64 { return floats.Norm(x, math.Inf(1)) }
