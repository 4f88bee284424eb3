package recipe

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lossep/lossep/table"
)

// Summary describes the recipe in a few lines: the outcome, how many columns
// of each kind make how many features, and what was dropped and why.
func (r *Recipe) Summary() []string {
	t := r.Target
	count := make(map[Kind]int)
	filled := 0
	for _, c := range r.Columns {
		if !c.isScore() {
			count[c.Kind]++
		}
		if c.Indicator {
			filled++
		}
	}
	scaling := "standardised"
	if !r.Standardize {
		scaling = "left as they are"
	}
	lines := []string{
		fmt.Sprintf("%s; outcome %s: %s", table.Plural(r.Rows, "row"), table.Quote(t.Column), t.shares()),
		fmt.Sprintf("%s → %s", table.Plural(r.given(), "column"), table.Plural(r.NumFeatures(), "feature")),
	}
	if score := r.Score(); score != "" {
		lines = append(lines, fmt.Sprintf("score %s, whose probit times a slope is corrected", table.Quote(score)))
	}
	if n := count[Numeric]; n > 0 {
		lines = append(lines, fmt.Sprintf("%s %s%s", table.Plural(n, "numeric column"), scaling, r.bentColumns()))
	}
	if n := count[Date]; n > 0 {
		lines = append(lines, fmt.Sprintf("%s as days since the earliest", table.Plural(n, "date column")))
	}
	if n := count[Ordered]; n > 0 {
		lines = append(lines, fmt.Sprintf("%s as ranks", table.Plural(n, "ordered column")))
	}
	if n := count[Categorical]; n > 0 {
		lines = append(lines, fmt.Sprintf("%s one-hot; unseen categories are encoded as zeros", table.Plural(n, "categorical column")))
	}
	if n := count[Presence]; n > 0 {
		lines = append(lines, fmt.Sprintf("%s of one value, where it is not missing: only the indicator is kept", table.Plural(n, "column")))
	}
	if filled > 0 {
		lines = append(lines, fmt.Sprintf("missing values imputed in %s (median or mode, with an indicator)", table.Plural(filled, "column")))
	}
	for _, line := range r.droppedLines() {
		lines = append(lines, "dropped "+line)
	}
	return append(lines, r.Population()...)
}

// Population says for whom probabilities, decisions and averages are, where that is not as
// in the rows.
func (r *Recipe) Population() (lines []string) {
	if r.Weighted() {
		line := "rows weighted by " + table.Quote(r.NameOf(Weights))
		if r.Target.Binary() {
			line += fmt.Sprintf(": the positive outcome has %.4g %% of the weight", 100*r.Target.PositiveShare())
		}
		lines = append(lines, line)
	}
	if p := r.Target.Prevalence; p > 0 {
		lines = append(lines, fmt.Sprintf("probabilities, decisions and averages are for a population in which the positive outcome has %.4g %% of the cases; among the rows it has %.4g %%", 100*p, 100*r.Target.PositiveShare()))
	}
	if shares := r.Target.Population; shares != nil {
		var of []string
		for y, share := range shares {
			of = append(of, fmt.Sprintf("%s %.4g %% (%.4g %%)", table.Quote(r.Target.Outcomes[y]), 100*share, 100*r.Target.RowShares()[y]))
		}
		lines = append(lines, "probabilities, decisions and averages are for a population with these shares of outcomes, in brackets those among the rows: "+strings.Join(of, ", "))
	}
	return lines
}

// bentColumns names the columns that are bent, and how, the first few of them.
func (r *Recipe) bentColumns() string {
	const most = 6
	var bent []string
	chosen, common := true, 0
	for i := range r.Columns {
		c := &r.Columns[i]
		if c.Common {
			common++
		}
		if c.Scaling != nil && !c.isScore() {
			bent = append(bent, fmt.Sprintf("%s %v", table.Quote(c.Name), c.Scaling))
			chosen = chosen && c.Auto
		}
	}
	one := ""
	if common > 0 {
		one = fmt.Sprintf("; %d by one common scale", common)
	}
	n := len(bent)
	if n == 0 {
		return one
	}
	if n > most {
		bent = append(bent[:most], fmt.Sprintf("and %d more", n-most))
	}
	how := ""
	if chosen {
		how = " (heavy tails)"
	}
	return one + fmt.Sprintf("; %d transformed%s: %s", n, how, strings.Join(bent, ", "))
}

