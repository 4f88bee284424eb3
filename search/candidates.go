package search

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/kernel"
)

// The evidence cannot tell how far a kernel with a parameter for each column fits the rows by
// chance; rows that a search has not seen can. So candidates are compared by what they predict of
// rows that are left out.

// Candidate is a form of kernel that is tried.
type Candidate struct {
	Name      string
	Kernel    string
	Shrinkage float64 // of its length scales; see Options
	// PerColumn says that each column has a length scale: of one column the candidate is the same
	// as with one for all.
	PerColumn bool
}

// Candidates are the forms that are tried, the simplest first: where rows are too few to compare
// it stands alone.
//
// The simplest is a rough process about an offset that is not known. Of eight kernels with one
// length scale in ten-fold cross-validation of EP at fn=5, fp=1 on sonar, ionosphere, Pima and
// German credit it had the lowest summed cost, level with matern52 + constant; most differences are
// noise.
var Candidates = []Candidate{
	{Name: "isotropic (one length scale)", Kernel: OneForAll},
	{Name: "ARD (a length scale for each column)", Kernel: PerColumn, PerColumn: true},
	{Name: "sparse ARD (few short length scales)", Kernel: PerColumn, Shrinkage: 1, PerColumn: true},
	{Name: "linear", Kernel: "linear + constant"},
}

// OneForAll is the kernel with one length scale for all columns, and PerColumn that with one for
// each.
const (
	OneForAll = "matern32 + constant"
	PerColumn = "matern32(ard) + constant"
)

// Problem is rows for which a kernel is chosen among the candidates.
type Problem struct {
	X        *mat.Dense
	Columns  kernel.Columns
	Labels   []int     // from 0
	Outcomes int       // how many different labels there can be; 0 where outcomes are numbers, and labels those of rows
	Weights  []float64 // how often each row counts, nil if once
	Terms    gp.Terms
	Predict  Predictive
	Rows     Rows
	// Order, if set, is an order of the rows that samples are dealt from; see InduceOptions.
	Order    []int
	Seed     uint64
	Restarts int
	Memory   int64 // see InduceOptions
	// Progress, if set, is called with what is done.
	Progress func(stage string, step int, logEvidence float64)
	// Affords, if set, refuses a mixture of so many posteriors before they are made.
	Affords func(parts int) error
}

// Predictive is what fits say of the outcomes of rows. Two outcomes, of one function, and more,
// of one function each, differ in it.
type Predictive interface {
	// New is the probabilities of all outcomes of rows that a fit has not seen, and the
	// logarithms of those of their labels.
	New(f *Fit, x *mat.Dense, labels []int) (p [][]float64, logs []float64)
	// Without is the log probability of the label of every row of a fit, with the row and its group
	// taken out; −Inf where there is none.
	Without(f *Fit) []float64
	// Independent writes the probabilities of all outcomes where the functions are independent and
	// have these moments.
	Independent(p, mean, variance []float64)
}

// Rows divides the rows of a problem in ways that depend neither on how they are ordered nor on how
// outcomes are numbered.
type Rows interface {
	// Groups numbers rows such that those that belong together have the same number; nil where
	// each row is its own.
	Groups() []int
	// Classes are the labels of rows, numbered from the rarest.
	Classes() []int
	// Folds divides the rows into k parts, none of which divides a group.
	Folds(groups []int, k int, rng *rand.Rand) ([][]int, error)
	// Some is the problem with some of the rows, in the given order.
	Some(rows []int) *Problem
}

// Tried is a candidate that was tried.
type Tried struct {
	Name   string `json:"name"`
	Kernel string `json:"kernel"` // with the hyperparameters found
	// Weight is that of its posterior in the mixture; 0 if it is not part of it.
	Weight float64 `json:"weight"`
	// LogPredictive is the mean log probability of the outcomes of rows that were left out,
	// 0 if none were, and LogEvidence that of all rows by EP.
	LogPredictive float64 `json:"log_predictive,omitempty"`
	LogEvidence   float64 `json:"log_evidence"`
	Search        *Record `json:"search,omitempty"`
	// Tuned are the logarithms of the hyperparameters of terms that have any.
	Tuned []float64 `json:"tuned,omitempty"`
}

