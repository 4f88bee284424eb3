package numbers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/advise"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// Problem is training rows whose outcomes are numbers, and what actions cost.
type Problem struct {
	Recipe  *recipe.Recipe
	X       *mat.Dense
	Values  []float64
	Weights []float64 // nil if each counts once
	known   []float64 // standard deviations of noise, nil if it is learnt
	// together are numbers of rows, the same of those that belong together; nil where each is its own. Copies of rows that
	// stay where they are are looked for by audits.
	together []int
	Costs    *decision.NumberCosts
	// Notes, Codes and Leaks are those of a problem of categories.
	Notes, Codes, Leaks []string
	// Findings are the notes about the table as values, with the options that settle each.
	Findings table.Findings

	effects  *lossep.EffectTerms // of the kernel, nil if it has none
	smooth   string              // the kernel without them
	examples *lossep.Examples
	stakes   []decision.Stake // of each row, or one for all
	kept     lossep.CostColumns
	order    []int // of the rows where they do not stand in it; see arrange
	rows     []int // of the table, in the order
	at       func(i int) *table.Error
	coding   *recipe.Coding
	opt      lossep.Options
}

func inputf(what, format string, args ...any) error {
	return &lossep.InputError{What: what, Msg: fmt.Sprintf(format, args...)}
}

// Prepare reads training rows. Costs may be nil, for the absolute error.
func Prepare(t *table.Table, o lossep.Options, costs *decision.NumberCosts) (*Problem, error) {
	if err := checkOptions(o); err != nil {
		return nil, err
	}
	all := t.Len()
	t = t.Counting(o.WeightsColumn())
	o.Data.Number = true
	if o.MaxMemory == 0 {
		o.MaxMemory = lossep.DefaultMaxMemory
	}
	if err := o.Holds(t); err != nil {
		return nil, err
	}
	if costs != nil && !o.CostFeatures {
		o.Data.Costs = costs.Columns()
	}
	p := &Problem{Costs: costs, opt: o}
	if costs == nil {
		p.Costs = decision.AbsoluteError()
	}
	if o.Recipe != nil {
		p.Recipe = o.Recipe.Filled() // those of models leave gaps
		if err := p.encode(t); err != nil {
			return nil, err
		}
	} else {
		l, found, err := advise.Learn(t, o.Data)
		if err != nil {
			return nil, err
		}
		p.Recipe, p.X, p.Values, p.Weights, p.Findings = l.Recipe, l.X, l.Values, l.Weights, found.Findings
		p.Notes, p.Codes, p.Leaks = found.Findings.Texts(), found.Codes, found.Leaks
	}
	if p.Weights != nil && slices.Max(p.Weights) == 0 {
		return nil, &table.Error{File: t.Name(), ColumnName: o.WeightsColumn(), Msg: "every weight is 0", Fix: "give every row a weight of how often it counts"}
	}
	if n := all - t.Len(); n > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d of %s left out for a weight of 0 in %q", n, table.Plural(all, "row"), o.WeightsColumn()))
	}
	if err := p.check(t); err != nil {
		return nil, err
	}
	if low, high := slices.Min(p.Values), slices.Max(p.Values); !(high > low) {
		return nil, &table.Error{File: t.Name(), ColumnName: p.Recipe.Target.Column, Msg: fmt.Sprintf("the outcome is %v in every row", low), Fix: "name another column, or give rows that differ"}
	}
	if o.Data.Count && o.Recipe == nil && many(p.Values) {
		return nil, &table.Error{File: t.Name(), ColumnName: p.Recipe.Target.Column, Msg: fmt.Sprintf("more than half of the counts are above %d", mostCount), Fix: "fit them as amounts, which is as good", Ways: []table.Way{{Option: table.WayOutcome, Value: "number"}}}
	}
	err := p.readKnown(t)
	if err != nil {
		return nil, err
	}
	if err := p.splitKernel(); err != nil {
		return nil, err
	}
	if err := checkMethod(o.Method); err != nil {
		return nil, err
	}
	if err := p.weigh(t); err != nil {
		return nil, err
	}
	if o.Data.Groups != "" || !p.stays() {
		if err := p.gather(t); err != nil {
			return nil, err
		}
	}
	p.noteFractions(t)
	if !o.NoExamples {
		order := indices.Of(p.Len())
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p.Values[i], p.Values[j]) })
		p.examples = lossep.ExamplesOf(t, p.Recipe, p.Costs.Columns(), lossep.Evenly(order))
	}
	if err := p.arrange(t); err != nil {
		return nil, err
	}
	sample := newSample(p.Values, p.Weights)
	return p, p.Costs.Check(p.stakes[0], sample, sample.some(checked))
}

