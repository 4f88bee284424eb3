package search

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/posterior"
)

const (
	// comparisonFolds is in how many parts rows are divided, each to be left out once; of
	// more than manyViews those of the first fewerFolds parts are enough to tell candidates
	// apart.
	comparisonFolds = 5
	manyViews       = 800
	fewerFolds      = 3
	// fewestOfClass is how many rows of either outcome, or of two of several, it takes to
	// compare anything.
	fewestOfClass = 2 * comparisonFolds
	// comparisonTolerance and comparisonEvaluations bound a search without a part of the rows: it
	// ends within a hundredth of a nat or so of the maximum.
	comparisonTolerance   = 0.1
	comparisonEvaluations = 6
	// candidateTolerance is that of a search with all rows. It ends within a few
	// thousandths of a nat of the maximum.
	candidateTolerance = 0.05
	// concurrentViews is the number of views up to which searches without different parts of
	// the rows are run at the same time. Beyond, the matrices of one keep all processors busy,
	// and those of several would take too much memory.
	concurrentViews = 1000
	// SampleSize is how many rows of one function candidates are compared on where inducing points
	// are used. Of C outcomes at least a 2C-th of them have each of the rarer ones, if there are as many.
	SampleSize = 800
	// Of more than wholeRows rows of a full process candidates are compared on about
	// sampleRows, in sampleParts-ths of all, and those that have a weight go on with all
	// rows for extension evaluations. A comparison takes a hundred of them or so, each in
	// proportion to the cube of the rows.
	wholeRows   = 1000
	sampleRows  = 800
	sampleParts = 20
	extension   = 3
)

// Compared is the problem that candidates for a mixture are compared on: that of some of the rows,
// with as many of each outcome as among all, where rows are many. Rows that belong together are all
// among them, or none.
func (p *Problem) Compared() *Problem {
	if rows := p.compared(); rows != nil {
		return p.Rows.Some(rows)
	}
	return p
}

// compared are the rows of Compared; nil if it is all of them.
func (p *Problem) compared() []int {
	if p.Len() <= wholeRows {
		return nil
	}
	parts, err := p.Rows.Folds(p.Rows.Groups(), sampleParts, rand.New(rand.NewPCG(p.Seed, 7)))
	if err != nil {
		return nil // which is divided no further
	}
	rows := slices.Concat(parts[:max(1, sampleParts*sampleRows/p.Len())]...)
	slices.Sort(rows)
	return rows
}

// Sample is some of the rows of one function, in their order, which a kernel for inducing points is
// chosen by.
func (p *Problem) Sample() []int {
	rng := rand.New(rand.NewPCG(p.Seed, 6))
	classes := p.Rows.Classes()
	of := make([][]int, p.Outcomes) // places in the order, of the rarest class first
	for place := range p.Len() {
		class := classes[p.row(place)]
		of[class] = append(of[class], place)
	}
	size := min(SampleSize, p.Len())
	left := size
	var some []int
	for class := range of {
		n := min(size/(2*p.Outcomes), len(of[class]))
		if class < p.Outcomes-1 {
			n = max(n, size*len(of[class])/p.Len())
		} else {
			n = max(left, n) // for the commonest
		}
		left -= n
		rng.Shuffle(len(of[class]), func(i, j int) { of[class][i], of[class][j] = of[class][j], of[class][i] })
		some = append(some, of[class][:min(n, len(of[class]))]...)
	}
	slices.Sort(some)
	for k, place := range some {
		some[k] = p.row(place)
	}
	return some
}

// row is the row at a place of the order.
func (p *Problem) row(place int) int {
	if p.Order == nil {
		return place
	}
	return p.Order[place]
}

// Folds are the folds that candidates are compared by, nil if rows are too few.
func (p *Problem) Folds() []compare.Split {
	if p.secondMost() < fewestOfClass {
		return nil
	}
	folds, err := p.Rows.Folds(p.Rows.Groups(), comparisonFolds, rand.New(rand.NewPCG(p.Seed, 4)))
	if err != nil {
		return nil
	}
	splits := compare.Splits(folds)
	if p.views() > manyViews {
		splits = splits[:fewerFolds]
	}
	return splits
}

// refits compares fits of the full process: one to all rows, and from there one without each of
// the folds.
type refits struct {
	*Problem
	folds []compare.Split // nil if rows are too few
	first map[string]firstFit
}

// firstFit is a candidate's fit to all rows, or why there is none.
type firstFit struct {
	fit *Fit
	err error
}

