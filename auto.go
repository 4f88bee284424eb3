package lossep

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/search"
)

const (
	// comparisonFolds is in how many parts rows are divided, each to be left out once; of
	// more than manyRows those of the first fewerFolds parts are enough to tell candidates
	// apart.
	comparisonFolds = 5
	manyRows        = 800
	fewerFolds      = 3
	// fewestOfClass is how many rows of either outcome, or of two of several, it takes to
	// compare anything.
	fewestOfClass = 2 * comparisonFolds
	// comparisonTolerance and comparisonLooks bound a search without a part of the rows: it
	// ends within a hundredth of a nat or so of the maximum.
	comparisonTolerance = 0.1
	comparisonLooks     = 6
	// candidateTolerance is that of a search with all rows. It ends within a few
	// thousandths of a nat of the maximum.
	candidateTolerance = 0.05
	// concurrentRows is the number of rows up to which searches without different parts of
	// them are run at the same time. Beyond, the matrices of one keep all processors busy,
	// and those of several would take too much memory.
	concurrentRows = 1000
	// comparisonRows is how many rows candidates are compared on where inducing points are
	// used. At least a quarter of them have the rarer outcome, if there are as many.
	comparisonRows = 800
	// Of more than wholeRows rows of a full process candidates are compared on about
	// sampleRows, in sampleParts-ths of all, and those that have a weight go on with all
	// rows for fewLooks evaluations. A comparison takes a hundred of them or so, each in
	// proportion to the cube of the rows.
	wholeRows   = 1000
	sampleRows  = 800
	sampleParts = 20
	fewLooks    = 3
)

// try fits a candidate to all rows, and to all but those of each fold, unless it is
// hopeless. It starts from an earlier trial of the same kernel, if there is one.
func (p *Problem) try(ctx context.Context, c candidate, earlier []*trial, cases gp.Cases, folds []compare.Split) (*trial, error) {
	k, err := kernel.ParseColumns(c.kernel, columns(p.coding))
	if err != nil {
		return nil, err
	}
	o := p.searchOptions()
	o.Shrinkage, o.Tolerance = c.shrinkage, candidateTolerance
	for _, t := range earlier {
		if t.kernel == c.kernel {
			o.Start, o.Near, o.Restarts = t.fit.Process.Kernel().Params(nil), true, 0
		}
	}
	o.Progress = func(e search.Evaluation) {
		p.tell(fmt.Sprintf("searching for the kernel with %s, %d rows", c.name, e.Cases), e.Number, e.LogPosterior)
	}
	t := &trial{candidate: c}
	if t.fit, err = search.Optimise(ctx, k, p.X, cases, o); err != nil || folds == nil {
		return t, err
	}
	if p.hopeless(t, earlier, folds) {
		return t, nil
	}
	p.tell("comparing: "+c.name, 0, t.fit.EP.LogEvidence)
	fits, err := p.without(ctx, t, earlier, folds)
	if err != nil {
		return nil, err
	}
	for i, f := range fits {
		left, logs := p.leaveOut(f, folds[i].Test)
		t.left, t.logs = append(t.left, left...), append(t.logs, logs...)
		t.refits = append(t.refits, f.Process.Kernel().Params(nil))
	}
	return t, nil
}

// without are fits of a trial without the rows of each fold. Where length scales of columns are
// half as many as rows or more, what all rows have chosen among them gives away those that are
// left out; then a fit is searched for from the beginning, or from where the earlier trial of
// the kernel ended without the same rows.
func (p *Problem) without(ctx context.Context, t *trial, earlier []*trial, folds []compare.Split) ([]*search.Fit, error) {
	if t.kernel != lengthScales || 2*p.coding.Len() < p.Len() {
		return p.refit(ctx, t.fit, folds)
	}
	one := func(ctx context.Context, i int) (*search.Fit, error) {
		k, err := kernel.ParseColumns(t.kernel, columns(p.coding))
		if err != nil {
			return nil, err
		}
		o := search.Options{Seed: p.opt.Seed, Shrinkage: t.shrinkage, Tolerance: comparisonTolerance}
		for _, e := range earlier {
			if e.kernel == t.kernel && e.refits != nil {
				o.Start, o.Near = e.refits[i], true
			}
		}
		rest := p.some(folds[i].Train)
		return search.Optimise(ctx, k, rest.X, rest.cases(), o)
	}
	return p.ofEach(ctx, folds, one)
}