// encode reads rows by the recipe.
func (p *Problem) encode(t *table.Table) (err error) {
	p.X, p.Values, p.Weights, err = lossep.Encode(p.Recipe, t)
	return err
}

// check refuses rows that cannot be learnt from.
func (p *Problem) check(t *table.Table) error {
	p.coding = p.Recipe.Coding()
	for i, y := range p.Values {
		if math.Abs(y) > lossep.Farthest {
			return p.refuse(t, i, "correct them, or give them in larger units", "outcomes beyond %g cannot be fitted", lossep.Farthest)
		}
		if p.opt.Data.Count && y > mostOfCounts {
			at := p.refuse(t, i, "correct it, or fit the outcomes as amounts", "the count %v is above %g", y, mostOfCounts)
			at.Ways = []table.Way{{Option: table.WayOutcome, Value: "number"}}
			return at
		}
		if p.opt.Data.Count && (y < 0 || y != math.Trunc(y)) {
			at := p.refuse(t, i, "correct it, or fit it as an amount", "%v is no count, which is a whole number from 0 on", y)
			at.Ways = []table.Way{{Option: table.WayOutcome, Value: "number"}}
			return at
		}
	}
	return lossep.CheckTraining(t, p.X, p.coding)
}

// noteFractions says where nearly all outcomes could be counts.
func (p *Problem) noteFractions(t *table.Table) {
	odd, first := 0, 0
	for i, y := range p.Values {
		if y < 0 {
			return
		}
		if y != math.Trunc(y) {
			if odd++; odd == 1 {
				first = i
			}
		}
	}
	if odd > 0 && 10*odd <= p.Len() {
		p.Notes = append(p.Notes, fmt.Sprintf("nearly all outcomes are whole numbers, but not %v in line %d (%d of %d are not): they are fitted as amounts; if they are counts, correct it", p.Values[first], t.Line(first), odd, p.Len()))
	}
}

// refuse is an error about the outcome of a row.
func (p *Problem) refuse(t *table.Table, i int, fix, format string, args ...any) *table.Error {
	at := t.Place(i)
	at.ColumnName = p.Recipe.Target.Column
	return at.Say(fix, format, args...)
}

// weigh finds what is at stake in the rows of a table, and keeps the columns that it takes.
func (p *Problem) weigh(t *table.Table) (err error) {
	if p.stakes, err = StakesOf(p.Costs, t, p.Recipe.Missing...); err == nil {
		p.kept = lossep.KeepCosts(p.Recipe, p.X, p.Costs.Columns(), t.Values(p.Recipe.Missing...))
	}
	return err
}

// checkOptions refuses options that are for categories.
func checkOptions(o lossep.Options) error {
	switch {
	case o.Likelihood.Name != "" && o.Likelihood.Name != "probit":
		return inputf("likelihood", "%s is for two outcomes; for a number the noise is chosen by the evidence", o.Likelihood.Name)
	case o.Power != 0 && o.Power != 1:
		return inputf("power", "powers are for two outcomes; leave the power out")
	case o.DecideCodes:
		return inputf("categorical", "auto is for outcomes that are categories; name the columns that are codes")
	case o.Fixed:
		return inputf("fixed", "the kernel is searched for together with the noise; leave it out")
	}
	return nil
}

