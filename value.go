package lossep

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// OutcomeWorth is what it would be worth to know the outcome before acting: by how much
// the expected cost would fall, or the expected utility rise. It is the most that any
// further information about the case can be worth.
func (d *Decision) OutcomeWorth() float64 {
	known := 0.0
	sure := make([]float64, len(d.Probabilities))
	for y, p := range d.Probabilities {
		clear(sure)
		sure[y] = 1
		known += p * d.Stakes.Expected(d.Stakes.Best(sure, -1), sure)
	}
	return gain(d.Stakes, d.Expected[d.Action], known)
}

// gain is by how much one expectation is better than another; never below zero but for
// rounding, where the better one knows more. What rounding leaves of a few dozen terms is
// no gain.
func gain(s decision.Stakes, without, with float64) float64 {
	better := with - without
	if s.Costs {
		better = -better
	}
	if better <= 0x1p-45*max(math.Abs(with), math.Abs(without)) {
		return 0
	}
	return better
}

// togetherPredicted is how many cases are predicted before the context is looked at again.
const togetherPredicted = 256

// ColumnWorth is what it would be worth in each of the cases to measure a column that is
// not known: by how much the expected cost would fall, or the expected utility rise, if the
// action were chosen after its value is seen. What the features say of the column is not
// looked at. Stakes are those of Decide.
//
// The value is thought to be that of one of the 50 training rows that are nearest in all
// other columns, each as likely as such cases are where decisions are made: by its weight, and
// by how much more frequent its outcome is there. With p_s the probabilities with the value of
// row s, and c(p) the expected cost of the best action, that is c(mean of p_s) − mean of c(p_s).
// Where further columns are not known, their features NaN as those of recipe.Recipe.WithOpen, p_s is
// the mean over what the five nearest of the rows have there.
//
// An *InputError says that the model has no such column or does not keep its rows; other
// errors are a *FarError or the context's.
func (m *Model) ColumnWorth(ctx context.Context, x *mat.Dense, column string, stakes ...decision.Stakes) ([]float64, error) {
	at, err := m.placesOf(column)
	if err != nil {
		return nil, err
	}
	stakes = m.orOwn(stakes)
	n, _ := x.Dims()
	out := make([]float64, n)
	err = m.eachVariants(ctx, n, func(i int) ([]float64, []int) {
		row := slices.Clone(x.RawRowView(i))
		for _, place := range at {
			row[place] = math.NaN()
		}
		return row, at
	}, func(i int, all [][]float64, shares []float64) {
		s := stakes[i%len(stakes)]
		mean, with := posterior.Mean(all, shares), 0.0
		for k, p := range all {
			with += shares[k] * s.Expected(s.Best(p, -1), p)
		}
		out[i] = gain(s, s.Expected(s.Best(mean, -1), mean), with)
	})
	return out, err
}

// placesOf are the entries of a column in encoded rows.
func (m *Model) placesOf(column string) ([]int, error) {
	if m.x == nil {
		return nil, WithoutRows(m.provenance.Rows)
	}
	return PlacesOf(m.recipe, column)
}

// PlacesOf are the entries of a column, which is to be measured, in rows encoded by a recipe.
func PlacesOf(r *recipe.Recipe, column string) ([]int, error) {
	var names []string
	for _, part := range r.Parts() {
		if part.Column == column {
			return part.At, nil
		}
		names = append(names, part.Column)
	}
	if cut := strings.LastIndex(column, "="); cut > 0 && slices.Contains(names, column[:cut]) {
		return nil, inputf("ask", "the cost %q of measuring %q is not a number; give one such as %s=0.2", column[cut+1:], column[:cut], column[:cut])
	}
	return nil, inputf("ask", "%q is not a feature of the model; %s", column, table.Instead(column, names))
}

// WithoutRows says that a model of so many rows has none to learn from what a column may turn out to be.
func WithoutRows(rows int) error {
	return inputf("ask", "a model of %d rows does not keep them, and what a column may turn out to be is learned from them; fit to fewer rows", rows)
}

