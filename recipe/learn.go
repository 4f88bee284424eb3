package recipe

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/table"
)

const (
	// From so many rows on, all-different cells are taken for identifiers; in
	// fewer rows they may differ by chance.
	IdentifierRows = 10
	// Share of different cells from which text is perhaps an identifier.
	identifierShare = 0.9
	// A range below this fraction of the largest magnitude is rounding error, if its
	// ends are not exact: 1e-14 is some fifty units in the last place.
	constantFraction = 1e-14
)

// Options says how to learn a recipe. The zero value takes the last column as
// the outcome, standardises, and refuses missing cells. Columns are named as in
// Table.Column.
type Options struct {
	Target   string // the outcome; empty means "last"
	Positive string // spelling of the positive outcome; may be empty if convention settles it
	// Unsettled says that Positive is for an order of two outcomes alone; see Target.
	Unsettled bool
	// Number says that the outcome is a number, and not one of several categories.
	Number bool
	// Count says that it is a count, too: a whole number from 0 on.
	Count bool
	// NoiseSD is the column with the standard deviation of the noise of an outcome that is a number, if it is known.
	NoiseSD string
	// Grading says whether outcomes are grades, which have an order.
	Grading Grading

	Features []string // the only columns that may make features; nil means all
	Drop     []string // columns that make none
	Costs    []string // columns that costs are made of, which make none unless Features names them
	ID       string   // the column that names the rows, if there is one
	Weights  string   // the column that says how much each row counts, if there is one
	// Score is the column with the probability of the positive outcome by another model, which was made without the
	// row, if there is one.
	Score string
	// Groups is the column that says which rows belong together, such as those of one patient,
	// if there is one: they are left out together, and it is not decided by.
	Groups string

	Categorical []string        // columns that are categorical whatever they look like
	Ordered     []OrderedSet    // columns whose categories have an order, the outcome among them
	Dates       table.DateOrder // of dates that could be either; empty means to ask

	Prevalence float64 // share of positive outcomes among the cases to be decided, 0 if as in the rows
	// Population is the same of outcomes by name; those not named share the rest as in the rows.
	Population map[string]float64

	Impute    bool            // fill missing cells by median or mode, with an indicator feature
	Markers   []string        // spellings of a missing cell beside DefaultMissing, or NAME=TEXT for one in the column NAME alone
	KeepScale bool            // leave numeric columns as they are instead of standardising
	Scaling   Bend            // of all numeric columns that are standardised; empty means AutoBend
	Bends     map[string]Bend // of single columns, by name
}

// Grading says whether the outcomes of a column are grades.
type Grading int

// The zero value is for grades where Ordered has their order. Graded outcomes that it does not name have that of numbers, or of
// words of a scale.
const (
	AutoGrades Grading = iota
	Graded
	Ungraded
)

// OrderedSet is a column with its categories in order.
type OrderedSet struct {
	Column     string
	Categories []string
}

// Check refuses an order that is none: of fewer than two categories, or with an empty one
// or the same one twice, by value if they are numbers.
func (s *OrderedSet) Check() error {
	seen := make(map[string]string, len(s.Categories))
	for _, category := range s.Categories {
		category = strings.TrimSpace(category)
		if category == "" {
			return fmt.Errorf("an empty category in the order of %s", table.Quote(s.Column))
		}
		k := table.Key(table.BytesOf(category), '.')
		if before, twice := seen[k]; twice && before == category {
			return fmt.Errorf("%s comes twice in the order of %s", table.Quote(category), table.Quote(s.Column))
		} else if twice {
			return fmt.Errorf("%s and %s are the same number in the order of %s", table.Quote(before), table.Quote(category), table.Quote(s.Column))
		}
		seen[k] = category
	}
	if len(seen) < 2 {
		return fmt.Errorf("fewer than two categories in the order of %s", table.Quote(s.Column))
	}
	return nil
}

