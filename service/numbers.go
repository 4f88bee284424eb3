package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/monitor"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Outcome is the kind of outcome that is fitted.
type Outcome string

// The kinds of outcomes. AutoOutcome stands for what the column and the costs look like.
const (
	AutoOutcome Outcome = "auto"
	Categories  Outcome = "categories"
	Ordered     Outcome = "ordered" // categories that have an order
	Number      Outcome = "number"
	Count       Outcome = "count" // a number, whole and from 0 on
)

// Numeric tells whether outcomes of the kind are numbers.
func (o Outcome) Numeric() bool { return o == Number || o == Count }

func outcomeOption(to *Outcome) *Option {
	*to = AutoOutcome
	return &Option{
		Name: "outcome", Group: Model, Help: "kind of outcome; ordered: grades, in numeric order or that of {ordered}; count: non-negative integers; auto: number if the costs are given as {cost=under=15,over=5} or (in a fit) the column has many distinct numbers, ordered if {ordered} names the target, or if the outcomes are small integers or words of a scale and grades predict better out of fold, else categories",
		Value: choice[Outcome]{to: to, of: []Outcome{AutoOutcome, Categories, Ordered, Number, Count}},
	}
}

// Numbers are costs of outcomes that are numbers, nil if those given, or none, are not of this kind.
func (u *Costs) Numbers(ctx context.Context, read func(ctx context.Context, path string) ([]byte, error)) (*decision.NumberCosts, error) {
	if u.Line != "" && u.File == "" && u.Matrix == "" && decision.ForNumbers(u.Line) {
		return decision.ParseNumberCosts(u.Line)
	}
	if u.File != "" && u.Line == "" && u.Matrix == "" {
		content, err := read(ctx, u.File)
		if err != nil {
			return nil, &Error{Option: "utility", Msg: err.Error(), Err: err}
		}
		if decision.IsNumberSpec(content) {
			return decision.ParseNumberSpec(u.File, content)
		}
	}
	return nil, nil
}

// given tells whether there are costs.
func (u *Costs) given() bool { return u.Line+u.File+u.Matrix != "" }

// IsNumber tells whether the outcome of a table is fitted as a number, and why if nobody said so: also why numbers are not.
func (f *Fit) IsNumber(t *table.Table, u *Costs, costs *decision.NumberCosts) (is bool, reason string, err error) {
	switch {
	case (f.Outcome == Categories || f.Outcome == Ordered) && costs != nil:
		return false, "", optionError("outcome", "the costs are those of numbers; give costs of categories, or {outcome=number}")
	case f.Outcome.Numeric() && costs == nil && u.given():
		return false, "", optionError("outcome", "the costs are those of categories; give costs of numbers, such as {cost=under=15,over=5}")
	case f.Outcome == Count && f.Rows.Data.NoiseSD != "":
		return false, "", optionError("noise-sd", "counts have no noise of a given standard deviation; give {outcome=number}")
	case f.Outcome.Numeric():
		return true, "", nil
	case f.Rows.Data.NoiseSD != "" && (f.Outcome == Categories || f.Outcome == Ordered || costs == nil && u.given()):
		return false, "", optionError("noise-sd", "it is for outcomes that are numbers; leave it out, or give {outcome=number}")
	case f.Outcome == Categories || f.Outcome == Ordered:
		return false, "", nil
	case f.Rows.Data.NoiseSD != "":
		return true, "because the standard deviation of its noise is given", f.RefuseCodes(t)
	case costs != nil:
		return true, "because the costs are those of a numeric outcome", f.RefuseCodes(t)
	case u.given():
		return false, "", nil
	}
	switch n, is := recipe.LooksLikeNumber(t, f.Rows.Data); {
	case is:
		return true, fmt.Sprintf("as it takes %d different values; give {outcome=categories} if they are names", n), f.RefuseCodes(t)
	case n > 2:
		return false, fmt.Sprintf("as it takes only %d different numbers; give {outcome=ordered} if they are grades, {outcome=count} if they are counts", n), nil
	}
	return false, "", nil
}

// RefuseCodes refuses an outcome that looks like codes, unless somebody said that it is a number. There may
// be no table yet.
func (f *Fit) RefuseCodes(t *table.Table) error {
	if t == nil || f.Outcome.Numeric() {
		return nil
	}
	if why := recipe.LooksLikeCodes(t, f.Rows.Data); why != "" {
		return optionError("outcome", "the outcome looks like codes: %s; name another column, or give {outcome=number} if it is an amount", why)
	}
	return nil
}

