package service

import (
	"context"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
)

// Valuing implements Loaded.
func (m NumberModel) Valuing(ctx context.Context, v *Worth, read func(ctx context.Context, path string) ([]byte, error)) (Answer, error) {
	if err := v.Options.refuse(forCategories, "calibrate", "cost-matrix"); err != nil {
		return nil, err
	}
	costs, err := m.costs(ctx, &v.Costs, read)
	if err != nil {
		return nil, err
	}
	d, err := NewNumberValuer(m.Model, costs, v.Ask)
	return &valuingNumbers{answer: answer{cases: &v.Cases, model: m.Model}, NumberValuer: d, request: v, pays: make([]int, len(v.Prices))}, err
}

// NumberValuer decides cases, and values what it would be worth to know more before.
type NumberValuer struct {
	NumberDecider
	Ask       lossep.Ask
	Total     float64 // worth of the outcomes
	measuring *numbers.Measuring
}

// NewNumberValuer refuses what the model cannot value.
func NewNumberValuer(m *numbers.Model, costs *decision.NumberCosts, ask lossep.Ask) (*NumberValuer, error) {
	if err := m.CheckAsk(ask, costs); err != nil {
		return nil, err
	}
	measuring, err := m.Measuring(ask)
	return &NumberValuer{NumberDecider: NumberDecider{Model: m, Costs: costs}, Ask: ask, measuring: measuring}, err
}

// Value decides a case as Decide does, and values what is asked about it.
func (v *NumberValuer) Value(ctx context.Context, stake decision.Stake, x []float64, c *NumberCase, at func(error) error) (*lossep.Worth, error) {
	if err := v.Decide(ctx, stake, c, at); err != nil {
		return nil, err
	}
	stake = c.Stake // which stops with the context
	worth := &lossep.Worth{Outcome: numbers.OutcomeWorth(stake, c.Distribution, c.Choice)}
	v.Total += worth.Outcome
	var err error
	if worth.Columns, err = v.measuring.Worth(ctx, x, stake); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		return nil, at(err)
	}
	return worth, nil
}

// Labels are what the outcomes of all cases would be worth to decisions on all, nil if that is not asked for.
func (v *NumberValuer) Labels(ctx context.Context, x *mat.Dense, stakes []decision.Stake) ([]float64, error) {
	if !v.Ask.Labels {
		return nil, nil
	}
	return v.Model.LabelWorth(ctx, x, stakes)
}

// Fields are what is said of the value of information in a case.
func (v *NumberValuer) Fields(prices []float64) []Field {
	all := slices.DeleteFunc(v.NumberDecider.Fields(), func(f Field) bool { return strings.HasSuffix(f.Name, "lower") || strings.HasSuffix(f.Name, "higher") })
	return worthFields(all, v.Ask, prices)
}

type valuingNumbers struct {
	answer
	*NumberValuer
	request *Worth
	pays    []int // by column: rows in which measuring it is worth its cost
}

func (v *valuingNumbers) Fields() []Field { return fileFields(v.NumberValuer.Fields(v.request.Prices)) }

func (v *valuingNumbers) Columns() []string { return v.Costs.Columns() }

func (v *valuingNumbers) Recipe() *recipe.Recipe {
	return v.model.Recipe().WithOpen(v.request.Ask.Columns...)
}

func (v *valuingNumbers) Rows(ctx context.Context, rd *recipe.Reader, several bool, emit Emit) error {
	var worth *lossep.Worth
	var pool labelled
	valued := func(cells func() []string, c *Case) error {
		c.Worth = worth
		if v.Ask.Labels {
			return pool.hold(cells, c)
		}
		return emit(cells, c)
	}
	err := v.each(ctx, rd, several, valued, func(row numbers.Row, c *NumberCase) error {
		stake, err := row.Bind(v.Costs)
		if err != nil {
			return err
		}
		if worth, err = v.Value(ctx, stake, row.X, c, row.Located); err != nil {
			return err
		}
		for k, x := range worth.Columns {
			if x > v.request.Prices[k] {
				v.pays[k]++
			}
		}
		if v.Ask.Labels {
			pool.x, pool.stakes = append(pool.x, row.X...), append(pool.stakes, stake)
		}
		return nil
	})
	if err != nil || len(pool.cases) == 0 {
		return err
	}
	labels, err := v.Labels(ctx, mat.NewDense(len(pool.cases), len(pool.x)/len(pool.cases), pool.x), pool.stakes)
	if err != nil {
		return err
	}
	for i, c := range pool.cases {
		c.Worth.Label = labels[i]
		if err := emit(func() []string { return pool.cells[i] }, c); err != nil {
			return err
		}
	}
	return nil
}

// labelled are cases whose labels are valued together.
type labelled struct {
	cells  [][]string
	cases  []*Case
	x      []float64 // encoded, row by row
	stakes []decision.Stake
}

func (l *labelled) hold(cells func() []string, c *Case) error {
	if len(l.cases) == numbers.MostLabelled {
		return optionError("labels", "there are more than %d rows; give a sample of them", numbers.MostLabelled)
	}
	l.cells, l.cases = append(l.cells, cells()), append(l.cases, c)
	return nil
}

func (v *valuingNumbers) Lines(Naming) []string {
	return append(worthLines(v.rows, v.Total, v.request, v.pays), warnings(v.model)...)
}