// Learned is what Learn found: the recipe, and the training rows by it.
type Learned struct {
	Recipe  *Recipe
	X       *mat.Dense // one row of features for each training row
	Labels  []int      // places among Target.Outcomes
	Values  []float64  // outcomes that are numbers, in place of labels
	Weights []float64  // how much each row counts; nil if all count one
	// Scans are what was found in the columns, nil where what becomes of one does not depend on it.
	Scans []*table.Scan
	Notes table.Findings // how the table was read
}

// Learn learns the recipe from the training rows and encodes them by it.
//
// Dropped, each with a reason in the recipe, are columns with a single value and
// those that identify rather than describe: all-distinct integers named like an
// identifier, unnamed row numbers, and text of which all cells differ. What is not
// certain is an error that says which option settles it.
func Learn(t *table.Table, o Options) (*Learned, error) {
	l, err := learnRecipe(t.Once(), &o)
	if err == nil && t.Counted() {
		err = l.recount(t)
	}
	if err != nil {
		return nil, err
	}
	l.X, _, err = l.Recipe.Apply(t) // the way of all later rows
	return l, err
}

// recount counts and estimates anew, by all rows, what was learned from those that come once.
func (l *Learned) recount(t *table.Table) (err error) {
	if l.Recipe, err = l.Recipe.Refit(t); err != nil {
		return err
	}
	if l.Recipe.Target.Number {
		l.Values, err = l.Recipe.Numbers(t)
	} else {
		l.Labels, err = l.Recipe.Labels(t)
	}
	return err
}

// learnRecipe decides about every column by itself. What cannot be decided is collected over all
// columns before it is reported, and so are missing cells: a message for one at a time would have
// to be answered many times.
func learnRecipe(t *table.Table, o *Options) (*Learned, error) {
	roles, named, err := o.assign(t)
	if err != nil {
		return nil, err
	}
	missing := table.AllMarkers(named)
	m := table.NewMarkers(missing)
	l := &Learned{Scans: make([]*table.Scan, t.Width())}
	l.note("text", append(t.Notes(), noColumns(t, named)...))
	r := &Recipe{
		Rows: t.Len(), Header: t.HasHeader(), Standardize: !o.KeepScale, Impute: o.Impute,
		Missing: missing, Columns: make([]Column, t.Width()),
	}
	if t.Decimal() == ',' {
		r.Decimal = ","
	}
	l.Recipe = r
	problems := new(table.Problems)
	if err := problems.Add(l.learnOutcome(t, o, roles, m)); err != nil {
		return nil, err
	}
	learners, again := make([]*learner, t.Width()), sync.OnceValue(func() []bool { return again(t) })
	errs := make([]error, t.Width())
	tasks.Each(t.Width(), func() func(int) {
		memory := new(spare)
		return func(j int) {
			if c, settled := roles.settled(t, j); settled {
				r.Columns[j] = c
				return
			}
			learners[j] = &learner{estimator: estimator{Scan: table.NewScan(t, j, m.OfColumn(t.ColumnName(j), missing)), spare: memory, weights: l.Weights}, options: o, column: Column{Name: t.ColumnName(j)}, again: again}
			errs[j] = learners[j].learn(roles)
			r.Columns[j] = learners[j].column
			learners[j].values = nil
		}
	})
	if err := l.collect(t, o, learners, errs, problems); err != nil {
		return nil, err
	}
	if r.Dim() == 0 || r.Dim() == 1 && roles.score >= 0 {
		return nil, noFeatures(t, r)
	}
	return l, nil
}

// collect takes over what was learned of the columns, and returns what is wrong with any of them.
func (l *Learned) collect(t *table.Table, o *Options, learners []*learner, errs []error, problems *table.Problems) error {
	var gaps missingCells
	for j, s := range learners {
		switch {
		case s == nil:
			continue
		case errs[j] != nil:
			if err := problems.Add(errs[j]); err != nil {
				return err
			}
		// What is dropped may have gaps: nobody will look at it again.
		case !o.Impute && l.Recipe.Columns[j].IsFeature():
			gaps.add(s.Scan)
		}
		l.Notes = append(l.Notes, s.notes...)
		if !l.Recipe.Columns[j].isScore() {
			l.Scans[j] = s.Scan
		}
	}
	l.Recipe.shareScale()
	notes, err := o.checkBends(t, l.Recipe)
	l.note("scaling", notes)
	for _, err := range []error{gaps.err(t), err} {
		if err := problems.Add(err); err != nil {
			return err
		}
	}
	return problems.Err()
}