// Loaded is a model of any kind of outcome.
type Loaded interface {
	// Predicting and Deciding are answers about new cases, the latter under costs that may be nil.
	Predicting(p *Predict) (Answer, error)
	Deciding(ctx context.Context, d *Decide, read func(ctx context.Context, path string) ([]byte, error)) (Answer, error)
	// Valuing is what it would be worth to know more about new cases, under costs as in Deciding.
	Valuing(ctx context.Context, v *Worth, read func(ctx context.Context, path string) ([]byte, error)) (Answer, error)
	// Updated is the model with further rows; see lossep.Model.Update.
	Updated(ctx context.Context, more *table.Table, o lossep.UpdateOptions) (Loaded, error)
	// Describe says what the model is, and Shown is the same for programs. State is how it was found.
	Describe() []string
	Shown() any
	State() State
	Save(path string) error
	Recipe() *recipe.Recipe

	// outcomes are those of rows: numbers, or the numbers of labels; NaN where a cell is missing.
	outcomes(t *table.Table) ([]float64, error)
	// decided are the cases of a table as the model decides them, and leftOut training rows, each without it.
	decided(ctx context.Context, t *table.Table, outcomes []float64) (*monitor.Cases, error)
	leftOut(ctx context.Context) (*monitor.Cases, error)
}

// State is how a model was found, and what became of it since.
type State struct {
	Rows        int             `json:"n"`
	Updates     *lossep.Updates `json:"updates"`
	LogEvidence float64         `json:"log_evidence"`
	Converged   bool            `json:"converged"`
	Text        string          `json:"-"`
	Costs       bool            `json:"-"` // what actions bring are costs, and not utilities
}

// Load reads a model file in at most so many bytes of memory.
func Load(path string, bytes int64) (Loaded, error) {
	m, err := lossep.LoadWithin(path, bytes)
	if errors.Is(err, modelfile.ErrNumbers) {
		n, err := numbers.Load(path, bytes)
		return NumberModel{n}, err
	}
	return CategoryModel{m}, err
}

// CategoryModel is a model of categories.
type CategoryModel struct{ *lossep.Model }

// Predicting implements Loaded.
func (m CategoryModel) Predicting(p *Predict) (Answer, error) {
	if p.Top > 0 && p.Sort == "" {
		columns := probabilityField(m.Utility().Outcomes(), nil).Columns
		if len(columns) > 1 {
			return nil, optionError("top", "say which column decides: {sort=%s}, {sort=%s}, …", columns[0], columns[1])
		}
		p.Sort = columns[0]
	}
	return p.Of(m.Model), p.Options.refuse("it is for outcomes that are numbers, and that of this model is a category; leave it out", "quantiles", "grid")
}

// Deciding implements Loaded.
func (m CategoryModel) Deciding(ctx context.Context, d *Decide, read func(ctx context.Context, path string) ([]byte, error)) (Answer, error) {
	spec, err := d.Spec(ctx, read)
	if err != nil {
		return nil, err
	}
	return d.Of(ctx, m.Model, spec)
}

// Valuing implements Loaded.
func (m CategoryModel) Valuing(ctx context.Context, v *Worth, read func(ctx context.Context, path string) ([]byte, error)) (Answer, error) {
	spec, err := v.Spec(ctx, read)
	if err != nil {
		return nil, err
	}
	return v.Of(ctx, m.Model, spec)
}

// Updated implements Loaded.
func (m CategoryModel) Updated(ctx context.Context, more *table.Table, o lossep.UpdateOptions) (Loaded, error) {
	next, err := m.Update(ctx, more, o)
	return CategoryModel{next}, err
}

// State implements Loaded.
func (m CategoryModel) State() State {
	s := m.Summary()
	return State{m.Provenance().Rows, s.Updates, s.LogEvidence, s.Status.Converged, s.Status.Text, m.Utility().Costs()}
}

// Shown implements Loaded.
func (m CategoryModel) Shown() any {
	return struct {
		Method     lossep.Method     `json:"method"`
		Likelihood lossep.Likelihood `json:"likelihood"`
		Kernel     string            `json:"kernel"`
		Utility    *decision.Spec    `json:"utility"`
		Summary    lossep.Summary    `json:"summary"`
		Provenance lossep.Provenance `json:"provenance"`
		Recipe     *recipe.Recipe    `json:"recipe"`
	}{m.Method(), m.Likelihood(), m.Kernel().String(), m.Utility(), m.Summary(), m.Provenance(), m.Recipe()}
}