// decideAll is Decide for many cases, which the context can end.
func (m *Model) decideAll(ctx context.Context, x *mat.Dense, stakes []decision.Stakes) ([]Decision, error) {
	n, d := x.Dims()
	probabilities := make([][]float64, 0, n)
	for from := 0; from < n; from += togetherPredicted {
		some := x.Slice(from, min(n, from+togetherPredicted), 0, d).(*mat.Dense)
		predictions, err := m.Predict(some)
		if far, ok := err.(*FarError); ok {
			far.Row += from
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		for _, p := range predictions {
			probabilities = append(probabilities, p.Probabilities)
		}
	}
	return m.choose(probabilities, stakes), nil
}

// mostLabels is how many values of functions at cases LabelWorth takes: time and memory grow with their square.
const mostLabels = 1000

// mostLabelled is how many cases it takes.
func (m *Model) mostLabelled() int {
	if several(m.recipe) {
		return mostLabels / len(m.recipe.Target.Outcomes)
	}
	return mostLabels
}

// LabelWorth is what the outcome of each of the cases would be worth to decisions on all of
// them, if it were found out and learned from: by how much the expected cost per case would
// fall, or the expected utility rise. The case with the largest is the one to label next.
//
// What counts are the actions that the label would change, Σ_y P(y) Σ_i (c_i(a_i | y) −
// c_i(a_i' | y)) with a_i the action now and a_i' the best one after the label y. The
// posterior with one more outcome is found by one step of expectation propagation from the
// one that there is; the kernel stays. An *InputError says that there are too many
// cases, or that the model has inducing points.
func (m *Model) LabelWorth(x *mat.Dense, stakes ...decision.Stakes) ([]float64, error) {
	n, _ := x.Dims()
	if err := m.checkAsk(Ask{Labels: true}); err != nil {
		return nil, err
	}
	if err := m.checkLabelled(x); err != nil {
		return nil, err
	}
	if err := m.checkFeatures(x); err != nil {
		return nil, err
	}
	stakes = m.orOwn(stakes)
	beliefs := m.beliefs(x)
	outcomes := len(m.recipe.Target.Outcomes)
	// after writes the probabilities of the outcomes at i after the label y at j, or as they are.
	after := func(p, part []float64, i, j, y int) {
		clear(p)
		for _, b := range beliefs {
			b.After(part, i, j, y)
			floats.AddScaled(p, b.weight, part)
		}
		m.adjust(p)
	}
	now, before := make([]int, n), posterior.Tuples(n, outcomes)
	for i, p := range before {
		if after(p, make([]float64, outcomes), i, -1, 0); p[0] != p[0] {
			return nil, m.far(x, i)
		}
		now[i] = stakes[i%len(stakes)].Best(p, -1)
	}
	out := make([]float64, n)
	tasks.For(n, func(j int) {
		q, part := make([]float64, outcomes), make([]float64, outcomes)
		for y, p := range before[j] {
			for i := range n {
				s := stakes[i%len(stakes)]
				after(q, part, i, j, y)
				out[j] += p * gain(s, s.Expected(now[i], q), s.Expected(s.Best(q, -1), q)) / float64(n)
			}
		}
	})
	return out, nil
}

// belief is that of a part of the model's posterior.
type belief struct {
	weight float64
	posterior.Belief
}

// beliefs are those of the parts of the model's posterior.
func (m *Model) beliefs(x *mat.Dense) (all []belief) {
	for _, part := range posterior.Parts(m.opinions[0].Posterior) {
		all = append(all, belief{part.Weight, part.Posterior.(posterior.Believer).Belief(x)})
	}
	return all
}

// WorthRow is a row with its worth.
type WorthRow struct {
	Worth
	Row *recipe.Row
}

// CheckAsk says, before any work, whether the model can answer under a specification, its own if
// that is nil: an *InputError where it has no such column, does not keep its rows, or is none that
// labels have a worth for, and where a column to be measured says what mistakes cost.
func (m *Model) CheckAsk(ask Ask, s *decision.Spec) error {
	if s == nil {
		s = m.utility
	}
	for _, column := range ask.Columns {
		if slices.Contains(s.Columns(), column) {
			return inputf("ask", "%q says what mistakes cost, and what it is worth to know that is not computed, with default() neither; ask about others, or give costs without it", column)
		}
	}
	return m.checkAsk(ask)
}

// checkAsk is CheckAsk whatever is at stake.
func (m *Model) checkAsk(ask Ask) error {
	for _, column := range ask.Columns {
		if _, err := m.placesOf(column); err != nil {
			return err
		}
	}
	if _, ok := posterior.Parts(m.opinions[0].Posterior)[0].Posterior.(posterior.Believer); ask.Labels && !ok {
		return inputf("labels", "what a label is worth is for models without inducing points")
	}
	return nil
}

// WorthBytes is about how much memory WorthOf takes for so many cases: for the cases with
// values of donors in turn, and for the labels their views and covariances.
func (m *Model) WorthBytes(cases int, ask Ask) int64 {
	row := int64(8 * m.coding.Len())
	bytes := int64(cases) * 256 // of what is returned
	if len(ask.Columns) > 0 {
		bytes += variantsAtOnce*posterior.NearestRows*companions*(2*row+64) + int64(cases)*int64(len(ask.Columns))*32
	}
	if ask.Labels {
		n, parts := int64(cases), int64(len(m.Components()))
		if several(m.recipe) { // a value of each function, and a view for each pair of them in a row
			each := int64(len(m.recipe.Target.Outcomes))
			n *= each
			bytes += 8 * n * int64(m.provenance.Rows) * (each - 2)
		}
		bytes += n * (8*int64(m.provenance.Rows) + row + 16*n + 8*n*parts)
	}
	return bytes
}

// checkLabelled refuses cases that LabelWorth has no answer for.
func (m *Model) checkLabelled(x *mat.Dense) error {
	n, _ := x.Dims()
	if most := m.mostLabelled(); n > most {
		return inputf("labels", "%d cases are more than %d; give a sample of them", n, most)
	}
	for i := range n {
		if posterior.Unknown(x.RawRowView(i)) != nil {
			return inputf("labels", "a column of row %d is not known, and what a label is worth is found for rows of which all are", i+1)
		}
	}
	return nil
}

// Worth decides the rows of a stream under a specification as Decisions does, without
// second opinions, and says what it would be worth to know more about each.
func (m *Model) Worth(ctx context.Context, r *recipe.Reader, s *decision.Spec, ask Ask) iter.Seq2[WorthRow, error] {
	if s == nil {
		s = m.utility
	}
	return func(yield func(WorthRow, error) bool) {
		if err := s.CheckColumns(r.Columns()); err != nil {
			yield(WorthRow{}, err)
			return
		}
		size := blockRows
		switch {
		case ask.Labels:
			size = m.mostLabelled() + 1
		case len(ask.Columns) > 0: // some milliseconds each
			size = 2 * variantsAtOnce
		}
		first := true
		m.blocksOf(ctx, r, size, func(b *recipe.Block, err error) bool {
			var rows []WorthRow
			switch {
			case err != nil:
			case ask.Labels && (!first || len(b.Rows) > m.mostLabelled()):
				err = inputf("labels", "there are more than %d rows; give a sample of them", m.mostLabelled())
			default:
				rows, err = m.worthOf(ctx, r, b, s, ask)
			}
			first = false
			if err != nil {
				yield(WorthRow{}, err)
				return false
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return false
				}
			}
			return true
		})
	}
}

// worthOf is Worth for the rows of a block.
func (m *Model) worthOf(ctx context.Context, r *recipe.Reader, b *recipe.Block, s *decision.Spec, ask Ask) ([]WorthRow, error) {
	var worth []Worth
	stakes, err := stakesOf(s, r, b)
	if err == nil {
		worth, err = m.WorthOf(ctx, b.X, ask, stakes...)
	}
	for err != nil && r.Discard(b, rowOf(err), inFile(err, b)) {
		if stakes, err = stakesOf(s, r, b); err == nil {
			worth, err = m.WorthOf(ctx, b.X, ask, stakes...)
		}
	}
	if err != nil {
		return nil, inFile(err, b)
	}
	rows := make([]WorthRow, len(worth))
	for i := range worth {
		rows[i] = WorthRow{worth[i], &b.Rows[i]}
	}
	return rows, nil
}
