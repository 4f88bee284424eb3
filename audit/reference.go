package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/nuts"
	"github.com/lossep/lossep/orthant"
	"github.com/lossep/lossep/table"
)

// Reference is what the exact posterior of a fold's model says about the test rows,
// by independent draws where they are within reach, and by Markov chains elsewhere.
type Reference struct {
	// By is "exact" or "nuts".
	By string `json:"by"`
	// Probabilities of the positive outcome, and their Monte Carlo standard errors.
	Probabilities []float64 `json:"probabilities"`
	StdErrs       []float64 `json:"std_errs"`
	// Doubt says why the draws should not be trusted; empty if they can be.
	Doubt string `json:"doubt,omitempty"`
	// Sample is nil where the exact posterior of all training rows was asked about all
	// cases.
	Sample *ReferenceSample `json:"sample,omitempty"`
}

// ReferenceSample is what stands for a fold of too many rows for the exact posterior: some
// of its training rows, of which every method and the exact posterior learn with the
// kernel of all rows, and some of its cases.
type ReferenceSample struct {
	Rows    int                    `json:"rows"`
	Cases   []int                  `json:"cases"` // places among the fold's test rows
	Answers map[string][][]float64 `json:"answers"`
}

// How a reference is drawn.
const (
	byDraws  = "exact"
	byChains = "nuts"
)

const (
	// With 4000 independent draws the standard error of a probability is 0.001 to 0.003
	// as a rule, and at most 0.008.
	exactDraws = 4000
	// exactRows is the number of training rows up to which independent draws are
	// tried. 691 rows of Pima are within reach and 900 of German credit are not, which
	// is found out in a few seconds.
	exactRows = 1000
	// Four chains of 500 draws give probabilities of 900 rows of German credit to about
	// 0.003.
	nutsWarmup, nutsDraws = 200, 500
	// Where inducing points are needed, so many training rows and cases stand for all. The
	// points are as many as in the fold, and at most half of the rows.
	sampleRows, sampleCases = 500, 2000
)

// reference draws from the exact posterior. It is nil for likelihoods that it is not
// made for.
func (a *Audit) reference(ctx context.Context, p *lossep.Problem, l *lossep.Learned, x *mat.Dense) (*Reference, error) {
	if a.problem.Likelihood().Name != "probit" {
		return nil, nil
	}
	// The exact posterior of a mixture is that of its parts.
	var mixed *Reference
	for _, c := range l.Components() {
		r, err := a.referenceOf(ctx, p, c.Kernel, x)
		if err != nil {
			return nil, err
		}
		if mixed == nil {
			mixed = &Reference{By: r.By, Probabilities: make([]float64, len(r.Probabilities)), StdErrs: make([]float64, len(r.StdErrs))}
		}
		if r.By != mixed.By {
			mixed.By = byChains // which some of it is
		}
		if r.Doubt != "" {
			mixed.Doubt = r.Doubt
		}
		for i := range r.Probabilities {
			mixed.Probabilities[i] += c.Weight * r.Probabilities[i]
			mixed.StdErrs[i] = math.Hypot(mixed.StdErrs[i], c.Weight*r.StdErrs[i])
		}
	}
	l.Adjust(mixed.Probabilities, mixed.StdErrs)
	return mixed, nil
}

