package audit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/advise"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/table"
)

// split decides what each fold learns from and what it is judged by.
func (a *Audit) split(ctx context.Context) error {
	var err error
	groups := a.opt.Fit.Data.Groups
	if groups != "" {
		if a.groups, a.groupNames, err = a.numbered(a.subject, groups); err != nil {
			return err
		}
	}
	if len(a.opt.Probabilities) == 0 {
		a.notes = append(a.notes, advise.Weights(a.problem.Recipe, a.problem.Weights)...)
	}
	switch {
	case a.opt.Test != nil:
		a.opt.Folds, a.opt.Repeats = 1, 1
		s := compare.Split{Train: indices.Of(a.table.Len()), Test: indices.Of(a.subject.Len())}
		a.splits = [][]compare.Split{{s}}
		return a.keepApart()
	case a.opt.Time != "":
		a.opt.Repeats = 1
		times, err := a.table.Times(a.opt.Time, a.opt.Fit.Data.Dates)
		if err != nil {
			return err
		}
		splits, err := compare.Rolling(times, a.opt.Folds)
		if err != nil {
			return &lossep.InputError{What: "folds", Msg: err.Error(), Err: err}
		}
		a.splits = [][]compare.Split{splits}
		return a.keepApart()
	}
	if groups == "" && len(a.opt.Probabilities) == 0 {
		a.groups = a.problem.Together() // copies of one another
		a.notes = append(a.notes, advise.Copies(a.groups)...)
	}
	for r := range a.opt.Repeats {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rng := rand.New(rand.NewPCG(a.opt.Fit.Seed, uint64(r)))
		folds, err := a.problem.Folds(a.groups, a.opt.Folds, rng)
		if err != nil {
			return &lossep.InputError{What: "folds", Msg: err.Error(), Err: err}
		}
		a.splits = append(a.splits, compare.Splits(folds))
	}
	return nil
}

// keepApart takes the cases of a group that is judged out of what is learned from, and
// sees to it that both outcomes are left.
func (a *Audit) keepApart() error {
	var teachers []int
	if groups := a.opt.Fit.Data.Groups; groups != "" {
		teachers = a.groups
		if a.opt.Test != nil {
			var err error
			if teachers, err = a.renumbered(a.table, groups, a.groupNames); err != nil {
				return err
			}
		}
	}
	judgedBy := make(map[int]bool) // outcomes
	for k := range a.splits[0] {
		s := &a.splits[0][k]
		for _, i := range s.Test {
			judgedBy[a.outcome(i)] = true
		}
		if teachers != nil {
			judged := make(map[int]bool)
			for _, i := range s.Test {
				judged[a.groups[i]] = true
			}
			before := len(s.Train)
			s.Train = slices.DeleteFunc(s.Train, func(i int) bool { return judged[teachers[i]] })
			if gone := before - len(s.Train); gone > 0 {
				a.notes = append(a.notes, fmt.Sprintf("fold %d: %d training rows excluded, because their groups are in the test part", k+1, gone))
			}
		}
		seen := make(map[int]bool)
		for _, i := range s.Train {
			seen[a.problem.Labels[i]] = true
		}
		if len(seen) < 2 {
			return &lossep.InputError{What: "folds", Msg: fmt.Sprintf(
				"the %d training rows of fold %d have only one outcome; use fewer folds, so that each has more training rows", len(s.Train), k+1)}
		}
	}
	if !a.several() && len(judgedBy) < 2 { // nothing is found or missed, nor ranked
		return &lossep.InputError{What: "test", Msg: "all cases that decisions are judged by have one outcome; give cases of both"}
	}
	return nil
}

// doubts are what may be wrong with the table, but for columns that tell the outcome, which have
// their own verdict.
func doubts(p *lossep.Problem) (notes []string) {
	for _, f := range p.Findings {
		if f.Severity == table.Warning && !slices.Contains(p.Leaks, f.Column) {
			notes = append(notes, table.Findings{f}.Texts()...)
		}
	}
	if len(p.Codes) > 0 {
		notes = append(notes, "few different whole numbers, treated as numeric: "+strings.Join(p.Codes, ", ")+"; if they are codes, make them categorical")
	}
	return notes
}