// refit fits the kernel again without the rows of each fold, from where the fit to all ended.
func (p *Problem) refit(ctx context.Context, fit *search.Fit, folds []compare.Split) ([]*search.Fit, error) {
	one := func(ctx context.Context, i int) (*search.Fit, error) {
		return fit.Refit(ctx, folds[i].Train, search.Options{Tolerance: comparisonTolerance, MaxEvaluations: comparisonLooks})
	}
	return p.ofEach(ctx, folds, one)
}

// ofEach are the fits without each of the folds, by number.
func (p *Problem) ofEach(ctx context.Context, folds []compare.Split, one func(ctx context.Context, i int) (*search.Fit, error)) ([]*search.Fit, error) {
	fits := make([]*search.Fit, len(folds))
	return fits, tasks.Fill(ctx, fits, p.atOnce(), one, func(*search.Fit) error { return nil })
}

// atOnce is how many fits are made at the same time.
func (p *Problem) atOnce() int {
	if p.views() <= concurrentRows {
		return runtime.GOMAXPROCS(0)
	}
	return 1
}

// hopeless tells whether a trial would have no weight beside the earlier ones even with the
// rows left out one by one. Parameters that all rows have chosen flatter it.
func (p *Problem) hopeless(t *trial, earlier []*trial, folds []compare.Split) bool {
	if len(earlier) == 0 {
		return false
	}
	without := p.logWithout(t.fit)
	flattered := &trial{candidate: t.candidate}
	for _, i := range leftRows(folds) {
		flattered.logs = append(flattered.logs, without[i])
	}
	weights := weigh(append(slices.Clone(earlier), flattered), p.counts(folds), len(p.Recipe.Target.Outcomes))
	return weights[len(earlier)] == 0
}

// counts is how often each of the rows counts that are left out: one of weight 2 as often as
// two rows. What is compared are probabilities among cases like the training rows, so that a
// prevalence does not count.
func (p *Problem) counts(folds []compare.Split) []float64 {
	var counts []float64
	for _, i := range leftRows(folds) {
		n := 1.0
		if p.Weights != nil {
			n = p.Weights[i]
		}
		counts = append(counts, n)
	}
	return counts
}

// leftRows are the rows that are left out, in the order of the folds.
func leftRows(folds []compare.Split) (rows []int) {
	for _, s := range folds {
		rows = append(rows, s.Test...)
	}
	return rows
}

// leftOutcomes are the outcomes, by their numbers, of the rows that are left out.
func (p *Problem) leftOutcomes(folds []compare.Split) []int {
	outcomes := leftRows(folds)
	for k, i := range outcomes {
		outcomes[k] = p.Labels[i]
	}
	return outcomes
}

// leftUnits numbers the rows that are left out, those that belong together alike; nil where each
// is its own.
func (p *Problem) leftUnits(folds []compare.Split) []int {
	together := p.Together()
	if together == nil {
		return nil
	}
	units := leftRows(folds)
	for k, i := range units {
		units[k] = together[i]
	}
	return units
}

// leaveOut is the probabilities of all outcomes of some rows by a fit without them, and the
// logarithms of those of what occurred.
func (p *Problem) leaveOut(f *search.Fit, rows []int) (left [][]float64, logs []float64) {
	if several(p.Recipe) {
		return p.leaveOutOutcomes(f, rows)
	}
	mean, variance := make([]float64, len(rows)), make([]float64, len(rows))
	infer.Gaussian{Gaussian: f.EP.Q}.Moments(f.Process.At(rowsOf(p.X, rows)), mean, variance)
	outcome := p.opt.Likelihood.outcome()
	left, logs = newTuples(len(rows), 2), make([]float64, len(rows))
	for k, i := range rows {
		left[k][0], left[k][1] = outcome.Probability(mean[k], variance[k])
		logs[k], _, _ = outcome[p.Labels[i]].LogMean(mean[k], variance[k])
	}
	return left, logs
}