// referenceOfSome compares with the exact posterior on a sample, where inducing points are
// needed: there are too many rows to draw from the posterior of all of them.
func (a *Audit) referenceOfSome(ctx context.Context, f *Fold, o lossep.Options, train *table.Table, l *lossep.Learned, x *mat.Dense) (*Reference, error) {
	rng := rand.New(rand.NewPCG(o.Seed, uint64(f.Index)+6<<32))
	some := func(n, most int) []int {
		rows := rng.Perm(n)[:min(n, most)]
		slices.Sort(rows)
		return rows
	}
	rows := some(train.Len(), sampleRows)
	s := &ReferenceSample{Rows: len(rows), Cases: some(len(f.Rows), sampleCases), Answers: make(map[string][][]float64)}
	o.Kernel, o.Fixed, o.Inducing = l.Components()[0].Kernel.String(), true, max(1, min(l.Inducing(), len(rows)/2))
	p, err := lossep.Prepare(train.Subset(rows), o)
	if err != nil {
		return nil, err
	}
	learned, err := p.Learn(ctx)
	if err != nil {
		return nil, err
	}
	_, d := x.Dims()
	cases := mat.NewDense(len(s.Cases), d, nil)
	for k, i := range s.Cases {
		cases.SetRow(k, x.RawRowView(i))
	}
	r, err := a.reference(ctx, p, learned, cases)
	if r == nil || err != nil {
		return nil, err
	}
	r.Sample = s
	for _, method := range a.opt.Methods {
		m, err := learned.Model(ctx, method)
		if err == nil {
			s.Answers[string(method)], err = probabilities(m, cases)
		}
		if err != nil {
			return nil, fmt.Errorf("%s on %d rows: %w", method, len(rows), err)
		}
	}
	return r, nil
}

// referenceOf draws from the exact posterior with one kernel, for cases like the training
// rows.
func (a *Audit) referenceOf(ctx context.Context, p *lossep.Problem, k kernel.Kernel, x *mat.Dense) (*Reference, error) {
	process, err := gp.New(k, p.X)
	if err != nil {
		return nil, err
	}
	model, err := process.Classify(p.Labels)
	if err != nil {
		return nil, err
	}
	model.Counts = p.Weights
	views := process.At(x)
	posterior, r, err := draw(ctx, model, views, a.opt.Fit.Seed)
	if err != nil {
		return nil, fmt.Errorf("the exact posterior: %w", err)
	}
	r.Probabilities, r.StdErrs = make([]float64, views.Len()), make([]float64, views.Len())
	decision.Probit().Probabilities(posterior, views, r.Probabilities, r.StdErrs)
	return r, nil
}

// draw draws independently where that can be done, as it can of a few rows of which each
// counts a whole number of times, and otherwise by chains.
func draw(ctx context.Context, m *infer.Model, views *gauss.Views, seed uint64) (infer.Posterior, *Reference, error) {
	total := 0.0
	for i := range m.Terms {
		total += m.Count(i)
	}
	if total <= exactRows {
		// The evidence is not needed.
		posterior, err := exact.Sampler{Draws: exactDraws, EvidencePoints: 1, Seed: seed}.Fit(ctx, m)
		if err == nil {
			return posterior, &Reference{By: byDraws}, nil
		}
		var rate *orthant.AcceptanceError
		var fractions *infer.UnsupportedError
		if !errors.As(err, &rate) && !errors.As(err, &fractions) {
			return nil, nil, err
		}
	}
	return drawChains(ctx, m, views, nuts.Options{Warmup: nutsWarmup, Draws: nutsDraws, Seed: seed})
}

