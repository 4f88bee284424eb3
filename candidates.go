package lossep

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/search"
)

// searched is the problem as package search knows it.
func (p *Problem) searched() *search.Problem {
	var predictive search.Predictive = ofTwoOutcomes{p}
	if several(p.Recipe) {
		predictive = ofMoreOutcomes{p}
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

// ofTwoOutcomes and ofMoreOutcomes implement search.Predictive.
type (
	ofTwoOutcomes  struct{ *Problem }
	ofMoreOutcomes struct{ *Problem }
)

func (o ofTwoOutcomes) New(f *search.Fit, x *mat.Dense, labels []int) (p [][]float64, logs []float64) {
	n := len(labels)
	mean, variance := make([]float64, n), make([]float64, n)
	infer.Gaussian{Gaussian: f.EP.Q}.Moments(f.Process.At(x), mean, variance)
	p, logs = newTuples(n, 2), make([]float64, n)
	outcome := o.opt.Likelihood.outcome()
	for k, y := range labels {
		o.Independent(p[k], mean[k:k+1], variance[k:k+1])
		logs[k], _, _ = outcome[y].LogMean(mean[k], variance[k])
	}
	return p, logs
}

func (o ofTwoOutcomes) Without(f *search.Fit) []float64 {
	logs := slices.Clone(f.EP.LogPredictive)
	for i, l := range logs {
		if math.IsNaN(l) {
			logs[i] = math.Inf(-1)
		}
	}
	return logs
}

func (o ofTwoOutcomes) Independent(p, mean, variance []float64) {
	p[0], p[1] = o.opt.Likelihood.outcome().Probability(mean[0], variance[0])
}

func (o ofMoreOutcomes) New(f *search.Fit, x *mat.Dense, labels []int) (p [][]float64, logs []float64) {
	p, logs = newTuples(len(labels), len(o.Recipe.Target.Outcomes)), make([]float64, len(labels))
	tasks.For(len(labels), func(k int) {
		mean, cov := f.Process.OutcomesAt(f.EP.Q, x.RawRowView(k))
		outcomeProbabilities(p[k], mean, cov)
		logs[k] = search.Log(p[k][labels[k]])
	})
	return p, logs
}

func (o ofMoreOutcomes) Without(f *search.Fit) []float64 {
	logs := make([]float64, o.Len())
	for i, all := range leftOutSeveral(context.Background(), f.Process.LeaveOut(f.EP.Q, f.EP.Sites.Terms), o.Problem) {
		logs[i] = math.Inf(-1)
		if all != nil {
			logs[i] = search.Log(all[o.Labels[i]])
		}
	}
	return logs
}

func (o ofMoreOutcomes) Independent(p, mean, variance []float64) {
	probabilitiesApart(p, mean, variance)
}

// learnAuto learns with AutoKernel: it mixes candidates by what they predict out of fold.
func (p *Problem) learnAuto(ctx context.Context) (*Learned, error) {
	m, err := p.searched().Mix(ctx)
	if err != nil {
		return nil, err
	}
	l := &Learned{problem: p, weights: m.Weights, candidates: m.Candidates}
	if p.opt.Likelihood.Noise == 0 { // how much of what occurs is error has been said otherwise
		l.sharpness = m.Slope
	}
	cases := p.cases()
	for _, fit := range m.Fits {
		l.parts = append(l.parts, p.learned(fit, cases))
	}
	return l, nil
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

func (p *Problem) tooManyParts(parts int, need float64) error {
	return inputf("max memory", "a mixture of %d posteriors of %d rows each takes about %.2g GB of memory to be read, more than %.2g GB: choose one kernel, give a sample of the rows, or allow more memory",
		parts, p.Len(), need/1e9, float64(p.opt.MaxMemory)/1e9)
}