// note takes down how the table was read.
func (l *Learned) note(check string, texts []string) {
	for _, text := range texts {
		l.Notes = append(l.Notes, table.Finding{Check: check, Severity: table.Note, Text: text})
	}
}

// learnOutcome finds the outcome, its labels and the weights of rows.
func (l *Learned) learnOutcome(t *table.Table, o *Options, roles *roles, m *table.Markers) (err error) {
	r := l.Recipe
	if err := o.checkOrder(t, roles); err != nil {
		return err
	}
	if o.Number {
		if err := o.checkScore(t, roles, &Target{Number: true}); err != nil {
			return err
		}
		return l.learnNumber(t, o, roles, m)
	}
	if roles.condition != nil {
		r.Target, l.Labels, err = learnCondition(t, roles.condition, roles.parts, o, m)
	} else {
		r.Target, l.Labels, err = learnTarget(t, roles.target, o, roles.ordered[roles.target], m.OfColumn(t.ColumnName(roles.target), r.Missing))
	}
	if err != nil {
		return err
	}
	if err := o.checkScore(t, roles, &r.Target); err != nil {
		return err
	}
	l.note("spellings", r.Target.variants(t, roles.target))
	if roles.weights >= 0 {
		if l.Weights, err = t.Weights(t.ColumnName(roles.weights), o.Markers...); err == nil {
			err = r.Target.weigh(t, roles.weights, l.Labels, l.Weights)
		}
		if err != nil {
			return err
		}
	}
	if problem, fix := r.Target.settlePopulation(o); problem != "" {
		return &table.Error{File: t.Name(), Msg: problem, Fix: fix}
	}
	return nil
}

// checkBends refuses to bend a column that is no quantity, and notes one that the rows left
// nothing of, which may be so in a part of a table alone.
func (o *Options) checkBends(t *table.Table, r *Recipe) (notes []string, err error) {
	for j := range r.Columns {
		c := &r.Columns[j]
		switch b, given := o.Bends[c.Name]; {
		case !given || c.Kind == Numeric || c.Kind == Outcome || c.Kind == "": // or not decided
		case c.Kind == Dropped:
			notes = append(notes, fmt.Sprintf("column %s is not a feature (%s), so that there is nothing for %s to scale", table.Quote(c.Name), c.Reason, b))
		default:
			return nil, (&table.Error{File: t.Name(), Column: j + 1, ColumnName: c.Name}).Say(
				"leave it out of the scaling",
				"the column is %s, and %s is for numbers", kindNames[c.Kind], b)
		}
	}
	return notes, nil
}

// kindNames are how kinds of features are said of a column.
var kindNames = map[Kind]string{Categorical: "categorical", Ordered: "one of ordered categories", Date: "one of dates", Presence: "of one value"}

// noFeatures explains a table that leaves nothing to decide by.
func noFeatures(t *table.Table, r *Recipe) error {
	e := &table.Error{File: t.Name(), Msg: "there are no features beside the outcome", Fix: "give a table with further columns"}
	if r.Dim() == 1 {
		e.Msg, e.Fix = "there are no features beside the outcome and the score", "give a table with further columns, or leave the score out, which is a feature then"
		return e
	}
	if t.Width() > 1 {
		e.Msg = "every column beside the outcome was dropped: " + strings.Join(r.droppedLines(), "; ")
		if slices.ContainsFunc(r.Columns, func(c Column) bool { return c.Reason == costReason }) {
			e.Fix, e.Ways = "give a table with further columns, or use those of the costs as features", []table.Way{{Option: table.WayCosts}}
		}
	}
	return e
}
