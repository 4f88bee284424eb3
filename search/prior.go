package search

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/kernel"
)

// prior is that of all hyperparameters: independent (see kernel.Prior), unless length
// scales of columns are tied.
type prior struct {
	mean, sd []float64 // a parameter with sd 0 stays at its mean
	ties     []tie     // of length scales that are not independent
	isTied   []bool    // which those are, nil if none
}

// newPrior is that of k on the scale of the inputs x, and of what terms have. With a shrinkage above zero the length
// scales of columns are not independent; see tie.
func newPrior(k kernel.Kernel, x *mat.Dense, shrinkage float64, t tuning) prior {
	s := kernel.NewScale(x, k.Codes())
	var p prior
	for _, of := range append(k.Priors(s), t.priors()...) {
		farthest := kernel.MaxLog - boxWidth*of.SD // the box around a centre lies within kernel.MaxLog
		p.mean = append(p.mean, min(max(of.Mean, -farthest), farthest))
		p.sd = append(p.sd, of.SD)
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

// withdraw takes columns out of the kernel, as far as they have parameters of their own: a length scale
// so long and a variance so small that nothing is left of them.
func (p prior) withdraw(k kernel.Kernel, columns []int) {
	const gone = 1e8
	for i, param := range k.Describe() {
		if !slices.Contains(columns, param.Column) || p.isTied != nil && p.isTied[i] {
			continue
		}
		switch param.Kind {
		case kernel.Lengthscale:
			p.mean[i], p.sd[i] = math.Log(gone), 0
		case kernel.Variance:
			p.mean[i], p.sd[i] = -math.Log(gone), 0
		}
	}
}

// log is the log density at the log parameters.
func (p prior) log(logs []float64) float64 {
	sum := 0.0
	for k, x := range logs {
		if p.isTied != nil && p.isTied[k] || p.sd[k] == 0 {
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
		if p.sd[k] == 0 {
			grad[k] = 0
		} else if p.isTied == nil || !p.isTied[k] {
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
