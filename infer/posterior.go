package infer

import (
	"context"
	"math"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/finite"
)

// Posterior answers the same questions whatever method it came from. It is safe
// for concurrent use.
type Posterior interface {
	// Moments writes the mean and variance of what each view reads.
	Moments(views *gauss.Views, mean, variance []float64)
	// Expect writes E t(f_i) for every view, and the Monte Carlo standard error of
	// that expectation: 0 for a posterior that is not made of draws.
	Expect(views *gauss.Views, t factor.Factor, value, stderr []float64)
}

// Interruptible is a posterior whose answers can take long: they can be given up.
type Interruptible interface {
	Posterior
	// ExpectContext is Expect until the context ends, whose error it then returns.
	ExpectContext(ctx context.Context, views *gauss.Views, t factor.Factor, value, stderr []float64) error
}

// Gaussian is a posterior that is, or is approximated by, one Gaussian.
type Gaussian struct {
	*gauss.Gaussian
}

// Moments implements Posterior.
func (g Gaussian) Moments(views *gauss.Views, mean, variance []float64) {
	g.Predict(views, mean, variance, new(gauss.Workspace))
}

// Expect implements Posterior. A view whose moments are not finite has no expectation.
func (g Gaussian) Expect(views *gauss.Views, t factor.Factor, value, stderr []float64) {
	g.Moments(views, value, stderr)
	for i, v := range stderr {
		if !finite.All(value[i], v) {
			value[i], stderr[i] = math.NaN(), 0
			continue
		}
		l, _, _ := t.LogMean(value[i], v)
		value[i], stderr[i] = math.Exp(l), 0
	}
}

// Density writes the density of what the first view reads at each of the values f, under
// a posterior made of Gaussians.
func Density(p Posterior, views *gauss.Views, f, dst []float64) {
	// The density at f is the expectation of a Gaussian of no width around it.
	view := views.Slice(0, 1)
	var stderr [1]float64
	for k, at := range f {
		p.Expect(view, factor.Gaussian{Y: at}, dst[k:k+1], stderr[:])
	}
}

var _ Posterior = Gaussian{}
