package lossep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Choose decides cases that Predict has predicted, as Decide does. Nothing but their
// probabilities is looked at.
func (m *Model) Choose(predictions []Prediction, stakes ...decision.Stakes) []Decision {
	probabilities := make([][]float64, len(predictions))
	for i, p := range predictions {
		probabilities[i] = p.Probabilities
	}
	return m.choose(probabilities, stakes)
}

// choose decides cases of known probabilities.
func (m *Model) choose(probabilities [][]float64, stakes []decision.Stakes) []Decision {
	stakes = m.orOwn(stakes)
	out := make([]Decision, len(probabilities))
	actions := len(stakes[0].Table)
	expected := make([]float64, len(out)*actions)
	for i, p := range probabilities {
		s := stakes[i%len(stakes)]
		out[i] = Decision{Choice: s.Choose(expected[i*actions:(i+1)*actions:(i+1)*actions], p), Probabilities: p, Stakes: s}
	}
	return out
}

// orOwn are the stakes, or the model's own if none are given.
func (m *Model) orOwn(stakes []decision.Stakes) []decision.Stakes {
	if len(stakes) > 0 {
		return stakes
	}
	own, err := m.utility.Stakes(nil)
	if err != nil {
		panic("lossep: " + err.Error()) // a specification without columns was checked when it was made
	}
	return []decision.Stakes{own}
}

// Consult asks the other methods about decisions that Decide made for the rows of x, and
// notes who would act otherwise as Disagreeing. A method that has no finite prediction
// for a row has no opinion on it.
func (m *Model) Consult(x *mat.Dense, decisions []Decision) {
	if rows, _ := x.Dims(); rows != len(decisions) {
		panic(fmt.Sprintf("lossep: %d decisions about %d rows", len(decisions), rows))
	}
	for _, o := range m.opinions[1:] {
		for i, p := range m.probabilities(o, x) {
			decisions[i].compare(o.method, p)
		}
	}
}

// compare notes where another method, by its probabilities, would act otherwise; NaN is no opinion.
func (d *Decision) compare(method Method, p []float64) {
	if math.IsNaN(p[1]) {
		return
	}
	other := d.Stakes.Best(p, -1)
	if other == d.Action {
		return
	}
	if d.Disagreeing == nil {
		d.Disagreeing = make(map[Method]int)
	}
	d.Disagreeing[method] = other
}

// blockRows is how many rows of a stream are held at a time.
const blockRows = 512

