package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// Believer is a posterior that knows the values of its functions at several cases together.
type Believer interface {
	// Belief is that about the cases whose encoded features are the rows of x.
	Belief(x *mat.Dense) Belief
}

// Belief is what is known of the outcomes of some cases together. It is safe for concurrent use.
type Belief interface {
	// After writes the probabilities of the outcomes of case i after outcome y of case j, by one step of
	// expectation propagation, or as they are where j is below 0; of four functions or more to a hundredth or so.
	After(p []float64, i, j, y int)
}

// Values are the mean and covariance of the values of one function at some cases.
type Values struct {
	Mean []float64
	Cov  *mat.SymDense
}

// Values is what is known of the function at the rows of x.
func (p *Full) Values(x *mat.Dense) Values {
	n, _ := x.Dims()
	views := p.process.At(x)
	mean, cov := make([]float64, n), mat.NewSymDense(n, nil)
	variance := make([]float64, n)
	p.q.Predict(views, mean, variance, new(gauss.Workspace))
	p.q.Cross(views, cov, new(gauss.Workspace))
	// What the training rows leave open is shared between cases, too.
	var prior mat.SymDense
	p.Kernel().Gram(&prior, x)
	for i := range n {
		for j := i + 1; j < n; j++ {
			left := prior.At(i, j)
			for k, a := range views.Row(i) {
				left -= a * views.Row(j)[k]
			}
			cov.SetSym(i, j, cov.At(i, j)+left)
		}
		cov.SetSym(i, i, variance[i])
	}
	return Values{mean, cov}
}

// After is the mean and variance at case i after a term at case j whose log E t has these derivatives in the mean there.
func (v *Values) After(i, j int, slope, bend float64) (mean, variance float64) {
	c := v.Cov.At(i, j)
	return v.Mean[i] + c*slope, max(0, v.Cov.At(i, i)+c*c*bend)
}

// oneBelief is that about outcomes of one function.
type oneBelief struct {
	Values
	likelihood  One
	slope, bend [][]float64 // by outcome and case
}

// Belief implements Believer.
func (p *Full) Belief(x *mat.Dense) Belief {
	b := &oneBelief{Values: p.Values(x), likelihood: p.likelihood}
	b.slope, b.bend = Tuples(p.likelihood.Len(), len(b.Mean)), Tuples(p.likelihood.Len(), len(b.Mean))
	for y := range b.slope {
		for j, mean := range b.Mean {
			_, b.slope[y][j], b.bend[y][j] = p.likelihood.Log(y, mean, b.Cov.At(j, j))
		}
	}
	return b
}

// After implements Belief.
func (b *oneBelief) After(p []float64, i, j, y int) {
	mean, variance := b.Mean[i], b.Cov.At(i, i)
	if j >= 0 {
		mean, variance = b.Values.After(i, j, b.slope[y][j], b.bend[y][j])
	}
	b.likelihood.Gaussian(p, mean, variance)
}

// severalBelief is that about outcomes of several functions, whose values at a case follow each other.
type severalBelief struct {
	mean       []float64
	cov        *mat.SymDense
	likelihood Several
	slope      [][]*mat.VecDense // by outcome and case
	bend       [][]*mat.SymDense
}

// Belief implements Believer.
func (p *Joint) Belief(x *mat.Dense) Belief {
	b := &severalBelief{likelihood: p.likelihood}
	b.mean, b.cov = p.process.OutcomesTogether(p.q, x)
	number, n := p.likelihood.Len(), len(b.mean)/p.likelihood.Len()
	b.slope, b.bend = make([][]*mat.VecDense, number), make([][]*mat.SymDense, number)
	for y := range number {
		b.slope[y], b.bend[y] = make([]*mat.VecDense, n), make([]*mat.SymDense, n)
		for j := range n {
			grad, hess := p.likelihood.Derivatives(y, b.mean[j*number:(j+1)*number], b.of(j))
			b.slope[y][j], b.bend[y][j] = mat.NewVecDense(number, grad), hess
		}
	}
	return b
}

// of is the covariance of the values at a case.
func (b *severalBelief) of(i int) *mat.SymDense {
	number := b.likelihood.Len()
	own := mat.NewSymDense(number, nil)
	own.CopySym(b.cov.SliceSym(i*number, (i+1)*number))
	return own
}

// After implements Belief: with C the covariance of the values at i with those at j, they move by C times the slope
// and their covariance by C·bend·Cᵀ.
func (b *severalBelief) After(p []float64, i, j, y int) {
	number := b.likelihood.Len()
	mean, cov := slices.Clone(b.mean[i*number:(i+1)*number]), b.of(i)
	if j >= 0 {
		cross := mat.NewDense(number, number, nil)
		for c := range number {
			for d := range number {
				cross.Set(c, d, b.cov.At(i*number+c, j*number+d))
			}
		}
		var step mat.VecDense
		step.MulVec(cross, b.slope[y][j])
		var half, less mat.Dense
		half.Mul(cross, b.bend[y][j])
		less.Mul(&half, cross.T())
		for c := range number {
			mean[c] += step.AtVec(c)
			for d := c; d < number; d++ {
				cov.SetSym(c, d, cov.At(c, d)+0.5*(less.At(c, d)+less.At(d, c)))
			}
			cov.SetSym(c, c, math.Max(0, cov.At(c, c)))
		}
	}
	b.likelihood.Quick(p, mean, cov)
}
