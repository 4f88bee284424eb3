package recipe

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/table"
)

// UnmarshalJSON decodes a recipe and refuses one that could not have been
// learned: with it, rows would be encoded wrongly and nobody would notice.
func (r *Recipe) UnmarshalJSON(text []byte) error {
	type plain Recipe // without this method
	var decoded plain
	if err := json.Unmarshal(text, &decoded, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("recipe: %w", err)
	}
	if err := (*Recipe)(&decoded).Validate(); err != nil {
		return err
	}
	*r = Recipe(decoded)
	return nil
}

// distribution tells whether numbers are shares of n outcomes, or nil.
func distribution(shares []float64, n int) bool {
	sum := 0.0
	for _, s := range shares {
		if !(s >= 0 && s <= 1) {
			return false
		}
		sum += s
	}
	return shares == nil || len(shares) == n && math.Abs(sum-1) < 1e-6
}

// Validate reports the first inconsistency in the recipe.
func (r *Recipe) Validate() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("recipe: "+format, args...)
	}
	t := r.Target
	if problem := t.badOutcomes(r.Rows); problem != "" {
		return fail("%s", problem)
	}
	switch {
	case !t.Binary() && (t.Share != 0 || t.Prevalence != 0) || t.Binary() && (t.Shares != nil || t.Population != nil):
		return fail("a share of the weights or a prevalence of another number of outcomes than %d", len(t.Outcomes))
	case !distribution(t.Shares, len(t.Outcomes)):
		return fail("shares of %v of the weights", t.Shares)
	case !distribution(t.Population, len(t.Outcomes)):
		return fail("a population of %v", t.Population)
	case t.Share < 0 || t.Share >= 1 || t.Binary() && t.Share == 0 && r.Weighted():
		return fail("a share of %v of the weights", t.Share)
	case !(t.Prevalence >= 0 && t.Prevalence < 1):
		return fail("a prevalence of %v", t.Prevalence)
	}
	if len(r.Columns) > table.MaxColumns {
		return fail("%d columns, more than %d", len(r.Columns), table.MaxColumns)
	}
	names := make(map[string]bool, len(r.Columns))
	for i := range r.Columns {
		c := &r.Columns[i]
		if names[c.Name] || c.Name == "" {
			return fail("column %d: name %s is empty or not the only one", i+1, table.Quote(c.Name))
		}
		names[c.Name] = true
		if c.isScore() && (i != r.scoreColumn() || !t.Binary()) {
			return fail("column %d (%s): a score beside another, or of other than two outcomes", i+1, table.Quote(c.Name))
		}
		if problem := c.inconsistency(r.Impute, r.Standardize); problem != "" {
			return fail("column %d (%s): %s", i+1, table.Quote(c.Name), problem)
		}
		if (c.Kind == Outcome) != (c.Name == t.Column && !t.Condition) {
			return fail("column %d (%s) has kind %s, but the outcome is %s", i+1, table.Quote(c.Name), table.Quote(string(c.Kind)), table.Quote(t.Column))
		}
	}
	if problem := t.problem(names); problem != "" {
		return fail("the outcome %s %s", table.Quote(t.Column), problem)
	}
	if r.Dim() == 0 {
		return fail("no features")
	}
	return nil
}

// badOutcomes says what is wrong with the outcomes of so many rows. Of two both are seen in them.
func (t *Target) badOutcomes(rows int) string {
	switch {
	case t.Number && len(t.Outcomes)+len(t.Rows) == 0 && !t.Condition && !t.Unsettled:
		return ""
	case len(t.Outcomes) < 2 || len(t.Outcomes) > MostOutcomes || len(t.Rows) != len(t.Outcomes):
		return fmt.Sprintf("%d outcomes with %d numbers of rows", len(t.Outcomes), len(t.Rows))
	case t.Ordered && (t.Condition || t.Unsettled || t.Number):
		return "grades of what has no order"
	case !t.Binary() && (t.Condition || t.Unsettled):
		return fmt.Sprintf("%d outcomes of which one would be positive", len(t.Outcomes))
	}
	left := rows // compared without a sum, which could overflow
	for y, name := range t.Outcomes {
		n := t.Rows[y]
		if name == "" || slices.Contains(t.Outcomes[:y], name) {
			return fmt.Sprintf("the outcome %s is empty or not the only one", table.Quote(name))
		}
		if n < 0 || n > left || n == 0 && t.Binary() {
			return fmt.Sprintf("%d rows of %d have the outcome %s", n, rows, table.Quote(name))
		}
		left -= n
	}
	if left != 0 {
		return fmt.Sprintf("%d rows have no outcome", left)
	}
	return ""
}

