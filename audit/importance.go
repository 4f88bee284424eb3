package audit

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/recipe"
)

// Importance is what a column is worth: what a case costs more on average if its cell is
// that of another case, so that the column tells nothing about it any more and all else
// does. Cases are decided by models that have not seen them, by expectation propagation
// whatever the audited method, which would decide the same but for a case in a hundred.
type Importance struct {
	Column string  `json:"column"`
	Cost   Measure `json:"cost"`
	// P is the probability of a cost this far from zero if the column were worth nothing,
	// after Holm's correction among all columns.
	P float64 `json:"p_corrected"`
	// Changed is the share of decisions that are others.
	Changed float64 `json:"changed"`
}

// Effect is what the value of one column does to one case: by how much the probability of
// the positive outcome is higher than if the column were not known and all others were,
// that is, than its mean over the values that the column has in the cases learned from.
type Effect struct {
	Column string  `json:"column"`
	Raises float64 `json:"raises"`
	// Flips says that without the column the case would be decided otherwise.
	Flips bool `json:"flips"`
}

// Permuted is what the cases of a fold cost, and how often their decision changes, when
// a column is exchanged between them.
type Permuted struct {
	Column  string    `json:"column"`
	Losses  []float64 `json:"losses"`
	Changed []float64 `json:"changed"`
}

const (
	// permutations is how often a column is exchanged; the mean over them leaves little
	// noise beside that of the cases.
	permutations = 4
	// importanceWork bounds the multiplications of all predictions of a fold: some seconds.
	importanceWork = 1.5e10
	// threeWork and severalWork are what probabilities of three outcomes, and of more, take beside it: up to a hundredth of a second.
	threeWork, severalWork = 2e6, 2e7
)

// explain asks a model of a fold what columns are worth, if that is affordable.
func (a *Audit) explain(ctx context.Context, f *Fold, m *lossep.Model, problem *lossep.Problem, test *mat.Dense) error {
	parts := problem.Recipe.Parts()
	views := problem.Len() // rows, or inducing points in their place, that a prediction takes a product with
	if i := m.Summary().Inducing; i != nil {
		views = i.Points
	}
	each := math.Pow(float64(views), 2)
	if a.several() {
		each = math.Pow(float64(views*lossep.ViewsOf(problem.Recipe)), 2) + threeWork
		if len(a.outcomes()) > 3 {
			each += severalWork
		}
	}
	times := min(permutations, int(importanceWork/(each*float64(len(parts)*len(f.Rows)))))
	if times == 0 {
		f.Notes = append(f.Notes, "feature importance was not computed: too many features for the number of cases")
		return nil
	}
	rng := rand.New(rand.NewPCG(a.opt.Fit.Seed, uint64(f.Index)+4<<32))
	before, err := probabilities(m, test)
	if err != nil {
		return err
	}
	var weights []float64
	if a.judged.CaseWeights() != nil {
		for _, i := range f.Rows {
			weights = append(weights, a.weights[i])
		}
	}
	x := mat.DenseCopyOf(test)
	for _, b := range parts {
		p := Permuted{b.Column, make([]float64, len(f.Rows)), make([]float64, len(f.Rows))}
		for range times {
			for k, from := range exchange(weights, len(f.Rows), rng) {
				for _, j := range b.At {
					x.Set(k, j, test.At(from, j))
				}
			}
			after, err := probabilities(m, x)
			if err != nil {
				return err
			}
			for k, q := range after {
				c := a.costs[f.Rows[k]]
				now := cheapest(c, q)
				p.Losses[k] += a.realised(f.Rows[k], now) / float64(times)
				if now != cheapest(c, before[k]) {
					p.Changed[k] += 1 / float64(times)
				}
			}
		}
		restore(x, test, b)
		f.Permuted = append(f.Permuted, p)
	}
	f.Unpermuted = make([]float64, len(f.Rows))
	for k, i := range f.Rows {
		f.Unpermuted[k] = a.realised(i, cheapest(a.costs[i], before[k]))
	}
	if f.Repeat > 0 || a.several() { // what columns do to one probability is of two outcomes
		return nil
	}
	return a.explainNearest(ctx, f, m, problem, test, before)
}

// exchange says whose cell each of n cases gets: that of another, each once if all count the same,
// and otherwise each as often as it counts, so that cells are distributed as where decisions
// are made. Whole numbers of times are kept, and what is left of them is left to chance.
func exchange(weights []float64, n int, rng *rand.Rand) []int {
	to := derangement(n, rng)
	if weights == nil {
		return to
	}
	cells := make([]int, 0, n) // systematic resampling: a comb of n teeth over the weights
	step := floats.Sum(weights) / float64(n)
	sum, next := 0.0, rng.Float64()*step
	for i, w := range weights {
		for sum += w; next < sum && len(cells) < n; next += step {
			cells = append(cells, i)
		}
	}
	for len(cells) < n { // rounding
		cells = append(cells, n-1)
	}
	for k, place := range to {
		to[k] = cells[place]
	}
	return to
}

