package lossep

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/pass"
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

// Update is the model with further rows, whose outcomes are known; nil stands for none. The recipe and
// the kernel stay, and nothing is fitted anew: new rows have new sites. With the full process
// expectation propagation goes on with all rows, from the sites that are kept. With inducing points it
// goes over the new rows, with what the others told held as a Gaussian. The model itself stays as it is.
//
// Rows that are taken away leave no trace in the full process. With inducing points their sites are
// taken out, and what they told of effects is to first order.
func (m *Model) Update(ctx context.Context, more *table.Table, o UpdateOptions) (*Model, error) {
	u, err := m.updating(more, o)
	if err != nil {
		return nil, err
	}
	switch {
	case o.RefitKernel:
		p, err := u.refitted()
		if err != nil {
			return nil, err
		}
		return u.finish(p.Fit(ctx))
	case m.summary.Inducing != nil:
		return u.finish(u.induced(ctx))
	}
	return u.finish(u.full(ctx))
}

// updating is a model that is being updated.
type updating struct {
	*Model
	opt     UpdateOptions
	x       *mat.Dense // of the new rows
	labels  []int
	weights []float64   // nil if each counts once and nothing fades
	more    costColumns // of the new rows
	gone    []int       // training rows that are taken away, ascending
	kept    []int       // the others
	fade    float64     // what rows before count
	dropped int         // rows that are gone since they have faded
	problem *Problem    // of all rows, those that are kept first
}

// updating reads the rows and makes the problem of all of them.
func (m *Model) updating(more *table.Table, o UpdateOptions) (u *updating, err error) {
	u = &updating{Model: m, opt: o, fade: 1}
	if !(o.HalfLife >= 0) || math.IsInf(o.HalfLife, 1) {
		return nil, inputf("half life", "%v is no number of rows", o.HalfLife)
	}
	if len(o.IDs) > 0 && o.Forget == nil {
		return nil, inputf("ids", "no table is given that has their rows; give that of past cases to forget from")
	}
	if o.HalfLife > 0 && more == nil {
		return nil, inputf("half life", "no new rows are given, by which older ones would count less")
	}
	if u.opt.MaxMemory == 0 {
		u.opt.MaxMemory = DefaultMaxMemory
	}
	if m.x == nil && (o.Forget != nil || o.RefitKernel) {
		what := "forget"
		if o.RefitKernel {
			what = "refit kernel"
		}
		return nil, inputf(what, "a model of %d rows does not keep them; fit again", m.provenance.Rows)
	}
	if more != nil {
		p, err := m.encoded(more)
		if err != nil {
			return nil, err
		}
		u.x, u.labels, u.weights, u.more = p.X, p.Labels, p.Weights, p.costs
	}
	if o.HalfLife > 0 {
		u.fade = math.Exp2(-float64(len(u.labels)) / o.HalfLife)
	}
	if u.kept = indices.Of(m.provenance.Rows); o.Forget != nil {
		if err := u.find(o.Forget); err != nil {
			return nil, err
		}
	}
	u.drop()
	return u, u.combine()
}

// leastWeight is the weight below which a row that fades is taken away: a thousand million such rows
// would count less than one.
const leastWeight = 1e-9

// drop takes away rows that count for nothing once they have faded.
func (u *updating) drop() {
	if u.fade == 1 || u.Model.x == nil {
		return
	}
	u.kept = slices.DeleteFunc(u.kept, func(i int) bool {
		w := u.fade
		if u.Model.weights != nil {
			w *= u.Model.weights[i]
		}
		if w < leastWeight {
			u.gone = append(u.gone, i)
			u.dropped++
		}
		return w < leastWeight
	})
	slices.Sort(u.gone)
}

// encoded are rows as numbers, by the recipe of the model.
func (m *Model) encoded(t *table.Table) (p *Problem, err error) {
	t = t.Counting(m.recipe.NameOf(recipe.Weights))
	p = &Problem{coding: m.coding, costs: costColumns{names: m.costs.names}}
	if p.X, p.Labels, p.Weights, err = encode(m.recipe, t); err != nil {
		return nil, err
	}
	values := t.Values(m.recipe.Missing...)
	if _, err := m.utility.Cases(p.Len(), values); err != nil { // as in a fit
		return nil, AtCaseOf(t, m.utility, values, err)
	}
	p.costs.read(p.Len(), values)
	return p, CheckTraining(t, p.X, p.coding)
}

