package recipe

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/table"
)

// Recipe is what was learned from the training rows and is applied unchanged
// to every later row. It is plain data: its JSON form is stored in model files
// and gives back the same features bit for bit.
type Recipe struct {
	Rows        int      `json:"rows"`              // training rows it was learned from
	Header      bool     `json:"header"`            // the training file named its columns
	Standardize bool     `json:"standardize"`       // numeric columns were standardised
	Impute      bool     `json:"impute"`            // missing cells are filled
	Missing     []string `json:"missing"`           // spellings of a missing cell, or NAME=TEXT in the column NAME alone
	Decimal     string   `json:"decimal,omitempty"` // "," if the training file had decimal commas
	Target      Target   `json:"target"`
	Columns     []Column `json:"columns"` // all columns of the training file, in its order

	// Open are columns that may not be known yet. Where one of their cells is missing, or is
	// not there at all, its entries in the encoded row are NaN. They are no part of what was learned.
	Open []string `json:"-"`
	// Gaps says the same of all columns that have no missing cell in training, where the cell is there:
	// what it may be is for the model to say, and no fill is as uncertain.
	Gaps bool `json:"-"`
}

// WithGaps is the recipe for rows to be predicted, see Gaps.
func (r *Recipe) WithGaps() *Recipe {
	open := *r
	open.Gaps = true
	return &open
}

// Filled is the recipe for rows that are fitted to, in which every missing cell is filled.
func (r *Recipe) Filled() *Recipe {
	filled := *r
	filled.Gaps, filled.Open = false, nil
	return &filled
}

// WithOpen is the recipe for rows in which some columns may not be known yet.
func (r *Recipe) WithOpen(columns ...string) *Recipe {
	open := *r
	open.Open = columns
	return &open
}

func (r *Recipe) isOpen(column string) bool { return slices.Contains(r.Open, column) }

// Target is the outcome to be decided about.
type Target struct {
	Column    string `json:"column"`              // its name, or the condition
	Condition bool   `json:"condition,omitempty"` // over columns, in the language of package expr
	// Outcomes are the spellings of the outcomes, of two the negative one first. A label is a
	// place among them.
	Outcomes []string `json:"outcomes"`
	// Rows is how many training rows have each of the outcomes.
	Rows []int `json:"outcome_rows"`
	// Unsettled says that nobody has named the positive one of two, nor does convention: the
	// outcomes have an order, and nothing may follow from it.
	Unsettled bool `json:"unsettled,omitempty"`
	// Ordered says that the outcomes are grades, from the lowest.
	Ordered bool `json:"ordered,omitempty"`
	// Number says that the outcome is a number: there are no Outcomes.
	Number bool `json:"number,omitempty"`

	// Share is that of the positive rows in the weights, if rows have weights, or fade, and two outcomes.
	Share float64 `json:"share,omitempty"`
	// Prevalence is the share of positive outcomes among the cases to be decided, if it
	// is another than in the training rows.
	Prevalence float64 `json:"prevalence,omitempty"`
	// Shares and Population are the same of more than two outcomes, one number for each.
	Shares     []float64 `json:"shares,omitempty"`
	Population []float64 `json:"population,omitempty"`
}

// Binary tells whether there are two outcomes, of which one is positive.
func (t *Target) Binary() bool { return len(t.Outcomes) == 2 }

// Positive is the spelling of the positive one of two outcomes, and empty if there are more.
func (t *Target) Positive() string {
	if !t.Binary() {
		return ""
	}
	return t.Outcomes[1]
}

// Outcome is what the positive outcome is called: its spelling, or the condition that holds.
func (t *Target) Outcome() string {
	switch {
	case !t.Condition:
		return t.Positive()
	case t.Positive() == conditionHolds:
		return t.Column
	}
	return "not (" + t.Column + ")"
}

// count sets the numbers of rows with each of the outcomes.
func (t *Target) count(labels []int) {
	t.Rows = make([]int, len(t.Outcomes))
	for _, y := range labels {
		t.Rows[y]++
	}
}

// Recounted is the recipe where so many training rows have each of the outcomes, and the positive one of
// two has this share in their weights, 0 if they have none.
func (r *Recipe) Recounted(rows []int, share float64) *Recipe {
	c := *r
	c.Rows, c.Target.Rows, c.Target.Share = 0, rows, share
	for _, n := range rows {
		c.Rows += n
	}
	return &c
}

// PositiveShare is that of the positive one of two outcomes in the training rows.
func (t *Target) PositiveShare() float64 { return t.RowShares()[1] }

// RowShares are the shares of the outcomes in the training rows, by weight where rows have one.
func (t *Target) RowShares() []float64 {
	switch {
	case t.Share > 0:
		return []float64{1 - t.Share, t.Share}
	case t.Shares != nil:
		return t.Shares
	}
	shares, all := make([]float64, len(t.Rows)), 0
	for _, n := range t.Rows {
		all += n
	}
	for y, n := range t.Rows {
		shares[y] = float64(n) / float64(all)
	}
	return shares
}