// begin implements comparison. A candidate waits only for an earlier one of the same kernel, which it starts from. Terms
// that have hyperparameters are set to those of one candidate at a time.
func (r *refits) begin(ctx context.Context, all []Candidate) {
	if r.folds == nil || r.views() > concurrentViews || newTuning(r.Terms).terms != nil {
		return
	}
	var chains [][]Candidate
	for _, c := range all {
		k := slices.IndexFunc(chains, func(chain []Candidate) bool { return chain[0].Kernel == c.Kernel })
		if k < 0 {
			k, chains = len(chains), append(chains, nil)
		}
		chains[k] = append(chains[k], c)
	}
	found := make([][]firstFit, len(chains))
	tasks.For(len(chains), func(k int) {
		var before *Fit
		for _, c := range chains[k] {
			fit, err := r.fit(ctx, c, before)
			if found[k] = append(found[k], firstFit{fit, err}); err == nil {
				before = fit
			}
		}
	})
	r.first = make(map[string]firstFit)
	for k, chain := range chains {
		for i, c := range chain {
			r.first[c.Name] = found[k][i]
		}
	}
}

// fit fits a candidate to all rows, from an earlier fit of the same kernel unless that is nil.
func (r *refits) fit(ctx context.Context, c Candidate, from *Fit) (*Fit, error) {
	k, err := kernel.ParseColumns(c.Kernel, r.Columns)
	if err != nil {
		return nil, err
	}
	o := Options{Restarts: r.Restarts, Seed: r.Seed, Shrinkage: c.Shrinkage, Tolerance: candidateTolerance, Progress: r.searching(c)}
	if from != nil {
		o.Start, o.Near, o.Restarts = append(from.Process.Kernel().Params(nil), from.Tuned...), true, 0
	}
	return Optimise(ctx, k, r.X, r.Terms, o)
}

// left are the rows that are left out, in the order of the folds.
func (r *refits) left() (rows []int) {
	for _, s := range r.folds {
		rows = append(rows, s.Test...)
	}
	return rows
}

func (r *refits) counts() []float64 {
	if r.folds == nil {
		return nil
	}
	return r.countsOf(r.left())
}

// try starts from an earlier trial of the same kernel, if there is one.
func (r *refits) try(ctx context.Context, c Candidate, earlier []*trial) (*trial, error) {
	first, known := r.first[c.Name]
	if !known {
		var before *Fit
		for _, t := range earlier {
			if t.Kernel == c.Kernel {
				before = t.fit
			}
		}
		first.fit, first.err = r.fit(ctx, c, before)
	}
	fit, err := first.fit, first.err
	if err != nil {
		return nil, err
	}
	t := &trial{Candidate: c, kernel: fit.Process.Kernel(), logEvidence: fit.EP.LogEvidence, fit: fit}
	if r.folds == nil || r.hopeless(t, earlier) {
		return t, nil
	}
	r.tell("comparing: "+c.Name, 0, t.logEvidence)
	fits, err := r.without(ctx, t, earlier)
	if err != nil {
		return nil, err
	}
	for i, f := range fits {
		rows := r.folds[i].Test
		labels := make([]int, len(rows))
		for k, row := range rows {
			labels[k] = r.Labels[row]
		}
		left, logs := r.Predict.New(f, gp.RowsOf(r.X, rows), labels)
		t.left, t.logs = append(t.left, left...), append(t.logs, logs...)
		t.refits = append(t.refits, append(f.Process.Kernel().Params(nil), f.Tuned...))
	}
	return t, nil
}

// without are fits of a trial without the rows of each fold, from where the fit to all ended. Where
// length scales of columns are half as many as rows or more, what all rows have chosen among them
// gives away those that are left out; then a fit is searched for from the beginning, or from where
// the earlier trial of the kernel ended without the same rows.
func (r *refits) without(ctx context.Context, t *trial, earlier []*trial) ([]*Fit, error) {
	one := func(ctx context.Context, i int) (*Fit, error) {
		return t.fit.Refit(ctx, r.folds[i].Train, Options{Tolerance: comparisonTolerance, MaxEvaluations: comparisonEvaluations})
	}
	if _, columns := r.X.Dims(); t.PerColumn && 2*columns >= r.Len() {
		one = func(ctx context.Context, i int) (*Fit, error) {
			k, err := kernel.ParseColumns(t.Kernel, r.Columns)
			if err != nil {
				return nil, err
			}
			o := Options{Seed: r.Seed, Shrinkage: t.Shrinkage, Tolerance: comparisonTolerance}
			for _, e := range earlier {
				if e.Kernel == t.Kernel && e.refits != nil {
					o.Start, o.Near = e.refits[i], true
				}
			}
			rest := r.Rows.Some(r.folds[i].Train)
			return Optimise(ctx, k, rest.X, rest.Terms, o)
		}
	}
	atOnce := 1
	if r.views() <= concurrentViews {
		atOnce = tasks.Workers()
	}
	fits := make([]*Fit, len(r.folds))
	return fits, tasks.Fill(ctx, fits, atOnce, one, func(*Fit) error { return nil })
}

// hopeless tells whether a trial would have no weight beside the earlier ones even with the
// rows left out one by one. Parameters that all rows have chosen flatter it.
func (r *refits) hopeless(t *trial, earlier []*trial) bool {
	if len(earlier) == 0 {
		return false
	}
	without := r.Predict.Without(t.fit)
	flattered := &trial{Candidate: t.Candidate}
	for _, i := range r.left() {
		flattered.logs = append(flattered.logs, without[i])
	}
	weights := weigh(append(slices.Clone(earlier), flattered), r.counts(), r.Outcomes)
	return weights[len(earlier)] == 0
}

