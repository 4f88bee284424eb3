package recipe

import (
	"fmt"

	"github.com/lossep/lossep/table"
)

// A score is a column with the probability of the positive outcome by another model, which is to be corrected. It is
// a number on the probit scale, that of latent values, and stands first in encoded rows, where the kernel has a
// term for it alone. Nothing can stand in for one that is missing, and of 0 and 1, which claim certainty, nothing
// could be corrected.

// probit is the transformation of a score: Φ⁻¹(p).
const probit Bend = "probit"

// isScore tells whether the column is a score.
func (c *Column) isScore() bool { return c.Scaling != nil && c.Scaling.Bend == probit }

// Score is the name of the column that is a score, empty if there is none.
func (r *Recipe) Score() string {
	if i := r.scoreColumn(); i >= 0 {
		return r.Columns[i].Name
	}
	return ""
}

func (r *Recipe) scoreColumn() int {
	for i := range r.Columns {
		if r.Columns[i].isScore() {
			return i
		}
	}
	return -1
}

// inOrder are the numbers of the columns as they lie in encoded rows: the score first.
func (r *Recipe) inOrder() []int {
	order, score := make([]int, 0, len(r.Columns)), r.scoreColumn()
	if score >= 0 {
		order = append(order, score)
	}
	for i := range r.Columns {
		if i != score {
			order = append(order, i)
		}
	}
	return order
}

// What is wrong with a cell of a score, and what to do.
const (
	missingScore = "missing cell, and a score is needed for every row"
	certainScore = "a score is a probability between 0 and 1, both excluded"
	fixScore     = "write the probability that the other model gives the row, such as (votes + ½)/(trees + 1) where all trees vote alike, or leave the row out"
)

// scoreProblem is what is wrong with a number of a score.
func scoreProblem(x float64) string {
	if x > 0 && x < 1 {
		return ""
	}
	return fmt.Sprintf("%s is not between 0 and 1; %s", table.Spelled(x), certainScore)
}

// learnScore is a column of probabilities.
func (l *learner) learnScore() error {
	c := &l.column
	c.Kind, c.Scale = Numeric, 1
	if l.Missing > 0 {
		return l.Table.CellPlace(l.Gap, l.Scan.Column).Say(fixScore, "%s", missingScore)
	}
	if len(l.Words) > 0 {
		n, odd := l.Notation()
		if n == nil {
			odd = l.Words
		}
		if len(odd) > 0 {
			return l.Scan.At(odd[0]).Say(fixScore, "%s is not a number; %s", table.Quote(string(l.Word(odd[0]))), certainScore)
		}
		if *n != (table.Notation{}) {
			c.Notation = n
		}
	}
	for row, x := range l.all() {
		if problem := scoreProblem(x); problem != "" {
			return l.Table.CellPlace(row, l.Scan.Column).Say(fixScore, "%s", problem)
		}
	}
	l.estimate(c, l.options.Impute, !l.options.KeepScale)
	return nil
}

// setScore has the column be a score with values between these.
func (c *Column) setScore(low, high float64) {
	c.Mean, c.Scale, c.Fill, c.Auto, c.Common, c.Low, c.High = 0, 1, 0, false, false, low, high
	c.Scaling = &Scaling{Bend: probit, Low: low, High: high}
}

// badScore says what is wrong with a column that is a score.
func (c *Column) badScore() string {
	if c.Kind != Numeric || c.Mean != 0 || c.Scale != 1 || c.Indicator || c.Auto || c.Common || !(c.Low > 0 && c.Low <= c.High && c.High < 1) {
		return "not a score"
	}
	return ""
}

// checkScore refuses a score where outcomes are not two, and where it stands alone.
func (o *Options) checkScore(t *table.Table, roles *roles, target *Target) error {
	if roles.score < 0 || target.Binary() {
		return nil
	}
	outcomes := fmt.Sprintf("there are %d", len(target.Outcomes))
	if target.Number {
		outcomes = "the outcome is a number"
	}
	return t.ColumnPlace(roles.score).Say("leave the score out; what other models say is a feature then, of probabilities one column for each outcome with the scaling log-odds",
		"a score is the probability of one of two outcomes, and %s", outcomes)
}