// CaseShares are the shares of the outcomes among the cases to be decided, nil if they are as in the
// training rows.
func (t *Target) CaseShares() []float64 {
	if t.Prevalence > 0 {
		return []float64{1 - t.Prevalence, t.Prevalence}
	}
	return t.Population
}

// Shift is how much more frequent the outcomes are among the cases to be decided than among the
// training rows: a probability P(y | x) of the training rows is proportional to it times this
// there. It is nil if no prevalence is given. Of an outcome that no row has, as in a part of a
// table, half a row is taken to have it.
func (t *Target) Shift() []float64 {
	cases := t.CaseShares()
	if cases == nil {
		return nil
	}
	rows, all := t.RowShares(), 0
	for _, n := range t.Rows {
		all += n
	}
	shift := make([]float64, len(cases))
	for y, share := range rows {
		if t.Rows[y] == 0 {
			share = 0.5 / float64(all)
		}
		shift[y] = cases[y] / share
	}
	return shift
}

// settlePopulation takes over the prevalence that was asked for. Outcomes that are not named share
// what is left as they do in the rows.
func (t *Target) settlePopulation(o *Options) (problem, fix string) {
	asked := o.Population
	if o.Prevalence > 0 {
		if !t.Binary() {
			return "a prevalence without a name is that of the positive one of two outcomes, and there are " + table.QuoteList(t.Outcomes), "name outcomes, such as " + t.Outcomes[0] + "=0.1"
		}
		asked = map[string]float64{t.Positive(): o.Prevalence}
	}
	if len(asked) == 0 {
		return "", ""
	}
	left, open := 1.0, 1.0
	shares, rows := make([]float64, len(t.Outcomes)), t.RowShares()
	for name, share := range asked {
		y := slices.Index(t.Outcomes, name)
		if y < 0 {
			return "there is no outcome " + table.Quote(name) + " to have a prevalence", "spell it as one of " + table.QuoteList(t.Outcomes)
		}
		shares[y] = share
		left, open = left-share, open-rows[y]
	}
	const rounding = 1e-9 // of shares that are written to add up to one
	if all := len(asked) == len(shares); all && math.Abs(left) > rounding || !all && !(left > rounding) {
		return fmt.Sprintf("the prevalences add up to %.6g", 1-left), "give every outcome one, adding up to 1, or some of them less than that"
	}
	for y := range shares {
		if _, named := asked[t.Outcomes[y]]; !named {
			shares[y] = left * rows[y] / open
		}
	}
	if t.Binary() {
		t.Prevalence = shares[1]
	} else {
		t.Population = shares
	}
	return "", ""
}

// Weighted tells whether training rows have weights.
func (r *Recipe) Weighted() bool { return r.only(Weights) >= 0 }

// only is the number of the only column of a kind, −1 if there is none.
func (r *Recipe) only(k Kind) int {
	return slices.IndexFunc(r.Columns, func(c Column) bool { return c.Kind == k })
}

// NameOf is the name of the only column of a kind, such as Identity, empty if there is none.
func (r *Recipe) NameOf(k Kind) string {
	if i := r.only(k); i >= 0 {
		return r.Columns[i].Name
	}
	return ""
}

// called is the column of a name, of no kind if there is none.
func (r *Recipe) called(name string) *Column {
	if i := slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == name }); i >= 0 {
		return &r.Columns[i]
	}
	return new(Column)
}

// Kind says what becomes of a column.
type Kind string

// The kinds of columns.
const (
	Numeric     Kind = "numeric"     // one feature (x − mean)/scale, of x bent by Scaling
	Categorical Kind = "categorical" // one 0/1 feature per category
	Ordered     Kind = "ordered"     // one feature: the place in the order, like a number
	Date        Kind = "date"        // days since the first, like a number, and cycles
	Presence    Kind = "presence"    // one value or missing: only the indicator is a feature
	Outcome     Kind = "target"      // the outcome, no feature
	Weights     Kind = "weights"     // how much each training row counts, no feature
	Identity    Kind = "id"          // names the rows, no feature
	Dropped     Kind = "dropped"     // no feature; Reason says why
)

