package lossep

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// UpdateOptions say how a model takes in further rows. The zero value adds them.
type UpdateOptions struct {
	// Forget are rows to take away, as they stood in a table that the model was fitted to or updated
	// with: they are found by their features and outcome. nil stands for none.
	Forget *table.Table
	// IDs, if there are any, are the identifiers of the rows of Forget that are taken away; the others stay.
	IDs []string
	// HalfLife is the number of new rows after which what rows before them told counts half as much;
	// 0 stands for never.
	HalfLife float64
	// RefitKernel searches for hyperparameters anew, from those of the model, with all its rows.
	RefitKernel bool
	// MaxMemory and Progress are as in Options.
	MaxMemory int64
	Progress  func(Progress)
}

// TrainingRows are encoded rows whose outcomes, labels or numbers, are known.
type TrainingRows[Y int | float64] struct {
	X        *mat.Dense // nil where there are none, or they are not kept
	Outcomes []Y
	Weights  []float64 // nil if each counts once
}

// Some are those of the given places.
func (r TrainingRows[Y]) Some(rows []int) TrainingRows[Y] {
	return TrainingRows[Y]{gp.RowsOf(r.X, rows), indices.Take(r.Outcomes, rows), indices.Take(r.Weights, rows)}
}

// Change is what an update does to the rows of a model, whatever their outcomes are.
type Change[Y int | float64] struct {
	Old, New   TrainingRows[Y] // those of the model, and those that join them
	Kept, Gone []int           // of the model, ascending
	Fade       float64         // what those that are kept count of what they did
	Dropped    int             // those that are gone since they have faded
	Weighted   bool            // rows have weights afterwards
}

// NewChange reads the rows of an update of a model that has a recipe and was changed as it says before.
func NewChange[Y int | float64](old TrainingRows[Y], r *recipe.Recipe, before *Updates, more *table.Table, o UpdateOptions, read func(*table.Table) (TrainingRows[Y], error)) (c *Change[Y], err error) {
	c = &Change[Y]{Old: old, Kept: indices.Of(r.Rows), Fade: 1}
	switch {
	case !(o.HalfLife >= 0) || math.IsInf(o.HalfLife, 1):
		return nil, inputf("half life", "%v is not above 0", o.HalfLife)
	case len(o.IDs) > 0 && o.Forget == nil:
		return nil, inputf("ids", "no table is given that has their rows; give that of past cases to forget from")
	case o.HalfLife > 0 && more == nil:
		return nil, inputf("half life", "no new rows are given, by which older ones would count less")
	case old.X == nil && o.Forget != nil:
		return nil, inputf("forget", "a model of %d rows does not keep them; fit again", r.Rows)
	case old.X == nil && o.RefitKernel:
		return nil, inputf("refit kernel", "a model of %d rows does not keep them; fit again", r.Rows)
	}
	labelled := func(t *table.Table) (TrainingRows[Y], error) {
		if err := r.CheckLabelled(t.Counting(r.NameOf(recipe.Weights))); err != nil {
			return TrainingRows[Y]{}, err
		}
		return read(t)
	}
	if more != nil {
		if c.New, err = labelled(more); err != nil {
			return nil, err
		}
	}
	if o.HalfLife > 0 {
		c.Fade = math.Exp2(-float64(len(c.New.Outcomes)) / o.HalfLife)
	}
	if o.Forget != nil {
		t, err := withIDs(o.Forget, r, o.IDs)
		if err != nil {
			return nil, err
		}
		gone, err := labelled(t)
		if err != nil {
			return nil, err
		}
		if err := c.find(t, gone); err != nil {
			return nil, err
		}
	}
	c.drop()
	c.Weighted = r.Weighted() || c.Fade < 1 || before != nil && before.Faded
	if c.Weighted && c.New.Weights == nil {
		c.New.Weights = slices.Repeat([]float64{1}, len(c.New.Outcomes))
	}
	return c, nil
}

