package recipe

import (
	"fmt"
	"math"
	"slices"

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

// DateOrder is the order of day and month in a column of dates, empty if it has none.
func (r *Recipe) DateOrder(column string) table.DateOrder {
	if c := r.called(column); c.Dates != nil && (c.Dates.Order == table.DayFirst || c.Dates.Order == table.MonthFirst) {
		return c.Dates.Order
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
	Common   bool            `json:"common,omitempty"`   // numeric: Scale is that of all such columns
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