// NumberModel is a model of numbers.
type NumberModel struct{ *numbers.Model }

// NumberReport is what is said of a model of numbers to programs.
type NumberReport struct {
	Outcome string                `json:"outcome"`
	Kernel  string                `json:"kernel"`
	Shape   numbers.Shape         `json:"shape"`
	Costs   *decision.NumberCosts `json:"costs"`
	numbers.Summary
	Notes   []string       `json:"notes,omitempty"`
	Leaks   []string       `json:"leaks,omitempty"` // as of categories
	Codes   []string       `json:"codes,omitempty"`
	Recipe  *recipe.Recipe `json:"recipe,omitempty"`
	Seconds float64        `json:"seconds,omitempty"`
	Model   string         `json:"model,omitempty"`
}

// NewNumberReport is that of a model.
func NewNumberReport(m *numbers.Model) *NumberReport {
	return &NumberReport{Outcome: string(Number), Kernel: m.Kernel(), Shape: m.Shape(), Costs: m.Costs(), Summary: m.Summary()}
}

// Shown implements Loaded.
func (m NumberModel) Shown() any {
	r := NewNumberReport(m.Model)
	r.Recipe = m.Recipe()
	return r
}

// Updated implements Loaded.
func (m NumberModel) Updated(ctx context.Context, more *table.Table, o lossep.UpdateOptions) (Loaded, error) {
	next, err := m.Update(ctx, more, o)
	return NumberModel{next}, err
}

// State implements Loaded.
func (m NumberModel) State() State {
	s := m.Summary()
	return State{s.Rows, s.Updates, s.LogEvidence, s.Converged, s.Status, true}
}

// Predicting implements Loaded.
func (m NumberModel) Predicting(p *Predict) (Answer, error) {
	fields, err := p.NumberFields()
	if p.Top > 0 && p.Sort == "" {
		p.Sort = "mean"
	}
	return &predictingNumbers{answer: answer{cases: &p.Cases, model: m.Model}, fields: fields}, err
}

// Deciding implements Loaded.
func (m NumberModel) Deciding(ctx context.Context, d *Decide, read func(ctx context.Context, path string) ([]byte, error)) (Answer, error) {
	if err := d.Options.refuse(forCategories, "second-opinion", "why", "why-without", "calibrate", "baseline", "probability", "cost-matrix"); err != nil {
		return nil, err
	}
	costs, err := m.costs(ctx, &d.Costs, read)
	if err != nil {
		return nil, err
	}
	only := -1
	if names := costs.Actions().Choices; names != nil {
		only, err = d.onlyOf(names)
	} else if d.Only != "" {
		err = optionError("only", "the actions are numbers and have no names; leave it out")
	}
	if err != nil {
		return nil, err
	}
	if d.Top > 0 {
		d.Sort = cmp.Or(d.Sort, "cost")
	}
	limits, err := d.WithinNumbers(costs)
	return &decidingNumbers{answer: answer{cases: &d.Cases, model: m.Model}, NumberDecider: NumberDecider{Model: m.Model, Costs: costs, Limits: limits}, request: d, only: only, trained: lossep.NewTrained(m.Model.TrainingRows(), m.Recipe())}, err
}

// forCategories is why options are refused.
const forCategories = "it is for outcomes that are categories, and that of this model is a number; leave it out"

// costs are those of a request, or else the model's own.
func (m NumberModel) costs(ctx context.Context, u *Costs, read func(ctx context.Context, path string) ([]byte, error)) (*decision.NumberCosts, error) {
	costs, err := u.Numbers(ctx, read)
	switch {
	case err != nil:
		return nil, err
	case costs == nil && u.given():
		return nil, optionError("cost", "the costs are those of categories, and the outcome of this model is a number; give costs such as {cost=under=15,over=5}")
	case costs == nil:
		costs = m.Costs()
	}
	return costs, nil
}

// NumberCosts are costs of numbers as programs give them: on one line, or as a JSON object in the form
// of a file; nil if neither is given.
func NumberCosts(line string, object []byte) (*decision.NumberCosts, error) {
	switch {
	case line != "":
		return decision.ParseNumberCosts(line)
	case len(object) > 0:
		return decision.ParseNumberJSON(object)
	}
	return nil, nil
}