// compareCandidates fits the candidates, with the folds that were left out of some fits.
// Those that have no fit are left out, unless it is all of them.
func (p *Problem) compareCandidates(ctx context.Context) (trials []*trial, folds []compare.Split, err error) {
	cases := p.cases()
	folds = p.comparisonFolds()
	var failure error
	for _, c := range candidates {
		if c.kernel == lengthScales && p.coding.Len() == 1 {
			continue // it is the same as with one length scale
		}
		t, err := p.try(ctx, c, trials, cases, folds)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil && failure == nil:
			failure = err
		case err == nil:
			trials = append(trials, t)
		}
		if folds == nil && len(trials) > 0 {
			break
		}
	}
	if len(trials) == 0 {
		return nil, nil, failure
	}
	return trials, folds, nil
}

// comparisonFolds are the folds that candidates are compared by, nil if rows are too few.
func (p *Problem) comparisonFolds() []compare.Split {
	if p.secondMost() < fewestOfClass {
		return nil
	}
	folds, err := p.Folds(p.Together(), comparisonFolds, rand.New(rand.NewPCG(p.opt.Seed, 4)))
	if err != nil {
		return nil
	}
	splits := compare.Splits(folds)
	if p.views() > manyRows {
		splits = splits[:fewerFolds]
	}
	return splits
}

// learnAuto learns with AutoKernel: it tries the candidates and mixes them by what they
// predict out of fold.
func (p *Problem) learnAuto(ctx context.Context) (*Learned, error) {
	some := p.compared()
	trials, folds, err := some.compareCandidates(ctx)
	if err != nil {
		return nil, err
	}
	counts := some.counts(folds)
	weights := weigh(trials, counts, len(p.Recipe.Target.Outcomes))
	parts := 0
	for _, w := range weights {
		if w > 0 {
			parts++
		}
	}
	if err := p.affordsParts(parts); err != nil {
		return nil, err
	}
	l := &Learned{problem: p}
	if p.opt.Likelihood.Noise == 0 { // how much of what occurs is error has been said otherwise
		l.sharpness = sharpnessOf(trials, weights, some.leftOutcomes(folds), counts, some.leftUnits(folds))
	}
	cases := p.cases()
	for k, t := range trials {
		if weights[k] > 0 && some != p {
			if err := p.goOn(ctx, t, cases); err != nil {
				return nil, err
			}
		}
		part := p.learned(t.fit, cases)
		if weights[k] == 0 && some != p {
			part.search.Rows = some.Len()
		}
		l.candidates = append(l.candidates, t.tried(weights[k], counts, part.search))
		if weights[k] > 0 {
			l.parts, l.weights = append(l.parts, part), append(l.weights, weights[k])
		}
	}
	return l, nil
}

// compared is the problem that candidates are compared on: that of some of the rows, with as
// many of each outcome as among all, where rows are many. Rows that belong together are all
// among them, or none.
func (p *Problem) compared() *Problem {
	if p.Len() <= wholeRows {
		return p
	}
	parts, err := p.Folds(p.Together(), sampleParts, rand.New(rand.NewPCG(p.opt.Seed, 7)))
	if err != nil {
		return p // which is divided no further
	}
	rows := slices.Concat(parts[:max(1, sampleParts*sampleRows/p.Len())]...)
	slices.Sort(rows)
	return p.some(rows)
}

// goOn has the search of a trial on some of the rows go on with all of them.
func (p *Problem) goOn(ctx context.Context, t *trial, cases gp.Cases) (err error) {
	o := search.Options{Shrinkage: t.shrinkage, Tolerance: candidateTolerance, MaxEvaluations: fewLooks}
	o.Progress = func(e search.Evaluation) {
		p.tell(fmt.Sprintf("searching for the kernel with %s, %d rows", t.name, e.Cases), e.Number, e.LogPosterior)
	}
	t.fit, err = t.fit.Extend(ctx, p.X, cases, o)
	return err
}

// affordsParts refuses a mixture of more posteriors than could be read again, before they are
// made.
func (p *Problem) affordsParts(parts int) error {
	need := mixtureBytes(p.Recipe, parts, p.Len(), p.coding.Len())
	if parts <= 1 || need <= float64(p.opt.MaxMemory) {
		return nil
	}
	return p.tooManyParts(parts, need)
}

func (p *Problem) tooManyParts(parts int, need float64) error {
	return inputf("max memory", "a mixture of %d posteriors of %d rows each takes about %.2g GB of memory to be read, more than %.2g GB: choose one kernel, give a sample of the rows, or allow more memory",
		parts, p.Len(), need/1e9, float64(p.opt.MaxMemory)/1e9)
}

