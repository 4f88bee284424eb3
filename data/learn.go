package data

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
)

const (
	// From so many rows on, all-different cells are taken for identifiers; in
	// fewer rows they may differ by chance.
	identifierRows = 10
	// Share of different cells from which text is perhaps an identifier.
	identifierShare = 0.9
	// manyCategories is how many of them are worth a word.
	manyCategories = 30
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

	Features []string // the only columns that may make features; nil means all
	Drop     []string // columns that make none
	ID       string   // the column that names the rows, if there is one
	Weights  string   // the column that says how much each row counts, if there is one
	// Groups is the column that says which rows belong together, such as those of one patient,
	// if there is one: they are left out together, and it is not decided by.
	Groups string

	Categorical []string     // columns that are categorical whatever they look like
	Ordered     []OrderedSet // columns whose categories have an order
	Dates       DateOrder    // of dates that could be either; empty means to ask

	Prevalence float64 // share of positive outcomes among the cases to be decided, 0 if as in the rows

	Impute    bool            // fill missing cells by median or mode, with an indicator feature
	Markers   []string        // spellings of a missing cell beside DefaultMissing, or NAME=TEXT for one in the column NAME alone
	KeepScale bool            // leave numeric columns as they are instead of standardising
	Scaling   Bend            // of all numeric columns that are standardised; empty means AutoBend
	Bends     map[string]Bend // of single columns, by name
}

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
			return fmt.Errorf("an empty category in the order of %s", quote(s.Column))
		}
		k := key(bytesOf(category), '.')
		if before, twice := seen[k]; twice && before == category {
			return fmt.Errorf("%s comes twice in the order of %s", quote(category), quote(s.Column))
		} else if twice {
			return fmt.Errorf("%s and %s are the same number in the order of %s", quote(before), quote(category), quote(s.Column))
		}
		seen[k] = category
	}
	if len(seen) < 2 {
		return fmt.Errorf("fewer than two categories in the order of %s", quote(s.Column))
	}
	return nil
}

// Learned is what Learn found: the recipe, and the training rows by it.
type Learned struct {
	Recipe  *Recipe
	X       *mat.Dense // one row of features for each training row
	Labels  []int      // places among Target.Outcomes
	Weights []float64  // how much each row counts; nil if all count one
	Notes   []string   // what a person should know, or be asked, about the table
	Codes   []string   // numeric columns of few different integers, which may be codes
	Leaks   []string   // columns that tell the outcome almost by themselves
}

// Learn learns the recipe from the training rows and encodes them by it.
//
// Dropped, each with a reason in the recipe, are columns with a single value and
// those that identify rather than describe: all-distinct integers named like an
// identifier, unnamed row numbers, and text of which all cells differ. What is not
// certain is an error that says which option settles it.
func Learn(t *Table, o Options) (*Learned, error) {
	l, err := learnRecipe(t.once(), &o)
	if err == nil && t.counts > 0 {
		err = l.recount(t)
	}
	if err != nil {
		return nil, err
	}
	l.Notes = append(l.Notes, l.Recipe.Target.Rare()...)
	return l, l.encode(t)
}

// encode takes the training rows the way of all later rows, and looks
// for columns that tell the outcome.
func (l *Learned) encode(t *Table) (err error) {
	if l.X, _, err = l.Recipe.Apply(t); err == nil {
		l.findLeaks()
		l.Notes = append(l.Notes, l.countsNote(t)...)
	}
	return err
}

