package effects

import (
	"math"

	"github.com/lossep/lossep/gauss"
)

// Effect is a family and what is known of its effects.
type Effect struct {
	*Grouping
	Variance float64 // σ², that of an effect of which nothing is known
	// Share is the variance of the effects' means over the rows that they were learnt from, as a share
	// of that of the means of the whole value.
	Share   float64
	Moments []Moment // of all groups, one function after the other
	// Walks are what becomes of the effects beyond the levels of axes.
	Walks []Walk
	// Given are the effects as views of the v of the smooth part, where the two are known jointly; the Moments
	// then follow from what is known of v. It is nil where they are independent.
	Given *gauss.Views
}

// Functions is how many functions there are effects on.
func (e *Effect) Functions() int { return len(e.Moments) / e.Groups() }

func (e *Effect) freedom() float64 { return freedom(e.Functions()) }

// Of are the effects on a function.
func (e *Effect) Of(function int) []Moment {
	return e.Moments[function*e.Groups() : (function+1)*e.Groups()]
}

// At is the effect on a function at a row. It reports false for a group that no row had.
func (e *Effect) At(row []float64, function int) (Moment, bool) {
	g := e.Group(row)
	if g < 0 {
		return Moment{0, e.Variance}, false
	}
	known := e.Of(function)[g]
	w := known
	for k := range e.Walks {
		on := e.Walks[k].on(e, row, known)
		w.Mean += on.Mean
		w.Variance += on.Variance
	}
	return w, true
}

// Separates tells whether the family nearly determines the outcome: with a standard deviation of 3 and
// more half of the groups have probabilities below 0.02 or above 0.98.
func (e *Effect) Separates() bool { return e.Variance >= 9 }

// divergence is KL(q ‖ prior) of all effects.
func (e *Effect) divergence() (kl float64) {
	freedom := e.freedom()
	reduce(len(e.Moments), func(from, to int) (part float64) {
		for _, w := range e.Moments[from:to] {
			r := w.Variance / e.Variance
			part += w.Mean*w.Mean/e.Variance + freedom*(r-1-math.Log(r))
		}
		return part
	}, func(part float64) { kl += part / 2 })
	return kl
}

// Nats is the evidence that the family brings, with terms as they were seen last: Γ where
// B = m/V and H = 1/V − 1/σ².
func (e *Effect) Nats() (nats float64) {
	freedom := e.freedom()
	reduce(len(e.Moments), func(from, to int) (part float64) {
		for _, w := range e.Moments[from:to] {
			part += w.Mean*w.Mean/w.Variance + freedom*math.Log(w.Variance/e.Variance)
		}
		return part
	}, func(part float64) { nats += part / 2 })
	return nats
}

// Under is the family with effects that are given v as the views say, where q is what is known of v.
func (e *Effect) Under(q *gauss.Gaussian, given *gauss.Views) *Effect {
	c := *e
	c.Given, c.Moments = given, make([]Moment, given.Len())
	mean, variance := make([]float64, given.Len()), make([]float64, given.Len())
	q.Predict(given, mean, variance, new(gauss.Workspace))
	for g := range c.Moments {
		c.Moments[g] = Moment{mean[g], variance[g]}
	}
	return &c
}

// Step is a better variance for effects that are known jointly with the smooth part: Newton's towards the
// maximum of the evidence, where what the rows told of an effect is what its moments say.
func (e *Effect) Step() float64 {
	sums := make([]Sum, len(e.Moments))
	for g, w := range e.Moments {
		sums[g] = Sum{w.Mean / w.Variance, max(0, 1/w.Variance-1/e.Variance)}
	}
	return slopesOf(sums, e.Variance, e.freedom()).step(e.Variance)
}
