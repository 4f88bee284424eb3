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

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/nuts"
	"github.com/lossep/lossep/orthant"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/table"
)

// Reference is what the exact posterior of a fold's model says about the test rows,
// by independent draws where they are within reach, and by Markov chains elsewhere.
type Reference struct {
	// By is "exact" or "nuts".
	By string `json:"by"`
	// Probabilities of the outcomes, and their Monte Carlo standard errors.
	Probabilities [][]float64 `json:"probabilities"`
	StdErrs       [][]float64 `json:"std_errs"`
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
	// Of more than two outcomes there are as many views of the process as rows times outcomes but one, up to
	// referenceViews; and a probability given a draw takes up to a millisecond, so that there are up to referenceCases
	// cases and a quarter of the draws.
	referenceViews, referenceCases = 500, 200
	severalDraws                   = 4
)

// reference draws from the exact posterior. It is nil for likelihoods that it is not
// made for.
func (a *Audit) reference(ctx context.Context, p *lossep.Problem, l *lossep.Learned, x *mat.Dense) (*Reference, error) {
	if name := a.problem.Likelihood().Name; name != "probit" && !p.Recipe.Target.Ordered {
		return nil, nil
	}
	// The exact posterior of a mixture is that of its parts.
	var mixed *Reference
	for _, c := range l.Components() {
		r, err := a.referenceOf(ctx, p, c, x)
		if err != nil {
			return nil, err
		}
		if mixed == nil {
			mixed = &Reference{By: r.By, Probabilities: posterior.Tuples(len(r.Probabilities), len(a.outcomes())), StdErrs: posterior.Tuples(len(r.StdErrs), len(a.outcomes()))}
		}
		if r.By != mixed.By {
			mixed.By = byChains // which some of it is
		}
		if r.Doubt != "" {
			mixed.Doubt = r.Doubt
		}
		for i := range r.Probabilities {
			for y := range r.Probabilities[i] {
				mixed.Probabilities[i][y] += c.Weight * r.Probabilities[i][y]
				mixed.StdErrs[i][y] = math.Hypot(mixed.StdErrs[i][y], c.Weight*r.StdErrs[i][y])
			}
		}
	}
	l.Adjust(mixed.Probabilities, mixed.StdErrs)
	return mixed, nil
}

