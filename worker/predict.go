package worker

import (
	"context"
	"fmt"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// blockRows is how many rows are predicted at a time, at most: a request that is cancelled ends
// soon.
const blockRows = 4096

// predicted is the result of predictions and decisions.
type predicted struct {
	Notes   []string `json:"notes"`   // on rows that are unlike the training rows
	Unseen  []string `json:"unseen"`  // those of them that are likely to be mistakes
	Seconds float64  `json:"seconds"` // of computing
	// Of decisions only.
	Actions   []string                `json:"actions,omitempty"`
	Capacity  *service.Shortage       `json:"capacity,omitempty"`
	Uncertain []service.UncertainCost `json:"uncertain,omitempty"`
	Costs     bool                    `json:"costs"`
	Unusual   map[int][]string        `json:"unusual,omitempty"` // by row, from 0: columns in which it is unlike the training rows
	// Objects are the fields of every row that no tensor holds, by name.
	Objects map[string][]service.Object `json:"objects,omitempty"`
}

// blocks takes the memory of what is collected and of rows of so many bytes on the way, encodes the rows by a recipe and hands them over
// block by block.
func (j *job) blocks(ctx context.Context, learned *recipe.Recipe, rowBytes float64, d *collected, use func(x *mat.Dense, from, to int) error) (*recipe.Report, error) {
	t := j.rows
	block, bytes := j.blockOf(rowBytes, t.Len())
	if err := j.take(j.share, "the answer", 2*8*float64(t.Len())*float64(d.numbers())+bytes); err != nil { // twice while it is written
		return nil, err
	}
	var report *recipe.Report
	for from := 0; from < t.Len(); from += block {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(t.Len(), from+block)
		rows := t
		if to-from < t.Len() {
			rows = t.Subset(indices.Of(to)[from:])
		}
		x, found, err := learned.Apply(rows)
		if err != nil {
			return nil, err
		}
		if report == nil {
			report = found
		} else {
			report.Add(found)
		}
		if err := use(x, from, to); err != nil {
			return nil, inTable(err, t, from)
		}
	}
	if !j.Unseen {
		if err := report.Err(t.Name(), false); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// inTable gives the error of a row of a block its place in the table.
func inTable(err error, t *table.Table, from int) error {
	if far, ok := err.(*lossep.FarError); ok {
		return far.In(t.Place(from + far.Row))
	}
	return err
}

func (p *predicted) report(report *recipe.Report, start time.Time) {
	p.Notes, p.Seconds = report.Lines(), time.Since(start).Seconds()
	p.Unseen, p.Unusual = report.Doubts().Lines(), report.Unusual
}

// predict gives the probabilities of all outcomes, and the latent mean and variance.
func (j *job) predict(ctx context.Context) (any, []Tensor, error) {
	outcomes := j.model.Utility().Outcomes()
	d := newCollected(j.rows.Len(), append(service.PredictFields(outcomes), service.Field{
		Name: "probabilities", Over: outcomes,
		Numbers: func(c *service.Case, to []float64) []float64 { return append(to, c.Prediction.Probabilities...) },
	}))
	report, err := j.blocks(ctx, j.model.Recipe(), rowBytes(j.model), d, func(x *mat.Dense, _, _ int) error {
		predictions, err := j.model.Predict(x)
		for i := range predictions {
			d.add(&service.Case{Prediction: &predictions[i]})
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	var found predicted
	found.report(report, j.start)
	return found, d.tensors(), nil
}

// deciding is what decisions with and without a model have in common.
type deciding struct {
	*service.Decide
	baseline int
	limits   *service.Limits
}

// deciding reads the options of decisions by costs that are bound.
func (j *job) deciding() (q deciding, err error) {
	q.Decide = new(service.Decide)
	if err = given(append(q.Asked(), q.Periods()...), j.Options, q.CheckCapacity); err != nil {
		return q, err
	}
	if q.baseline, err = service.Baseline(j.spec, q.Baseline); err != nil {
		return q, err
	}
	q.limits, err = q.Within(j.spec)
	return q, err
}

// collected are the fields of n decisions.
func (q *deciding) collected(n int, spec *decision.Spec, e *lossep.Explainer) *collected {
	fields := append(service.DecideFields(spec, q.baseline, q.SecondOpinion, e), allProbabilities(spec))
	return newCollected(n, append(fields, q.limits.Fields()...))
}

// decide gives what service says about decided cases: the fields of decisions, and the
// probabilities of all outcomes.
func (j *job) decide(ctx context.Context) (any, []Tensor, error) {
	all, err := j.staked()
	if err != nil {
		return nil, nil, err
	}
	q, err := j.deciding()
	if err != nil {
		return nil, nil, err
	}
	explain, err := q.Explainer(j.model, j.spec)
	if err != nil {
		return nil, nil, err
	}
	d := q.collected(j.rows.Len(), j.spec, explain)
	var waiting []lossep.Decision // for a capacity to be shared out
	report, err := j.blocks(ctx, j.model.Recipe(), rowBytes(j.model), d, func(x *mat.Dense, from, to int) error {
		decisions, err := j.model.Decide(x, part(all, from, to)...)
		if err != nil {
			return err
		}
		if q.SecondOpinion {
			j.model.Consult(x, decisions)
		}
		if explain != nil {
			if err := explain.Of(ctx, x, decisions); err != nil {
				return err
			}
		}
		if q.limits != nil {
			waiting = append(waiting, decisions...)
			return nil
		}
		d.decided(decisions)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	q.Dates = j.model.Recipe().DateOrder(q.Time)
	found, err := j.decided(&q, d, waiting, j.model.Recipe().Missing...)
	if err != nil {
		return nil, nil, err
	}
	found.report(report, j.start)
	return found, d.tensors(), nil
}

// decided is what is said of all decisions together. Those that wait for a capacity are made.
func (j *job) decided(q *deciding, d *collected, waiting []lossep.Decision, missing ...string) (found *predicted, err error) {
	found = &predicted{Actions: j.spec.Actions(), Costs: j.spec.Costs(), Objects: d.objects}
	if q.limits != nil {
		const held = 320 // bytes of a decision until all are made
		if err := j.take(j.share, "the capacity", float64(len(waiting))*float64(held+q.limits.Bytes())); err != nil {
			return nil, err
		}
		limited, short, err := q.limits.AllocateTable(j.rows, waiting, q.Capacity, missing...)
		if err != nil {
			return nil, err
		}
		for i := range limited {
			d.add(&service.Case{Decision: &waiting[i], Limited: &limited[i]})
		}
		found.Capacity = short
	}
	found.Uncertain = d.doubts.Costs(j.spec, d.rows)
	return found, nil
}

// staked settles the utility to decide the rows by, the model's if none is given, and says what is
// at stake in each.
func (j *job) staked() (all []decision.Stakes, err error) {
	if j.spec == nil {
		j.spec = j.model.Utility()
	} else if j.spec, err = j.model.Bind(j.spec); err != nil {
		return nil, err
	}
	if err := j.takeStakes(j.rows.Len()); err != nil {
		return nil, err
	}
	return service.StakesOf(j.spec, j.rows, j.model.Recipe().Missing...)
}

// takeStakes takes the memory of what is at stake in each row, if that differs.
func (j *job) takeStakes(rows int) error {
	if len(j.spec.Columns()) == 0 {
		return nil
	}
	each := len(j.spec.Columns()) + 2*len(j.spec.Outcomes())*len(j.spec.Actions())
	return j.take(j.share, "the costs of the cases", 8*float64(rows)*float64(each))
}

// value says what it would be worth to know more: the outcome, each of the columns asked about,
// and the label of each row if that is asked.
func (j *job) value(ctx context.Context) (any, []Tensor, error) {
	var q service.Worth
	if err := q.Asked().Give(j.Options); err != nil {
		return nil, nil, err
	}
	if err := j.model.CheckAsk(q.Ask, j.spec); err != nil {
		return nil, nil, err
	}
	all, err := j.staked()
	if err != nil {
		return nil, nil, err
	}
	worths := service.ValueFields(j.spec, q.Ask, q.Prices)[3:] // behind what is of the decision
	d := newCollected(j.rows.Len(), append(append(service.DecideFields(j.spec, 0, false, nil), allProbabilities(j.spec)), worths...))
	report, err := j.blocks(ctx, j.model.Recipe().WithOpen(q.Ask.Columns...), rowBytes(j.model), d, func(x *mat.Dense, from, to int) error {
		worth, err := j.model.WorthOf(ctx, x, q.Ask, part(all, from, to)...)
		for i := range worth {
			d.add(&service.Case{Decision: &worth[i].Decision, Worth: &worth[i]})
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	found := predicted{Actions: j.spec.Actions(), Costs: j.spec.Costs()}
	found.report(report, j.start)
	return found, d.tensors(), nil
}

// decideGiven decides by probabilities that any program made, without a model. They are the
// first tensor.
func (j *job) decideGiven(context.Context) (any, []Tensor, error) {
	names := j.Outcomes
	p, err := j.frame.tensor(0)
	if err != nil || p.Type != Float64 || len(p.Shape) != 2 || p.Shape[1] != len(names) || j.spec == nil {
		return nil, nil, &malformed{"decisions without a model need probabilities of every outcome, the outcomes' names and the costs"}
	}
	if err := j.spec.Bind(names...); err != nil {
		return nil, nil, err
	}
	q, err := j.deciding()
	if err != nil {
		return nil, nil, err
	}
	q.SecondOpinion = false // there is nobody to ask
	n := p.Shape[0]
	d := q.collected(n, j.spec, nil)
	if err := j.take(j.share, "the answer", 2*8*float64(n)*float64(d.numbers()+len(names)+len(j.spec.Actions()))); err != nil {
		return nil, nil, err
	}
	if err := j.takeStakes(n); err != nil {
		return nil, nil, err
	}
	all, err := j.givenStakes(n)
	if err != nil {
		return nil, nil, err
	}
	values := p.floats()
	probabilities := make([][]float64, n)
	for i := range probabilities {
		probabilities[i] = values[i*len(names) : (i+1)*len(names)]
	}
	decisions := service.Choose(all, probabilities)
	if q.limits == nil {
		d.decided(decisions)
	}
	found, err := j.decided(&q, d, decisions)
	if err != nil {
		return nil, nil, err
	}
	found.Seconds = time.Since(j.start).Seconds()
	return found, d.tensors(), nil
}

// givenStakes is what is at stake in n cases. They have rows if the request has columns.
func (j *job) givenStakes(n int) ([]decision.Stakes, error) {
	if len(j.Columns) == 0 {
		return j.spec.Cases(n, func(_ int, column string) (float64, error) {
			return 0, &inputError{&lossep.InputError{What: "cost", Msg: fmt.Sprintf("it depends on the column %q, which is not given; give a DataFrame that has it as cost_columns", column)}}
		})
	}
	var err error
	if j.rows, err = j.table(j.frame); err != nil {
		return nil, err
	}
	if j.rows.Len() != n {
		return nil, &malformed{"there are not as many costs as probabilities"}
	}
	return service.StakesOf(j.spec, j.rows)
}

// allProbabilities are those of all outcomes, also of two.
func allProbabilities(spec *decision.Spec) service.Field {
	return service.Field{Name: "probabilities", Over: spec.Outcomes(), Numbers: func(c *service.Case, to []float64) []float64 {
		return append(to, c.Decision.Probabilities...)
	}}
}

// collected are the fields of cases as tensors. Texts are known by their numbers.
type collected struct {
	rows    int
	fields  []service.Field
	floats  [][]float64 // by field
	ints    [][]int
	objects map[string][]service.Object // by name
	doubts  service.Doubts
}

func newCollected(rows int, fields []service.Field) *collected {
	return &collected{rows, fields, make([][]float64, len(fields)), make([][]int, len(fields)), make(map[string][]service.Object), service.Doubts{}}
}

// numbers is how many there are a row.
func (d *collected) numbers() (n int) {
	for k := range d.fields {
		n += max(1, len(d.fields[k].Over), 8*len(d.fields[k].Kinds)) // a cell of an object is a text in JSON
	}
	return n
}

func (d *collected) add(c *service.Case) {
	if c.Decision != nil {
		d.doubts.Case(c)
	}
	for k := range d.fields {
		switch f := &d.fields[k]; {
		case f.Whole != nil:
			d.ints[k] = append(d.ints[k], f.Whole(c))
		case f.Truth != nil:
			truth := 0
			if f.Truth(c) {
				truth = 1
			}
			d.ints[k] = append(d.ints[k], truth)
		case f.Number != nil:
			d.floats[k] = append(d.floats[k], f.Number(c))
		case f.Numbers != nil:
			d.floats[k] = f.Numbers(c, d.floats[k])
		case f.Object != nil:
			d.objects[f.Name] = append(d.objects[f.Name], f.Object(c))
		}
	}
}

func (d *collected) decided(all []lossep.Decision) {
	for i := range all {
		d.add(&service.Case{Decision: &all[i]})
	}
}

func (d *collected) tensors() (all []Tensor) {
	for k := range d.fields {
		switch f := &d.fields[k]; {
		case f.Whole != nil || f.Truth != nil:
			all = append(all, Ints(f.Name, d.ints[k], d.rows))
		case f.Number != nil:
			all = append(all, Floats(f.Name, d.floats[k], d.rows))
		case f.Numbers != nil:
			all = append(all, Floats(f.Name, d.floats[k], d.rows, len(f.Over)))
		}
	}
	return all
}
