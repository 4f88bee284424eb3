package lossep

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
)

const (
	// comparisonFolds is in how many parts rows are divided, each to be left out once; of
	// more than manyRows those of the first fewerFolds parts are enough to tell candidates
	// apart.
	comparisonFolds = 5
	manyRows        = 800
	fewerFolds      = 3
	// hopeless is how far behind the best so far, in nats, a candidate has to be by
	// leave-one-out for it to be given up without further fits. Parameters that all rows
	// have chosen flatter it.
	hopeless = 5.0
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
	// leastWeight is below what a candidate is left out.
	leastWeight = 0.05
)

// trial is a candidate that was fitted.
type trial struct {
	candidate
	fit *gp.Fit
	// score is the log probability of the outcomes of rows that were left out, by fits
	// without them, of so many rows; NaN and 0 if the candidate was given up, or rows are
	// too few.
	score float64
	rows  int
}

// try fits a candidate to all rows, and to all but those of each fold, unless it is
// hopeless. It starts from an earlier trial of the same kernel, if there is one.
func (p *Problem) try(ctx context.Context, c candidate, earlier []*trial, terms []factor.Factor, folds []compare.Split) (*trial, error) {
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
	o.Progress = func(e gp.Evaluation) {
		p.tell(fmt.Sprintf("searching for the kernel with %s, %d rows", c.name, e.Cases), e.Number, e.LogPosterior)
	}
	t := &trial{candidate: c, score: math.NaN()}
	if t.fit, err = p.search(ctx, k, terms, o); err != nil || folds == nil {
		return t, err
	}
	shares, without := p.shares(), p.logWithout(t.fit)
	oneOut := 0.0
	for _, s := range folds {
		for _, i := range s.Test {
			oneOut += float64(p.Len()) * shares[i] * without[i]
		}
	}
	for _, other := range earlier {
		if oneOut < other.score-hopeless {
			return t, nil
		}
	}
	p.tell("comparing: "+c.name, 0, t.fit.EP.LogEvidence)
	atOnce := 1
	if p.views() <= concurrentRows {
		atOnce = runtime.GOMAXPROCS(0)
	}
	refit := func(ctx context.Context, i int) (*gp.Fit, error) {
		return t.fit.Refit(ctx, folds[i].Train, gp.Options{Tolerance: comparisonTolerance, MaxEvaluations: comparisonLooks})
	}
	fits := make([]*gp.Fit, len(folds))
	if err := tasks.Fill(ctx, fits, atOnce, refit, func(*gp.Fit) error { return nil }); err != nil {
		return nil, err
	}
	t.score = 0
	for i, f := range fits {
		t.score += p.leaveOut(f, folds[i].Test, shares)
		t.rows += len(folds[i].Test)
	}
	return t, nil
}

// leaveOut is the log probability of the outcomes of some rows by a fit without them, each
// counted by its share.
func (p *Problem) leaveOut(f *gp.Fit, rows []int, shares []float64) float64 {
	if several(p.Recipe) {
		return p.leaveOutOutcomes(f, rows, shares)
	}
	mean, variance := make([]float64, len(rows)), make([]float64, len(rows))
	infer.Gaussian{Gaussian: f.EP.Q}.Moments(f.Process.At(rowsOf(p.X, rows)), mean, variance)
	outcome := p.opt.Likelihood.outcome()
	sum := 0.0
	for k, i := range rows {
		log, _, _ := outcome[(p.Labels[i]+1)/2].LogMean(mean[k], variance[k])
		sum += float64(p.Len()) * shares[i] * log
	}
	return sum
}

// compareCandidates fits the candidates. Those that have no fit are left out, unless it is
// all of them.
func (p *Problem) compareCandidates(ctx context.Context) ([]*trial, error) {
	terms := p.terms()
	folds := p.comparisonFolds()
	var trials []*trial
	var failure error
	for _, c := range candidates {
		if c.kernel == lengthScales && p.coding.Len() == 1 {
			continue // it is the same as with one length scale
		}
		t, err := p.try(ctx, c, trials, terms, folds)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
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
		return nil, failure
	}
	return trials, nil
}

// comparisonFolds are the folds that candidates are compared by, nil if rows are too few.
func (p *Problem) comparisonFolds() []compare.Split {
	if p.secondMost() < fewestOfClass {
		return nil
	}
	folds, err := compare.StratifiedFolds(p.Labels, comparisonFolds, rand.New(rand.NewPCG(p.opt.Seed, 4)))
	if err != nil {
		return nil
	}
	splits := compare.Splits(folds)
	if p.views() > manyRows {
		splits = splits[:fewerFolds]
	}
	return splits
}

