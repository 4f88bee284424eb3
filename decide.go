package lossep

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/normal"
)

// Prediction is what is known about one case.
type Prediction struct {
	// Mean and Variance are those of the latent value.
	Mean, Variance float64
	// Probability is that of the positive outcome.
	Probability float64
}

// Decision is what to do in one case.
type Decision struct {
	// Action is the number of the action in the utility's order.
	Action int
	// Utilities are the expected utilities of all actions. Costs count as what they
	// leave of the ceiling.
	Utilities []float64
	// Probability is that of the positive outcome.
	Probability float64
	// Margin is by how much the action is better than the next best.
	Margin float64
	// Dissent are the actions of the methods that would act otherwise, as Consult finds
	// them; nil if none. EP is always asked; its corrections, which take longer, where
	// EP's probability Φ(z) has z within 0.2 of where another action is best. That is 0.08
	// at a probability of one half, where the corrections of the smallest problems come
	// to 0.005 on average.
	Dissent map[Method]int
	// Cost is the expected cost of the action, if the utility is one of costs.
	Cost float64
	// Entries is what the actions cost, or bring, under each outcome in this case.
	Entries decision.Table
}

// Predict predicts the cases whose features are the rows of x. What it says about a row
// does not depend on the other rows. All numbers are finite: a row that is too far from
// the training rows for that is a *FarError, and nothing is predicted.
func (m *Model) Predict(x *mat.Dense) ([]Prediction, error) {
	if err := m.checkFeatures(x); err != nil {
		return nil, err
	}
	predictions := m.opinions[0].predict(m, x)
	for i, p := range predictions {
		if !p.isFinite() {
			return nil, m.far(x, i)
		}
	}
	return predictions, nil
}

// Decide decides the cases whose features are the rows of x under a specification that
// is bound to the model's outcomes; nil stands for the model's own. Where it names
// columns of the data its Entries have to be given, one table for each row. What is
// decided about a row does not depend on the other rows, and no other method is asked;
// see Consult. A row that is too far from the training rows is a *FarError, and nothing
// is decided.
func (m *Model) Decide(x *mat.Dense, s *decision.Spec, entries ...decision.Table) ([]Decision, error) {
	if err := m.checkFeatures(x); err != nil {
		return nil, err
	}
	probabilities := m.opinions[0].probabilities(m, x)
	for i, p := range probabilities {
		if math.IsNaN(p) {
			return nil, m.far(x, i)
		}
	}
	return m.choose(probabilities, s, entries), nil
}

// Choose decides cases that Predict has predicted, as Decide does. Nothing but their
// probabilities is looked at.
func (m *Model) Choose(predictions []Prediction, s *decision.Spec, entries ...decision.Table) []Decision {
	probabilities := make([]float64, len(predictions))
	for i, p := range predictions {
		probabilities[i] = p.Probability
	}
	return m.choose(probabilities, s, entries)
}

// choose decides cases of known probabilities, with entries for each or for all.
func (m *Model) choose(probabilities []float64, s *decision.Spec, entries []decision.Table) []Decision {
	if s == nil {
		s = m.utility
	}
	if len(entries) == 0 {
		t, err := s.Entries(nil)
		if err != nil {
			panic("lossep: " + err.Error()) // a specification without columns was checked when it was made
		}
		entries = []decision.Table{t}
	}
	out := make([]Decision, len(probabilities))
	actions := len(s.Actions())
	utilities := make([]float64, len(out)*actions)
	for i, p := range probabilities {
		out[i] = Decision{
			Probability: p, Entries: entries[i%len(entries)],
			Utilities: utilities[i*actions : (i+1)*actions : (i+1)*actions],
		}
		out[i].choose(s)
	}
	return out
}

// Consult asks the other methods about decisions that Decide made for the rows of x
// under the specification, and notes who would act otherwise as their Dissent. A method
// that has no finite prediction for a row has no opinion on it.
func (m *Model) Consult(x *mat.Dense, s *decision.Spec, decisions []Decision) {
	if s == nil {
		s = m.utility
	}
	if rows, _ := x.Dims(); rows != len(decisions) {
		panic(fmt.Sprintf("lossep: %d decisions about %d rows", len(decisions), rows))
	}
	plain := make([]float64, len(decisions)) // EP's probabilities
	for i, d := range decisions {
		plain[i] = d.Probability
	}
	for _, o := range m.opinions[1:] {
		if o.method == Corrected {
			rows := closeCalls(decisions, plain, s.Costs())
			if len(rows) == 0 {
				continue
			}
			for k, p := range o.probabilities(m, rowsOf(x, rows)) {
				decisions[rows[k]].hear(o.method, p, s.Costs())
			}
			continue
		}
		plain = o.probabilities(m, x)
		for i, p := range plain {
			decisions[i].hear(o.method, p, s.Costs())
		}
	}
}

// hear takes note of another method's probability; NaN is no opinion.
func (d *Decision) hear(method Method, p float64, costs bool) {
	if math.IsNaN(p) {
		return
	}
	other := best(d.Entries, 1-p, p, costs)
	if other == d.Action {
		return
	}
	if d.Dissent == nil {
		d.Dissent = make(map[Method]int)
	}
	d.Dissent[method] = other
}

