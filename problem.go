package lossep

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/advise"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// Problem is what is to be fitted: training rows as numbers, and what actions are
// worth for each of them. Prepare makes it without fitting anything, so that it can be
// shown first.
type Problem struct {
	Recipe  *recipe.Recipe
	X       *mat.Dense     // one encoded row for each training row
	Labels  []int          // places among the outcomes of the target
	Weights []float64      // how often each row counts, nil if each counts once
	Utility *decision.Spec // with the outcomes of the target
	Kernel  kernel.Kernel  // where the search starts, or what is kept
	// Notes are what a person should know about the table, and Codes the numeric columns
	// of few different integers, which may be codes for categories. Leaks are columns that
	// tell the outcome almost by themselves.
	Notes, Codes, Leaks []string
	// Findings are the notes about the table as values, with the options that settle each.
	Findings table.Findings

	stakes  []decision.Stakes // of each row, or one for all
	costs   CostColumns
	groups  []string // that rows belong to; nil if each is its own
	counted bool     // rows that are the same are different cases
	coding  *recipe.Coding
	// zero is the cost or utility that counts as no utility at all to calibrated methods.
	zero float64
	opt  Options
	// Of a kernel that was chosen among several: how much its length scales are drawn
	// together, and whether it has the parameters to start from.
	shrinkage float64
	start     bool
	// effects are those of the kernel, nil if it has none.
	effects *EffectTerms
	// examples are rows that those of the model are chosen among; nil if it is to keep none.
	examples *Examples
	// order is that of the rows where they do not stand in it; see ordered.
	order []int
}

// Prepare reads the training rows by a recipe and binds the utility to the outcomes
// of the target. Rows of weight zero are left out.
func Prepare(t *table.Table, o Options) (*Problem, error) {
	asked, askedKernel, all := o.Method, o.Kernel, t
	t = t.Counting(o.WeightsColumn())
	uncounted := all.Len() - t.Len()
	o, err := o.complete(t)
	if err != nil {
		return nil, err
	}
	if err := o.checkRows(t); err != nil {
		return nil, err
	}
	o.Progress = oneAtATime(o.Progress)
	p := &Problem{opt: o}
	if err := p.encode(t, all); err != nil {
		return nil, err
	}
	if asked == "" && p.Weights != nil && !o.Induces(t.Len()) && slices.Min(p.Weights) >= 1 {
		o.Method = DefaultMethod(t.Len()) // as of rows that are written so often
		p.opt = o
	}
	if several(p.Recipe) {
		if askedKernel == "" && o.Inducing == NoInducing && strings.HasPrefix(o.Kernel, ManyRowsKernel) {
			o.Kernel = ManyColumnsKernel // as there are no inducing points
		}
		if p.opt, err = o.forSeveral(asked, p.Recipe, t.Name(), t.Len()); err != nil {
			return nil, err
		}
		o = p.opt
	}
	if err := p.graded(); err != nil {
		return nil, err
	}
	if uncounted > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d of %s left out for a weight of 0 in %q", uncounted, table.Plural(all.Len(), "row"), o.WeightsColumn()))
	}
	p.coding = p.Recipe.Coding()
	if err := p.gather(t); err != nil {
		return nil, err
	}
	if err := CheckTraining(t, p.X, p.coding); err != nil {
		return nil, err
	}
	if err := p.bindCosts(t); err != nil {
		return nil, err
	}
	if err := p.splitKernel(askedKernel); err != nil {
		return nil, err
	}
	first := p.opt.Kernel
	if first == AutoKernel {
		first = search.Candidates[0].Kernel
	}
	if p.Kernel, err = kernel.ParseColumns(first, columns(p.coding)); err != nil {
		return nil, err
	}
	if !p.opt.NoExamples {
		p.examples = candidateExamples(t, p.Recipe, p.Utility.Columns(), p.X, p.Labels)
	}
	return p, nil
}

// checkRows refuses a table of more rows than the limit, or than memory allows.
func (o Options) checkRows(t *table.Table) error {
	limit, size := o.rowLimit(t.Len()), fmt.Sprintf("%s has %d rows", t.Name(), t.Len())
	if t.Len() <= limit {
		return cmp.Or(o.affordable(size, t.Len()), o.Holds(t))
	}
	size += fmt.Sprintf(", more than %d", limit)
	if o.Inducing == NoInducing {
		size += fmt.Sprintf("; without inducing points the search for a kernel would take about %.0f GB and %v: let there be some", math.Ceil(o.Method.FitBytes(t.Len())/1e9), fitTime(t.Len()))
	}
	return inputf("max rows", "%s; give a sample of the rows, or raise the limit", size)
}

