package posterior

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/orthant"
)

// One is a likelihood of one function's value.
type One interface {
	// Len is how many expectations are taken: of categories the number of outcomes.
	Len() int
	// Gaussian writes them where the value is N(mean, variance), and NaN if that is no
	// distribution.
	Gaussian(p []float64, mean, variance float64)
	// Expected writes them where the value has another distribution.
	Expected(p []float64, under Expectation)
	// Log is the logarithm of how probable outcome y is where the value is N(mean, variance),
	// and its first and second derivative in the mean.
	Log(y int, mean, variance float64) (logP, slope, bend float64)
}

// Expectation takes expectations under the distribution of a value.
type Expectation interface {
	Expect(t factor.Factor) float64
}

// Apart is a likelihood of the values of several functions that are independent.
type Apart interface {
	// Len is how many functions, and expectations, there are.
	Len() int
	// Independent writes the expectations. It may change the mean.
	Independent(p, mean, variance []float64)
}

// Several is a likelihood of the values of several functions, whether they are independent or not.
type Several interface {
	Apart
	// Joint writes the expectations where the values have this mean and covariance, which it may
	// change; NaN if that is no distribution.
	Joint(p, mean []float64, cov *mat.SymDense)
	// Quick is Joint in less time, of four functions or more right to a hundredth or so.
	Quick(p, mean []float64, cov *mat.SymDense)
	// Derivatives are those of the logarithm of how probable outcome y is, the first and second in the mean.
	Derivatives(y int, mean []float64, cov *mat.SymDense) (grad []float64, hess *mat.SymDense)
	// Versus writes them given the mean and covariance of f_y − f_j for all others j in order, with
	// the noise of y and not that of j. It may change the covariance.
	Versus(p []float64, y int, mean []float64, cov *mat.SymDense)
}

// Outcomes is the likelihood of two outcomes, or of more that have an order.
type Outcomes decision.Outcome

// Len implements One.
func (o Outcomes) Len() int { return len(o) }

// Gaussian implements One.
func (o Outcomes) Gaussian(p []float64, mean, variance float64) {
	if !finite.All(mean, variance) {
		for c := range p {
			p[c] = math.NaN()
		}
		return
	}
	decision.Outcome(o).At(p, mean, variance)
}

// Expected implements One.
func (o Outcomes) Expected(p []float64, under Expectation) { decision.Outcome(o).Expected(under, p) }

// Log implements One.
func (o Outcomes) Log(y int, mean, variance float64) (logP, slope, bend float64) {
	return o[y].LogMean(mean, variance)
}

// Latent is the likelihood of those who ask for the moments of the value alone.
type Latent struct{}

// Len implements One.
func (Latent) Len() int { return 0 }

// Gaussian implements One.
func (Latent) Gaussian([]float64, float64, float64) {}

// Expected implements One.
func (Latent) Expected([]float64, Expectation) {}

// Log implements One: there are no outcomes to be asked about.
func (Latent) Log(int, float64, float64) (logP, slope, bend float64) { return 0, 0, 0 }

// Largest is the likelihood of as many outcomes: that whose function is the largest, each with a
// noise of variance one.
type Largest int

// Len implements Several.
func (n Largest) Len() int { return int(n) }

// Joint implements Several.
func (n Largest) Joint(p, mean []float64, cov *mat.SymDense) {
	n.joint(p, mean, cov, func(l *orthant.Largest) { l.Probabilities(p, mean, cov) })
}

// Quick implements Several.
func (n Largest) Quick(p, mean []float64, cov *mat.SymDense) {
	n.joint(p, mean, cov, func(l *orthant.Largest) { l.Quick(p, mean, cov) })
}

// joint adds the noise of the outcomes to the covariance.
func (n Largest) joint(p, mean []float64, cov *mat.SymDense, write func(*orthant.Largest)) {
	for c := range p {
		cov.SetSym(c, c, 1+cov.At(c, c))
		p[c] = math.NaN()
	}
	if finite.All(mean...) {
		write(orthant.NewLargest(len(p)))
	}
	for c, x := range p {
		p[c] = min(1, max(0, x)) // rounding; NaN stays
	}
}

// Derivatives implements Several. They are zero where the outcome is impossible, and NaN where there is no distribution.
func (n Largest) Derivatives(y int, mean []float64, cov *mat.SymDense) (grad []float64, hess *mat.SymDense) {
	only, noisy := make([]float64, n), mat.NewSymDense(int(n), nil)
	only[y] = 1
	noisy.CopySym(cov)
	for c := range int(n) {
		noisy.SetSym(c, c, 1+cov.At(c, c))
	}
	grad, hess = make([]float64, n), mat.NewSymDense(int(n), nil)
	p, ok := orthant.NewLargest(int(n)).Worth(only, mean, noisy, grad, hess)
	if p == 0 {
		clear(grad)
		hess.Zero()
		return grad, hess
	}
	if !ok {
		p = math.NaN()
	}
	for c := range grad {
		grad[c] /= p
	}
	for c := range grad {
		for d := c; d < len(grad); d++ {
			hess.SetSym(c, d, hess.At(c, d)/p-grad[c]*grad[d])
		}
	}
	return grad, hess
}

// Independent implements Several.
func (n Largest) Independent(p, mean, variance []float64) {
	for c, v := range variance {
		if !(v >= 0) {
			p[c] = math.NaN()
			mean[c] = math.NaN()
		}
	}
	factor.OutcomeProbabilities(p, mean, variance)
}

// Mislabelled is the likelihood of outcomes of which each is noted down wrongly with probability Noise, as each of the
// others alike; see factor.RobustLargest. Its expectations are those of what is noted down.
type Mislabelled struct {
	Apart
	Noise float64
}

// Independent implements Apart.
func (l Mislabelled) Independent(p, mean, variance []float64) {
	l.Apart.Independent(p, mean, variance)
	kappa := l.Noise / float64(len(p)-1)
	for c, x := range p {
		p[c] = kappa + (1-float64(len(p))*kappa)*x
	}
}

// Versus implements Several. The outcome itself has value and variance zero, and the others what
// it is less than they are: only differences count.
func (n Largest) Versus(p []float64, y int, mean []float64, cov *mat.SymDense) {
	values, joint := make([]float64, n), mat.NewSymDense(int(n), nil)
	for a := range len(mean) {
		values[rival(y, a)] = -mean[a]
		for b := range len(mean) {
			joint.SetSym(rival(y, a), rival(y, b), cov.At(a, b))
		}
		joint.SetSym(rival(y, a), rival(y, a), 1+cov.At(a, a))
	}
	orthant.NewLargest(int(n)).Probabilities(p, values, joint)
}

// rival is the a-th of the outcomes other than y.
func rival(y, a int) int {
	if a < y {
		return a
	}
	return a + 1
}
