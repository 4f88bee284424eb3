// Package posterior is what a fit knows of latent functions, and what follows from it for new
// cases and for training rows that are left out.
//
// A Posterior is made of a process, that of all rows or one with inducing points, and of what a
// method found about it. It knows functions; what they say of a case is the business of a
// likelihood, One or Several, which takes expectations under the distribution of the functions'
// values there. Expectations are linear in that distribution, so that those of a mixture are sums.
package posterior

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/kernel"
)

// Posterior is what a method knows of the latent functions. It is safe for concurrent use.
type Posterior interface {
	// Predict is what is known about the cases whose encoded features are the rows of x. What is
	// said of a row does not depend on the other rows; it is NaN where there is no number.
	Predict(x *mat.Dense) []Prediction
	// Probabilities are those of Predict, which may take less time by themselves.
	Probabilities(x *mat.Dense) [][]float64
	// Kernel is the covariance function, of a mixture that with the largest weight.
	Kernel() kernel.Kernel
	// Inputs are those that the process is conditioned on: training rows, or inducing points.
	Inputs() *mat.Dense
	// Extremes are some of the inputs, among them those with the most influence: if there are
	// numbers there, there are elsewhere.
	Extremes() []int
	// State is what has to be kept to make the posterior again.
	State() State
	// Bytes is about what it takes, in bytes of memory, together with the Gaussians of other
	// methods on the same process.
	Bytes() float64
}

// Prediction is what is known about one case.
type Prediction struct {
	// Mean and Variance are those of the latent value with two outcomes. More have a value
	// each, and these are 0.
	Mean, Variance float64
	// Probabilities are those of the outcomes, of two the negative one first. Each is
	// accurate by itself: what is far from certain cannot be had as one minus what is
	// nearly so.
	Probabilities []float64
	// Normals are those that the latent value is a mixture of where it has no normal distribution.
	Normals []Normal
}

// Normal is one of those that make a distribution.
type Normal struct{ Weight, Mean, Variance float64 }

// Probability is that of the positive outcome of two.
func (p Prediction) Probability() float64 { return p.Probabilities[1] }

// IsFinite tells whether a prediction is made of numbers.
func (p Prediction) IsFinite() bool {
	for _, x := range p.Probabilities {
		if !(x >= 0 && x <= 1) {
			return false
		}
	}
	return finite.All(p.Mean, p.Variance) && p.Variance >= 0
}

// State is what a posterior is made from again, with its kernel and the training rows. What it
// has none of is nil.
type State struct {
	Points      *mat.Dense      // inducing points
	Functions   gauss.Gaussians // on what is seen from them, one for each function
	Effects     effects.Set     // added to the functions
	Sites       []gauss.Scalar  // of the training rows, as many of each row as of every other
	Calibration *gauss.Natural  // what the Gaussian has beside the sites
	Parts       []State         // of a mixture
}

// ErrImproper says that a posterior without some of the rows does not exist.
var ErrImproper = errors.New("posterior: there is none without some of the rows")

// Part is a posterior with its weight.
type Part struct {
	Weight float64
	Posterior
}

// Parts are those that a posterior is mixed of, itself if it is no mixture.
func Parts(p Posterior) []Part {
	if m, ok := p.(*Mixture); ok {
		return m.parts
	}
	return []Part{{1, p}}
}

// Tuples are n times so many numbers.
func Tuples(n, size int) [][]float64 {
	numbers, tuples := make([]float64, size*n), make([][]float64, n)
	for i := range tuples {
		tuples[i] = numbers[size*i : size*(i+1) : size*(i+1)]
	}
	return tuples
}

// Mean is the mean of probabilities that have these shares. Rounding makes none of it larger than one.
func Mean(p [][]float64, shares []float64) []float64 {
	mean := make([]float64, len(p[0]))
	for k, q := range p {
		floats.AddScaled(mean, shares[k], q)
	}
	return atMostOne(mean)
}

// atMostOne takes back what rounding adds to means of probabilities that are one, or nearly so.
func atMostOne(p []float64) []float64 {
	for c, x := range p {
		p[c] = min(1, x) // NaN stays
	}
	return p
}

// Log is the logarithm of a probability that may be too small for a number: what is reported and
// added up stays finite.
func Log(p float64) float64 { return math.Log(max(p, math.SmallestNonzeroFloat64)) }

// row is one row of a matrix.
func row(x *mat.Dense, i int) *mat.Dense {
	_, d := x.Dims()
	return mat.NewDense(1, d, x.RawRowView(i))
}

// probabilitiesOf are those of predictions.
func probabilitiesOf(all []Prediction) [][]float64 {
	out := make([][]float64, len(all))
	for i, p := range all {
		out[i] = p.Probabilities
	}
	return out
}

// extremes are some of n inputs, those with the largest sites among them, of which each has so
// many.
func extremes(n int, sites []gauss.Scalar, each int) []int {
	rows := []int{0, n / 3, n / 2, n - 1}
	if len(sites) == 0 {
		return rows
	}
	tau, nu := 0, 0
	for i, s := range sites {
		if math.Abs(s.Tau) > math.Abs(sites[tau].Tau) {
			tau = i
		}
		if math.Abs(s.Nu) > math.Abs(sites[nu].Nu) {
			nu = i
		}
	}
	return append(rows, tau/each, nu/each)
}

// keptMatrices is how many matrices of n×n numbers for n views a posterior takes, and little
// besides: measured in a process that collects its garbage before it grows beyond what it needs
// (debug.SetMemoryLimit).
const keptMatrices = 4

// FullBytes is about what a posterior of the full process takes, in bytes of memory.
func FullBytes(rows, features, views int) float64 {
	return keptMatrices*matrixBytes(views) + 8*float64(rows)*float64(features)
}

func matrixBytes(n int) float64 { return 8 * float64(n) * float64(n) }