// problem says what is wrong with the columns of the outcome.
func (t *Target) problem(names map[string]bool) string {
	if !t.Condition {
		if !names[t.Column] {
			return "is not among the columns"
		}
		return ""
	}
	c, err := expr.ParseCondition(t.Column)
	if err != nil {
		return "is not a condition: " + err.Error()
	}
	for _, name := range c.Columns() {
		if !names[name] {
			return "needs the column " + table.Quote(name)
		}
	}
	return ""
}

// inconsistency says what is wrong with the column, or nothing. Fields that the
// kind does not use must be zero.
func (c *Column) inconsistency(impute, standardize bool) string {
	quantity := c.isQuantity()
	switch {
	case !quantity && (c.Mean != 0 || c.Scale != 0 || c.Fill != 0 || c.Kind != Dropped && (c.Low != 0 || c.High != 0) || c.Scaling != nil || c.Auto || c.Common):
		return "numbers for a column that has none"
	case c.Kind == Dropped && (!(c.Low <= c.High) || math.IsInf(c.Low, 0) || math.IsInf(c.High, 0)):
		return fmt.Sprintf("values from %v to %v", c.Low, c.High)
	case c.Kind != Categorical && c.Kind != Ordered && c.Categories != nil, c.Kind != Categorical && c.FillCategory != "":
		return "categories for a column that has none"
	case (c.Dates != nil) != (c.Kind == Date), c.Notation != nil && c.Kind != Numeric && c.Kind != Dropped && c.Kind != Outcome:
		return "a notation that does not belong to the column"
	case (c.Reason != "") != (c.Kind == Dropped):
		return "a reason belongs to dropped columns, and every one of them has one"
	case c.Indicator && (!impute || !c.IsFeature()):
		return "an indicator of missing cells where none are filled"
	}
	if quantity {
		if problem := c.badNumbers(impute, standardize); problem != "" {
			return problem
		}
	}
	switch c.Kind {
	case Categorical:
		for k, category := range c.Categories {
			if k > 0 && c.Categories[k-1] >= category {
				return "categories are not in increasing order"
			}
		}
		switch _, known := slices.BinarySearch(c.Categories, c.FillCategory); {
		case len(c.Categories) == 0:
			return "no categories"
		case impute && !known, !impute && c.FillCategory != "":
			return "fill category " + table.Quote(c.FillCategory)
		}
	case Ordered:
		sorted := slices.Sorted(slices.Values(c.Categories))
		if len(sorted) < 2 || len(slices.Compact(sorted)) != len(c.Categories) {
			return "an order of fewer than two categories, or one twice"
		}
	case Date:
		return c.Dates.problem()
	case Presence:
		if !c.Indicator {
			return "presence without an indicator"
		}
	case Numeric, Outcome, Dropped, Weights, Identity:
	default:
		return "unknown kind " + table.Quote(string(c.Kind))
	}
	return ""
}

// badNumbers says what is wrong with the numbers of a quantity.
func (c *Column) badNumbers(impute, standardize bool) string {
	bad := func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
	switch {
	case bad(c.Mean) || bad(c.Scale) || c.Scale <= 0:
		return fmt.Sprintf("mean %v and scale %v are not a finite number and a positive one", c.Mean, c.Scale)
	case c.isScore():
		return c.badScore()
	case !standardize && (c.Mean != 0 || c.Scale != 1 || c.Scaling != nil):
		return fmt.Sprintf("mean %v and scale %v in a recipe that does not standardise", c.Mean, c.Scale)
	case bad(c.Fill) || !impute && c.Fill != 0:
		return fmt.Sprintf("fill value %v", c.Fill)
	case bad(c.Low) || bad(c.High) || c.Low > c.High:
		return fmt.Sprintf("values from %v to %v", c.Low, c.High)
	case c.Kind != Numeric && (c.Scaling != nil || c.Auto || c.Common), c.Common && (c.Scaling != nil || c.Auto):
		return "a scaling of what is no number"
	case (c.Auto || c.Common) && !standardize:
		return "a scaling chosen in a recipe that does not standardise"
	case c.Scaling != nil:
		return c.Scaling.problem()
	}
	return ""
}
