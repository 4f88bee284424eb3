package gp

import (
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/kernel"
)

// prior is an independent Gaussian on the logarithm of each hyperparameter, centred
// where the scale of the data puts it. It is weak, a factor of 2.7 to 20 at one
// standard deviation, but proper: what the evidence leaves open, such as the
// variance of separable data or the length scale of a column that says nothing,
// stays at a finite value. Variances are the least certain: of outcomes that are nearly
// divided they are in the hundreds (docs/kernels.md).
type prior struct {
	mean, sd []float64
	ties     []tie  // of length scales that are not independent
	isTied   []bool // which those are, nil if none
}

// The standard deviations of the log parameters.
const (
	varianceSpread    = 3.0
	lengthscaleSpread = 1.5
	periodSpread      = 1.0
)

// newPrior centres the prior of k on the scale of the inputs, so that it follows
// when a column is rescaled. At its mean the process has variance 1 for each term,
// and two typical inputs of it differ by two squared length scales in all:
//
//   - variance: 1; for a linear term what makes that its variance at a typical
//     input, 1/Σ_k E x_k², or 1/(d·E x_k²) with one for each column; for an additive one 1/d;
//   - lengthscale: √(Σ_k var x_k), or √(d·var x_k) with one for each column; for an additive
//     term, which has a distance in each column, √(Σ_k var x_k/d) or √(var x_k); for a
//     periodic term, whose sines have no scale, √d;
//   - period: two standard deviations of a typical column.
//
// With a shrinkage above zero the length scales of columns are not independent; see tie.
func newPrior(k kernel.Kernel, x *mat.Dense, shrinkage float64) prior {
	s := newScale(x, k.Codes())
	var p prior
	for _, param := range k.Describe() {
		family, _, _ := strings.Cut(param.Term, "#")
		centre, spread := 1.0, varianceSpread
		switch {
		case param.Kind == kernel.Lengthscale && family == "periodic":
			centre, spread = math.Sqrt(float64(s.columns())), lengthscaleSpread
		case param.Kind == kernel.Lengthscale && family == "additive":
			centre, spread = math.Sqrt(s.total(s.variance, param.Column)/float64(len(s.variance))), lengthscaleSpread
		case family == "additive":
			centre = 1 / float64(len(s.variance))
		case param.Kind == kernel.Lengthscale:
			centre, spread = math.Sqrt(s.total(s.variance, param.Column)), lengthscaleSpread
		case param.Kind == kernel.Period:
			centre, spread = 2*math.Sqrt(s.total(s.variance, -1)/float64(s.columns())), periodSpread
		case family == "linear":
			centre = 1 / s.total(s.square, param.Column)
		}
		log := math.Log(centre) // of zero or infinity when a square is out of range
		if math.IsNaN(log) {
			log = 0 // of inputs that are no numbers, which New refuses
		}
		p.mean = append(p.mean, min(max(log, -farthestCentre), farthestCentre))
		p.sd = append(p.sd, spread)
	}
	if shrinkage > 0 {
		p.ties = tied(k, s, shrinkage)
		p.isTied = make([]bool, len(p.mean))
		for _, t := range p.ties {
			for _, i := range t.params {
				p.isTied[i] = true
			}
		}
	}
	return p
}

// farthestCentre leaves room for the box around a centre within kernel.MaxLog.
const farthestCentre = kernel.MaxLog - boxWidth*varianceSpread

// log is the log density at the log parameters.
func (p prior) log(logs []float64) float64 {
	sum := 0.0
	for k, x := range logs {
		if p.isTied != nil && p.isTied[k] {
			continue
		}
		z := (x - p.mean[k]) / p.sd[k]
		sum -= 0.5*z*z + math.Log(p.sd[k]*math.Sqrt(2*math.Pi))
	}
	for i := range p.ties {
		sum += p.ties[i].log(logs)
	}
	return sum
}

// addGradient adds the gradient of log to grad.
func (p prior) addGradient(grad, logs []float64) {
	for k, x := range logs {
		if p.isTied == nil || !p.isTied[k] {
			grad[k] -= (x - p.mean[k]) / (p.sd[k] * p.sd[k])
		}
	}
	for i := range p.ties {
		p.ties[i].addGradient(grad, logs)
	}
}

// boxWidth is how many standard deviations the search may go from the mean.
const boxWidth = 6.0

// clamp moves log parameters into the box that is searched.
func (p prior) clamp(logs []float64) {
	for k := range logs {
		logs[k] = min(max(logs[k], p.low(k)), p.high(k))
	}
}

func (p prior) low(k int) float64  { return p.mean[k] - boxWidth*p.sd[k] }
func (p prior) high(k int) float64 { return p.mean[k] + boxWidth*p.sd[k] }

// draw is a sample of the prior.
func (p prior) draw(rng *rand.Rand) []float64 {
	logs := make([]float64, len(p.mean))
	for k := range logs {
		logs[k] = p.mean[k] + p.sd[k]*rng.NormFloat64()
	}
	p.clamp(logs)
	return logs
}

// scale are the variance and the mean square of every column of the inputs. Those of a
// column of codes are of its 0/1 columns together.
type scale struct {
	variance, square []float64
	written          int // columns, with codes written out
}

func newScale(x *mat.Dense, codes int) scale {
	n, d := x.Dims()
	s := scale{variance: make([]float64, d), square: make([]float64, d), written: d - codes}
	for k := range d {
		if k < d-codes {
			s.number(x, k, n)
		} else {
			s.code(x, k, n)
		}
		// A column that never varies is as good as any of unit scale.
		if s.variance[k] == 0 {
			s.variance[k] = 1
		}
		if s.square[k] == 0 {
			s.square[k] = 1
		}
	}
	return s
}

func (s *scale) number(x *mat.Dense, k, n int) {
	mean := 0.0
	for i := range n {
		mean += x.At(i, k) / float64(n)
	}
	for i := range n {
		e := x.At(i, k) - mean
		s.variance[k] += e * e / float64(n)
	}
	s.square[k] = s.variance[k] + mean*mean
}

// code uses that a 0/1 column with a share p of ones has the mean square p and the variance
// p − p².
func (s *scale) code(x *mat.Dense, k, n int) {
	var share []float64
	for i := range n {
		code := int(x.At(i, k))
		for code >= len(share) {
			share = append(share, 0)
		}
		if code >= 0 {
			share[code] += 1 / float64(n)
		}
	}
	for _, p := range share {
		s.variance[k] += p - p*p
		s.square[k] += p
	}
	s.written += len(share)
}

func (s scale) columns() int { return s.written }

// total is the sum over all columns; or, for the parameter of one column, as if all
// columns were like it.
func (s scale) total(of []float64, column int) float64 {
	if column >= 0 {
		return of[column] * float64(len(of))
	}
	sum := 0.0
	for _, v := range of {
		sum += v
	}
	return sum
}
