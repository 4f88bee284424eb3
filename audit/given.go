package audit

import (
	"context"
	"fmt"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
)

// given reads probabilities that were made elsewhere.
func given(t *data.Table, columns []string) (map[string][]float64, error) {
	all := make(map[string][]float64)
	for _, column := range columns {
		p, err := Probabilities(t, column)
		if err != nil {
			return nil, err
		}
		all[column] = p
	}
	return all, nil
}

// Probabilities reads a column of them; one that is none is a *data.Error.
func Probabilities(t *data.Table, column string) ([]float64, error) {
	p, err := t.Floats(column)
	if err != nil {
		return nil, err
	}
	for i, v := range p {
		if v >= 0 && v <= 1 {
			continue
		}
		j, err := t.Column(column)
		if err != nil {
			return nil, err
		}
		at := t.Place(i)
		at.Column, at.ColumnName = j+1, column
		at.Msg = fmt.Sprintf("%v is no probability", v)
		at.Fix = "give probabilities of the positive outcome from 0 to 1; scores of another kind have to be turned into them first"
		return nil, at
	}
	return p, nil
}

// recalibrated is the name of a column's probabilities after recalibration.
func recalibrated(column string, r Recalibration) string { return fmt.Sprintf("%s (%s)", column, r) }

// answerGiven records the probabilities given, and what they are after each recalibration
// by the training rows of the fold.
func (a *Audit) answerGiven(ctx context.Context, f *Fold, train []int) error {
	y, weight := make([]int, len(train)), make([]float64, len(train))
	for k, i := range train {
		y[k], weight[k] = a.outcome(i), 1
		if a.weights != nil && a.weights[i] > 0 {
			weight[k] = a.weights[i]
		}
	}
	for _, column := range a.opt.Probabilities {
		p, others := make([]float64, len(train)), make([]float64, len(f.Rows))
		for k, i := range train {
			p[k] = a.given[column][i]
		}
		for k, i := range f.Rows {
			others[k] = a.given[column][i]
		}
		f.Answers[column] = decision.Pairs(others)
		for _, r := range a.opt.Recalibrations {
			mended, err := r.recalibrate(ctx, p, y, weight, others, a.opt.Fit.Seed)
			if err != nil {
				return f.locate(fmt.Errorf("%s: %w", column, err))
			}
			f.Answers[recalibrated(column, r)] = decision.Pairs(mended)
		}
	}
	return nil
}

// models are what gives probabilities, the audited one first.
func (a *Audit) models() []string {
	var names []string
	for _, m := range a.opt.Methods {
		names = append(names, string(m))
	}
	if len(names) > 0 {
		return append(names, ProbitRegression)
	}
	names = append(names, a.opt.Probabilities...)
	for _, column := range a.opt.Probabilities {
		for _, r := range a.opt.Recalibrations {
			names = append(names, recalibrated(column, r))
		}
	}
	return names
}

// kind is what a model is called in the result.
func (a *Audit) kind(model string) string {
	for _, m := range a.opt.Methods {
		if model == string(m) {
			return "method"
		}
	}
	if _, ok := a.given[model]; ok {
		return "given"
	}
	if model == ProbitRegression {
		return "baseline"
	}
	return "recalibrated"
}

// audited is the model whose decisions are audited.
func (a *Audit) audited() string { return a.models()[0] }