// encode reads the rows by the recipe of the options, or else by one that is learned from them. All are the
// rows with those of weight zero.
func (p *Problem) encode(t, all *table.Table) (err error) {
	if p.opt.Recipe != nil {
		p.Recipe = p.opt.Recipe.Filled() // those of models leave gaps
		p.X, p.Labels, p.Weights, err = encode(p.Recipe, t)
		return err
	}
	l, found, err := advise.Learn(t, p.opt.Data)
	if err != nil {
		if _, _, whole := advise.Learn(all, p.opt.Data); whole != nil {
			return whole // which knows what the rows of weight zero have
		}
		return err
	}
	p.Recipe, p.X, p.Labels, p.Weights = l.Recipe, l.X, l.Labels, l.Weights
	p.Findings, p.Notes, p.Codes, p.Leaks = found.Findings, found.Findings.Texts(), found.Codes, found.Leaks
	return nil
}

// bindCosts binds the utility to the outcomes of the target, and evaluates it in each row.
func (p *Problem) bindCosts(t *table.Table) error {
	spec := decision.EqualMistakes(p.Recipe.Target.Outcomes...)
	if p.opt.Utility != nil {
		*spec = *p.opt.Utility
	}
	if err := spec.Bind(p.Recipe.Target.Outcomes...); err != nil {
		if fault := (*decision.SpecError)(nil); errors.As(err, &fault) {
			for _, note := range p.Recipe.Target.Misspelled() {
				fault.Msg += "; " + note
			}
		}
		return err
	}
	p.Utility = spec
	if err := spec.CheckColumns(t.Columns()); err != nil {
		return err
	}
	values := t.Values(p.Recipe.Missing...)
	gaps := new(decision.Gaps)
	if err := p.weigh(gaps.Count(values)); err != nil {
		return AtCaseOf(t, spec, values, err)
	}
	for _, name := range slices.Sorted(maps.Keys(gaps.Cases)) {
		f := table.Finding{Check: "default in costs", Severity: table.Warning, Column: name, Rows: gaps.Cases[name], Text: recipe.Count{Column: name, Cells: gaps.Cases[name]}.Defaulted(p.Len())}
		p.Findings, p.Notes = append(p.Findings, f), append(p.Notes, f.Text)
	}
	p.keepCosts(values)
	return nil
}

// graded gives the problem of an outcome that has an order its likelihood.
func (p *Problem) graded() error {
	n, o := len(p.Recipe.Target.Outcomes), &p.opt
	switch {
	case !p.Recipe.Target.Ordered:
		return nil
	case o.Likelihood.Name != "probit":
		return inputf("likelihood", "%s is not for ordered outcomes, which have cumulative probit; leave it out", o.Likelihood.Name)
	case o.Fixed && n > 2:
		return inputf("fixed", "cut points between grades are searched for together with the kernel; leave it out")
	}
	o.Likelihood = Likelihood{Name: ordered, Cuts: []float64{0}}
	var logs []float64
	for _, prior := range gradePriors(n, p.Labels, p.Weights) {
		logs = append(logs, prior.Mean)
	}
	o.Likelihood = o.Likelihood.tuned(logs)
	return nil
}

// tuned is the problem with what a search found of the likelihood; see Likelihood.tuned.
func (p *Problem) tuned(logs []float64) *Problem {
	if len(logs) == 0 {
		return p
	}
	q := *p
	q.opt.Likelihood = p.opt.Likelihood.tuned(logs)
	return &q
}

// splitKernel takes the effects out of the kernel. Those that nobody asked for are left out
// where there can be none, and of more than two outcomes, where passes with them take too long.
func (p *Problem) splitKernel(asked string) (err error) {
	why := ""
	if !p.opt.Induces(p.Len()) {
		why = "effects are learnt beside inducing points; let there be some"
	}
	if p.opt.Kernel == AutoKernel && why == "" && !several(p.Recipe) {
		p.effects = &EffectTerms{texts: []string{AutoEffects}, auto: true}
		return nil
	}
	if p.opt.Kernel, p.effects, err = splitEffects(p.opt.Kernel); err != nil || p.effects == nil {
		return err
	}
	if why != "" && hasEffects(asked) {
		return inputf("kernel", "%s", why)
	} else if why != "" || several(p.Recipe) && !hasEffects(asked) {
		p.effects = nil
		return nil
	}
	p.opt.effects = true
	return p.effects.bind(p.Recipe)
}

// fitTime is what the search for a kernel takes, from 1000 rows of German credit on two
// cores: 4 seconds times the cube of the rows in thousands.
func fitTime(rows int) time.Duration {
	seconds := 4 * math.Pow(float64(rows)/1000, 3)
	return time.Duration(min(seconds, 1e9) * float64(time.Second)).Round(time.Minute)
}

// KernelText is the kernel that is kept, or where the search starts, or AutoKernel.
func (p *Problem) KernelText() string {
	if p.opt.Kernel == AutoKernel {
		return AutoKernel
	}
	return p.withEffects(p.Kernel.String())
}

// withEffects is a kernel with the effects that belong to it.
func (p *Problem) withEffects(kernel string) string {
	if p.effects == nil {
		return kernel
	}
	return kernel + " + " + p.effects.String()
}

// AskedKernel is the kernel as it was asked for, or what no kernel stands for.
func (p *Problem) AskedKernel() string {
	if p.opt.Kernel == AutoKernel {
		return AutoKernel
	}
	return p.withEffects(p.opt.Kernel)
}