// tried is what there is to say about a trial.
func (t *trial) tried(weight float64, counts []float64, s *Search) Candidate {
	c := Candidate{Name: t.name, Kernel: t.fit.Process.Kernel().String(), Weight: weight, LogEvidence: t.fit.EP.LogEvidence, Search: s}
	if t.logs != nil {
		c.LogPredictive = floats.Dot(t.logs, counts) / floats.Sum(counts)
	}
	return c
}

// chosen is the problem with the candidate that predicts best out of fold among some of
// the rows, where all of them are seen from inducing points. There one kernel is enough:
// what is to be gained from a mixture is the less the more rows there are.
func (p *Problem) chosen(ctx context.Context) (*Problem, []Candidate, error) {
	some := p.some(p.comparisonSample())
	trials, folds, err := some.compareCandidates(ctx)
	if err != nil {
		return nil, nil, err
	}
	counts := some.counts(folds)
	best := trials[0]
	for _, t := range trials[1:] {
		if t.logs != nil && (best.logs == nil || floats.Dot(t.logs, counts) > floats.Dot(best.logs, counts)) {
			best = t
		}
	}
	var tried []Candidate
	for _, t := range trials {
		weight := 0.0
		if t == best {
			weight = 1
		}
		tried = append(tried, t.tried(weight, counts, nil))
	}
	q := *p
	q.Kernel, q.shrinkage, q.start = best.fit.Process.Kernel(), best.shrinkage, true
	return &q, tried, nil
}

// comparisonSample is some of the rows, in their order.
func (p *Problem) comparisonSample() []int {
	rng := rand.New(rand.NewPCG(p.opt.Seed, 6))
	classes := p.classes()
	var of [2][]int // places in the order, of the rarer class first
	for place, i := range p.inOrder(places(p.Len())) {
		of[classes[i]] = append(of[classes[i]], place)
	}
	size := min(comparisonRows, p.Len())
	rare := max(size*len(of[0])/p.Len(), min(size/4, len(of[0])))
	var some []int
	for class, n := range [2]int{rare, size - rare} {
		rng.Shuffle(len(of[class]), func(i, j int) { of[class][i], of[class][j] = of[class][j], of[class][i] })
		some = append(some, of[class][:min(n, len(of[class]))]...)
	}
	slices.Sort(some)
	return p.inOrder(some)
}

// candidateLines say what was tried and what it is worth.
func (s *Summary) candidateLines() []string {
	var lines []string
	for _, c := range s.Candidates {
		weight := "not used"
		if c.Weight > 0 {
			weight = fmt.Sprintf("weight %.2f", c.Weight)
		}
		out := ""
		if c.LogPredictive != 0 {
			out = fmt.Sprintf("log predictive out of fold %.4f per row, ", c.LogPredictive)
		}
		of := ""
		if c.Search != nil && c.Search.Rows > 0 {
			of = fmt.Sprintf(" of %d rows", c.Search.Rows)
		}
		lines = append(lines, fmt.Sprintf("            %-12s %s (%slog evidence%s %.3f)", weight, c.Name, out, of, c.LogEvidence))
	}
	return lines
}

// checkCandidates refuses what no fit could have found.
func (s *Summary) checkCandidates() error {
	if len(s.Candidates) == 0 {
		return nil
	}
	if len(s.Candidates) > len(candidates) {
		return fmt.Errorf("it was mixed of %d kernels, and at most %d are tried", len(s.Candidates), len(candidates))
	}
	sum := 0.0
	for _, c := range s.Candidates {
		if !(c.Weight >= 0 && c.Weight <= 1) || math.IsNaN(c.LogPredictive) {
			return fmt.Errorf("a kernel that was tried has the weight %v and the log predictive %v", c.Weight, c.LogPredictive)
		}
		if c.Search != nil && c.Search.Evaluations < 0 {
			return fmt.Errorf("a kernel that was tried was found in %d evaluations", c.Search.Evaluations)
		}
		sum += c.Weight
	}
	if !(math.Abs(sum-1) < 1e-9) {
		return fmt.Errorf("the weights of its kernels add up to %v", sum)
	}
	return nil
}
