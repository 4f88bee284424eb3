package numbers

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/search"
)

// shapeRows is how many rows the transformation and the noise are chosen by where there are no effects.
const shapeRows = 400

// Shape is a transformation of the outcome with noise of a family.
type Shape struct {
	Transform Transform `json:"transform"`
	Noise     string    `json:"noise"`
	// Evidence is the log evidence for the outcomes of so many rows, with the Jacobian of the
	// transformation; where effects are chosen it is their log density where each is left out.
	Evidence float64 `json:"log_evidence"`
	Rows     int     `json:"rows"`
	// Dropped says that the search ended where expectation propagation has no result again and again: its evidence
	// is no maximum, and rises as a rule because outcomes that are the same make noise vanish.
	Dropped bool `json:"dropped,omitempty"`
}

// prefer takes a shape in, and keeps it as the best if it is so by what is worthwhile. One that is dropped is
// better than none.
func (best *Shape) prefer(s Shape, tried []Shape) []Shape {
	if len(tried) == 0 || best.Dropped && !s.Dropped || best.Dropped == s.Dropped && s.Evidence > best.Evidence+worthwhile {
		*best = s
	}
	return append(tried, s)
}

// worthwhile is by how many nats a shape has to be better than a simpler one.
const worthwhile = 3

// transforms are those that can be tried: of what is said to be a count, that of counts alone.
func (p *Problem) transforms() []Transform {
	if p.opt.Data.Count {
		return []Transform{*counted(p.Values)}
	}
	return transforms(p.Values)
}

// shape chooses the transformation and the noise: by the evidence of one simple kernel or, where effects are to be chosen, by
// how probable rows that are left out are under effects alone.
func (p *Problem) shape(ctx context.Context) (best Shape, tried []Shape, err error) {
	if p.known != nil {
		return p.knownShape(), nil, nil
	}
	if p.opt.Induces(p.Len()) && p.effects.Auto() {
		return p.shapeOfEffects(ctx)
	}
	k, err := p.parse(search.OneForAll)
	if err != nil {
		return best, nil, err
	}
	rows := p.sample(shapeRows)
	x, y := gp.RowsOf(p.X, rows), indices.Take(p.Values, rows)
	together := indices.Take(p.together, rows)
	units := lossep.Units(together)
	var fault error
	whole, shapes := y, p.transforms()
	if shapes[0].Name == "count" {
		// A density could be as high as it likes at counts; that of a count spread evenly over the unit
		// above it bounds the logarithm of its probability from below.
		rng := rand.New(rand.NewPCG(p.opt.Seed, 4))
		y = slices.Clone(y)
		for i := range y {
			y[i] += rng.Float64()
		}
	}
	for _, t := range shapes {
		y := y
		if t.Name == "count" {
			y = whole
		}
		for _, f := range families(&t) {
			s := Shape{Transform: t, Noise: f.Name(), Rows: len(rows)}
			of := &terms{y: t.all(y), weights: indices.Take(p.Weights, rows), family: f}
			fit, err := search.Optimise(ctx, k, x, of, search.Options{Seed: p.opt.Seed, Tolerance: 0.1})
			if ctx.Err() != nil {
				return best, nil, ctx.Err()
			} else if err != nil {
				fault = err
				continue
			}
			s.Dropped = fit.Stop == search.Cornered
			left, logs, err := of.without(ctx, fit, units)
			if err != nil {
				return best, nil, err
			}
			if s.Evidence = credible(fit.EP.LogEvidence, logs, of); math.IsInf(s.Evidence, -1) {
				continue // there is no posterior without some of the rows
			}
			for i, v := range y {
				s.Evidence += of.Count(i) * t.logSlope(v)
			}
			// Normal noise may depend on columns, of which half of the rows tell by the other.
			some := sampled{x: x, codes: p.coding.Codes(), seed: p.opt.Seed, alone: true, together: together}
			_, gain, err := some.noiseBySteps(ctx, some.residuals(of, left), 1)
			if err != nil {
				return best, nil, err
			}
			s.Evidence += 2 * gain
			p.tell("choosing a transformation of the outcome and its noise", len(tried)+1, s.Evidence)
			tried = best.prefer(s, tried)
		}
	}
	if tried == nil && fault == nil {
		fault = inputf("outcome", "there is no posterior without some of the rows; leave outcomes out that are far from all others")
	}
	if tried == nil {
		return best, nil, fault
	}
	return best, tried, nil
}

// credible is the log evidence, or the log density of rows that are left out where that is lower. Evidence is the
// density of every row given those before it, about which all others tell more as a rule; of outcomes a million times as far out
// as the rest, and normal noise, nothing is left of it but rounding.
func credible(evidence float64, logs []float64, of *terms) float64 {
	left := 0.0
	for i, l := range logs {
		switch {
		case math.IsNaN(l) && of.weights != nil: // all copies of a row that counts more may not be left out
			return evidence
		case math.IsNaN(l):
			return math.Inf(-1)
		}
		left += of.Count(i) * l
	}
	return min(evidence, left)
}