// learnRecipe decides about every column by itself. Missing cells are collected
// over all columns before they are reported: a message for one at a time would
// have to be answered many times.
func learnRecipe(t *Table, o *Options) (*Learned, error) {
	if o.Target == "" {
		o.Target = "last"
	}
	roles, err := o.roles(t)
	if err != nil {
		return nil, err
	}
	named, err := roles.named(t, o.Markers)
	if err != nil {
		return nil, err
	}
	missing := allMarkers(named)
	m := newMarkers(missing)
	l := &Learned{Notes: append(slices.Clone(t.notes), t.noColumns(named)...)}
	r := &Recipe{
		Rows: t.n, Header: t.header, Standardize: !o.KeepScale, Impute: o.Impute,
		Missing: missing, Columns: make([]Column, len(t.columns)),
	}
	if t.dialect.decimal == ',' {
		r.Decimal = ","
	}
	l.Recipe = r
	if roles.condition != nil {
		r.Target, l.Labels, err = learnCondition(t, roles.condition, roles.parts, o, m)
	} else {
		r.Target, l.Labels, err = learnTarget(t, roles.target, o, m.ofColumn(t.columns[roles.target], missing))
	}
	if err != nil {
		return nil, err
	}
	l.Notes = append(l.Notes, r.Target.variants(t, roles.target)...)
	if !r.Target.Binary() && o.Prevalence > 0 {
		return nil, &Error{File: t.file, Msg: "a prevalence is the share of one of two outcomes, and there are " + quoteList(r.Target.Outcomes), Fix: "leave it out, or write the outcome as a condition, such as " + conditionOn(r.Target.Outcomes[0])}
	}
	r.Target.Prevalence = o.Prevalence
	if roles.weights >= 0 {
		if l.Weights, err = t.Weights(t.columns[roles.weights], o.Markers...); err != nil {
			return nil, err
		}
		if r.Target.Share, err = weightShare(t, roles.weights, &r.Target, l.Labels, l.Weights); err != nil {
			return nil, err
		}
	}
	learners := make([]*learner, len(t.columns))
	errs := make([]error, len(t.columns))
	tasks.Each(len(t.columns), func() func(int) {
		memory := new(spare)
		return func(j int) {
			if c, settled := roles.settled(t, j); settled {
				r.Columns[j] = c
				return
			}
			learners[j] = &learner{scanned: scan(t, j, m.ofColumn(t.columns[j], missing)), options: o, column: Column{Name: t.columns[j]}}
			learners[j].spare, learners[j].weights = memory, l.Weights
			errs[j] = learners[j].learn(roles)
			r.Columns[j] = learners[j].column
			learners[j].values = nil
		}
	})
	var gaps missingCells
	for j, s := range learners {
		switch {
		case s == nil:
			continue
		case errs[j] != nil:
			return nil, errs[j]
		// What is dropped may have gaps: nobody will look at it again.
		case !o.Impute && r.Columns[j].isFeature():
			gaps.add(s.scanned)
		}
		l.Notes = append(l.Notes, s.notes...)
		if s.codes {
			l.Codes = append(l.Codes, s.name())
		}
	}
	if err := gaps.err(t); err != nil {
		return nil, err
	}
	notes, err := o.checkBends(t, r)
	if err != nil {
		return nil, err
	}
	l.Notes = append(l.Notes, notes...)
	if r.Dim() == 0 {
		return nil, noFeatures(t, r)
	}
	return l, nil
}

// checkBends refuses to bend a column that is no quantity, and notes one that the rows left
// nothing of, which may be so in a part of a table alone.
func (o *Options) checkBends(t *Table, r *Recipe) (notes []string, err error) {
	for j := range r.Columns {
		c := &r.Columns[j]
		switch b, given := o.Bends[c.Name]; {
		case !given || c.Kind == Numeric:
		case c.Kind == Dropped:
			notes = append(notes, fmt.Sprintf("column %s is not decided by (%s), so that there is nothing for %s to scale", quote(c.Name), c.Reason, b))
		default:
			return nil, &Error{
				File: t.file, Column: j + 1, ColumnName: c.Name, Msg: fmt.Sprintf("the column is %s, and %s is for numbers", kindNames[c.Kind], b),
				Fix: "leave it out of the scaling",
			}
		}
	}
	return notes, nil
}

// kindNames are how kinds of features are said of a column.
var kindNames = map[Kind]string{Categorical: "categorical", Ordered: "one of ordered categories", Date: "one of dates", Presence: "of one value"}

// noFeatures explains a table that leaves nothing to decide by.
func noFeatures(t *Table, r *Recipe) error {
	e := &Error{File: t.file, Msg: "there is no column to decide by beside the outcome", Fix: "give a table with further columns"}
	if len(t.columns) > 1 {
		e.Msg = "every column beside the outcome was dropped: " + strings.Join(r.droppedLines(), "; ")
	}
	return e
}
