package audit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

const (
	// DefaultFolds is the number of folds that Options without one stand for.
	DefaultFolds = 10
	// MostRepeats is how often a cross-validation may be repeated: the chance of how rows are dealt
	// is then a thirtieth of that of one.
	MostRepeats = 1000
	// Level is the confidence level of all intervals.
	Level = 0.95
	// mostCurrency is how many bytes the name of a currency may have.
	mostCurrency = 16
)

// Options say what to audit.
type Options struct {
	// Fit is how models are fitted; its Method is the one whose decisions are audited.
	// Its Recipe is not used. Cases that belong together by its Groups are never on both
	// sides of a split, and count as one in intervals; so are copies in a cross-validation.
	Fit lossep.Options
	// Methods are those it is compared with; nil stands for all.
	Methods []lossep.Method
	// Probabilities are columns with probabilities of the positive outcome, or with more than
	// two outcomes the beginnings of the names of columns for each (see Given), that were made
	// elsewhere, for cases that their models had not seen. If there are any, nothing is
	// fitted to the rows: these are audited, the first of them against the others, and
	// recalibrated in each of the ways of Recalibrations by the other folds.
	Probabilities  []string
	Recalibrations []Recalibration

	// Folds is the number of parts of a cross-validation; 0 stands for DefaultFolds.
	Folds int
	// Repeats is how many cross-validations there are; 0 stands for one.
	Repeats int
	// Time is a column by which the past teaches and the next is decided.
	Time string
	// Test is a table of cases that nothing is learned from; all of it is decided by what
	// the whole of the other table teaches.
	Test *table.Table
	// CasesPerYear is how many cases are decided in a year, and Currency what costs are in; for
	// totals, which are left out without the one, and words.
	CasesPerYear int
	Currency     string
	// By is a column whose values distinguish cases in the result.
	By string
	// Capacity is how much there is of actions, for all cases together or by Per, a period of the column
	// Time or a column; decisions within it are measured beside those without.
	Capacity []decision.Capacity
	Per      string
	// References is on how many folds decisions are compared with those of the exact
	// posterior.
	References int
}

// Audit is a cross-validation, or another way to judge decisions by their cost, that is
// ready to run.
type Audit struct {
	table   *table.Table // what is learned from
	subject *table.Table // what is decided: the same table, or that of a test
	opt     Options
	problem *lossep.Problem   // of the table, never fitted
	judged  *lossep.Problem   // of the subject
	open    *lossep.Undecided // what each fold decides about its columns and outcomes
	kernel  string            // that was asked for, empty for none
	given   map[string][][]float64

	costs      []decision.Stakes // of every row of the subject
	weights    []float64         // of every row of the subject; 0 if no fold decides it
	groups     []int             // of every row of the subject; nil if each is its own
	groupNames map[string]int
	by, values []string // the column By of every row of the subject, and its values
	ids        []string // of every row of the subject; nil if no column has them
	idColumn   string
	limits     *decision.Capacities // nil without a capacity
	efforts    [][][]float64        // of every row of the subject
	periods    []string             // of every row of the subject; nil if all share a capacity
	cases      *compare.Cases
	total      float64 // of the weights
	rows       int     // that are decided
	splits     [][]compare.Split
	notes      []string
}