// StakesOf is what is at stake in each row of a table, or in all of them.
func StakesOf(s *decision.NumberCosts, t *table.Table, missing ...string) ([]decision.Stake, error) {
	values := make(map[string][]float64)
	for _, name := range s.Columns() {
		column, err := t.Floats(name, missing...)
		if err != nil {
			return nil, fmt.Errorf("costs: %w", err)
		}
		values[name] = column
	}
	return stakesBy(s, t.Len(), func(i int, name string) (float64, error) { return values[name][i], nil }, t.Place)
}

// stakesBy is what is at stake in each of n rows, or in all of them, by the numbers in their columns.
func stakesBy(s *decision.NumberCosts, n int, values func(row int, column string) (float64, error), at func(i int) *table.Error) ([]decision.Stake, error) {
	if len(s.Columns()) == 0 {
		n = 1
	}
	stakes := make([]decision.Stake, n)
	for i := range stakes {
		var err error
		if stakes[i], err = s.Stake(func(name string) (float64, error) { return values(i, name) }); err != nil {
			return nil, Located(at(i), err)
		}
	}
	return stakes, nil
}

// FitBytes is about what Fit takes, in bytes of memory, and at most what the options allow.
func (p *Problem) FitBytes() float64 {
	most := float64(p.opt.MaxMemory)
	if p.opt.Induces(p.Len()) {
		return most
	}
	need := p.method().FitBytes(p.Len()) + 3*8*float64(p.Len())*float64(p.coding.Len())
	if text := p.opt.Kernel; text == "" || text == lossep.AutoKernel {
		need += float64(len(search.Candidates)) * posterior.FullBytes(p.Len(), p.coding.Len(), p.Len())
	}
	return min(most, need)
}

// Len is the number of training rows.
func (p *Problem) Len() int { return len(p.Values) }

// Stake is what is at stake in training row i.
func (p *Problem) Stake(i int) decision.Stake { return p.stakes[i%len(p.stakes)] }

func (p *Problem) tell(stage string, step int, value float64) {
	if p.opt.Progress != nil {
		p.opt.Progress(lossep.Progress{Stage: stage, Step: step, LogEvidence: value})
	}
}

// parse reads a kernel for the rows.
func (p *Problem) parse(text string) (kernel.Kernel, error) { return parseKernel(text, p.coding) }

func parseKernel(text string, c *recipe.Coding) (kernel.Kernel, error) {
	return kernel.ParseColumns(text, kernel.Columns{Numbers: c.Numbers(), Codes: c.Codes()})
}

// all are transformed outcomes.
func (t *Transform) all(y []float64) []float64 {
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = t.At(v)
	}
	return z
}

// Fit finds the transformation, the noise, the kernel and the posterior.
func (p *Problem) Fit(ctx context.Context) (*Model, error) {
	kept, err := lossep.Resume(p.opt.Checkpoints, p.fingerprint)
	if err != nil {
		return nil, err
	}
	var s shapes
	if known, err := kept.Before(&s); err != nil {
		return nil, err
	} else if known && !s.of(p) {
		return nil, lossep.ErrCheckpoint
	} else if !known {
		if s.Best, s.Tried, err = p.shape(ctx); err != nil {
			return nil, err
		}
	}
	return p.fit(ctx, s.Best, s.Best.family(), s.Tried, kept)
}

// shapes are what was found before the search for a kernel.
type shapes struct {
	Best  Shape   `json:"best"`
	Tried []Shape `json:"tried"`
}

// of tells whether shapes are some that a fit of the problem tries.
func (s *shapes) of(p *Problem) bool {
	if p.known != nil {
		return s.Best == p.knownShape() && len(s.Tried) == 0
	}
	all := p.transforms()
	return slices.Contains(s.Tried, s.Best) && !slices.ContainsFunc(s.Tried, func(one Shape) bool {
		return !slices.Contains(all, one.Transform) || one.Noise == knownName || one.family() == nil || one.Rows < 1 || one.Rows > p.Len()
	})
}