// answer is what answers about numbers have in common.
type answer struct {
	cases *Cases
	model *numbers.Model
	rows  int
}

func (a *answer) Recipe() *recipe.Recipe { return a.model.Recipe() }

// warnings say why a model should not be relied on.
func warnings(of interface{ Warnings() []string }) []string {
	lines := of.Warnings()
	for k := range lines {
		lines[k] = "warning: " + lines[k]
	}
	return lines
}

// each goes over rows.
func (a *answer) each(ctx context.Context, rd *recipe.Reader, several bool, emit Emit, more func(numbers.Row, *NumberCase) error) error {
	id := a.cases.identity(rd, several)
	return a.model.Each(ctx, rd, func(row numbers.Row) error {
		a.rows++
		c := &NumberCase{Distribution: row.Distribution}
		if err := more(row, c); err != nil {
			return err
		}
		return emit(row.Pointed, &Case{ID: id.of(row.Row), Number: c, Unusual: row.Unusual()})
	})
}

// NumberCase is what is known of a case whose outcome is a number.
type NumberCase struct {
	numbers.Distribution
	Stake  decision.Stake
	Choice decision.NumberChoice
	Free   decision.NumberChoice // without the capacity, if there is one
}

// NumberFields are what is predicted of a case: the mean, and the quantiles and probabilities that are asked for.
func (p *Predict) NumberFields() ([]Field, error) {
	fields := []Field{numberField("mean", func(c *Case) float64 { return c.Number.Mean() })}
	for _, f := range []struct {
		option, name, head string
		texts              []string
		is                 func(x float64) bool
		wanted             string
		of                 func(d numbers.Distribution, x float64) float64
	}{
		{"quantiles", "quantiles", "quantile", p.Quantiles, func(q float64) bool { return q > 0 && q < 1 }, "between 0 and 1", numbers.Distribution.Quantile},
		{"grid", "cdf", "cdf", p.Grid, func(y float64) bool { return math.Abs(y) <= lossep.Farthest }, fmt.Sprintf("a number up to %g", lossep.Farthest), numbers.Distribution.CDF},
	} {
		var at []float64
		for _, text := range f.texts {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || !f.is(x) {
				return nil, optionError(f.option, "%q is not %s", text, f.wanted)
			}
			if slices.Contains(at, x) {
				return nil, optionError(f.option, "%s is given twice", text)
			}
			at = append(at, x)
		}
		if len(at) > mostAsked {
			return nil, optionError(f.option, "%d values are more than %d; ask for fewer at a time", len(at), mostAsked)
		}
		if len(at) > 0 {
			fields = append(fields, numbersField(f.name, "", f.head, f.texts, func(c *Case, to []float64) []float64 {
				for _, x := range at {
					to = append(to, f.of(c.Number, x))
				}
				return to
			}))
		}
	}
	return fields, nil
}

// mostAsked is the most quantiles or probabilities of a case: a request of few bytes could ask for more than there is memory.
const mostAsked = 1000

// CheckNumbers refuses a case of which a field is not a finite number: the model says nothing there.
func CheckNumbers(fields []Field, c *Case) error {
	for _, f := range fields {
		var values []float64
		if f.Number != nil {
			values = append(values, f.Number(c))
		} else if f.Numbers != nil {
			values = f.Numbers(c, nil)
		}
		for k, x := range values {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				name := f.Name
				if f.Over != nil {
					name = f.Over[k]
				}
				return optionError(f.Name, "%s is beyond the largest number", name)
			}
		}
	}
	return nil
}

type predictingNumbers struct {
	answer
	fields []Field
}

func (p *predictingNumbers) Fields() []Field { return fileFields(p.fields) }

func (p *predictingNumbers) Columns() []string { return nil }

func (p *predictingNumbers) Rows(ctx context.Context, rd *recipe.Reader, several bool, emit Emit) error {
	return p.each(ctx, rd, several, emit, func(row numbers.Row, c *NumberCase) error {
		return row.Located(CheckNumbers(p.fields, &Case{Number: c}))
	})
}

func (p *predictingNumbers) Lines(Naming) []string {
	return append([]string{table.Plural(p.rows, "row") + " predicted"}, warnings(p.model)...)
}