// slope is the calibration slope of the mixture of trials with these weights.
func (r *refits) slope(trials []*trial, weights, counts []float64) float64 {
	if r.Outcomes == 0 {
		return 0 // numbers have densities in the place of probabilities
	}
	rows := r.left()
	labels, units := make([]int, len(rows)), r.Rows.Groups()
	for k, i := range rows {
		labels[k] = r.Labels[i]
	}
	if units != nil {
		groups := units
		units = make([]int, len(rows))
		for k, i := range rows {
			units[k] = groups[i]
		}
	}
	return slopeOf(trials, weights, labels, counts, units)
}

const (
	// heldOutRows is how many rows of more than two outcomes candidates are compared on, and
	// heldOutFolds in how many parts they are divided, one of which is left out.
	heldOutRows  = 2000
	heldOutFolds = 5
	// heldOutPoints is the number of inducing points then, and heldOutEvaluations the most of the
	// evidence.
	heldOutPoints      = 150
	heldOutEvaluations = 16
)

// heldOut compares fits with inducing points to four fifths of some rows, by the others. Parts have
// as many rows of every outcome.
type heldOut struct{ train, test *Problem }

// heldOut divides some of the rows; it is nil where they are too few.
func (p *Problem) heldOut() *heldOut {
	some := p.Rows.Some(Sample(p.Len(), heldOutRows, p.Seed))
	folds, err := compare.GroupFolds(some.Labels, some.Rows.Groups(), heldOutFolds, rand.New(rand.NewPCG(p.Seed, 6)))
	if err != nil {
		return nil
	}
	split := compare.Splits(folds)[0]
	return &heldOut{some.Rows.Some(split.Train), some.Rows.Some(split.Test)}
}

// Sample is up to most of the numbers below n, in order, chosen by the seed.
func Sample(n, most int, seed uint64) []int {
	rows := deal(rand.New(rand.NewPCG(seed, 0)), n, min(n, most))
	slices.Sort(rows)
	return rows
}

func (h *heldOut) counts() []float64 {
	all := indices.Of(h.test.Len())
	return h.test.countsOf(all)
}

// begin implements comparison: fits with inducing points keep all processors busy.
func (h *heldOut) begin(context.Context, []Candidate) {}

// try raises probabilities to the power that suits the rows that are left out: how sharp they are is
// found anew with all rows.
func (h *heldOut) try(ctx context.Context, c Candidate, _ []*trial) (*trial, error) {
	k, err := kernel.ParseColumns(c.Kernel, h.train.Columns)
	if err != nil {
		return nil, err
	}
	h.train.tell("comparing: "+c.Name, 0, 0)
	fit, err := Induce(ctx, k, h.train.X, h.train.Terms, InduceOptions{
		Options: Options{Seed: h.train.Seed, Shrinkage: c.Shrinkage, MaxEvaluations: heldOutEvaluations},
		Points:  min(heldOutPoints, h.train.Len()), Memory: h.train.Memory,
	})
	if err != nil {
		return nil, err
	}
	t := &trial{Candidate: c, kernel: fit.Process.Kernel(), logEvidence: fit.LogEvidence}
	t.left, t.logs = make([][]float64, h.test.Len()), make([]float64, h.test.Len())
	h.moments(fit, func(i int, mean, variance []float64) {
		t.left[i] = make([]float64, h.test.Outcomes)
		h.test.Predict.Independent(t.left[i], mean, variance)
	})
	slope := CalibrationSlope(t.left, h.test.Labels, h.counts(), nil)
	for i, p := range t.left {
		Temper(p, slope)
		t.logs[i] = posterior.Log(p[h.test.Labels[i]])
	}
	return t, nil
}

// moments calls use with the means and variances of the functions of all outcomes at every row that
// is left out, from several goroutines.
func (h *heldOut) moments(fit *Induced, use func(i int, mean, variance []float64)) {
	x, q := h.test.X, fit.Result.Q
	n, k := h.test.Len(), len(q)
	means, variances := make([][]float64, k), make([][]float64, k)
	for c := range k {
		means[c], variances[c] = make([]float64, n), make([]float64, n)
	}
	if predictors, ok := fit.Process.Predictors(q); ok {
		predictors.Moments(x, means, variances)
	} else {
		for i := range n { // one by one: what products of larger matrices round to depends on their shape
			views := fit.Process.At(gp.RowsOf(x, []int{i}))
			for c, one := range q {
				one.Predict(views, means[c][i:i+1], variances[c][i:i+1], new(gauss.Workspace))
			}
		}
	}
	tasks.For(n, func(i int) {
		mean, variance := make([]float64, k), make([]float64, k)
		for c := range k {
			mean[c], variance[c] = means[c][i], variances[c][i]
		}
		use(i, mean, variance)
	})
}