// Percents are the parts of a whole to a tenth of a percent, or to as many digits as it takes to
// tell them from nothing and from all. Of two the larger is what the smaller, as it is shown,
// leaves of 100, and so is no farther from the truth than that is.
func Percents(parts ...int) []string {
	whole := 0
	for _, part := range parts {
		whole += part
	}
	texts := make([]string, len(parts))
	for k, part := range parts {
		text, _ := percent(part, whole)
		if len(parts) == 2 && part > parts[1-k] {
			other, digits := percent(parts[1-k], whole)
			smaller, _ := strconv.ParseFloat(other, 64) // a number that was written just now
			text = strconv.FormatFloat(100-smaller, 'f', digits, 64)
		}
		texts[k] = text + " %"
	}
	return texts
}

// percent is a part of a whole, and how many digits it has after the point.
func percent(part, whole int) (text string, digits int) {
	share := 100 * float64(part) / float64(whole)
	for digits = 1; ; digits++ {
		text = strconv.FormatFloat(share, 'f', digits, 64)
		shown, _ := strconv.ParseFloat(text, 64)
		if (shown > 0 || part == 0) && (shown < 100 || part == whole) {
			return text, digits
		}
	}
}

// shares says how many rows have each of the outcomes.
func (t *Target) shares() string {
	if t.Number {
		return "a number"
	}
	shares := Percents(t.Rows...)
	part := func(y int) string {
		return fmt.Sprintf("%s (%s, %s)", table.Quote(t.Outcomes[y]), table.Plural(t.Rows[y], "row"), shares[y])
	}
	if t.Binary() {
		return "positive " + part(1) + ", negative " + part(0)
	}
	parts := make([]string, len(t.Rows))
	for y := range t.Rows {
		parts[y] = part(y)
	}
	if t.Ordered {
		return strings.Join(parts, " < ")
	}
	return strings.Join(parts, ", ")
}

// given is the number of columns beside the outcome.
func (r *Recipe) given() int {
	n := 0
	for i := range r.Columns {
		if r.Columns[i].Kind != Outcome {
			n++
		}
	}
	return n
}

// Describe is the Summary followed by one line for each column that makes
// features.
func (r *Recipe) Describe() []string {
	lines := append(r.Summary(), r.Target.Rare()...)
	for i := range r.Columns {
		if c := &r.Columns[i]; c.IsFeature() {
			lines = append(lines, c.describe(r))
		}
	}
	return lines
}

// describe is the line about one column that makes features.
func (c *Column) describe(r *Recipe) string {
	var facts []string
	switch c.Kind {
	case Numeric, Ordered, Date:
		facts = c.quantityFacts(r)
	case Categorical:
		facts = append(facts, fmt.Sprintf("%d categories %s", len(c.Categories), table.QuoteList(c.Categories)))
		if c.Indicator {
			facts = append(facts, "missing → "+table.Quote(c.FillCategory))
		}
	case Presence:
		facts = append(facts, "one value or missing")
	}
	if c.Indicator {
		facts = append(facts, "with an indicator of missing cells")
	}
	return table.Quote(c.Name) + ": " + strings.Join(facts, ", ")
}

// quantityFacts are about a column of numbers, dates or ordered categories.
func (c *Column) quantityFacts(r *Recipe) []string {
	facts := []string{string(c.Kind)}
	fill := fmt.Sprintf("%.4g", c.Fill)
	switch c.Kind {
	case Date:
		facts = append(facts, c.Dates.String())
		fill = dateText(c.Fill)
	case Ordered:
		facts = append(facts, strings.Join(c.Categories, " < "))
	case Numeric:
		if c.Notation != nil {
			facts = append(facts, c.Notation.String())
		}
		if how := c.Transformation(); how != "" {
			facts = append(facts, how)
		}
	}
	if c.isScore() {
		return append(facts, "a score with a term of its own")
	}
	if r.Standardize {
		facts = append(facts, fmt.Sprintf("mean %.4g, scale %.4g", c.Mean, c.Scale))
	}
	if c.Indicator {
		facts = append(facts, "missing → "+fill)
	}
	return facts
}

// droppedLines names the dropped columns with their reasons.
func (r *Recipe) droppedLines() []string {
	var lines []string
	for _, c := range r.Columns {
		if c.Kind == Dropped {
			lines = append(lines, table.Quote(c.Name)+": "+c.Reason)
		}
	}
	return lines
}
