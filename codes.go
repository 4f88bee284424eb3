package lossep

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

const (
	// codeRows is how many rows of each outcome decide how columns are encoded, and codeViews the most
	// views of the full process that they have together, as long as there are fewestOfOutcome rows of each.
	codeRows        = 200
	codeViews       = 800
	fewestOfOutcome = 5
	// codeMargin is by how many nats the evidence has to be higher for a column to be one of
	// codes: what chance often makes of two encodings that tell the same. commonMargin is that of a
	// scale for all numeric columns, odds of twenty to one; see docs/research/columns.md.
	codeMargin    = 1
	commonMargin  = 3
	commonColumns = 4
	// codeKernel is the kernel of these fits, where not one is given.
	codeKernel = search.OneForAll
)

// Undecided is what the evidence is to decide about the columns of a table: numeric columns that have few
// different whole numbers may be quantities, or codes for categories; and numeric columns
// may each be standardised, or be in one unit, with a scale in common.
type Undecided struct {
	Columns                 []string // that may be codes
	quantities, categorical *recipe.Recipe
	units                   bool
	grades                  bool // whether the outcome, whose categories have an order, is one of grades
}

// Encoding is how such columns are encoded.
type Encoding struct {
	Categorical []string
	Common      bool // one scale for all numeric columns
	Graded      bool // outcomes are grades
}

// FindUndecided finds it for a problem, prepared from the table with these Options. Codes are looked
// for if the Options ask for that, and a common scale where the kernel is AutoKernel and the transformation
// of at least four numeric columns is chosen by their values: with a length scale for each column, scales change nothing.
func FindUndecided(p *Problem, t *table.Table, o Options) (*Undecided, error) {
	u := &Undecided{quantities: p.Recipe, units: o.Recipe == nil && p.opt.Kernel == AutoKernel && p.Recipe.AllCommon() != nil, grades: p.mayBeGrades(&o)}
	if !o.DecideCodes || len(p.Codes) == 0 {
		return u, nil
	}
	all, err := Prepare(t, o.encoded(Encoding{Categorical: p.Codes}))
	if err != nil {
		return nil, err
	}
	u.Columns, u.categorical = p.Codes, all.Recipe
	return u, nil
}

// Grades tells whether it is open if outcomes are grades.
func (u *Undecided) Grades() bool { return u.grades }

// Any tells whether there is anything to decide.
func (u *Undecided) Any() bool { return len(u.Columns) > 0 || u.units || u.grades }

// Recipe is that of the table with columns encoded so; what is estimated from rows is to be estimated again.
func (u *Undecided) Recipe(e Encoding) *recipe.Recipe {
	r := u.quantities
	if len(e.Categorical) > 0 {
		r = r.Taking(u.categorical, e.Categorical)
	}
	if all := r.AllCommon(); e.Common && all != nil {
		r = all
	}
	if e.Graded {
		r = r.AsGrades()
	}
	return r
}

// Decide tells how columns are encoded by the evidence of expectation propagation on a
// sample of the rows of t, which may be a part of the table: one column after another
// becomes categorical and stays so if that raises the log evidence by more than a nat; and
// all of them become so if that is better still. Then the numeric columns have one scale if that
// raises it by more than three. With k columns it takes up to k + 3 fits
// of at most 400 rows, less of more than two outcomes. Categories that have an order are grades where these predict rows that
// are left out better; see gradesPay.
func (u *Undecided) Decide(ctx context.Context, t *table.Table, o Options) (_ Encoding, said table.Findings, _ error) {
	chosen, words, err := u.decideColumns(ctx, t, o)
	for _, text := range words {
		said = append(said, table.Finding{Check: "encoding", Severity: table.Note, Text: text})
	}
	if err != nil || !u.grades {
		return chosen, said, err
	}
	found, err := gradesPay(ctx, t, u.quantities, o, func(some *table.Table, graded bool, o Options) (*Problem, error) {
		e := chosen
		e.Graded = graded
		return u.prepare(some, e, o)
	})
	if err == nil {
		chosen.Graded = found.better()
		said = append(said, found.say(u.quantities.Target))
	}
	return chosen, said, err
}

// decideColumns is Decide for columns.
func (u *Undecided) decideColumns(ctx context.Context, t *table.Table, o Options) (chosen Encoding, words []string, err error) {
	if len(u.Columns) == 0 && !u.units {
		return chosen, nil, nil
	}
	some, err := u.sample(t, o.Seed)
	if err != nil {
		return chosen, nil, err
	}
	units := u.units
	if units {
		if units, err = u.comparable(some); err != nil {
			return chosen, nil, err
		}
	}
	if !units && len(u.Columns) == 0 {
		return chosen, nil, nil
	}
	evidence := u.evidence(ctx, some, o)
	size := some.Len()
	first, err := evidence(chosen)
	if err != nil {
		return chosen, nil, err
	}
	best := first
	try := func(e Encoding, margin float64) error {
		found, err := evidence(e)
		if err == nil && found > best+margin {
			best, chosen = found, e
		}
		return err
	}
	for _, column := range u.Columns {
		if err := try(Encoding{Categorical: append(slices.Clone(chosen.Categorical), column)}, codeMargin); err != nil {
			return chosen, nil, err
		}
	}
	if len(chosen.Categorical) < len(u.Columns) && len(u.Columns) > 1 {
		if err := try(Encoding{Categorical: u.Columns}, codeMargin); err != nil {
			return chosen, nil, err
		}
	}
	if len(u.Columns) > 0 {
		words = append(words, u.words(chosen.Categorical, size, first, best))
	}
	if units {
		apart := best
		if err := try(Encoding{Categorical: chosen.Categorical, Common: true}, commonMargin); err != nil {
			return chosen, nil, err
		}
		if chosen.Common {
			words = append(words, fmt.Sprintf("numeric columns are in one unit, with one scale in common, by the evidence on %d rows (log evidence %.1f, %.1f with each standardised); to standardise each, transform by none", size, best, apart))
		}
	}
	return chosen, words, nil
}