func drawChains(ctx context.Context, m *infer.Model, views *gauss.Views, o nuts.Options) (infer.Posterior, *Reference, error) {
	posterior, err := exact.NUTS{Options: o}.Fit(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	doubt, err := doubtAbout(posterior, views)
	return posterior, &Reference{By: byChains, Doubt: doubt}, err
}

// doubtAbout says why the chains' probabilities of the test rows should not be trusted.
// What counts is whether the chains agree about these: of hundreds of coordinates some
// always seem not to.
func doubtAbout(posterior *exact.NUTSResult, views *gauss.Views) (string, error) {
	chains := posterior.Diagnostics.Chains
	series := make([]nuts.Series, views.Len())
	f := make([]float64, views.Len())
	k := 0
	for c := range chains {
		for i := range series {
			series[i] = append(series[i], make([]float64, len(chains[c].Draws)))
		}
		for d := range chains[c].Draws {
			views.At(f, posterior.Centre(k))
			for i := range series {
				_, series[i][c][d] = decision.Probit().Probability(f[i], views.Residual(i))
			}
			k++
		}
	}
	worst := make(map[nuts.WarningKind]nuts.Warning)
	var doubts []string
	for _, w := range posterior.Diagnostics.Warnings {
		if w.Kind == nuts.DivergentTransitions || w.Kind == nuts.LowEBFMI {
			doubts = append(doubts, w.String())
		}
	}
	for _, s := range series {
		summary, err := s.Summarize()
		if err != nil {
			return "", err
		}
		for _, w := range summary.Warnings() {
			before, seen := worst[w.Kind]
			if !seen || math.Abs(w.Value-w.Limit) > math.Abs(before.Value-w.Limit) {
				before.Value = w.Value
			}
			worst[w.Kind] = nuts.Warning{Kind: w.Kind, Count: before.Count + 1, Value: before.Value, Limit: w.Limit}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(worst)) {
		w := worst[kind]
		doubts = append(doubts, fmt.Sprintf("%v in %d of %d cases, at worst %.4g where the limit is %.4g", w.Kind, w.Count, len(series), w.Value, w.Limit))
	}
	return strings.Join(doubts, "; "), nil
}

// Regret is what a method's decisions are expected to cost more than those of the
// exact posterior of the same model, judged by that posterior.
type Regret struct {
	Method string `json:"method"`
	By     string `json:"by"` // "exact", "nuts", or both
	Cases  int    `json:"cases"`
	// Mean is the regret per case. StdErr bounds its Monte Carlo error: errors of
	// different cases are added, as they come from the same draws.
	Mean   float64 `json:"mean"`
	StdErr float64 `json:"std_err"`
	// Differ is the number of decisions that are not those of the exact posterior, and
	// Open the number of cases in which two standard errors of its probability reach
	// past the boundary, so that its own decision is not settled.
	Differ int `json:"differ"`
	Open   int `json:"open"`
	// Off is the mean absolute error of the probabilities.
	Off   float64 `json:"probability_error"`
	Doubt string  `json:"doubt,omitempty"`
	// Rows is how many training rows stood for all; 0 if none had to.
	Rows int `json:"rows,omitempty"`
}

// regrets compares every method with the exact posterior. Probit regression is another
// model and has another posterior.
func (a *Audit) regrets(folds []*Fold) []Regret {
	all := []Regret{}
	for _, m := range a.opt.Methods {
		r := Regret{Method: string(m)}
		for _, f := range folds {
			if f.Reference != nil {
				a.addRegret(&r, f)
			}
		}
		if r.Cases == 0 {
			break
		}
		n := float64(r.Cases)
		r.Mean, r.StdErr, r.Off = r.Mean/n, r.StdErr/n, r.Off/n
		all = append(all, r)
	}
	return all
}

func (a *Audit) addRegret(r *Regret, f *Fold) {
	ref := f.Reference
	if r.By == "" {
		r.By = ref.By
	} else if r.By != ref.By {
		r.By = "exact and nuts"
	}
	if r.Doubt == "" {
		r.Doubt = ref.Doubt
	}
	answers := f.Answers[r.Method]
	if ref.Sample != nil {
		r.Rows, answers = ref.Sample.Rows, ref.Sample.Answers[r.Method]
	}
	for k := range answers {
		i := f.Rows[k]
		if ref.Sample != nil {
			i = f.Rows[ref.Sample.Cases[k]]
		}
		c, p, e := a.costs[i], decision.Pair(ref.Probabilities[k]), ref.StdErrs[k]
		taken, best := cheapest(c, answers[k]), cheapest(c, p)
		r.Cases++
		r.Off += math.Abs(answers[k][1] - p[1])
		if cheapest(c, decision.Pair(clamp(p[1]-2*e))) != cheapest(c, decision.Pair(clamp(p[1]+2*e))) {
			r.Open++
		}
		if taken == best {
			continue
		}
		r.Differ++
		r.Mean += c.Expected(taken, p) - c.Expected(best, p)
		slope := (c.Table[taken][1] - c.Table[taken][0]) - (c.Table[best][1] - c.Table[best][0])
		r.StdErr += math.Abs(slope) * e
	}
}

func clamp(p float64) float64 { return min(max(p, 0), 1) }
