package lossep

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
)

// searched is the problem as package search knows it.
func (p *Problem) searched() *search.Problem {
	var predictive search.Predictive = predictsOne{p.opt.Likelihood}
	switch l := p.link().(type) {
	case moreOutcomes:
		predictive = predictsMore{posterior.Largest(l), posterior.Largest(l), p}
	case mislabelled:
		predictive = predictsMore{posterior.Largest(l.moreOutcomes), l.apart(), p}
	}
	return &search.Problem{
		X: p.X, Columns: columns(p.coding), Labels: p.Labels, Outcomes: len(p.Recipe.Target.Outcomes), Weights: p.Weights,
		Terms: p.many(), Predict: predictive, Rows: divided{p}, Order: p.order,
		Seed: p.opt.Seed, Restarts: p.opt.Restarts, Memory: p.roomBytes(), Progress: p.tell, Affords: p.affordsParts,
	}
}

// divided implements search.Rows.
type divided struct{ *Problem }

func (d divided) Groups() []int                   { return d.Together() }
func (d divided) Classes() []int                  { return d.classes() }
func (d divided) Some(rows []int) *search.Problem { return d.some(rows).searched() }

// predictsOne implements search.Predictive for outcomes of one function.
type predictsOne struct{ Likelihood }

func (l predictsOne) New(f *search.Fit, x *mat.Dense, labels []int) (p [][]float64, logs []float64) {
	n := len(labels)
	mean, variance := make([]float64, n), make([]float64, n)
	infer.Gaussian{Gaussian: f.EP.Q}.Moments(f.Process.At(x), mean, variance)
	of := l.tuned(f.Tuned).expected()
	p, logs = posterior.Tuples(n, of.Len()), make([]float64, n)
	for k, y := range labels {
		of.Gaussian(p[k], mean[k], variance[k])
		logs[k], _, _ = of.Log(y, mean[k], variance[k])
	}
	return p, logs
}

func (predictsOne) Without(f *search.Fit) []float64 {
	logs := slices.Clone(f.EP.LogPredictive)
	for i, l := range logs {
		if math.IsNaN(l) {
			logs[i] = math.Inf(-1)
		}
	}
	return logs
}

func (l predictsOne) Independent(p, mean, variance []float64) {
	l.expected().Gaussian(p, mean[0], variance[0])
}

// predictsMore implements search.Predictive for more outcomes of the rows of a problem.
type predictsMore struct {
	posterior.Largest // of the full process
	apart             posterior.Apart
	problem           *Problem
}

func (l predictsMore) Independent(p, mean, variance []float64) {
	l.apart.Independent(p, mean, variance)
}

func (l predictsMore) New(f *search.Fit, x *mat.Dense, labels []int) (p [][]float64, logs []float64) {
	p, logs = posterior.Tuples(len(labels), l.Len()), make([]float64, len(labels))
	tasks.For(len(labels), func(k int) {
		mean, cov := f.Process.OutcomesAt(f.EP.Q, x.RawRowView(k))
		l.Joint(p[k], mean, cov)
		logs[k] = posterior.Log(p[k][labels[k]])
	})
	return p, logs
}

func (l predictsMore) Without(f *search.Fit) []float64 {
	labels := l.problem.Labels
	logs := make([]float64, len(labels))
	for i, all := range posterior.Without(context.Background(), f.Process.LeaveOut(f.EP.Q, f.EP.Sites.Terms), l.Largest, labels, l.problem.units()) {
		logs[i] = math.Inf(-1)
		if all != nil {
			logs[i] = posterior.Log(all[labels[i]])
		}
	}
	return logs
}

// learnAuto learns with AutoKernel: it mixes candidates by what they predict out of fold.
func (p *Problem) learnAuto(ctx context.Context) (*Learned, *search.LeftOut, error) {
	m, err := p.searched().Mix(ctx)
	if err != nil {
		return nil, nil, err
	}
	mix := &mixture{weights: m.Weights}
	l := &Learned{problem: p, process: mix, candidates: m.Candidates}
	if p.opt.Likelihood.Noise == 0 { // how much of what occurs is error has been said otherwise
		l.sharpness = m.Slope
	}
	for _, fit := range m.Fits {
		mix.parts = append(mix.parts, p.learned(fit))
	}
	l.problem = mix.heaviest().problem
	return l, m.Left, nil
}

// affordsParts refuses a mixture of more posteriors than could be read again, before they are
// made.
func (p *Problem) affordsParts(parts int) error {
	need := mixtureBytes(p.Recipe, parts, p.Len(), p.coding.Len())
	if parts <= 1 || need <= float64(p.opt.MaxMemory) {
		return nil
	}
	return p.tooManyParts(parts, need)
}
