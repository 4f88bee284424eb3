package worker

import (
	"context"
	"fmt"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/budget"
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

// blocks encodes the rows of a table and hands them over block by block.
func (s *session) blocks(ctx context.Context, r *request, learned *recipe.Recipe, t *table.Table, block int, use func(x *mat.Dense, from, to int) error) (*recipe.Report, error) {
	var report *recipe.Report
	for from := 0; from < t.Len(); from += block {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(t.Len(), from+block)
		rows := t
		if to-from < t.Len() {
			list := make([]int, to-from)
			for i := range list {
				list[i] = from + i
			}
			rows = t.Subset(list)
		}
		x, found, err := learned.Apply(rows)
		if err != nil {
			return nil, err
		}
		if from > 0 { // rows are numbered by the table
			here := found.Unusual
			found.Unusual = make(map[int][]string, len(here))
			for i, columns := range here {
				found.Unusual[from+i] = columns
			}
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
	if !r.Unseen {
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
func (s *session) predict(ctx context.Context, r *request, f *Frame, share *budget.Share) (any, []Tensor, error) {
	m, done, err := s.models.use(r.Model)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	start := time.Now()
	t, err := r.table(f)
	if err != nil {
		return nil, nil, err
	}
	outcomes := m.Utility().Outcomes()
	d := newCollected(t.Len(), append(service.PredictFields(outcomes), service.Field{
		Name: "probabilities", Over: outcomes,
		Numbers: func(c *service.Case, to []float64) []float64 { return append(to, c.Prediction.Probabilities...) },
	}))
	block, err := s.room(share, rowBytes(m), t.Len(), d.numbers())
	if err != nil {
		return nil, nil, err
	}
	report, err := s.blocks(ctx, r, m.Recipe(), t, block, func(x *mat.Dense, _, _ int) error {
		predictions, err := m.Predict(x)
		for i := range predictions {
			d.add(&service.Case{Prediction: &predictions[i]})
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	var found predicted
	found.report(report, start)
	return found, d.tensors(), nil
}

// decide gives what service says about decided cases: the fields of decisions, and the
// probabilities of all outcomes.
func (s *session) decide(ctx context.Context, r *request, f *Frame, share *budget.Share) (any, []Tensor, error) {
	q, err := decideOptions(r.Options)
	if err != nil {
		return nil, nil, err
	}
	spec, err := r.Utility.spec()
	if err != nil {
		return nil, nil, err
	}
	m, done, err := s.models.use(r.Model)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	start := time.Now()
	t, spec, all, err := s.staked(r, f, m, spec, share)
	if err != nil {
		return nil, nil, err
	}
	baseline, err := service.Baseline(spec, q.Baseline)
	if err != nil {
		return nil, nil, err
	}
	limits, err := q.Within(spec)
	if err != nil {
		return nil, nil, err
	}
	explain := q.Explainer(m, spec)
	d := newCollected(t.Len(), append(append(service.DecideFields(spec, baseline, q.SecondOpinion, explain), allProbabilities(spec)), limits.Fields()...))
	block, err := s.room(share, rowBytes(m), t.Len(), d.numbers())
	if err != nil {
		return nil, nil, err
	}
	var waiting []lossep.Decision // for a capacity to be shared out
	report, err := s.blocks(ctx, r, m.Recipe(), t, block, func(x *mat.Dense, from, to int) error {
		decisions, err := m.Decide(x, part(all, from, to)...)
		if err != nil {
			return err
		}
		if q.SecondOpinion {
			m.Consult(x, decisions)
		}
		if explain != nil {
			if err := explain.Of(ctx, x, decisions); err != nil {
				return err
			}
		}
		if limits != nil {
			waiting = append(waiting, decisions...)
			return nil
		}
		for i := range decisions {
			d.add(&service.Case{Decision: &decisions[i]})
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	found := predicted{Actions: spec.Actions(), Costs: spec.Costs(), Objects: d.objects}
	if limits != nil {
		if found.Capacity, err = s.allocate(share, d, limits, t, waiting, q, m.Recipe().Missing...); err != nil {
			return nil, nil, err
		}
	}
	found.Uncertain = d.doubts.Costs(spec, t.Len())
	found.report(report, start)
	return found, d.tensors(), nil
}

// decideOptions are those of decisions, by name.
func decideOptions(values map[string]any) (*service.Decide, error) {
	q := new(service.Decide)
	err := append(q.Asked(), q.Periods()...).Give(values)
	if err == nil {
		err = q.CheckCapacity()
	}
	return q, err
}

// allocate shares a capacity out to the cases of a table, and takes down what is said about them.
func (s *session) allocate(share *budget.Share, d *collected, limits *service.Limits, t *table.Table, all []lossep.Decision, q *service.Decide, missing ...string) (*service.Shortage, error) {
	const held = 320 // bytes of a decision until all are made
	if err := s.take(share, "the capacity", float64(len(all))*float64(held+limits.Bytes())); err != nil {
		return nil, err
	}
	limited, short, err := limits.AllocateTable(t, all, q.Capacity, missing...)
	for i := range limited {
		d.add(&service.Case{Decision: &all[i], Limited: &limited[i]})
	}
	return short, err
}

// staked is the rows of a request, the utility to decide them by, the model's if none is
// given, and what is at stake in each.
func (s *session) staked(r *request, f *Frame, m *lossep.Model, spec *decision.Spec, share *budget.Share) (*table.Table, *decision.Spec, []decision.Stakes, error) {
	t, err := r.table(f)
	if err != nil {
		return nil, nil, nil, err
	}
	if spec == nil {
		spec = m.Utility()
	} else if spec, err = m.Bind(spec); err != nil {
		return nil, nil, nil, err
	}
	if err := s.takeStakes(share, t.Len(), spec); err != nil {
		return nil, nil, nil, err
	}
	all, err := service.StakesOf(spec, t, m.Recipe().Missing...)
	return t, spec, all, err
}

// takeStakes takes the memory of what is at stake in each row, if that differs.
func (s *session) takeStakes(share *budget.Share, rows int, spec *decision.Spec) error {
	if len(spec.Columns()) == 0 {
		return nil
	}
	each := len(spec.Columns()) + 2*len(spec.Outcomes())*len(spec.Actions())
	return s.take(share, "the costs of the cases", 8*float64(rows)*float64(each))
}

// room takes the memory of an answer of so many numbers a row, twice while it is written, and of
// a block of rows, of which it returns how many there are.
func (s *session) room(share *budget.Share, each float64, rows, numbers int) (block int, err error) {
	block, bytes := s.blockOf(each, rows)
	return block, s.take(share, "the answer", 2*8*float64(rows)*float64(numbers)+bytes)
}

// value says what it would be worth to know more: the outcome, each of the columns asked about,
// and the label of each row if that is asked.
func (s *session) value(ctx context.Context, r *request, f *Frame, share *budget.Share) (any, []Tensor, error) {
	var q service.Worth
	if err := q.Asked().Give(r.Options); err != nil {
		return nil, nil, err
	}
	spec, err := r.Utility.spec()
	if err != nil {
		return nil, nil, err
	}
	m, done, err := s.models.use(r.Model)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	if err := m.CheckAsk(q.Ask, spec); err != nil {
		return nil, nil, err
	}
	start := time.Now()
	t, spec, all, err := s.staked(r, f, m, spec, share)
	if err != nil {
		return nil, nil, err
	}
	worths := service.ValueFields(spec, q.Ask, q.Prices)[3:] // behind what is of the decision
	d := newCollected(t.Len(), append(append(service.DecideFields(spec, 0, false, nil), allProbabilities(spec)), worths...))
	block, err := s.room(share, rowBytes(m), t.Len(), d.numbers())
	if err != nil {
		return nil, nil, err
	}
	report, err := s.blocks(ctx, r, m.Recipe().WithOpen(q.Ask.Columns...), t, block, func(x *mat.Dense, from, to int) error {
		worth, err := m.WorthOf(ctx, x, q.Ask, part(all, from, to)...)
		for i := range worth {
			d.add(&service.Case{Decision: &worth[i].Decision, Worth: &worth[i]})
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	found := predicted{Actions: spec.Actions(), Costs: spec.Costs()}
	found.report(report, start)
	return found, d.tensors(), nil
}

// decideGiven decides by probabilities that any program made, without a model. They are the
// first tensor.
func (s *session) decideGiven(r *request, f *Frame, share *budget.Share) (any, []Tensor, error) {
	q, err := decideOptions(r.Options)
	if err != nil {
		return nil, nil, err
	}
	spec, err := r.Utility.spec()
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	names := r.Outcomes
	p, err := f.tensor(0)
	if err != nil || p.Type != Float64 || len(p.Shape) != 2 || p.Shape[1] != len(names) || spec == nil {
		return nil, nil, &malformed{"decisions without a model need probabilities of every outcome, the outcomes' names and the costs"}
	}
	if err := spec.Bind(names...); err != nil {
		return nil, nil, err
	}
	baseline, err := service.Baseline(spec, q.Baseline)
	if err != nil {
		return nil, nil, err
	}
	limits, err := q.Within(spec)
	if err != nil {
		return nil, nil, err
	}
	n := p.Shape[0]
	d := newCollected(n, append(append(service.DecideFields(spec, baseline, false, nil), allProbabilities(spec)), limits.Fields()...))
	if err := s.take(share, "the answer", 2*8*float64(n)*float64(d.numbers()+len(names)+len(spec.Actions()))); err != nil {
		return nil, nil, err
	}
	if err := s.takeStakes(share, n, spec); err != nil {
		return nil, nil, err
	}
	t, all, err := r.givenStakes(f, spec, n)
	if err != nil {
		return nil, nil, err
	}
	values := p.floats()
	probabilities := make([][]float64, n)
	for i := range probabilities {
		probabilities[i] = values[i*len(names) : (i+1)*len(names)]
	}
	decisions := service.Choose(all, probabilities)
	found := predicted{Actions: spec.Actions(), Costs: spec.Costs()}
	if limits != nil {
		if found.Capacity, err = s.allocate(share, d, limits, t, decisions, q); err != nil {
			return nil, nil, err
		}
	} else {
		for i := range decisions {
			d.add(&service.Case{Decision: &decisions[i]})
		}
	}
	found.Uncertain, found.Seconds = d.doubts.Costs(spec, n), time.Since(start).Seconds()
	return found, d.tensors(), nil
}

// givenStakes is the table of the columns of a request, nil if it has none, and what is at stake in n cases.
func (r *request) givenStakes(f *Frame, spec *decision.Spec, n int) (*table.Table, []decision.Stakes, error) {
	if len(r.Columns) == 0 {
		all, err := spec.Cases(n, func(_ int, column string) (float64, error) {
			return 0, &inputError{&lossep.InputError{What: "cost", Msg: fmt.Sprintf("it depends on the column %q, which is not given; give a DataFrame that has it as cost_columns", column)}}
		})
		return nil, all, err
	}
	t, err := r.table(f)
	if err != nil {
		return nil, nil, err
	}
	if t.Len() != n {
		return nil, nil, &malformed{"there are not as many costs as probabilities"}
	}
	all, err := service.StakesOf(spec, t)
	return t, all, err
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
