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
	Actions []string        `json:"actions,omitempty"`
	Costs   bool            `json:"costs"`
	Methods []lossep.Method `json:"methods,omitempty"` // of the columns of dissent
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
	p.Unseen = report.Doubts().Lines()
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
	n, outcomes := t.Len(), len(m.Utility().Outcomes())
	block, err := s.room(share, m, n, outcomes+2)
	if err != nil {
		return nil, nil, err
	}
	probabilities := make([]float64, 0, n*outcomes)
	moments := make([]float64, 0, 2*n)
	report, err := s.blocks(ctx, r, m.Recipe(), t, block, func(x *mat.Dense, _, _ int) error {
		predictions, err := m.Predict(x)
		for _, p := range predictions {
			probabilities = append(probabilities, p.Probabilities...)
			moments = append(moments, p.Mean, p.Variance)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	var found predicted
	found.report(report, start)
	return found, []Tensor{Floats("probabilities", probabilities, n, outcomes), Floats("latent", moments, n, 2)}, nil
}

// decide gives the action of every row, what is expected of each, the margin and the
// probabilities of all outcomes; and what the other methods would do, if they are asked.
func (s *session) decide(ctx context.Context, r *request, f *Frame, share *budget.Share) (any, []Tensor, error) {
	spec, err := r.Utility.spec()
	if err != nil {
		return nil, nil, err
	}
	if r.Model == 0 {
		return s.decideGiven(r, f, spec, share)
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
	block, err := s.room(share, m, t.Len(), len(spec.Outcomes())+len(spec.Actions())+3)
	if err != nil {
		return nil, nil, err
	}
	d := newDecided(t.Len(), spec)
	report, err := s.blocks(ctx, r, m.Recipe(), t, block, func(x *mat.Dense, from, to int) error {
		decisions, err := m.Decide(x, part(all, from, to)...)
		if err != nil {
			return err
		}
		if r.Consult {
			m.Consult(x, decisions)
		}
		for _, c := range decisions {
			d.add(c.Choice, c.Probabilities)
			d.dissent = append(d.dissent, len(c.Dissent))
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	found := predicted{Actions: spec.Actions(), Costs: spec.Costs()}
	found.report(report, start)
	return found, d.tensors(), nil
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
	all, err := stakes(spec, t, m.Recipe().Missing...)
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
func (s *session) room(share *budget.Share, m *lossep.Model, rows, numbers int) (block int, err error) {
	block, bytes := s.blockOf(m, rows)
	return block, s.take(share, "the answer", 2*8*float64(rows)*float64(numbers)+bytes)
}

// value decides as decide does, and says what it would be worth to know more: the outcome,
// each of the columns asked about, and the label of each row if that is asked.
func (s *session) value(ctx context.Context, r *request, f *Frame, share *budget.Share) (any, []Tensor, error) {
	spec, err := r.Utility.spec()
	if err != nil {
		return nil, nil, err
	}
	m, done, err := s.models.use(r.Model)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	ask := lossep.Ask{Columns: r.Ask, Labels: r.Labels}
	if err := m.CheckAsk(ask, spec); err != nil {
		return nil, nil, err
	}
	start := time.Now()
	t, spec, all, err := s.staked(r, f, m, spec, share)
	if err != nil {
		return nil, nil, err
	}
	block, err := s.room(share, m, t.Len(), len(spec.Outcomes())+len(spec.Actions())+5+len(r.Ask))
	if err != nil {
		return nil, nil, err
	}
	d := newDecided(t.Len(), spec)
	outcome, columns, label := make([]float64, 0, t.Len()), make([]float64, 0, t.Len()*len(r.Ask)), make([]float64, 0, t.Len())
	report, err := s.blocks(ctx, r, m.Recipe().WithOpen(r.Ask...), t, block, func(x *mat.Dense, from, to int) error {
		worth, err := m.WorthOf(ctx, x, ask, part(all, from, to)...)
		for _, w := range worth {
			d.add(w.Choice, w.Probabilities)
			d.dissent = append(d.dissent, 0)
			outcome, columns, label = append(outcome, w.Outcome), append(columns, w.Columns...), append(label, w.Label)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	found := predicted{Actions: spec.Actions(), Costs: spec.Costs()}
	found.report(report, start)
	n := t.Len()
	return found, append(d.tensors(), Floats("worth_outcome", outcome, n), Floats("worth_columns", columns, n, len(r.Ask)), Floats("worth_label", label, n)), nil
}

// decideGiven decides by probabilities that any program made, without a model. They are the
// first tensor.
func (s *session) decideGiven(r *request, f *Frame, spec *decision.Spec, share *budget.Share) (any, []Tensor, error) {
	start := time.Now()
	names := r.outcomes()
	p, err := f.tensor(0)
	if err != nil || p.Type != Float64 || len(p.Shape) != 2 || p.Shape[1] != len(names) || spec == nil {
		return nil, nil, &malformed{"decisions without a model need probabilities of every outcome, the outcomes' names and the costs"}
	}
	if err := spec.Bind(names...); err != nil {
		return nil, nil, err
	}
	if err := s.take(share, "the answer", 2*8*float64(p.Shape[0])*float64(2*len(names)+len(spec.Actions())+3)); err != nil {
		return nil, nil, err
	}
	if err := s.takeStakes(share, p.Shape[0], spec); err != nil {
		return nil, nil, err
	}
	var all []decision.Stakes
	if len(r.Columns) > 0 {
		t, err := r.table(f)
		if err != nil {
			return nil, nil, err
		}
		if t.Len() != p.Shape[0] {
			return nil, nil, &malformed{"there are not as many costs as probabilities"}
		}
		if all, err = stakes(spec, t); err != nil {
			return nil, nil, err
		}
	} else if all, err = spec.Cases(p.Shape[0], func(_ int, column string) (float64, error) {
		return 0, &inputError{&lossep.InputError{What: "cost", Msg: fmt.Sprintf("it depends on the column %q, which is not given; give a DataFrame that has it as cost_columns", column)}}
	}); err != nil {
		return nil, nil, err
	}
	d := newDecided(p.Shape[0], spec)
	values := p.floats()
	for i := range p.Shape[0] {
		row := values[i*len(names) : (i+1)*len(names)]
		d.add(all[i%len(all)].Choose(make([]float64, len(d.actions)), row), row)
		d.dissent = append(d.dissent, 0)
	}
	return predicted{Actions: spec.Actions(), Costs: spec.Costs(), Seconds: time.Since(start).Seconds()}, d.tensors(), nil
}

// decided collects decisions.
type decided struct {
	actions, chosen, dissent        []int
	expected, margin, probabilities []float64
	rows, outcomes                  int
}

func newDecided(n int, spec *decision.Spec) *decided {
	return &decided{rows: n, outcomes: len(spec.Outcomes()), actions: make([]int, len(spec.Actions()))}
}

func (d *decided) add(c decision.Choice, p []float64) {
	d.chosen = append(d.chosen, c.Action)
	d.expected = append(d.expected, c.Expected...)
	d.margin = append(d.margin, c.Margin)
	d.probabilities = append(d.probabilities, p...)
}

func (d *decided) tensors() []Tensor {
	return []Tensor{
		Ints("action", d.chosen, d.rows), Floats("expected", d.expected, d.rows, len(d.actions)), Floats("margin", d.margin, d.rows),
		Floats("probabilities", d.probabilities, d.rows, d.outcomes), Ints("dissent", d.dissent, d.rows),
	}
}
