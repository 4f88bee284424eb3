package exact

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/nuts"
)

// Draws is a posterior made of draws, independent or from Markov chains. It
// implements Posterior; every answer is the average over draws of what can be
// integrated exactly given a draw, and comes with the standard error of that
// average.
//
// Answering for n views takes 2·n·draws·M operations in matrix products and
// n·draws evaluations of the factor. The answers are the same to the last bit on
// any number of cores.
type Draws struct {
	cloud
	// chains is the number of chains, one after the other in centres; 0 stands for
	// independent draws.
	chains int
}

// Len is the number of draws.
func (d *Draws) Len() int { return d.size() }

// Centre is the mean of v given the k-th draw: v itself for the states of a chain,
// which follow each other chain by chain. It must not be changed.
func (d *Draws) Centre(k int) []float64 { return d.centres.RawRowView(k) }

// Spread is the variance of what each view reads around a draw: all that is not due to
// the draws themselves.
func (d *Draws) Spread(views *gauss.Views) []float64 { return d.spread(views) }

// EachBlock visits blocks of so many views that belong together, such as those of all
// outcomes at one point. Given a draw what they read is Gaussian: means are those of the
// first view given every draw, then of the next, and cov is their covariance, row by row,
// which is the same for all draws. Blocks are visited by several goroutines.
func (d *Draws) EachBlock(views *gauss.Views, size int, visit func(block int, means, cov []float64)) {
	d.eachBlock(views, size, visit)
}

// Moments implements Posterior.
func (d *Draws) Moments(views *gauss.Views, mean, variance []float64) {
	d.eachView(views, func(i int, m []float64, v float64) {
		between := 0.0
		mean[i], between = stat.MeanVariance(m, nil)
		variance[i] = v + between
	})
}

// MomentErrors writes the Monte Carlo standard errors of what Moments writes.
func (d *Draws) MomentErrors(views *gauss.Views, mean, variance []float64) {
	d.eachView(views, func(i int, m []float64, _ float64) {
		centre := stat.Mean(m, nil)
		mean[i] = d.StdErr(m)
		for k, x := range m {
			m[k] = (x - centre) * (x - centre)
		}
		variance[i] = d.StdErr(m)
	})
}

// Expect implements Posterior. A factor that is not finite at some draw has an
// infinite standard error.
func (d *Draws) Expect(views *gauss.Views, t factor.Factor, value, stderr []float64) {
	d.eachView(views, func(i int, m []float64, v float64) {
		expectEach(t, m, v)
		value[i], stderr[i] = stat.Mean(m, nil), d.StdErr(m)
	})
}

// StdErr is the standard error of the mean of a quantity given at every draw:
// sd/√n for independent draws, and for chains what their autocorrelation and their
// disagreement leave of n.
func (d *Draws) StdErr(x []float64) float64 {
	if d.chains == 0 {
		se := stat.StdDev(x, nil) / math.Sqrt(float64(len(x)))
		if math.IsNaN(se) {
			return math.Inf(1)
		}
		return se
	}
	series := make(nuts.Series, d.chains)
	length := len(x) / d.chains
	for k := range series {
		series[k] = x[k*length : (k+1)*length]
	}
	e, err := series.Estimate()
	if err != nil {
		return math.Inf(1)
	}
	return e.MCSE
}

var _ infer.Posterior = (*Draws)(nil)