// Len is the number of rows.
func (p *Problem) Len() int { return len(p.Labels) }

func (p *Problem) tell(stage string, step int, logEvidence float64) {
	if p.Progress != nil {
		p.Progress(stage, step, logEvidence)
	}
}

// views is how many views of the full process the rows have.
func (p *Problem) views() int {
	if c, ok := p.Terms.(gp.Cases); ok {
		return c.Views() * p.Len()
	}
	return p.Len()
}

// secondMost is how many rows the second most frequent outcome has: the rarer of two. Of numbers half of the rows are as good.
func (p *Problem) secondMost() int {
	if p.Outcomes == 0 {
		return p.Len() / 2
	}
	of := make(map[int]int)
	for _, y := range p.Labels {
		of[y]++
	}
	counts := slices.Sorted(maps.Values(of))
	if len(counts) < 2 {
		return 0
	}
	return counts[len(counts)-2]
}

// countsOf is how often some of the rows count.
func (p *Problem) countsOf(rows []int) []float64 {
	counts := slices.Repeat([]float64{1}, len(rows))
	if p.Weights != nil {
		for k, i := range rows {
			counts[k] = p.Weights[i]
		}
	}
	return counts
}

// comparison fits candidates and has them predict rows that are left out.
type comparison interface {
	// begin does at once what the candidates that will be tried do not need each other for.
	begin(ctx context.Context, all []Candidate)
	// try fits a candidate, given earlier trials. Without rows to leave out, or where the trial is
	// hopeless, it predicts nothing.
	try(ctx context.Context, c Candidate, earlier []*trial) (*trial, error)
	// counts is how often each of the rows counts that are left out; nil where rows are too few.
	counts() []float64
}

// compare tries the candidates. Those that have no fit are left out, unless it is all of them.
// Without rows to compare them by the first that has one is enough.
func (p *Problem) compare(ctx context.Context, by comparison) (trials []*trial, err error) {
	var failure error
	_, columns := p.X.Dims()
	all := slices.DeleteFunc(slices.Clone(Candidates), func(c Candidate) bool { return c.PerColumn && columns == 1 })
	by.begin(ctx, all)
	for _, c := range all {
		t, err := by.try(ctx, c, trials)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && failure == nil:
			failure = err
		case err == nil:
			trials = append(trials, t)
		}
		if by.counts() == nil && len(trials) > 0 {
			break
		}
	}
	if len(trials) == 0 {
		return nil, failure
	}
	return trials, nil
}

// trial is a candidate that was fitted.
type trial struct {
	Candidate
	kernel      kernel.Kernel // found
	logEvidence float64
	fit         *Fit // of the full process, nil with inducing points
	// logs are the log probabilities of the outcomes of rows that were left out, by fits
	// without them; nil if the candidate was given up, or rows are too few.
	logs []float64
	// left are the probabilities of all outcomes of the same rows.
	left [][]float64
	// refits are the log parameters of those fits, with those of the terms.
	refits [][]float64
}

// mean is the mean log probability of the rows that were left out, by how often they count.
func (t *trial) mean(counts []float64) float64 {
	mean := floats.Dot(t.logs, counts) / floats.Sum(counts)
	if math.IsNaN(mean) {
		return -math.MaxFloat32 // with these parameters there are no probabilities
	}
	return mean
}

// tried is what there is to say about a trial.
func (t *trial) tried(weight float64, counts []float64, s *Record) Tried {
	c := Tried{Name: t.Name, Kernel: t.kernel.String(), Weight: weight, LogEvidence: t.logEvidence, Search: s}
	if t.logs != nil {
		c.LogPredictive = t.mean(counts)
	}
	if t.fit != nil {
		c.Tuned = t.fit.Tuned
	}
	return c
}

// Mixture is candidates whose posteriors are mixed.
type Mixture struct {
	Fits       []*Fit
	Weights    []float64
	Candidates []Tried // all that were tried
	// Slope is the calibration slope of the mixture, see CalibrationSlope; 0 stands for 1.
	Slope float64
	// Left is what the mixture predicts out of fold; nil where rows are too few to leave some out.
	Left *LeftOut
}

