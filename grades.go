package lossep

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// Outcomes that have an order may be grades, of one function, or categories, of one each. Which predicts better depends on the
// table (docs/research/numbers.md, "Grades"): both are fitted to some rows, and compared on others.
const (
	// gradeViews is the most views of the full process that the rows have as categories, but for leastOfGrade rows of each
	// outcome, and otherRows the most that are predicted beside those left out in turn.
	gradeViews   = 800
	leastOfGrade = 2
	otherRows    = 1000
	// gradeErrors is by how many standard errors grades have to be better.
	gradeErrors = 1
)

// mayBeGrades tells whether it is open if the outcomes of the problem are categories or grades: nobody has said it, and
// these Options can fit both.
func (p *Problem) mayBeGrades(o *Options) bool {
	return o.Recipe == nil && o.Data.Grading == recipe.AutoGrades && p.Recipe.Target.MayBeGrades() &&
		p.opt.Likelihood.Name == "probit" && !o.Fixed
}

// GradesCheck is that of the finding which says whether outcomes are taken as grades or as categories.
const GradesCheck = "grades"

// gradesFound is by how many nats a row grades predict rows better than categories; nil where rows are too few to tell.
type gradesFound struct {
	compare.Estimate
	fitted, others int // rows
}

func (g *gradesFound) better() bool { return g != nil && g.Mean > gradeErrors*g.StdErr }

// say says what was taken, by how much, and how to have the other.
func (g *gradesFound) say(t recipe.Target) table.Finding {
	f := table.Finding{Check: GradesCheck, Severity: table.Note, Column: t.Column, Ways: []table.Way{{Option: table.WayOutcome, Value: "ordered", Meaning: "as grades"}}}
	order := strings.Join(t.Outcomes, " < ")
	if g == nil {
		f.Text = fmt.Sprintf("the outcome is fitted as categories: too few rows of each outcome can be compared with grades, %s", order)
		return f
	}
	rows := "fitted to " + table.Plural(g.fitted, "row") + ", each left out in turn"
	if g.others > 0 {
		rows += fmt.Sprintf(", and compared on %d others too", g.others)
	}
	by := fmt.Sprintf("by %.3f ± %.3f nats a row (%s)", max(g.Mean, -g.Mean), g.StdErr, rows)
	switch {
	case g.better():
		f.Text = fmt.Sprintf("the outcome is fitted as grades, %s, which predict better than categories, %s", order, by)
		f.Ways[0].Value, f.Ways[0].Meaning = "categories", "as categories"
	case g.Mean < -gradeErrors*g.StdErr:
		f.Text = fmt.Sprintf("the outcome is fitted as categories, which predict better than grades, %s, %s", order, by)
	default:
		f.Text = fmt.Sprintf("the outcome is fitted as categories: grades, %s, predict no better within a standard error (%+.3f ± %.3f nats a row, %s)", order, g.Mean, g.StdErr, rows)
	}
	return f
}

// gradesPay compares grades with categories on rows of t, which may be a part of the table that a recipe was learned from: by what each
// predicts of a fold of some of them by a fit to the other folds, and of others by a fit to all of these. It is nil where rows are too few.
func gradesPay(ctx context.Context, t *table.Table, r *recipe.Recipe, o Options, prepare func(some *table.Table, graded bool, o Options) (*Problem, error)) (*gradesFound, error) {
	rows, err := newGradeRows(t, r, o)
	if err != nil {
		return nil, err
	}
	if o.Kernel == "" || o.Kernel == AutoKernel {
		o.Kernel = search.PerColumn
		if r.Coding().Len() > FewColumns {
			o.Kernel = search.OneForAll
		}
	}
	if o.Progress != nil {
		o.Progress(Progress{Stage: "comparing grades with categories"})
	}
	var folds []compare.Split
	var left [2]*search.LeftOut
	for k, graded := range []bool{false, true} {
		p, err := prepare(t.Subset(rows.fitted), graded, o)
		if err != nil {
			return nil, err
		}
		order := p.Order()
		of := p.some(order).searched()
		if folds == nil {
			if folds = of.Folds(); folds == nil {
				return nil, nil
			}
			rows.order(order, folds)
		}
		var others *search.Problem
		if len(rows.others) > 0 {
			q, err := encoded(p.Recipe, t.Subset(rows.others))
			if err != nil {
				return nil, err
			}
			q.coding, q.opt = p.coding, p.opt
			others = q.searched()
		}
		if left[k], err = of.OutOfFold(ctx, p.opt.Kernel, folds, others); err != nil {
			return nil, err
		}
	}
	gain, err := compare.NewCases(len(rows.units), left[0].Counts, rows.units).Difference(left[1].Logs, left[0].Logs, nil, 0.95)
	if err != nil {
		return nil, nil // too few that are independent
	}
	return &gradesFound{gain, len(rows.fitted), len(rows.others)}, nil
}

// gradeRows are rows that decide between grades and categories: some that are learned from, and others that are only predicted.
// Rows with the same unit belong together.
type gradeRows struct {
	fitted, others []int
	units          []int
}

// encoded are the rows of a table by a recipe, as far as samples of them depend on it.
func encoded(r *recipe.Recipe, t *table.Table) (p *Problem, err error) {
	p = &Problem{Recipe: r}
	p.X, p.Labels, p.Weights, err = encode(r, t)
	return p, err
}

// newGradeRows are of a table. Rows that belong to some that are learned from are not among the others.
func newGradeRows(t *table.Table, of *recipe.Recipe, o Options) (*gradeRows, error) {
	p, err := encoded(of, t)
	if err != nil {
		return nil, err
	}
	if o.Data.Groups != "" {
		if p.groups, err = t.Groups(o.Data.Groups, o.Data.Markers...); err != nil {
			return nil, err
		}
	}
	p.counted = t.Counted()
	most := gradeViews / (len(of.Target.Outcomes) - 1)
	order, counts := p.Order(), make(map[int]int)
	r := new(gradeRows)
	for k, place := range rand.New(rand.NewPCG(o.Seed, 6)).Perm(len(order)) {
		i := order[place]
		if counts[p.Labels[i]]++; k < most || counts[p.Labels[i]] <= leastOfGrade {
			r.fitted = append(r.fitted, i)
		} else if len(r.others) < otherRows {
			r.others = append(r.others, i)
		}
	}
	together := p.some(append(slices.Clone(r.fitted), r.others...)).Together()
	if together == nil {
		together = indices.Of(len(r.fitted) + len(r.others))
	}
	known := make(map[int]bool)
	r.units = together[:len(r.fitted)]
	for _, unit := range r.units {
		known[unit] = true
	}
	others := r.others
	r.others = nil
	for k, i := range others {
		if unit := together[len(r.fitted)+k]; !known[unit] {
			r.others, r.units = append(r.others, i), append(r.units, unit)
		}
	}
	return r, nil
}

// order has the units in the order in which rows are predicted: those of the folds of ordered rows, and the others.
func (r *gradeRows) order(order []int, folds []compare.Split) {
	var units []int
	for _, s := range folds {
		units = append(units, indices.Take(r.units, indices.Take(order, s.Test))...)
	}
	r.units = append(units, r.units[len(r.fitted):]...)
}
