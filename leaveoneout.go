package lossep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
)

// leaveOneOut predicts and decides every training row without it and those that belong to it, by
// probabilities raised to a power. It is nil when a posterior without one of the rows does not
// exist.
func (p *Problem) leaveOneOut(ctx context.Context, method Method, left posterior.LeaveOut, units [][]int, power float64) (*LeaveOneOut, error) {
	t := &tally{
		problem: p, weights: p.CaseWeights(), power: power, own: make([]float64, p.Len()), logP: make([]float64, p.Len()),
		loo: &LeaveOneOut{Method: method},
	}
	if err := left.LeaveOut(ctx, p.Labels, units, t.add); errors.Is(err, posterior.ErrImproper) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return t.result(units), nil
}

// WorseThanConstant warns where rows that were left out cost more, or bring less, than by one action for all: by more than chance,
// given the standard error of the difference, 0 if that is not known, and by a hundredth at least.
func WorseThanConstant(own, constant, stdErr float64, costs bool) []string {
	verb, excess := "cost", own-constant
	if !costs {
		verb, excess = "bring", constant-own
	}
	if !(stdErr > 0 && excess > max(-normal.Quantile(0.025)*stdErr, math.Abs(constant)/100)) {
		return nil
	}
	return []string{fmt.Sprintf("rows that were left out %s %.4g each, and %.4g by the best constant action, which is better by more than chance: take that, or find features that tell more", verb, own, constant)}
}

// Warnings say why the model should not be relied on.
func (m *Model) Warnings() []string {
	if l := m.summary.LeaveOneOut; l != nil {
		return WorseThanConstant(l.Value, l.Constant, l.Error, m.utility.Costs())
	}
	return nil
}

// leftOutBy is the method whose predictions without a row there are.
func leftOutBy(method Method, rows int) Method {
	if d := method.row(rows); d.Refines() {
		return Method(d.Of)
	}
	return method
}

// tally adds up what rows are predicted and decided without them.
type tally struct {
	problem *Problem
	weights []float64 // of the rows in averages, nil if all are one
	loo     *LeaveOneOut
	power   float64   // that probabilities are raised to
	own     []float64 // of every row by what is decided
	logP    []float64 // of the labels of all rows
}

// add takes in training row i, whose outcomes have these probabilities by the posterior without
// it; logP is the logarithm of that of its own.
func (t *tally) add(i int, probabilities []float64, logP float64) {
	p := t.problem
	stakes, y := p.Stakes(i), p.Labels[i]
	if target := &p.Recipe.Target; t.power != 0 || target.CaseShares() != nil {
		search.Temper(probabilities, t.power)
		shift(target, probabilities)
		logP = posterior.Log(probabilities[y])
	}
	t.own[i], t.logP[i] = stakes.Table[stakes.Best(probabilities, -1)][y], logP
}

// result is what all rows come to, of which those of a unit are not independent.
func (t *tally) result(units [][]int) *LeaveOneOut {
	const some = 1 << 12 // rows of a task
	n, actions := len(t.own), len(t.problem.Stakes(0).Table)
	each := func(rows func(task, from, to int)) {
		tasks.For((n+some-1)/some, func(task int) { rows(task, task*some, min((task+1)*some, n)) })
	}
	parts := make([][]float64, (n+some-1)/some) // sums of weights, logarithms and values, and of every action for all rows
	each(func(task, from, to int) {
		sums := make([]float64, 3+actions)
		for i := from; i < to; i++ {
			w := 1.0
			if t.weights != nil {
				w = t.weights[i]
			}
			sums[0] += w
			sums[1] += w * t.logP[i]
			sums[2] += w * t.own[i]
			for a, row := range t.problem.Stakes(i).Table {
				sums[3+a] += w * row[t.problem.Labels[i]]
			}
		}
		parts[task] = sums
	})
	sums := make([]float64, 3+actions)
	for _, part := range parts {
		floats.Add(sums, part)
	}
	floats.Scale(1/sums[0], sums[1:])
	constant := sums[3:]
	t.loo.LogPredictive, t.loo.Value = float64(n)*sums[1], sums[2]
	t.loo.ConstantAction = slices.Index(constant, slices.Max(constant))
	if t.problem.Utility.Costs() {
		t.loo.ConstantAction = slices.Index(constant, slices.Min(constant))
	}
	t.loo.Constant = constant[t.loo.ConstantAction]
	each(func(_, from, to int) {
		for i := from; i < to; i++ {
			t.own[i] -= t.problem.Stakes(i).Table[t.loo.ConstantAction][t.problem.Labels[i]]
		}
	})
	var together []int
	if units != nil {
		together = t.problem.Together()
	}
	shares := slices.Clone(t.weights) // squares of which are numbers, however small weights are
	floats.Scale(1/sums[0], shares)
	if _, stdErr, err := compare.NewCases(n, shares, together).MeanError(t.own); err == nil {
		t.loo.Error = stdErr
	}
	return t.loo
}

// leftOut are training rows predicted without them, for those who ask more than once.
type leftOut struct {
	p    []float64 // of all outcomes of one row after the other
	logP []float64
	err  error
}

// keepLeftOut leaves out single rows once.
func (p *Problem) keepLeftOut(ctx context.Context, from posterior.LeaveOut) (posterior.LeaveOut, error) {
	outcomes := len(p.Recipe.Target.Outcomes)
	k := &leftOut{make([]float64, p.Len()*outcomes), make([]float64, p.Len()), nil}
	k.err = from.LeaveOut(ctx, p.Labels, nil, func(i int, all []float64, logP float64) {
		copy(k.p[i*outcomes:], all)
		k.logP[i] = logP
	})
	if errors.Is(k.err, posterior.ErrImproper) {
		return k, nil
	}
	return k, k.err
}

// LeaveOut implements posterior.LeaveOut.
func (k *leftOut) LeaveOut(_ context.Context, _ []int, _ [][]int, use func(i int, p []float64, logP float64)) error {
	if k.err != nil {
		return k.err
	}
	const rows = 1024 // of a task
	n, outcomes := len(k.logP), len(k.p)/len(k.logP)
	tasks.For((n+rows-1)/rows, func(task int) {
		for i := task * rows; i < min((task+1)*rows, n); i++ {
			use(i, k.p[i*outcomes:(i+1)*outcomes:(i+1)*outcomes], k.logP[i])
		}
	})
	return nil
}

// mostSharpened is the most rows that a power of probabilities is found from, evenly spread.
const mostSharpened = 20_000

// sharpnessOf is the power that makes probabilities as sharp as rows left out ask for, 0 where
// there is no posterior without some of them. Functions that are independent of each other leave
// probabilities timid.
func (p *Problem) sharpnessOf(ctx context.Context, from posterior.LeaveOut) (float64, error) {
	every := max(1, (p.Len()+mostSharpened-1)/mostSharpened)
	n := (p.Len() + every - 1) / every
	left, labels, counts := make([][]float64, n), make([]int, n), make([]float64, n)
	err := from.LeaveOut(ctx, p.Labels, nil, func(i int, all []float64, _ float64) {
		if i%every != 0 {
			return
		}
		k := i / every
		left[k], labels[k], counts[k] = all, p.Labels[i], 1
		if p.Weights != nil {
			counts[k] = p.Weights[i]
		}
	})
	if errors.Is(err, posterior.ErrImproper) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return search.CalibrationSlope(left, labels, counts, nil), nil
}
