package posterior

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/kernel"
)

// Mixture is a posterior whose density is the weighted sum of those of its parts, which have the
// rows, the method and everything else in common but the kernel.
type Mixture struct {
	parts []Part
}

// NewMixture is the mixture of posteriors with weights that add up to one.
func NewMixture(weights []float64, of []Posterior) *Mixture {
	m := new(Mixture)
	for k, p := range of {
		m.parts = append(m.parts, Part{weights[k], p})
	}
	return m
}

// Heaviest is the number of the largest weight.
func Heaviest(weights []float64) int {
	best := 0
	for k, w := range weights {
		if w > weights[best] {
			best = k
		}
	}
	return best
}

// heaviest is the part with the largest weight.
func (m *Mixture) heaviest() Part {
	var weights []float64
	for _, p := range m.parts {
		weights = append(weights, p.Weight)
	}
	return m.parts[Heaviest(weights)]
}

// Predict implements Posterior.
func (m *Mixture) Predict(x *mat.Dense) []Prediction {
	n, _ := x.Dims()
	out, sofar := make([]Prediction, n), 0.0
	for _, part := range m.parts {
		share := part.Weight / (sofar + part.Weight)
		for i, p := range part.Predict(x) {
			o := &out[i]
			// The moments so far, about the mean so far, so that nothing large is subtracted.
			step := p.Mean - o.Mean
			o.Mean += share * step
			o.Variance += share * (p.Variance - o.Variance + (1-share)*step*step)
			if o.Probabilities == nil {
				o.Probabilities = make([]float64, len(p.Probabilities))
			}
			floats.AddScaled(o.Probabilities, part.Weight, p.Probabilities)
		}
		sofar += part.Weight
	}
	for _, p := range out {
		atMostOne(p.Probabilities)
	}
	return out
}

// Probabilities implements Posterior.
func (m *Mixture) Probabilities(x *mat.Dense) [][]float64 {
	n, _ := x.Dims()
	out := make([][]float64, n)
	for _, part := range m.parts {
		for i, p := range part.Probabilities(x) {
			if out[i] == nil {
				out[i] = make([]float64, len(p))
			}
			floats.AddScaled(out[i], part.Weight, p)
		}
	}
	for _, p := range out {
		atMostOne(p)
	}
	return out
}

// Kernel implements Posterior.
func (m *Mixture) Kernel() kernel.Kernel { return m.heaviest().Kernel() }

// Inputs implements Posterior.
func (m *Mixture) Inputs() *mat.Dense { return m.parts[0].Inputs() }

// Extremes implements Posterior.
func (m *Mixture) Extremes() (all []int) {
	for _, p := range m.parts {
		all = append(all, p.Extremes()...)
	}
	return all
}

// State implements Posterior.
func (m *Mixture) State() (s State) {
	for _, p := range m.parts {
		s.Parts = append(s.Parts, p.State())
	}
	return s
}

// Bytes implements Posterior.
func (m *Mixture) Bytes() (sum float64) {
	for _, p := range m.parts {
		sum += p.Bytes()
	}
	return sum
}
