package service

import (
	"context"
	"fmt"

	"github.com/lossep/lossep"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Answer is what a request says about the rows of a file, one after another.
type Answer interface {
	// Fields are what is said about every case.
	Fields() []Field
	// Columns are those of the file that are read beside those of the model.
	Columns() []string
	// Recipe is how the rows are encoded.
	Recipe() *recipe.Recipe
	// Rows goes over the rows. Several tells that they come from more than one file.
	Rows(ctx context.Context, rd *recipe.Reader, several bool, emit Emit) error
	// Lines are what is to be said of all rows together, with options as a front end writes them.
	Lines(n Naming) []string
}

// Parted is an answer to parts of a table, some of which others may give.
type Parted interface {
	Answer
	// Counted is what was counted of the rows, for JSON, and Count adds what was counted of others.
	Counted() any
	Count(others []byte) error
}

// fileFields are those of an answer about a file, whose rows have names and may be unusual.
func fileFields(fields []Field) []Field {
	return append(append([]Field{IDField}, fields...), UnusualField)
}

// Predict is a request for the probabilities of the outcomes in new cases.
type Predict struct {
	Cases
	Quantiles []string // of an outcome that is a number
	Grid      []string // values that it may be at most
	Options   Options
}

// NewPredict is a request with every option at its default.
func NewPredict() *Predict {
	p := new(Predict)
	p.Options = append(p.Cases.options("predictions", "probability (of numbers: mean)"), p.Asked()...)
	return p
}

// Asked are the options that are not about files, which all front ends have.
func (p *Predict) Asked() Options {
	return Options{
		{Name: "quantiles", Group: Basics, Help: "quantiles of an outcome that is a number, such as 0.05,0.5,0.95", Value: newList(&p.Quantiles, "P,P")},
		{Name: "grid", Group: Basics, Help: "values of an outcome that is a number, such as 0,50,100: the probability that it is at most each of them", Value: newList(&p.Grid, "Y,Y")},
	}
}

// Complete checks options against each other and fills in what follows from them.
func (p *Predict) Complete() error { return p.Cases.complete("") } // what the first rows are by depends on the model

// Of is the answer of a model.
func (p *Predict) Of(m *lossep.Model) Answer { return &predicting{cases: &p.Cases, model: m} }

type predicting struct {
	cases *Cases
	model *lossep.Model
	rows  int
}

func (p *predicting) Fields() []Field        { return fileFields(PredictFields(p.model.Utility().Outcomes())) }
func (p *predicting) Columns() []string      { return nil }
func (p *predicting) Recipe() *recipe.Recipe { return p.model.Recipe() }

func (p *predicting) Rows(ctx context.Context, rd *recipe.Reader, several bool, emit Emit) error {
	id := p.cases.identity(rd, several)
	for row, err := range p.model.Predictions(ctx, rd) {
		if err != nil {
			return err
		}
		p.rows++
		if err := emit(row.Row.Pointed, &Case{ID: id.of(row.Row), Prediction: &row.Prediction, Unusual: row.Row.Unusual()}); err != nil {
			return err
		}
	}
	return nil
}

func (p *predicting) Lines(Naming) []string {
	return append([]string{fmt.Sprintf("predicted %s (method %s)", table.Plural(p.rows, "row"), p.model.Method())}, warnings(p.model)...)
}

// Worth is a request for the value of information in new cases.
type Worth struct {
	Cases
	Costs
	Calibrate bool
	Ask       lossep.Ask
	Prices    []float64 // of measuring the columns asked about
	Options   Options
}

// NewWorth is a request with every option at its default.
func NewWorth() *Worth {
	v := new(Worth)
	v.Options = append(append(v.Costs.Options(), v.Cases.options("value", "worth_outcome")...), v.Asked()...)
	return v
}

// Asked are the options that are not about files, which all front ends have.
func (v *Worth) Asked() Options {
	return Options{
		calibrateOption(&v.Calibrate),
		{Name: "ask", Group: Basics, Help: "unmeasured column and its cost, such as mri=0.2; can be repeated", Value: newAsks(&v.Ask.Columns, &v.Prices)},
		{Name: "labels", Group: Basics, Help: "value of labelling each row (active learning)", Value: toggle{&v.Ask.Labels}},
	}
}

func calibrateOption(to *bool) *Option {
	return &Option{Name: "calibrate", Group: Basics, Help: "calibrate the approximation to the costs first (Loss-EP)", Value: toggle{to}}
}

// Complete checks options against each other and fills in what follows from them.
func (v *Worth) Complete() error { return v.Cases.complete("worth_outcome") }

// Of is the answer of a model, under its own costs if none are given.
func (v *Worth) Of(ctx context.Context, m *lossep.Model, given *decision.Spec) (Answer, error) {
	m, spec, err := underCosts(ctx, m, given, v.Calibrate)
	if err != nil {
		return nil, err
	}
	return &valuing{request: v, model: m, spec: spec, pays: make([]int, len(v.Prices))}, m.CheckAsk(v.Ask, spec)
}

// underCosts is a model with the costs to decide by: those given, or else its own; calibrated
// to them if that is asked.
func underCosts(ctx context.Context, m *lossep.Model, given *decision.Spec, calibrate bool) (_ *lossep.Model, spec *decision.Spec, err error) {
	spec = m.Utility()
	if given != nil {
		if spec, err = m.Bind(given); err != nil {
			return nil, nil, err
		}
	}
	if calibrate {
		m, err = m.Calibrate(ctx, spec)
	}
	return m, spec, err
}

type valuing struct {
	request *Worth
	model   *lossep.Model
	spec    *decision.Spec
	rows    int
	total   float64
	pays    []int // by column: rows in which measuring it is worth its cost
}

func (v *valuing) Fields() []Field {
	return fileFields(ValueFields(v.spec, v.request.Ask, v.request.Prices))
}
func (v *valuing) Columns() []string      { return v.spec.Columns() }
func (v *valuing) Recipe() *recipe.Recipe { return v.model.Recipe().WithOpen(v.request.Ask.Columns...) }

func (v *valuing) Rows(ctx context.Context, rd *recipe.Reader, several bool, emit Emit) error {
	id := v.request.identity(rd, several)
	for row, err := range v.model.Worth(ctx, rd, v.spec, v.request.Ask) {
		if err != nil {
			return err
		}
		v.rows++
		v.total += row.Outcome
		for k, x := range row.Worth.Columns {
			if x > v.request.Prices[k] {
				v.pays[k]++
			}
		}
		c := Case{ID: id.of(row.Row), Decision: &row.Decision, Worth: &row.Worth, Unusual: row.Row.Unusual()}
		if err := emit(row.Row.Pointed, &c); err != nil {
			return err
		}
	}
	return nil
}

func (v *valuing) Lines(Naming) []string {
	return append(worthLines(v.rows, v.total, v.request, v.pays), warnings(v.model)...)
}

// worthLines say what it would be worth to know more about all rows together, and in how many measuring pays.
func worthLines(n int, total float64, request *Worth, pays []int) []string {
	rows := table.Plural(n, "row")
	lines := []string{fmt.Sprintf("%s; value of perfect information: %.6g per row", rows, total/float64(max(1, n)))}
	for k, column := range request.Ask.Columns {
		lines = append(lines, fmt.Sprintf("measuring %s at a cost of %g pays in %d of %s", column, request.Prices[k], pays[k], rows))
	}
	return lines
}