// unreachable says why a fold of so many cases is not compared with the exact posterior; empty where it is.
func (a *Audit) unreachable(p *lossep.Problem, l *lossep.Learned, cases int) string {
	views := p.Len() * lossep.ViewsOf(p.Recipe)
	switch {
	case p.Recipe.Target.Ordered && l.Inducing() > 0:
		return "a sample of the rows would have other cut points between grades"
	case !a.several(), p.Recipe.Target.Ordered:
		return ""
	case p.Weights != nil:
		return "its draws are for rows that count once each"
	case views > referenceViews:
		return fmt.Sprintf("%d training rows of %d outcomes are %d views of the process, more than %d", p.Len(), len(a.outcomes()), views, referenceViews)
	case cases > referenceCases:
		return fmt.Sprintf("%d cases are more than %d", cases, referenceCases)
	}
	return ""
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
func (a *Audit) referenceOf(ctx context.Context, p *lossep.Problem, c lossep.Component, x *mat.Dense) (*Reference, error) {
	process, model, posed, err := a.posed(p, c)
	if err != nil {
		return nil, err
	}
	draws, r, chains, err := a.draw(ctx, model)
	if err != nil {
		return nil, fmt.Errorf("the exact posterior: %w", err)
	}
	return r, r.ask(posed(process, draws), chains, x, len(a.outcomes()))
}

// ask finds what draws say about cases, and whether the chains that they are of should be trusted.
func (r *Reference) ask(exactly *posterior.Drawn, chains *exact.NUTSResult, x *mat.Dense, outcomes int) (err error) {
	n, _ := x.Dims()
	r.Probabilities, r.StdErrs = make([][]float64, n), posterior.Tuples(n, outcomes)
	given := make([][][]float64, n)
	exactly.Given(x, func(i int, p [][]float64) {
		r.Probabilities[i] = make([]float64, outcomes)
		for y := range p {
			r.Probabilities[i][y], r.StdErrs[i][y] = clamp(stat.Mean(p[y], nil)), exactly.StdErr(p[y])
		}
		if chains != nil {
			given[i] = p[1:] // they add up to one
		}
	})
	if chains != nil {
		r.Doubt, err = doubtAbout(chains, given)
	}
	return err
}

// posed is the process of a problem with a kernel, its model, and what makes the posterior of draws.
func (a *Audit) posed(p *lossep.Problem, c lossep.Component) (*gp.Process, *infer.Model, func(*gp.Process, *exact.Draws) *posterior.Drawn, error) {
	if a.several() && !p.Recipe.Target.Ordered {
		number := len(a.outcomes())
		process, err := gp.NewOutcomes(c.Kernel, p.X, &gp.Outcomes{Of: p.Labels, Number: number})
		if err != nil {
			return nil, nil, nil, err
		}
		return process, process.Model(), func(of *gp.Process, d *exact.Draws) *posterior.Drawn {
			return posterior.NewDrawnJoint(of, posterior.Largest(number), d)
		}, nil
	}
	process, err := gp.New(c.Kernel, p.X)
	if err != nil {
		return nil, nil, nil, err
	}
	outcome := decision.Probit()
	if p.Recipe.Target.Ordered {
		outcome = decision.Ordered(c.Cuts)
	}
	terms := make([]factor.Factor, len(p.Labels))
	for i, y := range p.Labels {
		terms[i] = outcome[y]
	}
	return process, &infer.Model{Views: process.Views(), Terms: terms, Counts: p.Weights}, func(of *gp.Process, d *exact.Draws) *posterior.Drawn {
		return posterior.NewDrawn(of, posterior.Outcomes(outcome), d)
	}, nil
}

// draw draws independently where that can be done, as it can of a few rows of which each
// counts a whole number of times, and otherwise by chains.
func (a *Audit) draw(ctx context.Context, m *infer.Model) (*exact.Draws, *Reference, *exact.NUTSResult, error) {
	total, part := 0.0, 1
	for i := range m.Terms {
		total += m.Count(i)
	}
	if a.several() {
		part = severalDraws
	}
	if total <= exactRows {
		// The evidence is not needed.
		r, err := exact.Sampler{Draws: exactDraws / part, EvidencePoints: 1, Seed: a.opt.Fit.Seed}.Fit(ctx, m)
		if err == nil {
			return r.Draws, &Reference{By: byDraws}, nil, nil
		}
		var rate *orthant.AcceptanceError
		var fractions *infer.UnsupportedError
		if !errors.As(err, &rate) && !errors.As(err, &fractions) {
			return nil, nil, nil, err
		}
	}
	return drawChains(ctx, m, nuts.Options{Warmup: nutsWarmup, Draws: nutsDraws, Seed: a.opt.Fit.Seed})
}

func drawChains(ctx context.Context, m *infer.Model, o nuts.Options) (*exact.Draws, *Reference, *exact.NUTSResult, error) {
	r, err := exact.NUTS{Options: o}.Fit(ctx, m)
	if err != nil {
		return nil, nil, nil, err
	}
	return r.Draws, &Reference{By: byChains}, r, nil
}

// doubtAbout says why the chains' probabilities of the test rows should not be trusted, given those of every draw, by row
// and outcome. What counts is whether the chains agree about these: of hundreds of coordinates some
// always seem not to.
func doubtAbout(chains *exact.NUTSResult, given [][][]float64) (string, error) {
	worst := make(map[nuts.WarningKind]nuts.Warning)
	var doubts []string
	for _, w := range chains.Diagnostics.Warnings {
		if w.Kind == nuts.DivergentTransitions || w.Kind == nuts.LowEBFMI {
			doubts = append(doubts, w.String())
		}
	}
	all := slices.Concat(given...)
	for _, p := range all {
		var series nuts.Series
		for of := range slices.Chunk(p, len(p)/len(chains.Diagnostics.Chains)) {
			series = append(series, of)
		}
		summary, err := series.Summarize()
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
	of := "cases"
	if len(all) > len(given) {
		of = "probabilities"
	}
	for _, kind := range slices.Sorted(maps.Keys(worst)) {
		w := worst[kind]
		doubts = append(doubts, fmt.Sprintf("%v in %d of %d %s, at worst %.4g where the limit is %.4g", w.Kind, w.Count, len(all), of, w.Value, w.Limit))
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
		c, p, e := a.costs[i], ref.Probabilities[k], ref.StdErrs[k]
		taken, best := cheapest(c, answers[k]), cheapest(c, p)
		r.Cases++
		for y := range p {
			r.Off += math.Abs(answers[k][y]-p[y]) / float64(len(p))
		}
		if unsettled(c, p, e) {
			r.Open++
		}
		if taken == best {
			continue
		}
		r.Differ++
		r.Mean += c.Expected(taken, p) - c.Expected(best, p)
		r.StdErr += errorOf(c.Table[taken], c.Table[best], e)
	}
}

// unsettled tells whether the decision is another one where the probability of one of the outcomes is two standard errors
// higher or lower, and those of the others in proportion.
func unsettled(c decision.Stakes, p, e []float64) bool {
	best := cheapest(c, p)
	for y := range p {
		for _, side := range []float64{-2, 2} {
			q := slices.Clone(p)
			q[y] = clamp(p[y] + side*e[y])
			rest := floats.Sum(p) - p[y]
			for z := range q {
				if z != y && rest > 0 {
					q[z] = p[z] * (1 - q[y]) / rest
				} else if z != y {
					q[z] = (1 - q[y]) / float64(len(p)-1)
				}
			}
			if cheapest(c, q) != best {
				return true
			}
		}
	}
	return false
}

// errorOf bounds the error of the difference Σ_y (a_y − b_y) p_y, given those of probabilities that add up to one: the
// least Σ_y |a_y − b_y − k| e_y over all k, which is at one of the differences.
func errorOf(a, b, e []float64) float64 {
	least := math.Inf(1)
	for k := range a {
		sum := 0.0
		for y := range a {
			sum += math.Abs(a[y]-b[y]-(a[k]-b[k])) * e[y]
		}
		least = min(least, sum)
	}
	return least
}

func clamp(p float64) float64 { return min(max(p, 0), 1) }
