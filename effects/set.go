package effects

import (
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/tasks"
)

// Set is the effects of several families.
type Set []*Effect

// At is the sum of the effects on a function at a row, by their posterior.
func (s Set) At(row []float64, function int) (sum Moment) {
	for _, e := range s {
		w, _ := e.At(row, function)
		sum.Mean += w.Mean
		sum.Variance += w.Variance
	}
	return sum
}

// Trained are the sums of the effects at rows that they were learnt from, of all functions row by row; nil
// where there are no effects. A row does not count itself.
func (s Set) Trained(x *mat.Dense) (sums []Moment) {
	if len(s) == 0 {
		return nil
	}
	n, _ := x.Dims()
	functions := s.Functions()
	sums = make([]Moment, n*functions)
	tasks.For((n+blockRows-1)/blockRows, func(task int) {
		for i := task * blockRows; i < min((task+1)*blockRows, n); i++ {
			for _, e := range s {
				group := e.group(x.RawRowView(i), 1)
				for c := range functions {
					w, sum := e.Of(c)[group], &sums[i*functions+c]
					sum.Mean += w.Mean
					sum.Variance += w.Variance
				}
			}
		}
	})
	return sums
}

// TakeOut takes the sums of effects, of all functions row by row, out of the means and variances of values, of one
// function after the other.
func TakeOut(sums []Moment, functions int, mean, variance []float64) {
	n := len(mean) / functions
	rows := len(sums) / functions // none where there are no effects yet
	tasks.For((rows+blockRows-1)/blockRows, func(task int) {
		for c := range functions {
			for i := task * blockRows; i < min((task+1)*blockRows, rows); i++ {
				at, w := c*n+i, sums[i*functions+c]
				mean[at], variance[at] = mean[at]-w.Mean, max(0, variance[at]-w.Variance)
			}
		}
	})
}

// Joint is the family whose effects are known jointly with the smooth part, nil if there is none.
func (s Set) Joint() *Effect {
	if len(s) == 1 && s[0].Given != nil {
		return s[0]
	}
	return nil
}

// Under are the effects where q is what is known of the smooth part.
func (s Set) Under(q gauss.Gaussians) Set {
	e := s.Joint()
	if e == nil {
		return s
	}
	return Set{e.Under(q[0], e.Given)}
}

// Functions is how many functions have effects of their own: one where there are none.
func (s Set) Functions() int {
	if len(s) == 0 {
		return 1
	}
	return s[0].Functions()
}

// Divergence is KL(q ‖ prior) of all effects.
func (s Set) Divergence() (kl float64) {
	for _, e := range s {
		kl += e.divergence()
	}
	return kl
}

// Groups is the number of effects.
func (s Set) Groups() (n int) {
	for _, e := range s {
		n += len(e.Moments)
	}
	return n
}

// Bytes is about what the effects take up.
func (s Set) Bytes() (bytes float64) {
	for _, e := range s {
		bytes += 12*float64(len(e.seen.words)) + 16*float64(len(e.Moments)) + 4*float64(len(e.Rows))
		if e.Given != nil {
			bytes += 8 * float64(e.Given.Len()*(e.Given.Dim()+2))
		}
	}
	return bytes
}