// New checks everything that can be checked without a fit. Errors are those of
// lossep.Prepare, those of the context, and *lossep.InputError for options that do not fit the rows.
func New(ctx context.Context, t *table.Table, o Options) (*Audit, error) {
	asked, named := o.Fit, len(o.Methods) > 0
	t, notes := o.counting(t)
	if o.Test != nil {
		var more []string
		o.Test, more = o.counting(o.Test)
		notes = append(notes, more...)
	}
	o, err := o.complete(t)
	if err != nil {
		return nil, err
	}
	if err := checkGiven(t, o.Probabilities); err != nil {
		return nil, err
	}
	a := &Audit{table: t, subject: t, opt: o, notes: notes, kernel: asked.Kernel}
	first := o.Fit
	// What depends on the number of outcomes if there is none.
	first.Method, first.Kernel = asked.Method, asked.Kernel
	if a.problem, err = lossep.Prepare(t, first); err != nil {
		return nil, err
	}
	if a.several() {
		a.opt.Fit.Kernel = a.problem.AskedKernel()
		if err := a.forSeveral(named); err != nil {
			return nil, err
		}
		o = a.opt
	}
	a.judged, a.notes = a.problem, append(a.notes, a.problem.Recipe.Population()...)
	if a.open, err = lossep.FindUndecided(a.problem, t, o.Fit); err != nil {
		return nil, err
	}
	if o.Fit.DecideCodes {
		a.problem.Codes = nil
	}
	if a.open.Grades() && len(o.Probabilities) == 0 {
		a.notes = append(a.notes, "whether the outcome is one of categories or of grades is decided in each fold, by its training rows")
	}
	a.notes = append(a.notes, doubts(a.problem)...)
	if err := a.judge(o); err != nil {
		return nil, err
	}
	if err := a.split(ctx); err != nil {
		return nil, err
	}
	a.weigh()
	for _, check := range []func() error{a.tellApart, a.limit, a.name} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// judge finds what is known of the rows that are decided: what is at stake, and given probabilities.
func (a *Audit) judge(o Options) (err error) {
	if o.Test != nil {
		a.subject = o.Test
		// The test set goes through what was learned, and is not bounded by what a fit costs.
		f := o.Fit
		f.Recipe, f.MaxRows = a.problem.Recipe, math.MaxInt
		if a.judged, err = lossep.Prepare(o.Test, f); err != nil {
			return err
		}
	}
	for i := range a.len() {
		a.costs = append(a.costs, costs(a.judged.Stakes(i)))
	}
	a.given = make(map[string][][]float64)
	for _, name := range o.Probabilities {
		if a.given[name], err = Given(a.subject, name, a.outcomes()); err != nil {
			return err
		}
	}
	return nil
}

// counting leaves out the cases that count nothing: they are neither learned from nor decided.
func (o *Options) counting(all *table.Table) (some *table.Table, notes []string) {
	some = all.Counting(o.Fit.Data.Weights)
	if gone := all.Len() - some.Len(); gone > 0 {
		notes = append(notes, fmt.Sprintf("%d of %s of %s left out for a weight of 0", gone, table.Plural(all.Len(), "row"), all.Name()))
	}
	return some, notes
}

// name reads the column of identifiers, as they stand there.
func (a *Audit) name() (err error) {
	if column := a.opt.Fit.Data.ID; column != "" {
		a.idColumn, a.ids, err = a.subject.Spelled(column)
	}
	return err
}

// id is what the table calls a row of the subject; empty if it has no column for that.
func (a *Audit) id(row int) string {
	if a.ids == nil {
		return ""
	}
	return a.ids[row]
}

// complete fills in defaults and checks what does not need the rows.
func (o Options) complete(t *table.Table) (Options, error) {
	if o.Folds == 0 {
		o.Folds = DefaultFolds
	}
	if o.Repeats == 0 {
		o.Repeats = 1
	}
	if len(o.Methods) == 0 {
		train := t.Len() - t.Len()/o.Folds
		o.Methods = o.Fit.Methods(train)
		if o.Fit.Induces(train) { // Loss-VI would take as many passes again as all others
			o.Methods = slices.DeleteFunc(o.Methods, func(m lossep.Method) bool { return m == lossep.LossVI })
		}
	}
	o.Fit.Recipe = nil
	if o.Fit.Method == "" {
		o.Fit.Method = o.Fit.DefaultMethod(t.Len())
	}
	if err := o.check(); err != nil {
		return o, err
	}
	o.Time, o.Fit.Data.Groups = t.Named(o.Time), t.Named(o.Fit.Data.Groups)
	// A column that says how to judge is not to decide by.
	if o.Time != "" && len(o.Fit.Data.Features) == 0 {
		o.Fit.Data.Drop = append(slices.Clone(o.Fit.Data.Drop), o.Time)
	}
	if o.Fit.Kernel == "" {
		o.Fit.Kernel = o.Fit.DefaultKernel(t)
	}
	if len(o.Probabilities) > 0 {
		o.Methods, o.References = nil, 0
		o.Fit.Data.Features, o.Fit.Data.Drop = nil, nil
		for _, name := range o.Probabilities {
			o.Fit.Data.Features = append(o.Fit.Data.Features, givenColumns(t, name)...)
		}
		o.Fit.Data.KeepScale, o.Fit.MaxRows, o.Fit.MaxMemory = true, math.MaxInt, math.MaxInt64
		return o, nil
	}
	if err := o.withinMemory(t); err != nil {
		return o, err
	}
	// From here on the audited method is the first of all.
	others := slices.DeleteFunc(slices.Clone(o.Methods), func(m lossep.Method) bool { return m == o.Fit.Method })
	o.Methods = append([]lossep.Method{o.Fit.Method}, others...)
	return o, nil
}

func (o Options) check() error {
	bad := func(what, format string, args ...any) error {
		return &lossep.InputError{What: what, Msg: fmt.Sprintf(format, args...)}
	}
	switch {
	case o.Folds < 2:
		return bad("folds", "%d is below 2", o.Folds)
	case o.Repeats < 1:
		return bad("repeats", "%d is below 1", o.Repeats)
	case o.Repeats > MostRepeats:
		return bad("repeats", "%d is above %d", o.Repeats, MostRepeats)
	case o.CasesPerYear < 0:
		return bad("cases-per-year", "%d is below 0", o.CasesPerYear)
	case len(o.Currency) > mostCurrency || strings.ContainsFunc(o.Currency, unicode.IsControl):
		return bad("currency", "%q is not a currency, such as EUR or k€", o.Currency)
	case o.References < 0:
		return bad("references", "%d is below 0", o.References)
	case o.Test != nil && o.Time != "":
		return bad("time", "a time column and a test set exclude each other; give one of them")
	case o.Test != nil && len(o.Probabilities) > 0:
		return bad("probability", "nothing is fitted to external probabilities; give the test set itself as the table")
	case o.Repeats > 1 && (o.Test != nil || o.Time != ""):
		return bad("repeats", "a split by time, or into a table and a test set, cannot be repeated; leave the repeats out")
	}
	for i, m := range o.Methods {
		if !slices.Contains(lossep.Methods(), m) {
			var all []string
			for _, known := range lossep.Methods() {
				all = append(all, string(known))
			}
			return bad("methods", "unknown method %q; choose one of %s", string(m), strings.Join(all, ", "))
		}
		if slices.Contains(o.Methods[:i], m) {
			return bad("methods", "%q is given twice", string(m))
		}
	}
	for i, column := range o.Probabilities {
		if slices.Contains(o.Probabilities[:i], column) {
			return bad("probability", "%q is given twice", column)
		}
	}
	for _, r := range o.Recalibrations {
		if !slices.Contains(Recalibrations(), r) {
			return bad("recalibrate", "unknown recalibration method %q; choose one of %v", string(r), Recalibrations())
		}
	}
	return nil
}

// withinMemory refuses methods that would take more memory than is allowed.
func (o Options) withinMemory(t *table.Table) error {
	if o.Fit.Induces(t.Len() - t.Len()/o.Folds) {
		return nil
	}
	most := o.Fit.MaxMemory
	if most == 0 {
		most = lossep.DefaultMaxMemory
	}
	n := t.Len() - t.Len()/o.Folds
	for _, m := range o.Methods {
		if need := m.FitBytes(n); need > float64(most) {
			return &lossep.InputError{What: "max memory", Msg: fmt.Sprintf(
				"%s takes about %.2g GB of memory for the %d training rows of a fold, more than %.2g GB: leave it out of the methods, give a sample of the rows, or allow more memory",
				m, need/1e9, n, float64(most)/1e9)}
		}
	}
	return nil
}

// Problem is that of all rows, to be shown; it is never fitted.
func (a *Audit) Problem() *lossep.Problem { return a.problem }

// Len is the number of folds of all repeats.
func (a *Audit) Len() int { return a.opt.Folds * a.opt.Repeats }

// Settings are what the folds depend on. Folds that were computed under the same
// settings can be taken up again.
type Settings struct {
	Version        string            `json:"version"`
	Rows           string            `json:"rows"` // checksum of the table
	Test           string            `json:"test,omitempty"`
	Utility        *decision.Spec    `json:"utility"`
	Methods        []lossep.Method   `json:"methods"`
	Probabilities  []string          `json:"probabilities,omitempty"`
	Recalibrations []Recalibration   `json:"recalibrations,omitempty"`
	Likelihood     lossep.Likelihood `json:"likelihood"`
	Kernel         string            `json:"kernel"`
	Fixed          bool              `json:"fixed"`
	Restarts       int               `json:"restarts"`
	Inducing       int               `json:"inducing"`
	Power          float64           `json:"power"`
	ShardRows      int               `json:"shard_rows"`
	Sweeps         int               `json:"sweeps"`
	DecideCodes    bool              `json:"decide_codes,omitempty"`
	DecideGrades   bool              `json:"decide_grades,omitempty"`
	Folds          int               `json:"folds"`
	Repeats        int               `json:"repeats"`
	Groups         string            `json:"groups,omitempty"`
	Time           string            `json:"time,omitempty"`
	References     int               `json:"references"`
	Seed           uint64            `json:"seed"`
	Recipe         *recipe.Recipe    `json:"recipe"`
}

// Settings of the audit.
func (a *Audit) Settings() any {
	o := a.opt
	s := Settings{
		Version: lossep.Version, Rows: Checksum(a.table), Utility: a.problem.Utility, Methods: o.Methods,
		Probabilities: o.Probabilities, Recalibrations: o.Recalibrations,
		Likelihood: o.Fit.Likelihood, Kernel: a.problem.KernelText(), Fixed: o.Fit.Fixed, Restarts: o.Fit.Restarts,
		Inducing: o.Fit.Inducing, Power: o.Fit.Power, ShardRows: o.Fit.ShardRows, Sweeps: o.Fit.Sweeps, DecideCodes: o.Fit.DecideCodes, DecideGrades: a.open.Grades(),
		Folds: o.Folds, Repeats: o.Repeats, Groups: o.Fit.Data.Groups, Time: o.Time,
		References: o.References, Seed: o.Fit.Seed, Recipe: a.problem.Recipe,
	}
	if o.Test != nil {
		s.Test = Checksum(o.Test)
	}
	return s
}

// Checksum is that of the cells, each with its length so that they cannot be confused.
func Checksum(t *table.Table) string {
	h := sha256.New()
	var length [8]byte
	add := func(cells []string) {
		for _, c := range cells {
			binary.LittleEndian.PutUint64(length[:], uint64(len(c)))
			h.Write(length[:])
			h.Write([]byte(c))
		}
	}
	add(t.Columns())
	for i := range t.Len() {
		add(t.Row(i))
	}
	return hex.EncodeToString(h.Sum(nil))
}