// sample is the rows that decide about columns.
func (u *Undecided) sample(t *table.Table, seed uint64) (*table.Table, error) {
	rows, err := encoded(u.quantities, t)
	if err != nil {
		return nil, err
	}
	most, outcomes := codeRows, len(u.quantities.Target.Outcomes)
	if several(u.quantities) {
		most = max(min(most, codeViews/(outcomes*(outcomes-1))), fewestOfOutcome)
	}
	return t.Subset(rows.someOfEach(most, seed)), nil
}

// comparable tells whether numeric columns vary so much alike that with one scale a distance is made of as many
// as commonColumns of them: (Σv)²/Σv² of their variances is how many that are alike would do the same. Columns of
// different units leave one or two.
func (u *Undecided) comparable(some *table.Table) (bool, error) {
	r, err := u.Recipe(Encoding{Common: true}).Refit(some)
	if err != nil {
		return false, err
	}
	x, _, err := r.Apply(some)
	if err != nil {
		return false, err
	}
	sum, squares := 0.0, 0.0
	for i := range r.Columns {
		if r.Columns[i].Common {
			number, _, _ := r.Place(i)
			v := stat.Variance(mat.Col(nil, number, x), nil)
			sum, squares = sum+v, squares+v*v
		}
	}
	return sum*sum >= commonColumns*squares, nil
}

// evidence is that of encodings on some rows.
func (u *Undecided) evidence(ctx context.Context, some *table.Table, o Options) func(Encoding) (float64, error) {
	return func(e Encoding) (float64, error) {
		p, err := u.prepare(some, e, o)
		if err != nil {
			return 0, err
		}
		l, err := p.Learn(ctx)
		if err != nil {
			return 0, err
		}
		return l.process.logEvidence(), nil
	}
}

// prepare is the problem of some rows that are encoded so, with a simple kernel and without inducing points.
func (u *Undecided) prepare(some *table.Table, e Encoding, o Options) (_ *Problem, err error) {
	o.Method, o.Inducing, o.Power, o.Checkpoints, o.Restarts, o.MaxRows, o.Progress = EP, NoInducing, 0, nil, 0, 0, nil
	if o.Kernel, _, err = splitEffects(o.Kernel); err != nil {
		return nil, err
	}
	if o.Kernel == "" || o.Kernel == AutoKernel {
		o.Kernel = codeKernel
	}
	if o.Recipe, err = u.Recipe(e).Refit(some); err != nil {
		return nil, err
	}
	return Prepare(some, o)
}

// words say what was decided about codes.
func (u *Undecided) words(chosen []string, rows int, quantities, best float64) string {
	rest := slices.DeleteFunc(slices.Clone(u.Columns), func(name string) bool { return slices.Contains(chosen, name) })
	if len(chosen) == 0 {
		return fmt.Sprintf("few different whole numbers, treated as numeric by the evidence on %d rows: %s", rows, strings.Join(rest, ", "))
	}
	line := fmt.Sprintf("few different whole numbers, treated as categorical by the evidence on %d rows (log evidence %.1f, %.1f as numeric): %s",
		rows, best, quantities, strings.Join(chosen, ", "))
	if len(rest) > 0 {
		line += "; numeric: " + strings.Join(rest, ", ")
	}
	return line
}

// PrepareSettled is Prepare after the evidence has decided what is Undecided.
func PrepareSettled(ctx context.Context, t *table.Table, o Options) (*Problem, error) {
	p, err := Prepare(t, o)
	if err != nil {
		return nil, err
	}
	counted := t.Counting(o.WeightsColumn())
	u, err := FindUndecided(p, counted, o)
	if err != nil || !u.Any() {
		return p, err
	}
	chosen, said, err := u.Decide(ctx, counted, o)
	if err != nil {
		return nil, err
	}
	if len(chosen.Categorical) > 0 || chosen.Common || chosen.Graded {
		if p, err = Prepare(t, o.encoded(chosen)); err != nil {
			return nil, err
		}
	}
	p.Notes, p.Findings = append(p.Notes, said.Texts()...), append(p.Findings, said...)
	if o.DecideCodes {
		p.Codes = nil
	}
	return p, nil
}

// encoded are the Options with columns encoded so.
func (o Options) encoded(e Encoding) Options {
	o.Data.Categorical = append(slices.Clone(o.Data.Categorical), e.Categorical...)
	if e.Common {
		o.Data.Scaling = recipe.Common
	}
	if e.Graded {
		o.Data.Grading = recipe.Graded
	}
	return o
}

// someOfEach is up to most rows of each outcome, chosen by the seed, as they stand.
func (p *Problem) someOfEach(most int, seed uint64) []int {
	order, counts := p.Order(), make(map[int]int)
	var rows []int
	for _, place := range rand.New(rand.NewPCG(seed, 5)).Perm(len(order)) {
		i := order[place]
		if counts[p.Labels[i]]++; counts[p.Labels[i]] <= most {
			rows = append(rows, i)
		}
	}
	slices.Sort(rows)
	return rows
}