// Predictions predicts the rows of a stream, in memory that does not grow with their
// number. An error ends it.
func (m *Model) Predictions(ctx context.Context, r *recipe.Reader) iter.Seq2[PredictedRow, error] {
	return func(yield func(PredictedRow, error) bool) {
		m.blocks(ctx, r, func(b *recipe.Block, err error) bool {
			if err != nil {
				yield(PredictedRow{}, err)
				return false
			}
			predictions, err := m.Predict(b.X)
			for err != nil && r.Discard(b, rowOf(err), inFile(err, b)) {
				predictions, err = m.Predict(b.X)
			}
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
	Row *recipe.Row
}

// Decisions decides the rows of a stream, in memory that does not grow with their
// number, under a specification that is bound to the model's outcomes (see
// Model.Bind); nil stands for the model's own. The other methods are asked as well, as
// by Consult, if consult says so. An error ends it.
func (m *Model) Decisions(ctx context.Context, r *recipe.Reader, s *decision.Spec, consult bool) iter.Seq2[DecidedRow, error] {
	if s == nil {
		s = m.utility
	}
	return func(yield func(DecidedRow, error) bool) {
		if err := s.CheckColumns(r.Columns()); err != nil {
			yield(DecidedRow{}, err)
			return
		}
		m.blocks(ctx, r, func(b *recipe.Block, err error) bool {
			var stakes []decision.Stakes
			if err == nil {
				stakes, err = stakesOf(s, r, b)
			}
			if err != nil {
				yield(DecidedRow{}, err)
				return false
			}
			decisions, err := m.Decide(b.X, stakes...)
			for err != nil && r.Discard(b, rowOf(err), inFile(err, b)) {
				if stakes, err = stakesOf(s, r, b); err == nil {
					decisions, err = m.Decide(b.X, stakes...)
				}
			}
			if err != nil {
				yield(DecidedRow{}, inFile(err, b))
				return false
			}
			if consult {
				m.Consult(b.X, decisions)
			}
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
	Row *recipe.Row
}

// Bind is a copy of the specification with the outcomes of the model's target, to
// decide under other costs than those of the fit.
func (m *Model) Bind(s *decision.Spec) (*decision.Spec, error) {
	if t := &m.recipe.Target; t.Unsettled && s.Outcomes() == nil {
		return nil, &decision.SpecError{
			Msg: fmt.Sprintf("costs of false negatives and positives are of one outcome, and which of %q and %q is positive was not said when the model was fitted", t.Outcomes[0], t.Outcomes[1]),
			Fix: "give what every action costs under each of them, or fit the model again with the positive one named",
		}
	}
	bound := *s
	return &bound, bound.Bind(m.recipe.Target.Outcomes...)
}

// blocks hands over the rows of a stream block by block, or an error, until there are
// no more or use has enough.
func (m *Model) blocks(ctx context.Context, r *recipe.Reader, use func(*recipe.Block, error) bool) {
	m.blocksOf(ctx, r, blockRows, use)
}

// blocksOf is blocks with so many rows in each. The next block is read while one is used;
// but not if rows are passed over, which are to be reported in their order.
func (m *Model) blocksOf(ctx context.Context, r *recipe.Reader, size int, use func(*recipe.Block, error) bool) {
	next := func() (*recipe.Block, error) { return r.ReadBlock(size) }
	if !r.Skips() {
		type read struct {
			block *recipe.Block
			err   error
		}
		ahead, enough := make(chan read), make(chan struct{})
		var reading tasks.Group
		reading.Go(func() {
			defer close(ahead)
			for {
				b, err := r.ReadBlock(size)
				select {
				case ahead <- read{b, err}:
				case <-enough:
					return
				}
				if err != nil {
					return
				}
			}
		})
		defer reading.Wait() // the file is closed after it
		defer close(enough)
		next = func() (*recipe.Block, error) {
			r, ok := <-ahead
			if !ok {
				return nil, io.EOF // Wait says why
			}
			return r.block, r.err
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			use(nil, err)
			return
		}
		b, err := next()
		if err == io.EOF {
			return
		}
		if !use(b, err) || err != nil {
			return
		}
	}
}

// inFile gives the error of a row of a block its place in the file.
func inFile(err error, b *recipe.Block) error {
	if far, ok := err.(*FarError); ok {
		return far.In(b.Rows[far.Row].Place())
	}
	return err
}

// rowOf is the row of a block that an error is about, −1 if it is about none.
func rowOf(err error) int {
	var far *FarError
	var stakes *decision.CaseError
	switch {
	case errors.As(err, &far):
		return far.Row
	case errors.As(err, &stakes):
		return stakes.Case
	}
	return -1
}

// stakesOf is what is at stake in each of the rows, or in all of them. Rows that cannot
// be read go if the reader passes over such.
func stakesOf(s *decision.Spec, r *recipe.Reader, b *recipe.Block) ([]decision.Stakes, error) {
	for {
		gaps := new(decision.Gaps)
		stakes, err := s.Cases(len(b.Rows), gaps.Count(func(i int, column string) (float64, error) { return b.Rows[i].Value(column) }))
		if err == nil {
			r.Report().CountDefaults(gaps.Cases)
			return stakes, nil
		}
		row := rowOf(err)
		if err = AtCase(func(i int) *table.Error { return b.Rows[i].Place() }, err); !r.Discard(b, row, err) {
			return nil, err
		}
	}
}