// weigh finds what is at stake in every training row, given the columns of the rows.
// Errors about one of them are *decision.CaseError.
func (p *Problem) weigh(values func(row int, column string) (float64, error)) (err error) {
	if p.stakes, err = p.Utility.Cases(p.Len(), values); err == nil {
		p.zero, err = p.Utility.Zero(p.stakes)
	}
	return err
}

// keepCosts keeps the columns of the utility.
func (p *Problem) keepCosts(values func(row int, column string) (float64, error)) {
	p.costs = KeepCosts(p.Recipe, p.X, p.Utility.Columns(), values)
}

// Method is the one that Fit applies.
func (p *Problem) Method() Method { return p.opt.Method }

// Len is the number of training rows.
func (p *Problem) Len() int { return len(p.Labels) }

// Likelihood is that of the outcomes, with what is known of it before the fit.
func (p *Problem) Likelihood() Likelihood { return p.opt.Likelihood }

// link is how the outcomes depend on functions.
func (p *Problem) link() link { return linkOf(p.Recipe, p.opt.Likelihood) }

// many are the terms of the training rows, as passes take them, and cases as the full process
// does.
func (p *Problem) many() gp.Terms  { return p.link().terms(p.Labels, p.Weights) }
func (p *Problem) cases() gp.Cases { return gp.CasesOf(p.many()) }

// Stakes is what is at stake in training row i.
func (p *Problem) Stakes(i int) decision.Stakes { return p.stakes[i%len(p.stakes)] }

// CheckTraining refuses the first of the encoded training rows of a table with a feature beyond Farthest.
func CheckTraining(t *table.Table, x *mat.Dense, c *recipe.Coding) error {
	n, _ := x.Dims()
	for i := range n {
		for k, z := range x.RawRowView(i) {
			if !(math.Abs(z) <= Farthest) {
				at := t.Place(i)
				at.ColumnName = c.Name(k)
				at.Msg = fmt.Sprintf("%.3g is too large for a kernel, which takes up to %g", z, Farthest)
				at.Fix = "correct the value, leave the row out, or standardise the columns"
				return at
			}
		}
	}
	return nil
}

// Farthest is the largest feature that a model predicts for, or is fitted to. Kernels
// square and multiply their arguments, and numbers end at 1.8e308.
const Farthest = modelfile.Farthest

// Rows that belong together, such as those of one patient or one that was copied, tell about each
// other. What is left out to see how well it is predicted has to leave none of its group behind.

// gather reads which rows belong together, and tells of copies and counts.
func (p *Problem) gather(t *table.Table) (err error) {
	p.Notes = append(p.Notes, advise.Weights(p.Recipe, p.Weights)...)
	if column := p.opt.Data.Groups; column != "" {
		p.groups, err = t.Groups(column, p.opt.Data.Markers...)
		return err
	}
	p.counted = t.Counted()
	if !p.opt.Induces(p.Len()) {
		p.Notes = append(p.Notes, advise.Copies(p.Together())...)
	}
	return nil
}

// Together numbers rows such that those that belong together have the same number: by the column
// of groups, or else those that are copies of each other (see recipe.Recipe.Copies), which those of a
// table of counts are not. It is nil where each row is its own.
func (p *Problem) Together() []int {
	switch {
	case p.groups == nil && p.counted:
		return nil
	case p.groups == nil:
		return p.Recipe.Copies(p.X)
	}
	return numbered(p.groups)
}

// numbered numbers groups from 0 on.
func numbered(groups []string) []int {
	of := make(map[string]int)
	numbers := make([]int, len(groups))
	for i, group := range groups {
		n, seen := of[group]
		if !seen {
			n = len(of)
			of[group] = n
		}
		numbers[i] = n
	}
	return numbers
}

// RowsTogether is Together of the rows of a table, encoded as x.
func RowsTogether(t *table.Table, r *recipe.Recipe, x *mat.Dense, o Options) ([]int, error) {
	switch column := o.Data.Groups; {
	case column != "":
		groups, err := t.Groups(column, o.Data.Markers...)
		return numbered(groups), err
	case t.Counted():
		return nil, nil
	}
	return r.Copies(x), nil
}

// units are the rows that are left out together; nil where each is by itself.
func (p *Problem) units() [][]int { return Units(p.Together()) }

// Units are the rows that have each number, which are left out together; nil stays nil.
func Units(together []int) [][]int {
	if together == nil {
		return nil
	}
	units := make([][]int, slices.Max(together)+1)
	for i, number := range together {
		units[number] = append(units[number], i)
	}
	return units
}

// OneByOne says what leave-one-out by single rows flatters where there are inducing points.
func OneByOne(what string) string {
	return fmt.Sprintf("leave-one-out leaves out single rows here, and %s flatter it; an audit leaves them out together", what)
}

// oneAtATime is what may be called from several goroutines, and calls of them one after the other.
func oneAtATime(progress func(Progress)) func(Progress) {
	if progress == nil {
		return nil
	}
	var one sync.Mutex
	return func(e Progress) {
		one.Lock()
		defer one.Unlock()
		progress(e)
	}
}
