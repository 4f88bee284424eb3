package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/nuts"
	"github.com/lossep/lossep/orthant"
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
)

// reference draws from the exact posterior. It is nil for likelihoods that it is not
// made for, and for inducing points: where those are needed there are too many rows to
// draw from the posterior of all of them.
func (a *Audit) reference(ctx context.Context, p *lossep.Problem, l *lossep.Learned, x *mat.Dense) (*Reference, error) {
	if name := a.opt.Fit.Likelihood.Name; name != "" && name != "probit" {
		return nil, nil
	}
	if l.Inducing() > 0 {
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
	p.Shift(mixed.Probabilities)
	return mixed, nil
}

// referenceOf draws from the exact posterior with one kernel, for cases like the training
// rows.
func (a *Audit) referenceOf(ctx context.Context, p *lossep.Problem, k kernel.Kernel, x *mat.Dense) (*Reference, error) {
	process, err := gp.New(k, p.X)
	if err != nil {
		return nil, err
	}
	labels := make([]float64, len(p.Labels))
	for i, y := range p.Labels {
		labels[i] = float64(y)
	}
	model, err := process.Classify(labels)
	if err != nil {
		return nil, err
	}
	for i, w := range p.Weights {
		model.Terms[i] = factor.Power{Of: model.Terms[i], Alpha: w}
	}
	views := process.At(x)
	posterior, r, err := draw(ctx, model, views, a.opt.Fit.Seed, p.Weights == nil)
	if err != nil {
		return nil, fmt.Errorf("the exact posterior: %w", err)
	}
	r.Probabilities, r.StdErrs = make([]float64, views.Len()), make([]float64, views.Len())
	decision.Probit().Probabilities(posterior, views, r.Probabilities, r.StdErrs)
	return r, nil
}

// draw draws independently where that can be done, which with weights it cannot, and
// otherwise by chains.
func draw(ctx context.Context, m *infer.Model, views *gauss.Views, seed uint64, equal bool) (infer.Posterior, *Reference, error) {
	if equal && len(m.Terms) <= exactRows {
		// The evidence is not needed.
		posterior, err := infer.Exact{Draws: exactDraws, EvidencePoints: 1, Seed: seed}.Fit(ctx, m)
		if err == nil {
			return posterior, &Reference{By: byDraws}, nil
		}
		var rate *orthant.AcceptanceError
		if !errors.As(err, &rate) {
			return nil, nil, err
		}
	}
	return drawChains(ctx, m, views, nuts.Options{Warmup: nutsWarmup, Draws: nutsDraws, Seed: seed})
}

func drawChains(ctx context.Context, m *infer.Model, views *gauss.Views, o nuts.Options) (infer.Posterior, *Reference, error) {
	posterior, err := infer.NUTS{Options: o}.Fit(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	doubt, err := doubtAbout(posterior, views)
	return posterior, &Reference{By: byChains, Doubt: doubt}, err
}

// doubtAbout says why the chains' probabilities of the test rows should not be trusted.
// What counts is whether the chains agree about these: of hundreds of coordinates some
// always seem not to.
func doubtAbout(posterior *infer.NUTSResult, views *gauss.Views) (string, error) {
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