// effectRows is the most rows that the transformation and the noise are chosen by with effects.
const effectRows = 10_000

// shapeOfEffects compares shapes with the effects that each asks for, and noise that depends on columns where it may. What one simple
// kernel leaves of so many rows is mostly what effects explain, and its shape says little of that of the noise.
func (p *Problem) shapeOfEffects(ctx context.Context) (best Shape, tried []Shape, err error) {
	rows := p.sample(effectRows)
	some := sampled{x: gp.RowsOf(p.X, rows), codes: p.coding.Codes(), seed: p.opt.Seed, together: indices.Take(p.together, rows)}
	y := indices.Take(p.Values, rows)
	unit := 1.0
	shapes := p.transforms()
	if shapes[0].Name != "count" {
		unit = unitOf(p.Values)
	}
	var fault error
	for _, t := range shapes {
		for _, f := range families(&t) {
			s := Shape{Transform: t, Noise: f.Name(), Rows: len(rows)}
			of := &terms{y: t.all(y), weights: indices.Take(p.Weights, rows), family: f}
			all, err := some.leftOut(ctx, of, &t)
			if ctx.Err() != nil {
				return best, nil, ctx.Err()
			} else if err != nil {
				fault = err
				continue
			}
			for i, d := range all {
				s.Evidence += of.Count(i) * logProbability(d, y[i], unit)
			}
			p.tell("choosing a transformation of the outcome and its noise", len(tried)+1, s.Evidence)
			tried = best.prefer(s, tried)
		}
	}
	if tried == nil {
		return best, nil, fault
	}
	return best, tried, nil
}

// unitOf is how far outcomes lie apart that are beside each other, as a rule: one of whole numbers.
func unitOf(y []float64) float64 {
	sorted := slices.Compact(slices.Sorted(slices.Values(y)))
	gaps := make([]float64, len(sorted)-1)
	for i := range gaps {
		gaps[i] = sorted[i+1] - sorted[i]
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// logProbability is the logarithm of the probability of what is rounded to an outcome: a density could be as high as it
// likes at values that come again, such as zeros, and is compared with probabilities of counts so.
func logProbability(d Distribution, y, unit float64) float64 {
	if _, ok := d.(counts); !ok {
		if p := d.CDF(y+unit/2) - d.CDF(y-unit/2); p > leastDifference {
			return math.Log(p)
		}
		return d.LogDensity(y) + math.Log(unit)
	}
	return d.LogDensity(y)
}

// leastDifference is what a difference of probabilities tells to six digits.
const leastDifference = 1e-10

// sampled are the rows of the problem.
func (p *Problem) sampled() sampled {
	return sampled{x: p.X, codes: p.coding.Codes(), seed: p.opt.Seed, order: p.order, together: p.together}
}

// sampled are rows that effects alone are fitted to.
type sampled struct {
	x        *mat.Dense
	codes    int
	seed     uint64
	order    []int // that rows are dealt from, nil for the one they have
	together []int // numbers of rows, the same of those that belong together; nil where each is its own
	// alone says that groups are those of the noise alone, which terms are to have, and not of what is left of rows in all.
	alone bool
}

// leftOut are the distributions of the outcomes of rows without each.
func (s sampled) leftOut(ctx context.Context, of *terms, t *Transform) ([]Distribution, error) {
	fit := effects.NewFit(effects.NewTable(s.x, s.codes), effects.NewInMemory(s.x, of, 0))
	fit.Tuned, fit.Logs = of, of.family.Logs()
	if err := fit.Add(ctx, effects.Family{}, 1); err != nil { // of all rows
		return nil, err
	}
	if err := fit.Choose(ctx, effects.DefaultChoice()); err != nil {
		return nil, err
	}
	if _, err := fit.Look(ctx); err != nil {
		return nil, err
	}
	left := make([]gauss.Scalar, of.Len())
	sums, err := fit.Sums(nil)
	if err != nil {
		return nil, err
	}
	for i, at := range sums {
		change := fit.Without(i, 0)
		left[i] = gauss.ScalarFromMoments(at.Mean+change.Mean, at.Variance+change.Variance)
	}
	noise, err := s.noise(ctx, of, t, left)
	if err != nil {
		return nil, err
	}
	m := &Model{part: part{weight: 1, family: of.family}, uneven: noise, shape: Shape{Transform: *t}}
	all := make([]Distribution, of.Len())
	for i, c := range left {
		all[i] = m.predictAt(s.x.RawRowView(i), c.Mean(), c.Variance())
	}
	return all, nil
}
