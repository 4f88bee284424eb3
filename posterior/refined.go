package posterior

import (
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/corrected"
	"github.com/lossep/lossep/internal/tasks"
)

// Refined is a posterior that sees past the Gaussian of another, whose state it is made from.
type Refined struct {
	*Full
	posterior *corrected.Posterior
	// joint has moments and covariances with the training rows in less time; it is made when it is
	// first asked for, and what it gives may be nil.
	joint func() *gp.Joint
}

// NewRefined is the posterior that corrections made of the Gaussian of another.
func NewRefined(of *Full, posterior *corrected.Posterior) *Refined {
	return &Refined{of, posterior, sync.OnceValue(func() *gp.Joint {
		j, _ := of.process.Joint(of.sites)
		return j
	})}
}

// Predict implements Posterior.
func (p *Refined) Predict(x *mat.Dense) []Prediction {
	n, _ := x.Dims()
	out, all := make([]Prediction, n), Tuples(n, p.likelihood.Len())
	if joint := p.joint(); joint != nil {
		joint.Moments(x, func(first int, mean, variance []float64, cov *mat.Dense) { // from several goroutines
			p.posterior.Marginals(mean, variance, cov, func(k int, m corrected.Marginal) {
				p.likelihood.Expected(all[first+k], m)
				mean, variance := m.Moments()
				out[first+k] = Prediction{Mean: mean, Variance: variance, Probabilities: all[first+k]}
			})
		})
		return out
	}
	tasks.For(n, func(i int) {
		at := viewed{p.posterior, p.process.At(row(x, i))}
		var mean, variance [1]float64
		p.posterior.Moments(at.view, mean[:], variance[:])
		p.likelihood.Expected(all[i], at)
		out[i] = Prediction{Mean: mean[0], Variance: variance[0], Probabilities: all[i]}
	})
	return out
}

// viewed is what a posterior says of one view.
type viewed struct {
	posterior infer.Posterior
	view      *gauss.Views
}

// Expect implements Expectation.
func (v viewed) Expect(t factor.Factor) float64 {
	var value, stderr [1]float64
	v.posterior.Expect(v.view, t, value[:], stderr[:])
	return value[0]
}

// Probabilities implements Posterior. Where moments would have to be found by themselves they are
// not.
func (p *Refined) Probabilities(x *mat.Dense) [][]float64 {
	if p.joint() != nil {
		return probabilitiesOf(p.Predict(x))
	}
	n, _ := x.Dims()
	all := Tuples(n, p.likelihood.Len())
	tasks.For(n, func(i int) { p.likelihood.Expected(all[i], viewed{p.posterior, p.process.At(row(x, i))}) })
	return all
}

// State implements Posterior: it is made from that of what it refines.
func (p *Refined) State() State { return State{} }

// correctionMatrices is how many matrices corrections take beside those of what they correct.
const correctionMatrices = 2

// Bytes implements Posterior.
func (p *Refined) Bytes() float64 {
	return p.Full.Bytes() + correctionMatrices*matrixBytes(len(p.sites)) + p.posterior.TableBytes()
}

// LeastRefinedBytes is the least that corrections of so many rows take beside what they correct:
// how large their tables are is known with the kernel only.
func LeastRefinedBytes(rows int) float64 {
	return correctionMatrices*matrixBytes(rows) + corrected.LeastTableBytes(rows)
}