// closeCalls are the decisions that the corrections of EP's probabilities may change.
// An action is best in an interval of probabilities, so that its ends tell. Distances
// are those of the standardised latent mean z, P = Φ(z): a probability near 0 is never
// wrong by as much as one near ½.
func closeCalls(decisions []Decision, plain []float64, costs bool) []int {
	const near = 0.2
	var rows []int
	for i, d := range decisions {
		if math.IsNaN(plain[i]) {
			continue
		}
		z := normal.Quantile(plain[i])
		low, high := normal.CDF(z-near), normal.CDF(z+near)
		if best(d.Entries, 1-low, low, costs) != d.Action || best(d.Entries, 1-high, high, costs) != d.Action {
			rows = append(rows, i)
		}
	}
	return rows
}

// rowsOf is the matrix of the given rows of x.
func rowsOf(x *mat.Dense, rows []int) *mat.Dense {
	_, d := x.Dims()
	part := mat.NewDense(len(rows), d, nil)
	for k, i := range rows {
		part.SetRow(k, x.RawRowView(i))
	}
	return part
}

// choose fills in what follows from the probability and the entries.
func (d *Decision) choose(s *decision.Spec) {
	t, p := d.Entries, d.Probability
	d.Margin = math.Inf(1)
	t.ExpectedUtilities(d.Utilities, p)
	d.Action = best(t, 1-p, p, s.Costs())
	if s.Costs() {
		d.Cost = d.Utilities[d.Action]
		ceiling := ceilingOf(s)
		if math.IsNaN(ceiling) {
			// One table for all cases has its own largest cost; costs that vary without a
			// common ceiling count as losses.
			ceiling = 0
			if len(s.Columns()) == 0 {
				ceiling = t.Max()
			}
		}
		for a, cost := range d.Utilities {
			d.Utilities[a] = ceiling - cost
		}
	}
	for a, u := range d.Utilities {
		if a != d.Action {
			d.Margin = max(0, min(d.Margin, d.Utilities[d.Action]-u))
		}
	}
}

// best is the action of highest expected utility, or of lowest expected cost, the
// first among equals.
func best(t decision.Table, p0, p1 float64, costs bool) int {
	if costs {
		return t.Worst(p0, p1)
	}
	return t.Best(p0, p1, -1)
}

// blockRows is how many rows of a stream are held at a time.
const blockRows = 512

// Predictions predicts the rows of a stream, in memory that does not grow with their
// number. An error ends it.
func (m *Model) Predictions(ctx context.Context, r *data.Reader) iter.Seq2[PredictedRow, error] {
	return func(yield func(PredictedRow, error) bool) {
		m.blocks(ctx, r, func(b *data.Block, err error) bool {
			if err != nil {
				yield(PredictedRow{}, err)
				return false
			}
			predictions, err := m.Predict(b.X)
			if err != nil {
				yield(PredictedRow{}, inFile(err, b))
				return false
			}
			for i, p := range predictions {
				if !yield(PredictedRow{Prediction: p, Row: &b.Rows[i]}, nil) {
					return false
				}
			}
			return true
		})
	}
}

// PredictedRow is a row with what is known about it.
type PredictedRow struct {
	Prediction
	Row *data.Row
}

// Decisions decides the rows of a stream, in memory that does not grow with their
// number, under a specification that is bound to the model's outcomes (see
// Model.Bind); nil stands for the model's own. The other methods are asked as well, as
// by Consult. An error ends it.
func (m *Model) Decisions(ctx context.Context, r *data.Reader, s *decision.Spec) iter.Seq2[DecidedRow, error] {
	if s == nil {
		s = m.utility
	}
	return func(yield func(DecidedRow, error) bool) {
		m.blocks(ctx, r, func(b *data.Block, err error) bool {
			var entries []decision.Table
			if err == nil {
				entries, err = entriesOf(s, b.Rows)
			}
			if err != nil {
				yield(DecidedRow{}, err)
				return false
			}
			decisions, err := m.Decide(b.X, s, entries...)
			if err != nil {
				yield(DecidedRow{}, inFile(err, b))
				return false
			}
			m.Consult(b.X, s, decisions)
			for i, d := range decisions {
				if !yield(DecidedRow{Decision: d, Row: &b.Rows[i]}, nil) {
					return false
				}
			}
			return true
		})
	}
}

// DecidedRow is a row with what to do about it.
type DecidedRow struct {
	Decision
	Row *data.Row
}

// Bind is a copy of the specification with the outcomes of the model's target, to
// decide under other costs than those of the fit.
func (m *Model) Bind(s *decision.Spec) (*decision.Spec, error) {
	bound := *s
	return &bound, bound.Bind(m.recipe.Target.Negative, m.recipe.Target.Positive)
}

// blocks hands over the rows of a stream block by block, or an error, until there are
// no more or use has enough.
func (m *Model) blocks(ctx context.Context, r *data.Reader, use func(*data.Block, error) bool) {
	for {
		if err := ctx.Err(); err != nil {
			use(nil, err)
			return
		}
		b, err := r.ReadBlock(blockRows)
		if err == io.EOF {
			return
		}
		if !use(b, err) {
			return
		}
	}
}

// inFile gives the error of a row of a block its place in the file.
func inFile(err error, b *data.Block) error {
	if far, ok := err.(*FarError); ok {
		return far.In("", b.Rows[far.Row].Line)
	}
	return err
}

// entriesOf is what actions cost in each of the rows, or in all of them.
func entriesOf(s *decision.Spec, rows []data.Row) ([]decision.Table, error) {
	if len(s.Columns()) == 0 {
		t, err := s.Entries(nil)
		return []decision.Table{t}, err
	}
	tables := make([]decision.Table, len(rows))
	for i := range rows {
		var err error
		if tables[i], err = s.Entries(rows[i].Value); err != nil {
			return nil, caseError("", rows[i].Line, err)
		}
	}
	return tables, nil
}