// drop takes away rows that count for nothing once they have faded.
func (c *Change[Y]) drop() {
	if c.Fade == 1 || c.Old.X == nil {
		return
	}
	c.Kept = slices.DeleteFunc(c.Kept, func(i int) bool {
		w := c.Fade
		if c.Old.Weights != nil {
			w *= c.Old.Weights[i]
		}
		if w < table.LeastWeight {
			c.Gone = append(c.Gone, i)
			c.Dropped++
		}
		return w < table.LeastWeight
	})
	slices.Sort(c.Gone)
}

// find finds the training rows that are to be taken away, each once.
func (c *Change[Y]) find(t *table.Table, gone TrainingRows[Y]) error {
	rows := c.byKey(c.Kept)
	for i := range gone.Outcomes {
		key := gone.key(i)
		same := rows[key]
		if len(same) == 0 {
			at := t.Place(i)
			at.Msg, at.Fix = "the model has no training row of these features and this outcome", "give rows to forget as they stood in the table of past cases"
			return at
		}
		c.Gone, rows[key] = append(c.Gone, same[0]), same[1:]
	}
	slices.Sort(c.Gone)
	c.Kept = slices.DeleteFunc(c.Kept, func(i int) bool {
		_, found := slices.BinarySearch(c.Gone, i)
		return found
	})
	return nil
}

// withIDs are the rows of a table whose identifiers are given, or all of them.
func withIDs(t *table.Table, r *recipe.Recipe, ids []string) (*table.Table, error) {
	if len(ids) == 0 {
		return t, nil
	}
	column := r.NameOf(recipe.Identity)
	if column == "" {
		return nil, inputf("ids", "the model was fitted without an identifier column; leave the identifiers out, and give a table of only the rows to remove")
	}
	j, err := t.Column(column)
	if err != nil {
		return nil, err
	}
	places := make(map[string][]int)
	for i := range t.Len() {
		id := t.Row(i)[j] // as it is written: 007 is not 7
		places[id] = append(places[id], i)
	}
	var rows []int
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if places[id] == nil {
			return nil, inputf("ids", "%q is in no row of column %q of %s", id, column, t.Name())
		}
		rows = append(rows, places[id]...)
	}
	return t.Subset(rows), nil
}

// byKey are training rows by their features and outcome.
func (c *Change[Y]) byKey(rows []int) map[string][]int {
	places := make(map[string][]int)
	for _, i := range rows {
		key := c.Old.key(i)
		places[key] = append(places[key], i)
	}
	return places
}

func (r TrainingRows[Y]) key(i int) string {
	return keyOf(append(slices.Clone(r.X.RawRowView(i)), float64(r.Outcomes[i])))
}

// repeated is how many of the new rows equal one that the model keeps: they may be added by mistake.
func (c *Change[Y]) repeated() (n int) {
	if c.Old.X == nil || c.New.X == nil {
		return 0
	}
	rows := c.byKey(c.Kept)
	for i := range c.New.Outcomes {
		if len(rows[c.New.key(i)]) > 0 {
			n++
		}
	}
	return n
}

// Updates is what became of a model, given what had before.
func (c *Change[Y]) Updates(before *Updates, o UpdateOptions) *Updates {
	var sum Updates
	if before != nil {
		sum = *before
	}
	sum.Added += len(c.New.Outcomes)
	sum.Repeated += c.repeated()
	sum.Forgotten += len(c.Gone) - c.Dropped
	sum.Faded = sum.Faded || c.Fade < 1
	sum.Refitted = sum.Refitted || o.RefitKernel
	return &sum
}

// keptWeights are those of the rows that are kept, as far as they have not faded; nil if they have none or are not known.
func (c *Change[Y]) keptWeights() []float64 {
	if !c.Weighted || c.Old.X == nil {
		return nil
	}
	w := slices.Repeat([]float64{1}, len(c.Kept))
	if c.Old.Weights != nil {
		w = indices.Take(c.Old.Weights, c.Kept)
	}
	floats.Scale(c.Fade, w)
	return w
}