// Column is the part of a Recipe that concerns one column of the table.
type Column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`

	Mean  float64 `json:"mean,omitempty"`  // of one feature: subtracted first
	Scale float64 `json:"scale,omitempty"` // of one feature: divided by; positive
	Low   float64 `json:"low,omitempty"`   // numeric, or used in costs: the smallest training value
	High  float64 `json:"high,omitempty"`  // numeric: the largest

	Notation *table.Notation `json:"notation,omitempty"` // numeric: how numbers are written, if not plainly
	Scaling  *Scaling        `json:"scaling,omitempty"`  // numeric: what is done before standardising, if anything
	Auto     bool            `json:"auto,omitempty"`     // numeric: that was chosen by the values, and is again when it is estimated anew
	Dates    *Dates          `json:"dates,omitempty"`    // date: how they become numbers

	// Categories are compared by value where they are numbers. Those of a categorical
	// column are sorted as texts, those of an ordered one in their order.
	Categories []string `json:"categories,omitempty"`

	Fill         float64 `json:"fill,omitempty"`          // one feature, if imputing: the median
	FillCategory string  `json:"fill_category,omitempty"` // categorical, if imputing: the mode
	Indicator    bool    `json:"indicator,omitempty"`     // cells were missing in training: a further 0/1 feature

	Reason string `json:"reason,omitempty"` // dropped: why
}

// width is the number of features the column makes.
func (c *Column) width() int {
	n := 0
	switch c.Kind {
	case Numeric, Ordered:
		n = 1
	case Date:
		n = 1 + 2*len(c.Dates.Cycles)
	case Categorical:
		n = len(c.Categories)
	}
	if c.Indicator {
		n++
	}
	return n
}

// numbers is how many numbers the column makes of an encoded row; see Coding.
func (c *Column) numbers() int {
	if c.Kind == Categorical {
		return c.width() - len(c.Categories)
	}
	return c.width()
}

// IsFeature tells whether new rows must have the column.
func (c *Column) IsFeature() bool {
	switch c.Kind {
	case Outcome, Dropped, Weights, Identity:
		return false
	}
	return true
}

// atStake tells whether the column makes no feature, but costs are made of its numbers.
func (c *Column) atStake() bool { return c.Kind == Dropped && c.High > c.Low }

// isQuantity tells whether values are numbers that are standardised.
func (c *Column) isQuantity() bool { return c.Kind == Numeric || c.Kind == Ordered || c.Kind == Date }

// Dim is the number of entries of an encoded row: its numbers, and a code for each
// categorical column.
func (r *Recipe) Dim() int { return r.Coding().Len() }

// NumFeatures is the number of features, with one for each category.
func (r *Recipe) NumFeatures() int {
	d := 0
	for i := range r.Columns {
		d += r.Columns[i].width()
	}
	return d
}

// Taking is the recipe with some columns as another recipe of the same table has them.
func (r *Recipe) Taking(other *Recipe, columns []string) *Recipe {
	mixed := *r
	mixed.Columns = slices.Clone(r.Columns)
	for i := range mixed.Columns {
		if slices.Contains(columns, mixed.Columns[i].Name) {
			mixed.Columns[i] = other.Columns[i]
		}
	}
	return &mixed
}

// Features names the features in order: "age" for a numeric column, "job=A171"
// for a category and "income missing" for the indicator of missing cells.
func (r *Recipe) Features() []string {
	names := make([]string, 0, r.NumFeatures())
	for _, c := range r.Columns {
		switch c.Kind {
		case Numeric, Ordered:
			names = append(names, c.Name)
		case Date:
			names = append(names, c.Name)
			for _, cycle := range c.Dates.Cycles {
				names = append(names, c.Name+" "+string(cycle)+" (sine)", c.Name+" "+string(cycle)+" (cosine)")
			}
		case Categorical:
			for _, category := range c.Categories {
				names = append(names, c.Name+"="+category)
			}
		}
		if c.Indicator {
			names = append(names, c.Name+" missing")
		}
	}
	return names
}

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
	case !quantity && (c.Mean != 0 || c.Scale != 0 || c.Fill != 0 || c.Kind != Dropped && (c.Low != 0 || c.High != 0) || c.Scaling != nil || c.Auto):
		return "numbers for a column that has none"
	case c.Kind == Dropped && (!(c.Low <= c.High) || math.IsInf(c.Low, 0) || math.IsInf(c.High, 0)):
		return fmt.Sprintf("values from %v to %v", c.Low, c.High)
	case c.Kind != Categorical && c.Kind != Ordered && c.Categories != nil, c.Kind != Categorical && c.FillCategory != "":
		return "categories for a column that has none"
	case (c.Dates != nil) != (c.Kind == Date), c.Notation != nil && c.Kind != Numeric && c.Kind != Dropped:
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
	case !standardize && (c.Mean != 0 || c.Scale != 1 || c.Scaling != nil):
		return fmt.Sprintf("mean %v and scale %v in a recipe that does not standardise", c.Mean, c.Scale)
	case bad(c.Fill) || !impute && c.Fill != 0:
		return fmt.Sprintf("fill value %v", c.Fill)
	case bad(c.Low) || bad(c.High) || c.Low > c.High:
		return fmt.Sprintf("values from %v to %v", c.Low, c.High)
	case c.Kind != Numeric && (c.Scaling != nil || c.Auto):
		return "a scaling of what is no number"
	case c.Auto && !standardize:
		return "a scaling chosen in a recipe that does not standardise"
	case c.Scaling != nil:
		return c.Scaling.problem()
	}
	return ""
}
