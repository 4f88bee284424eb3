// Package advise looks at tables for what a person should know before a model is fitted to them:
// columns that tell the outcome, numbers that stand for missing cells, copies, counts. Checks are
// one list, and what they find are values that every front end can show.
//
// [Learn] is recipe.Learn with these checks. What is ambiguous about a table comes all at once,
// with options that settle all of it.
package advise

import (
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Check is one thing that is looked for. One of Column and Table is set.
type Check struct {
	Name     string
	Severity table.Severity
	Column   func(*Column) []found // looks at a column that makes features
	Table    func(*Look) []found   // looks at the table
}

// checks are all of them, in the order of their findings. A new one is one entry here.
var checks = []Check{
	{Name: "date as a feature", Severity: table.Warning, Column: dateFeature},
	{Name: "date words", Severity: table.Warning, Column: dateWords},
	{Name: "repeated identifier", Severity: table.Warning, Column: repeatedIdentifier},
	{Name: "many categories", Severity: table.Note, Column: manyCategories},
	{Name: "upper and lower case", Severity: table.Warning, Column: letterCase},
	{Name: "stand-in number", Severity: table.Warning, Column: standIns},
	{Name: "rare outcome", Severity: table.Warning, Table: rareOutcomes},
	{Name: leakName, Severity: table.Warning, Table: leaks},
	{Name: "counts", Severity: table.Warning, Table: counts},
}

// leakName is the check whose findings name columns that may not be known beforehand.
const leakName = "leak"

// Look is what checks look at.
type Look struct {
	*recipe.Learned
	Table   *table.Table
	Options *recipe.Options
}

// Column is a column that checks look at.
type Column struct {
	*table.Scan
	look   *Look
	column *recipe.Column
	asked  bool // to be categorical, or in an order
}

// found is a finding before it has the name of its check.
type found struct {
	column string
	rows   int
	text   string
	ways   []table.Way
	// ambiguous is what cannot be decided without an option, in place of all of this.
	ambiguous *table.Error
}

// Advice is what was found about a table that a recipe was learned from.
type Advice struct {
	Findings table.Findings
	Codes    []string // numeric columns of few different integers, which may be codes
	Leaks    []string // columns that tell the outcome almost by themselves

	ambiguous []*table.Error
}

// Learn learns a recipe and looks at what it was learned from. What is ambiguous is an error that
// lists all of it.
func Learn(t *table.Table, o recipe.Options) (*recipe.Learned, *Advice, error) {
	l, a, err := learnOnce(t, o)
	if err != nil {
		return nil, nil, settle(t, o, err)
	}
	return l, a, nil
}

// learnOnce is Learn without what would settle an error.
func learnOnce(t *table.Table, o recipe.Options) (*recipe.Learned, *Advice, error) {
	l, err := recipe.Learn(t, o)
	if err != nil {
		return nil, nil, err
	}
	a := advice(&Look{l, t, &o})
	return l, a, (&table.Problems{All: a.ambiguous}).Err()
}

func advice(k *Look) *Advice {
	a := &Advice{Findings: k.Notes}
	add := func(c *Check, all []found) {
		for _, f := range all {
			if f.ambiguous != nil {
				a.ambiguous = append(a.ambiguous, f.ambiguous)
				continue
			}
			a.Findings = append(a.Findings, table.Finding{Check: c.Name, Severity: c.Severity, Column: f.column, Rows: f.rows, Text: f.text, Ways: f.ways})
			if c.Name == leakName {
				a.Leaks = append(a.Leaks, f.column)
			}
		}
	}
	asked := k.asked()
	for j, s := range k.Scans {
		if s == nil {
			continue
		}
		c := &Column{s, k, &k.Recipe.Columns[j], asked[j]}
		if c.mayBeCodes() {
			a.Codes = append(a.Codes, s.Name())
		}
		for i := range checks {
			if checks[i].Column != nil {
				add(&checks[i], checks[i].Column(c))
			}
		}
	}
	for i := range checks {
		if checks[i].Table != nil {
			add(&checks[i], checks[i].Table(k))
		}
	}
	return a
}

// asked are the columns that options make categorical or put in an order.
func (k *Look) asked() map[int]bool {
	asked := make(map[int]bool)
	refs := append([]string(nil), k.Options.Categorical...)
	for _, o := range k.Options.Ordered {
		refs = append(refs, o.Column)
	}
	for _, ref := range refs {
		if j, err := k.Table.Column(ref); err == nil {
			asked[j] = true
		}
	}
	return asked
}

// rareOutcomes are those of which little can be known.
func rareOutcomes(k *Look) (all []found) {
	for _, text := range k.Recipe.Target.Rare() {
		all = append(all, found{text: text})
	}
	return all
}
