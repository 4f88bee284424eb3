package effects

// member is a family of a fit.
type member struct {
	*Effect
	told   []Sum     // what earlier rows told of each group without an effect, nil where these are all rows; see Continue
	moved  []float64 // by how much means have moved, which slopes do not know yet
	before Effect    // as it was before the last update
	fresh  bool      // never updated
	stride float64   // the most that a mean moves by, 0 if any distance
}

// damping is how much of the precision that the data gave an effect before stays in a pass.
// Where outcomes are rare the curvature of a term depends on the variance at which it is seen:
// without damping the two of them swing.
const damping = 0.3

// update finds a better variance, unless it is held, and the best effects of a family from the
// sums of its groups.
func (m *member) update(sums []Sum, held bool) {
	m.before.Variance = m.Variance
	if len(m.before.Moments) != len(m.Moments) {
		m.before.Moments = make([]Moment, len(m.Moments))
	}
	eachGroup(len(sums), func(from, to int) {
		for g := from; g < to; g++ {
			s, w := &sums[g], m.Moments[g]
			s.Curvature = max(s.Curvature, 0) // a term that is not log-concave may bend the other way
			var told Sum
			if m.told != nil {
				told = m.told[g]
			}
			if !m.fresh {
				s.Curvature += damping * (max(0, 1/w.Variance-1/m.Variance-told.Curvature) - s.Curvature)
			}
			s.Slope += s.Curvature*w.Mean + told.Slope // what it would be without the effect
			s.Curvature += told.Curvature
		}
	})
	m.fresh = false
	if !held {
		m.Variance = slopesOf(sums, m.Variance, m.freedom()).step(m.Variance)
	}
	eachGroup(len(sums), func(from, to int) {
		for g := from; g < to; g++ {
			s, w := sums[g], &m.Moments[g]
			m.before.Moments[g] = *w
			v := m.Variance / (1 + s.Curvature*m.Variance)
			mean := v * s.Slope
			if m.stride > 0 {
				mean = max(w.Mean-m.stride, min(w.Mean+m.stride, mean))
			}
			m.moved[g] = mean - w.Mean
			*w = Moment{mean, v}
		}
	})
	if m.Functions() > 1 {
		m.centre()
	}
}

// centre keeps what all functions have in common at zero, where the prior is largest and on which no term
// depends, and shortens the step. Every function moves as if the others stood still, which along some
// directions is up to twice too far by curvatures of single functions. Slopes are shifted by the whole
// step, so that the families of a sweep together go that part of the way.
func (m *member) centre() {
	functions, groups := m.Functions(), m.Groups()
	part := min(1, coupledStep/m.freedom())
	eachGroup(groups, func(from, to int) {
		for g := from; g < to; g++ {
			common := 0.0
			for c := range functions {
				common += m.moved[c*groups+g] / float64(functions)
			}
			for c := range functions {
				w, moved := &m.Moments[c*groups+g], &m.moved[c*groups+g]
				w.Mean -= *moved
				*moved -= common
				w.Mean += part * *moved
			}
		}
	})
}

// coupledStep is the part of a step by curvatures of single functions that is taken; see pass.
const coupledStep = 2.0 / 3