// fingerprint tells apart all that leads to another fit.
func (p *Problem) fingerprint() string {
	h := sha256.New()
	fmt.Fprintln(h, lossep.Version, search.SearchPlan(), p.smooth, p.effects, p.opt.Data.Count, p.opt.Seed, p.opt.Inducing, p.opt.ShardRows, p.opt.Sweeps)
	fmt.Fprintln(h, p.coding.Len(), p.coding.Numbers(), p.Len())
	lossep.HashRows(h, p.X, p.Values, p.Weights, p.known)
	return hex.EncodeToString(h.Sum(nil))
}

// fit is Fit with the outcomes transformed, and noise of a family to start from.
func (p *Problem) fit(ctx context.Context, shape Shape, family Family, tried []Shape, kept *lossep.Unfinished) (*Model, error) {
	m := &Model{
		recipe: p.Recipe, coding: p.coding, costs: p.Costs, kept: p.kept, shape: shape,
		x: p.X, values: p.Values, weights: p.Weights, examples: p.examples,
		summary: Summary{Version: lossep.Version, Rows: p.Len(), Seed: p.opt.Seed, Shapes: tried, Method: p.method()},
	}
	of := (&terms{y: shape.Transform.all(p.Values), weights: p.Weights, family: family}).withKnown(p.known, shape.Transform.Scale)
	var err error
	if p.opt.Induces(p.Len()) {
		err = p.induced(ctx, m, of, kept)
	} else {
		err = p.full(ctx, m, of)
	}
	if err != nil {
		return nil, err
	}
	return m, m.checkPredictions()
}

// checkPredictions refuses a model whose predictions of training rows, or inducing points, are not finite.
func (m *Model) checkPredictions() error {
	inputs := m.posterior.Inputs()
	n, _ := inputs.Dims()
	for _, d := range m.predict(gp.RowsOf(inputs, search.Sample(n, 20, 1))) {
		if !d.IsFinite() {
			return inputf("kernel", "its predictions are not finite numbers; give another kernel, or leave outcomes out that are far from all others")
		}
	}
	return nil
}

// full fits the full process, with as many kernels as are mixed.
func (p *Problem) full(ctx context.Context, m *Model, of *terms) error {
	if limit := p.opt.MaxRows; p.Len() > max(limit, lossep.DefaultMaxRows) {
		return inputf("max rows", "%d rows are more than %d; let there be inducing points, give a sample of the rows, or raise the limit", p.Len(), max(limit, lossep.DefaultMaxRows))
	}
	fits, weights, err := p.kernels(ctx, m, of)
	if err != nil {
		return err
	}
	for k, fit := range fits {
		one := part{weight: weights[k], family: of.family.With(fit.Tuned)}
		if k == 0 {
			m.part = one
		} else {
			m.others = append(m.others, one)
		}
	}
	if err := p.findNoise(ctx, m, of, fits[0]); err != nil {
		return err
	}
	found, err := m.each(func(one *Model) error {
		fit := fits[0]
		fits = fits[1:]
		under, ep := of.with(one.family).under(m.uneven, p.X), fit.EP
		if m.uneven.spread != nil {
			var err error
			if ep, err = (infer.EP{Schedule: infer.Parallel}).Fit(ctx, gp.CasesOf(under).Model(fit.Process)); err != nil {
				return err
			}
		}
		one.summary.LogEvidence = ep.LogEvidence
		return p.conclude(ctx, one, fit.Process, under, &ep.Result)
	})
	if err != nil {
		return err
	}
	*m = *found
	left, err := m.cavities(ctx, p.units())
	if err != nil {
		return err
	}
	return p.leaveOneOut(ctx, m, left)
}

var _ gp.TunedTerms = (*terms)(nil)