// All are the rows that are kept, and after them those that join; none where they are not kept.
func (c *Change[Y]) All() (all TrainingRows[Y]) {
	if c.Old.X == nil {
		return all
	}
	all.X, all.Outcomes = stacked(c.Old.X, c.Kept, c.New.X), slices.Concat(indices.Take(c.Old.Outcomes, c.Kept), c.New.Outcomes)
	if c.Weighted {
		all.Weights = slices.Concat(c.keptWeights(), c.New.Weights)
	}
	return all
}

// Sites are those of the rows that are kept, of which each has so many, as far as they have not faded.
func (c *Change[Y]) Sites(all []gauss.Scalar, each int) (kept []gauss.Scalar) {
	for _, i := range c.Kept {
		for _, s := range all[i*each : (i+1)*each] {
			kept = append(kept, s.Power(c.Fade))
		}
	}
	return kept
}

// Full goes on with expectation propagation on all rows with a kernel, from the sites that are kept; new rows have new ones.
func (c *Change[Y]) Full(ctx context.Context, k kernel.Kernel, cases gp.Cases, x *mat.Dense, sites []gauss.Scalar, o methods.Options) (*gp.Process, *infer.Model, *infer.Result, error) {
	if rows := cases.Len(); rows > DefaultMaxRows {
		return nil, nil, nil, inputf("rows", "%d rows are more than %d for the full process; fit again, with inducing points", rows, DefaultMaxRows)
	}
	process, err := cases.Process(k, x, new(gp.Scratch))
	if err != nil {
		return nil, nil, nil, &InputError{What: "kernel", Msg: err.Error(), Err: err}
	}
	views := cases.Views()
	start := c.Sites(sites, views)
	o.Start = &infer.Sites{Terms: append(start, make([]gauss.Scalar, len(c.New.Outcomes)*views)...)}
	model := cases.Model(process)
	ep, err := EP.row(cases.Len()).Fit(ctx, model, o)
	return process, model, ep, err
}

// Inducing goes over the new rows, with what the others told held as a Gaussian: the sites of those that are taken away
// are taken out, and what they told of effects is to first order. The state is that of EP with the process.
func (c *Change[Y]) Inducing(ctx context.Context, process *gp.Inducing, state posterior.State, terms func(TrainingRows[Y]) gp.Terms, codes int, power float64) (*search.Continued, error) {
	if len(c.Gone) > 0 && process.Effects() != nil && process.Effects().Joint() == nil {
		gone := c.Old.Some(c.Gone)
		set, err := search.WithoutEffects(ctx, process, state.Functions, gone.X, terms(gone), codes)
		if err != nil {
			return nil, err
		}
		process = process.With(set)
	}
	return search.Continue(ctx, process, c.before(state.Functions, process, state.Sites, terms), c.New.X, terms(c.New), codes, c.Fade, power)
}

// before is what the rows that are kept told: q without the prior and without the sites of those that
// are taken away, as far as it has not faded.
func (c *Change[Y]) before(q gauss.Gaussians, process *gp.Inducing, sites []gauss.Scalar, terms func(TrainingRows[Y]) gp.Terms) search.Told {
	if len(c.Gone) == 0 {
		return search.NewTold(process, q, nil, nil, nil, c.Fade)
	}
	var gone []gauss.Scalar
	for _, i := range c.Gone {
		gone = append(gone, sites[i*len(q):(i+1)*len(q)]...)
	}
	rows := c.Old.Some(c.Gone)
	return search.NewTold(process, q, rows.X, terms(rows), gone, c.Fade)
}

// Keeping is what is kept of the rows and the sites of a posterior with inducing points, the latter of each row for so
// many functions: nothing where they would be too many.
func (c *Change[Y]) Keeping(codings int, functions int, before posterior.State, next *search.Continued) (all TrainingRows[Y], sites []gauss.Scalar) {
	if c.Old.X == nil || !KeepsRows(len(c.Kept)+len(c.New.Outcomes), codings, functions) {
		return all, nil
	}
	return c.All(), append(c.Sites(before.Sites, functions), next.Sites...)
}