// derangement is a random order in which, as a rule, nothing keeps its place.
func derangement(n int, rng *rand.Rand) []int {
	order := rng.Perm(n)
	to := make([]int, n)
	for k, i := range order {
		to[i] = order[(k+1)%n] // one cycle through all
	}
	return to
}

func restore(x, from *mat.Dense, b recipe.Part) {
	n, _ := x.Dims()
	for k := range n {
		for _, j := range b.At {
			x.Set(k, j, from.At(k, j))
		}
	}
}

func probabilities(m *lossep.Model, x *mat.Dense) ([][]float64, error) {
	predictions, err := m.Predict(x)
	p := make([][]float64, len(predictions))
	for k := range predictions {
		p[k] = predictions[k].Probabilities
	}
	return p, err
}

// explainNearest finds the effects of all columns on the cases of a fold that are nearest
// to the boundary.
func (a *Audit) explainNearest(ctx context.Context, f *Fold, m *lossep.Model, problem *lossep.Problem, test *mat.Dense, before [][]float64) error {
	order := indices.Of(len(f.Rows))
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(margin(a.costs[f.Rows[i]], before[i]), margin(a.costs[f.Rows[j]], before[j]))
	})
	order = order[:min(len(order), nearestCases)]
	ref := lossep.NewReference(problem.Recipe, problem.X, problem.CaseWeights())
	_, columns := test.Dims()
	x, own := mat.NewDense(len(order), columns, nil), make([][]float64, len(order))
	for at, k := range order {
		x.SetRow(at, test.RawRowView(k))
		own[at] = before[k]
	}
	without, err := m.Without(ctx, x, own, ref)
	if err != nil {
		return err
	}
	f.Effects = make(map[int][]Effect)
	for at, k := range order {
		i := f.Rows[k]
		action := cheapest(a.costs[i], own[at])
		for c, column := range ref.Columns() {
			p := without[at][c]
			f.Effects[i] = append(f.Effects[i], Effect{column, own[at][1] - p[1], cheapest(a.costs[i], p) != action})
		}
	}
	return nil
}

// importances are what columns are worth over all folds, the most first.
func (a *Audit) importances(folds []*Fold) ([]Importance, error) {
	if len(folds) == 0 || folds[0].Permuted == nil {
		return nil, nil
	}
	every := indices.Of(len(a.problem.Utility.Actions()))
	within := a.differences(every, every)
	all := make([]Importance, len(folds[0].Permuted))
	for _, f := range folds {
		if len(f.Permuted) != len(all) {
			return nil, nil // too much for one of them
		}
	}
	p := make([]float64, len(all))
	if err := each(len(all), func(c int) error {
		before, after := make([]float64, a.len()), make([]float64, a.len())
		one := &all[c]
		one.Column = folds[0].Permuted[c].Column
		for _, f := range folds {
			for k, i := range f.Rows {
				before[i] += a.part() * f.Unpermuted[k]
				after[i] += a.part() * f.Permuted[c].Losses[k]
				one.Changed += a.part() * a.weights[i] * f.Permuted[c].Changed[k] / a.total
			}
		}
		if one.Changed == 0 {
			p[c] = 1
			return nil
		}
		e, err := a.cases.Difference(after, before, within, Level)
		if err != nil {
			return err
		}
		one.Cost, p[c] = *measure(e), e.P(0)
		return nil
	}); err != nil {
		return nil, err
	}
	// Columns that change nothing are no hypotheses.
	var family []int
	for k := range all {
		if all[k].Changed > 0 {
			family = append(family, k)
		}
	}
	for k, q := range compare.HolmAmong(p, family) {
		all[k].P = q
	}
	slices.SortStableFunc(all, func(a, b Importance) int { return cmp.Compare(b.Cost.Value, a.Cost.Value) })
	return all, nil
}

// effectsOf are the effects on a case, the largest first.
func effectsOf(folds []*Fold, row int) []Effect {
	for _, f := range folds {
		if e := f.Effects[row]; e != nil {
			e = slices.Clone(e)
			slices.SortStableFunc(e, func(a, b Effect) int { return cmp.Compare(math.Abs(b.Raises), math.Abs(a.Raises)) })
			return e
		}
	}
	return nil
}
