package lossep

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/safetensors"
)

// mixture is the state of a model whose posterior is that of several, each with a weight.
// All of them have the rows, the method and everything else in common but the kernel.
type mixture struct {
	weights []float64 // adding up to one
	parts   []*Model
}

// Component is a kernel of a mixture.
type Component struct {
	Weight float64
	Kernel kernel.Kernel
}

// Components are the kernels found with their weights: one, unless they are mixed.
func (l *Learned) Components() []Component {
	if l.parts == nil {
		return []Component{{1, l.Kernel()}}
	}
	var all []Component
	for k, part := range l.parts {
		all = append(all, Component{l.weights[k], part.Kernel()})
	}
	return all
}

// Components are the kernels of the model with their weights: one, unless they are mixed.
func (m *Model) Components() []Component {
	if m.mixture == nil {
		return []Component{{1, m.kernel}}
	}
	var all []Component
	for k, part := range m.mixture.parts {
		all = append(all, Component{m.mixture.weights[k], part.kernel})
	}
	return all
}

// heaviest is the number of the largest weight.
func heaviest(weights []float64) int {
	best := 0
	for k, w := range weights {
		if w > weights[best] {
			best = k
		}
	}
	return best
}

// mixed is the model of a mixture of models with the same rows and method.
func mixed(weights []float64, parts []*Model, tried []Candidate) *Model {
	m := *parts[heaviest(weights)]
	m.mixture = &mixture{weights, parts}
	m.ep, m.sites, m.calibration, m.process, m.full = nil, nil, nil, nil, nil
	m.summary.Candidates = tried
	m.summary.LeaveOneOut = nil
	for _, part := range parts {
		s := part.summary
		m.summary.Jitter = max(m.summary.Jitter, s.Jitter)
		if !s.Status.Converged && m.summary.Status.Converged {
			m.summary.Status = s.Status
		}
	}
	m.opinions = make([]opinion, len(parts[0].opinions))
	for i := range m.opinions {
		m.opinions[i].method = parts[0].opinions[i].method
		for k, part := range parts {
			m.opinions[i].parts = append(m.opinions[i].parts, mixedPart{weights[k], part, &part.opinions[i]})
		}
	}
	return &m
}

// mixtureModel applies a method to every part.
func (l *Learned) mixtureModel(ctx context.Context, method Method) (*Model, error) {
	var parts []*Model
	for _, part := range l.parts {
		m, err := part.Model(ctx, method)
		if err != nil {
			return nil, err
		}
		parts = append(parts, m)
	}
	m := mixed(l.weights, parts, l.candidates)
	m.summary.LeaveOneOut = m.leaveOneOut(l.problem)
	return m, nil
}

// calibrated is the mixture of the parts, each calibrated by itself.
func (m *Model) calibrated(calibrate func(*Model) (*Model, error), p *Problem) (*Model, error) {
	var parts []*Model
	for _, part := range m.mixture.parts {
		c, err := calibrate(part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, c)
	}
	c := mixed(m.mixture.weights, parts, m.summary.Candidates)
	c.summary.LeaveOneOut = c.leaveOneOut(p)
	return c, nil
}

// mixedPart is what one model of a mixture says.
type mixedPart struct {
	weight  float64
	model   *Model
	opinion *opinion
}

// mix is the moments and probabilities of the mixture: its density of the latent value is
// the weighted sum of those of its parts.
func mix(parts []mixedPart, x *mat.Dense) []Prediction {
	n, _ := x.Dims()
	out, pairs, sofar := make([]Prediction, n), newPairs(n), 0.0
	for _, part := range parts {
		share := part.weight / (sofar + part.weight)
		for i, p := range part.opinion.unshifted(part.model, x) {
			o := &out[i]
			// The moments so far, about the mean so far, so that nothing large is subtracted.
			step := p.Mean - o.Mean
			o.Mean += share * step
			o.Variance += share * (p.Variance - o.Variance + (1-share)*step*step)
			pairs[i][0] += part.weight * p.Probabilities[0]
			pairs[i][1] += part.weight * p.Probabilities[1]
		}
		sofar += part.weight
	}
	for i := range out {
		out[i].Probabilities = pairs[i]
	}
	return out
}

// mixPairs is the probabilities of mix alone.
func mixPairs(parts []mixedPart, x *mat.Dense) [][]float64 {
	n, _ := x.Dims()
	out := newPairs(n)
	for _, part := range parts {
		for i, p := range part.opinion.unshiftedProbabilities(part.model, x) {
			out[i][0] += part.weight * p[0]
			out[i][1] += part.weight * p[1]
		}
	}
	return out
}

// leaveOneOutMixed predicts and decides every training row by the mixture of what its
// parts predict without it. The weights stay.
func (m *Model) leaveOneOutMixed(p *Problem) *LeaveOneOut {
	outcome := p.opt.Likelihood.outcome()
	pairs := newPairs(p.Len())
	tally := p.newTally(leftOutBy(m.method, p.Len()))
	for k, part := range m.mixture.parts {
		w := m.mixture.weights[k]
		proper := part.leftOut(func(i int, mean, variance float64) {
			p0, p1 := outcome.Probability(mean, variance)
			pairs[i][0] += w * p0
			pairs[i][1] += w * p1
		})
		if !proper {
			return nil
		}
	}
	for i, pair := range pairs {
		tally.addProbabilities(i, pair, math.Log(pair[(p.Labels[i]+1)/2]))
	}
	return tally.result()
}

// The file of a mixture has the sites of every part under names that begin with its
// number, from 0, and the rest once.

func partName(k int) string { return fmt.Sprintf("%d.", k) }

func (m *Model) addMixture(f *safetensors.File) {
	for k, part := range m.mixture.parts {
		part.addSites(f, partName(k))
	}
}

// readMixture reads the parts of a mixture, and returns how many tensors those were.
func (m *Model) readMixture(f *safetensors.File) (tensors int, err error) {
	var weights []float64
	var parts []*Model
	for _, c := range m.summary.Candidates {
		if c.Weight == 0 {
			continue
		}
		part := *m
		part.summary.Candidates, part.summary.LogEvidence, part.summary.Search = nil, c.LogEvidence, c.Search
		if part.kernel, err = kernel.ParseColumns(c.Kernel, columns(m.coding)); err != nil {
			return 0, err
		}
		sites, err := part.readSites(f, partName(len(parts)))
		if err != nil {
			return 0, err
		}
		tensors += sites
		if err := part.assemble(nil, nil); err != nil {
			return 0, fmt.Errorf("its numbers make no posterior: %w", err)
		}
		weights, parts = append(weights, c.Weight), append(parts, &part)
	}
	whole := mixed(weights, parts, m.summary.Candidates)
	whole.summary = m.summary
	*m = *whole
	return tensors, nil
}

// mixes tells whether the file of a model with this summary has several parts.
func (s *Summary) mixes() bool { return s.Inducing == nil && len(s.Candidates) > 0 }