// find finds the training rows that are to be taken away, each once.
func (u *updating) find(t *table.Table) error {
	t, err := u.withIDs(t)
	if err != nil {
		return err
	}
	gone, err := u.encoded(t)
	if err != nil {
		return err
	}
	rows := u.byKey(u.kept)
	for i, y := range gone.Labels {
		key := keyOfRow(gone.X, i, y)
		same := rows[key]
		if len(same) == 0 {
			at := t.Place(i)
			at.Msg, at.Fix = "the model has no training row of these features and this outcome", "give rows to forget as they stood in the table of past cases"
			return at
		}
		u.gone, rows[key] = append(u.gone, same[0]), same[1:]
	}
	slices.Sort(u.gone)
	u.kept = slices.DeleteFunc(u.kept, func(i int) bool {
		_, found := slices.BinarySearch(u.gone, i)
		return found
	})
	return nil
}

// withIDs are the rows of a table whose identifiers are given, or all of them.
func (u *updating) withIDs(t *table.Table) (*table.Table, error) {
	if len(u.opt.IDs) == 0 {
		return t, nil
	}
	column := u.recipe.NameOf(recipe.Identity)
	if column == "" {
		return nil, inputf("ids", "the model has no column of identifiers; give the rows to forget alone")
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
	for _, id := range slices.Compact(slices.Sorted(slices.Values(u.opt.IDs))) {
		if places[id] == nil {
			return nil, inputf("ids", "%q is in no row of column %q of %s", id, column, t.Name())
		}
		rows = append(rows, places[id]...)
	}
	return t.Subset(rows), nil
}

// byKey are training rows by their features and outcome.
func (u *updating) byKey(rows []int) map[string][]int {
	places := make(map[string][]int)
	for _, i := range rows {
		key := keyOfRow(u.Model.x, i, u.Model.labels[i])
		places[key] = append(places[key], i)
	}
	return places
}

func keyOfRow(x *mat.Dense, i, label int) string {
	return keyOf(append(slices.Clone(x.RawRowView(i)), float64(label)))
}

// repeated is how many of the new rows equal one that the model keeps: they may be added by mistake.
func (u *updating) repeated() (n int) {
	if u.Model.x == nil || len(u.labels) == 0 {
		return 0
	}
	rows := u.byKey(u.kept)
	for i, y := range u.labels {
		if len(rows[keyOfRow(u.x, i, y)]) > 0 {
			n++
		}
	}
	return n
}

// combine makes the problem of the rows that are kept and the new ones.
func (u *updating) combine() error {
	m := u.Model
	counts, before := slices.Clone(m.recipe.Target.Rows), 0
	for _, i := range u.gone {
		counts[m.labels[i]]--
	}
	for _, n := range counts {
		before += n
	}
	for _, y := range u.labels {
		counts[y]++
	}
	rows := before + len(u.labels)
	if m.recipe.Target.Binary() && slices.Contains(counts, 0) || rows == 0 {
		what := "forget"
		if u.dropped > 0 {
			what = "half life"
		}
		return inputf(what, "no row of %q would be left; fit again", m.recipe.Target.Outcomes[max(0, slices.Index(counts, 0))])
	}
	faded := u.fade < 1 || m.summary.Updates != nil && m.summary.Updates.Faded
	old := indices.Take(m.weights, u.kept)
	if m.x == nil || !faded && !m.recipe.Weighted() {
		old = nil
	} else if old == nil {
		old = slices.Repeat([]float64{1}, before)
	}
	if faded || m.recipe.Weighted() {
		if u.weights == nil {
			u.weights = slices.Repeat([]float64{1}, len(u.labels))
		}
		old = slices.Clone(old)
		floats.Scale(u.fade, old)
	}
	p := &Problem{
		coding: m.coding, Utility: m.utility, Kernel: m.Kernel(), zero: m.summary.Zero,
		Recipe: m.recipe.Recounted(counts, u.share(old, before, faded)),
		opt: Options{
			Method: m.method, Likelihood: m.likelihood, Seed: m.provenance.Seed, Kernel: m.Kernel().String(), Fixed: true,
			MaxMemory: u.opt.MaxMemory, Progress: u.opt.Progress, Inducing: NoInducing,
		},
	}
	if s := m.summary.Inducing; s != nil {
		p.opt.Inducing, p.opt.Power = s.Points, s.Power
		if s.Points > rows {
			return inputf("forget", "%d rows would be left for %d inducing points; fit again", rows, s.Points)
		}
	}
	u.problem = p
	if m.x == nil {
		return nil
	}
	p.X = stacked(m.x, u.kept, u.x)
	p.Labels = slices.Concat(indices.Take(m.labels, u.kept), u.labels)
	if old != nil {
		p.Weights = slices.Concat(old, u.weights)
	}
	p.costs = m.costs.with(u.kept, u.more)
	err := p.weigh(p.trainingValues())
	if err != nil && (m.method.Calibrated() || u.opt.RefitKernel) {
		return err
	} else if err != nil {
		p.stakes = nil // then what rows left out would have cost is not known
	}
	return nil
}

// share is the positive outcome's in the weights of rows that have any, 0 if they have none. Rows that
// are not kept count one each on average, before they fade.
func (u *updating) share(old []float64, before int, faded bool) float64 {
	t := &u.recipe.Target
	if !t.Binary() || !faded && !u.recipe.Weighted() {
		return 0
	}
	var sums [2]float64
	if u.Model.x == nil {
		sums[1] = u.fade * float64(before) * t.PositiveShare()
		sums[0] = u.fade*float64(before) - sums[1]
	}
	for i, w := range old {
		sums[u.Model.labels[u.kept[i]]] += w
	}
	for i, w := range u.weights {
		sums[u.labels[i]] += w
	}
	return sums[1] / (sums[0] + sums[1])
}

// stacked are some rows of a matrix, and below them those of another, which may be nil.
func stacked(a *mat.Dense, rows []int, b *mat.Dense) *mat.Dense {
	switch {
	case len(rows) == 0:
		return b
	case b == nil:
		return gp.RowsOf(a, rows)
	}
	var all mat.Dense
	all.Stack(gp.RowsOf(a, rows), b)
	return &all
}

// refitted is the problem with a search for hyperparameters, from those of the model.
func (u *updating) refitted() (*Problem, error) {
	p := u.problem
	p.opt.Fixed = false
	if u.summary.Inducing == nil && u.summary.mixes() {
		p.opt.Kernel = AutoKernel
		return p, nil
	}
	if len(u.summary.Effects) > 0 {
		p.opt.Kernel += " + " + AutoEffects
	}
	return p, p.splitKernel(p.opt.Kernel)
}

// full goes on with expectation propagation on all rows, from the sites that are kept.
func (u *updating) full(ctx context.Context) (*Model, error) {
	p := u.problem
	if p.Len() > DefaultMaxRows {
		return nil, inputf("rows", "%d rows are more than %d for the full process; fit again, with inducing points", p.Len(), DefaultMaxRows)
	}
	if err := p.opt.affordable(fmt.Sprintf("the model would have %d rows", p.Len()), p.Len()*p.link().views()); err != nil {
		return nil, err
	}
	m := u.Model
	l, err := m.learned(&Problem{Recipe: m.recipe, X: m.x, Labels: m.labels, Weights: m.weights, opt: Options{Likelihood: m.likelihood}})
	if err != nil {
		return nil, err
	}
	l.problem = p
	switch of := l.process.(type) {
	case *full:
		l.process, err = u.goOn(ctx, p, of)
	case *mixture:
		for _, part := range of.parts {
			q := *p
			q.opt.Likelihood = part.problem.opt.Likelihood
			part.problem = &q
			if part.process, err = u.goOn(ctx, &q, part.process.(*full)); err != nil {
				return nil, err
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return l.Model(ctx, u.method)
}

// goOn is expectation propagation with one kernel.
func (u *updating) goOn(ctx context.Context, p *Problem, from *full) (learned, error) {
	views, cases := p.link().views(), p.cases()
	process, err := cases.Process(from.process.Kernel(), p.X, new(gp.Scratch))
	if err != nil {
		return nil, &InputError{What: "kernel", Msg: err.Error(), Err: err}
	}
	var start infer.Sites
	for _, i := range u.kept {
		for _, s := range from.ep.Sites.Terms[i*views : (i+1)*views] {
			start.Terms = append(start.Terms, s.Power(u.fade))
		}
	}
	start.Terms = append(start.Terms, make([]gauss.Scalar, len(u.labels)*views)...)
	l := &full{process: process, model: cases.Model(process)}
	o := p.options()
	o.Start = &start
	p.tell("expectation propagation", 0, 0)
	l.ep, err = EP.row(p.Len()).Fit(ctx, l.model, o)
	return l, err
}

// induced goes over the new rows, with what the others told held as a Gaussian.
func (u *updating) induced(ctx context.Context) (*Model, error) {
	if u.method.Calibrated() {
		return nil, inputf("method", "a model of inducing points that %s calibrated is not updated; fit again, or update one that was fitted by %s", u.method, EP)
	}
	m, p := *u.Model, u.problem
	ep := m.by(EP).(interface {
		posterior.Posterior
		Process() *gp.Inducing
	})
	state, process, terms := ep.State(), ep.Process(), p.link().terms(u.labels, u.weights)
	if len(u.gone) > 0 && process.Effects() != nil {
		gone := p.link().terms(indices.Take(m.labels, u.gone), indices.Take(m.weights, u.gone))
		set, err := search.WithoutEffects(process, state.Functions, gp.RowsOf(m.x, u.gone), gone, m.coding.Codes())
		if err != nil {
			return nil, err
		}
		process = process.With(set)
	}
	c, err := search.Continue(ctx, process, u.before(state.Functions, process, state.Sites), u.x, terms, m.coding.Codes(), u.fade, m.summary.Inducing.Power)
	if err != nil {
		return nil, err
	}
	own := c.Q
	if m.method != EP {
		if own, err = u.own(ctx, c.Process, state.Sites, terms); err != nil {
			return nil, err
		}
	}
	functions := p.link().functions()
	m.x, m.labels, m.weights = p.X, p.Labels, p.Weights
	next := posterior.State{Functions: c.Q}
	if m.x != nil {
		if keepsRows(p.Len(), m.coding.Len(), functions) {
			for _, i := range u.kept {
				for _, s := range state.Sites[i*functions : (i+1)*functions] {
					next.Sites = append(next.Sites, s.Power(u.fade))
				}
			}
			next.Sites = append(next.Sites, c.Sites...)
		} else {
			m.x, m.labels, m.weights = nil, nil, nil
		}
	}
	m.opinions = inducedOpinions(p.link(), c.Process, m.method, next, own)
	m.recipe = p.Recipe
	m.provenance.Rows, m.provenance.Version = p.Recipe.Rows, Version
	m.summary.LogEvidence += c.Gain
	m.summary.LeaveOneOut, m.summary.Status = nil, newStatus(c.Status)
	for i, e := range c.Process.Effects() {
		if i == 0 {
			m.summary.Effects = slices.Clone(m.summary.Effects)
		}
		s := &m.summary.Effects[i]
		s.Cells, s.Variance, s.Gain = len(e.Keys()), e.Variance, e.Nats()
	}
	if err := m.checkPredictions(); err != nil {
		return nil, err
	}
	return &m, nil
}

// before is what the rows that are kept told: q without the prior and without the sites of those that
// are taken away, as far as it has not faded.
func (u *updating) before(q gauss.Gaussians, process *gp.Inducing, sites []gauss.Scalar) gauss.Naturals {
	told := gauss.NewNaturals(len(q), q.Dim())
	prior := gauss.NewNaturals(len(q), q.Dim())
	prior.SetStandard()
	told.Times(q.Naturals(), u.fade)
	told.Times(prior, -u.fade)
	if len(u.gone) > 0 {
		var gone []gauss.Scalar
		for _, i := range u.gone {
			gone = append(gone, sites[i*len(q):(i+1)*len(q)]...)
		}
		terms := u.problem.link().terms(indices.Take(u.Model.labels, u.gone), nil)
		told.Times(pass.Gather(process.Shard(gp.RowsOf(u.Model.x, u.gone), terms), gone), -u.fade)
	}
	return told
}

// own is the posterior of a method other than EP, whose sites are not kept: those of EP stand for rows
// that are taken away.
func (u *updating) own(ctx context.Context, process *gp.Inducing, sites []gauss.Scalar, terms gp.Terms) (gauss.Gaussians, error) {
	before := u.before(u.opinions[0].State().Functions, process, sites)
	if terms.Len() == 0 {
		return search.Beside(before)
	}
	engine := gp.NewEngine(process, process.Shards(u.x, terms, nil, 0), nil)
	r, err := pass.Settle(ctx, engine, pass.Settings{Rule: u.method.row(0).Rule, Tolerance: induceTolerance, Extra: before})
	if err != nil {
		return nil, err
	}
	return r.Q, nil
}

// finish notes what was done.
func (u *updating) finish(m *Model, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	var sum Updates
	if s := u.summary.Updates; s != nil {
		sum = *s
	}
	sum.Added += len(u.labels)
	sum.Repeated += u.repeated()
	sum.Forgotten += len(u.gone) - u.dropped
	sum.Faded = sum.Faded || u.fade < 1
	sum.Refitted = sum.Refitted || u.opt.RefitKernel
	m.summary.Updates = &sum
	return m, nil
}

// with are the columns of the given rows, and after them those of others.
func (c costColumns) with(rows []int, others costColumns) costColumns {
	if c.values == nil {
		return c
	}
	return costColumns{c.names, stacked(c.values, rows, others.values)}
}
