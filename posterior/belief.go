package posterior

import (
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// Believer is a posterior that knows the values of one function at several cases together.
type Believer interface {
	// Belief is the mean and covariance of the latent values at the rows of x.
	Belief(x *mat.Dense) (mean []float64, cov *mat.SymDense)
	// Likelihood is that of the outcomes.
	Likelihood() One
}

// Likelihood implements Believer.
func (p *Full) Likelihood() One { return p.likelihood }

// Belief implements Believer.
func (p *Full) Belief(x *mat.Dense) (mean []float64, cov *mat.SymDense) {
	n, _ := x.Dims()
	views := p.process.At(x)
	mean, cov = make([]float64, n), mat.NewSymDense(n, nil)
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
	return mean, cov
}