// weigh are weights of the trials in proportion to the probability of the rows left out.
// Those with little weight get none.
func weigh(trials []*trial) []float64 {
	scores := make([]float64, len(trials))
	for k, t := range trials {
		if scores[k] = t.score; t.rows == 0 {
			scores[k] = math.Inf(-1)
		}
	}
	if slices.Max(scores) == math.Inf(-1) {
		scores[0] = 0 // the only one
	}
	return normalised(scores)
}

// normalised are weights of the given logarithms that add up to one. What would be below
// leastWeight is zero.
func normalised(logs []float64) []float64 {
	top := slices.Max(logs)
	weights := make([]float64, len(logs))
	for _, least := range []float64{0, leastWeight} {
		sum := 0.0
		for k, l := range logs {
			if least == 0 {
				weights[k] = math.Exp(l - top)
			} else if weights[k] < least {
				weights[k] = 0
			}
			sum += weights[k]
		}
		for k := range weights {
			weights[k] /= sum
		}
	}
	return weights
}

// learnAuto learns with AutoKernel: it tries the candidates and mixes them by what they
// predict out of fold.
func (p *Problem) learnAuto(ctx context.Context) (*Learned, error) {
	trials, err := p.compareCandidates(ctx)
	if err != nil {
		return nil, err
	}
	weights := weigh(trials)
	l := &Learned{problem: p}
	terms := p.terms()
	for k, t := range trials {
		part := p.learned(t.fit, terms)
		l.candidates = append(l.candidates, t.tried(weights[k], part.search))
		if weights[k] > 0 {
			l.parts, l.weights = append(l.parts, part), append(l.weights, weights[k])
		}
	}
	return l, nil
}

// tried is what there is to say about a trial.
func (t *trial) tried(weight float64, s *Search) Candidate {
	c := Candidate{Name: t.name, Kernel: t.fit.Process.Kernel().String(), Weight: weight, LogEvidence: t.fit.EP.LogEvidence, Search: s}
	if t.rows > 0 {
		c.LogPredictive = t.score / float64(t.rows)
	}
	return c
}

// chosen is the problem with the candidate that predicts best out of fold among some of
// the rows, where all of them are seen from inducing points. There one kernel is enough:
// what is to be gained from a mixture is the less the more rows there are.
func (p *Problem) chosen(ctx context.Context) (*Problem, []Candidate, error) {
	some := p.some(p.comparisonSample())
	trials, err := some.compareCandidates(ctx)
	if err != nil {
		return nil, nil, err
	}
	best := trials[heaviest(weigh(trials))]
	var tried []Candidate
	for _, t := range trials {
		weight := 0.0
		if t == best {
			weight = 1
		}
		tried = append(tried, t.tried(weight, nil))
	}
	q := *p
	q.Kernel, q.shrinkage, q.start = best.fit.Process.Kernel(), best.shrinkage, true
	return &q, tried, nil
}

// comparisonSample is some of the rows, in order.
func (p *Problem) comparisonSample() []int {
	rng := rand.New(rand.NewPCG(p.opt.Seed, 6))
	var of [2][]int
	for i, y := range p.Labels {
		of[(y+1)/2] = append(of[(y+1)/2], i)
	}
	rare := 0
	if len(of[1]) < len(of[0]) {
		rare = 1
	}
	size := min(comparisonRows, p.Len())
	from := max(size*len(of[rare])/p.Len(), min(size/4, len(of[rare])))
	var rows []int
	for class, n := range [2]int{size - from, size - from} {
		if class == rare {
			n = from
		}
		rng.Shuffle(len(of[class]), func(i, j int) { of[class][i], of[class][j] = of[class][j], of[class][i] })
		rows = append(rows, of[class][:min(n, len(of[class]))]...)
	}
	slices.Sort(rows)
	return rows
}

// some is the problem with some of the rows only, to look for a kernel.
func (p *Problem) some(rows []int) *Problem {
	q := &Problem{Recipe: p.Recipe, coding: p.coding, X: mat.NewDense(len(rows), p.coding.Len(), nil), opt: p.opt}
	for k, i := range rows {
		q.X.SetRow(k, p.X.RawRowView(i))
		q.Labels = append(q.Labels, p.Labels[i])
		if p.Weights != nil {
			q.Weights = append(q.Weights, p.Weights[i])
		}
	}
	return q
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
		lines = append(lines, fmt.Sprintf("            %-12s %s (%slog evidence %.3f)", weight, c.Name, out, c.LogEvidence))
	}
	return lines
}

// checkCandidates refuses what no fit could have found.
func (s *Summary) checkCandidates() error {
	if len(s.Candidates) == 0 {
		return nil
	}
	if len(s.Candidates) > mostCandidates {
		return fmt.Errorf("it was mixed of %d kernels, and at most %d are tried", len(s.Candidates), mostCandidates)
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

// mostCandidates is how many kernels a file may tell of.
const mostCandidates = 16