// Mix fits the candidates to all rows of a full process, and weighs them by what they predict out of
// fold: every candidate is fitted to all rows, and again to four fifths of them several times over,
// from where the fit to all ended.
//
// Errors are those of Optimise.
func (p *Problem) Mix(ctx context.Context) (*Mixture, error) {
	rows, some := p.compared(), p
	if rows != nil {
		some = p.Rows.Some(rows)
	}
	by := &refits{Problem: some, folds: some.Folds()}
	trials, err := some.compare(ctx, by)
	if err != nil {
		return nil, err
	}
	counts := by.counts()
	weights := weigh(trials, counts, p.Outcomes)
	if some != p {
		heavy(weights)
	}
	parts := 0
	for _, w := range weights {
		if w > 0 {
			parts++
		}
	}
	if p.Affords != nil {
		if err := p.Affords(parts); err != nil {
			return nil, err
		}
	}
	m := &Mixture{Slope: by.slope(trials, weights, counts), Left: by.leftOut(trials, weights, rows)}
	for k, t := range trials {
		if weights[k] > 0 && some != p {
			if err := p.goOn(ctx, t, rows); err != nil {
				return nil, err
			}
		}
		record := t.fit.Record()
		if weights[k] == 0 && some != p {
			record.Rows = some.Len()
		}
		m.Candidates = append(m.Candidates, t.tried(weights[k], counts, record))
		if weights[k] > 0 {
			m.Fits, m.Weights = append(m.Fits, t.fit), append(m.Weights, weights[k])
		}
	}
	return m, nil
}

// goOn has the search of a trial on these rows go on with all of them.
func (p *Problem) goOn(ctx context.Context, t *trial, rows []int) (err error) {
	o := Options{Shrinkage: t.Shrinkage, Tolerance: candidateTolerance, MaxEvaluations: extension, Progress: p.searching(t.Candidate)}
	if t.fit, err = t.fit.Extend(ctx, rows, p.X, p.Terms, o); err == nil {
		t.kernel, t.logEvidence = t.fit.Process.Kernel(), t.fit.EP.LogEvidence
	}
	return err
}

// searching tells of the evaluations of a search.
func (p *Problem) searching(c Candidate) func(Evaluation) {
	return func(e Evaluation) {
		p.tell(fmt.Sprintf("searching for the kernel with %s, %d rows", c.Name, e.Cases), e.Number, e.LogPosterior)
	}
}

// Choice is the candidate that predicts best.
type Choice struct {
	Kernel     kernel.Kernel
	Shrinkage  float64
	Fitted     bool    // the kernel has hyperparameters to start from
	Candidates []Tried // all that were tried
}

// Choose finds the candidate that predicts best out of fold among some of the rows, where all of
// them are approximated with inducing points. There one kernel is enough: what is to be gained from
// a mixture is the less the more rows there are.
//
// The rows of one function are compared by the full process. Those of several have as many more views,
// and are compared with inducing points, as all rows will be.
func (p *Problem) Choose(ctx context.Context) (*Choice, error) {
	var by comparison
	some := p
	if gp.Functions(p.Terms) == 1 {
		some = p.Rows.Some(p.Sample())
		by = &refits{Problem: some, folds: some.Folds()}
	} else if h := p.heldOut(); h != nil {
		by = h
	} else {
		k, err := kernel.ParseColumns(Candidates[0].Kernel, p.Columns)
		return &Choice{Kernel: k}, err // rows are too few to compare any
	}
	trials, err := some.compare(ctx, by)
	if err != nil {
		return nil, err
	}
	counts := by.counts()
	best := trials[0]
	for _, t := range trials[1:] {
		if t.logs != nil && (best.logs == nil || t.mean(counts) > best.mean(counts)) {
			best = t
		}
	}
	c := &Choice{Kernel: best.kernel, Shrinkage: best.Shrinkage, Fitted: true}
	for _, t := range trials {
		weight := 0.0
		if t == best {
			weight = 1
		}
		c.Candidates = append(c.Candidates, t.tried(weight, counts, nil))
	}
	return c, nil
}
