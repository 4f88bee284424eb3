package search

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/posterior"
)

// LeftOut is what a mixture predicts of rows that its parts were fitted without, for what is no candidate of it to be
// judged by the same rows.
type LeftOut struct {
	Rows   []int // that the candidates were compared on; nil if it is all
	Folds  []compare.Split
	Counts []float64 // how often each of the rows counts that were left out, in the order of the folds
	Logs   []float64 // log probabilities of their outcomes
}

// Divided are the rows that candidates for a mixture are compared on, nil if it is all, and the folds of these that are
// left out, nil if they are too few.
func (p *Problem) Divided() (rows []int, folds []compare.Split) {
	if rows = p.compared(); rows != nil {
		p = p.Rows.Some(rows)
	}
	return rows, p.Folds()
}

// OutOfFold is what one kernel predicts of the rows of each of these folds by a fit without them, and then of the rows of others, which may be nil, by a
// fit to all, with probabilities as sharp as the folds ask for.
func (p *Problem) OutOfFold(ctx context.Context, kernel string, folds []compare.Split, others *Problem) (*LeftOut, error) {
	r := &refits{Problem: p, folds: folds}
	t, err := r.try(ctx, Candidate{Name: kernel, Kernel: kernel, PerColumn: kernel == PerColumn}, nil)
	if err != nil {
		return nil, err
	}
	l := &LeftOut{Folds: folds, Counts: r.counts()}
	slope := r.slope([]*trial{t}, []float64{1}, l.Counts)
	all, labels := t.left, indices.Take(p.Labels, r.left())
	if others != nil {
		more, _ := p.Predict.New(t.fit, others.X, others.Labels)
		all, labels = append(all, more...), append(labels, others.Labels...)
		l.Counts = append(l.Counts, others.countsOf(indices.Of(others.Len()))...)
	}
	for k, left := range all {
		Temper(left, slope)
		l.Logs = append(l.Logs, posterior.Log(left[labels[k]]))
	}
	return l, nil
}

// leftOut is what the mixture of trials with these weights predicts.
func (r *refits) leftOut(trials []*trial, weights []float64, rows []int) *LeftOut {
	if trials[floats.MaxIdx(weights)].logs == nil {
		return nil
	}
	l := &LeftOut{Rows: rows, Folds: r.folds, Counts: r.counts()}
	l.Logs = make([]float64, len(l.Counts))
	for i := range l.Logs {
		sum := 0.0
		for k, t := range trials {
			if weights[k] > 0 {
				sum += weights[k] * math.Exp(t.logs[i])
			}
		}
		l.Logs[i] = math.Log(sum)
	}
	return l
}

// Mean is the mean of log probabilities of the same rows, by how often they count.
func (l *LeftOut) Mean(logs []float64) float64 {
	return floats.Dot(logs, l.Counts) / floats.Sum(l.Counts)
}

// Gain is by how many nats others' log probabilities of the same rows are higher, and its standard error.
func (l *LeftOut) Gain(logs []float64) (nats, err float64) {
	square := 0.0
	for i, n := range l.Counts {
		d := n * (logs[i] - l.Logs[i])
		nats += d
		square += d * d
	}
	return nats, math.Sqrt(square)
}
