package audit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// givenColumns are the columns that a name of probabilities stands for: the one of that
// name, or one for each outcome, NAME_OUTCOME.
func givenColumns(t *table.Table, name string) []string {
	columns := []string{name}
	if _, err := t.Column(name); err == nil {
		return columns
	}
	each := slices.DeleteFunc(slices.Clone(t.Columns()), func(c string) bool { return !strings.HasPrefix(c, name+"_") })
	if len(each) > 0 {
		return each
	}
	return columns
}

// checkGiven refuses probabilities in words about them, before they are taken for a table's
// columns like others: a cell that is missing, or nothing but the same for all cases.
func checkGiven(t *table.Table, names []string) error {
	same := true
	var columns []string
	for _, name := range names {
		columns = append(columns, givenColumns(t, name)...)
	}
	for _, column := range columns {
		p, err := probabilityColumn(t, column, "")
		if err != nil {
			return err
		}
		for _, v := range p {
			same = same && v == p[0]
		}
	}
	if !same || len(columns) == 0 || t.Len() < 2 {
		return nil
	}
	at := t.Place(0)
	j, err := t.Column(columns[0])
	if err != nil {
		return err
	}
	at.Line, at.Column, at.ColumnName = 0, j+1, columns[0]
	at.Msg = "every case has the same probability, so all decisions would be the same"
	at.Fix = "give the probabilities of a model, case by case; constant decisions are among the baselines of every audit"
	return at
}

// Given reads probabilities of outcomes that were made elsewhere, a row for each case: of
// two outcomes those of the second stand in the column of that name, and of more those of
// each in a column NAME_OUTCOME. What are none is a *table.Error.
func Given(t *table.Table, name string, outcomes []string) ([][]float64, error) {
	if len(outcomes) <= 2 {
		of := " of the positive outcome"
		if len(outcomes) == 2 {
			of = fmt.Sprintf(" of the outcome %q", outcomes[1])
		}
		p, err := probabilityColumn(t, name, of)
		return decision.Pairs(p), err
	}
	all := make([][]float64, t.Len())
	for i := range all {
		all[i] = make([]float64, len(outcomes))
	}
	for y, outcome := range outcomes {
		column := name + "_" + outcome
		p, err := probabilityColumn(t, column, fmt.Sprintf(" of the outcome %q", outcome))
		if err != nil {
			return nil, err
		}
		for i, v := range p {
			all[i][y] = v
		}
	}
	for i, p := range all {
		sum := floats.Sum(p)
		// Six digits of ten numbers leave less than this.
		if math.Abs(sum-1) > 1e-3 {
			at := t.Place(i)
			at.Msg = fmt.Sprintf("the probabilities in %s_… sum to %.4g", name, sum)
			at.Fix = "give the probability of every outcome, together 1"
			return nil, at
		}
		floats.Scale(1/sum, p)
	}
	return all, nil
}

// probabilityColumn reads those of one outcome.
func probabilityColumn(t *table.Table, column, of string) ([]float64, error) {
	p, err := t.Floats(column)
	if at, ok := err.(*table.Error); ok && at.Line > 0 && at.Column > 0 {
		at.Fix = "give every case a probability from 0 to 1, or leave its row out"
	}
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
		at.Msg = fmt.Sprintf("invalid probability: %v", v)
		at.Fix = fmt.Sprintf("give probabilities%s from 0 to 1; convert other scores first", of)
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
		p, others := make([][]float64, len(train)), make([][]float64, len(f.Rows))
		for k, i := range train {
			p[k] = a.given[column][i]
		}
		for k, i := range f.Rows {
			others[k] = a.given[column][i]
		}
		f.Answers[column] = others
		for _, r := range a.opt.Recalibrations {
			mended, err := r.recalibrate(ctx, positives(p), y, weight, positives(others), a.opt.Fit.Seed)
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
func (a *Audit) kind(model string) Kind {
	for _, m := range a.opt.Methods {
		if model == string(m) {
			return Fitted
		}
	}
	if _, ok := a.given[model]; ok {
		return External
	}
	if model == ProbitRegression {
		return Baseline
	}
	return Recalibrated
}

// audited is the model whose decisions are audited.
func (a *Audit) audited() string { return a.models()[0] }
