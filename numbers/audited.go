package numbers

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// Audit is what decisions cost in cases that the model had not seen.
type Audit struct {
	Rows        int    `json:"rows"`
	Independent int    `json:"independent"` // units of the intervals: groups, or cases, copies being one
	Folds       int    `json:"folds,omitempty"`
	Groups      string `json:"groups,omitempty"`
	Time        string `json:"time,omitempty"` // the column of forward-chaining splits
	Test        string `json:"test,omitempty"` // the table that was decided, if another
	Outcome     string `json:"outcome"`        // the column
	Costs       string `json:"costs"`
	Seed        uint64 `json:"seed"`
	Currency    string `json:"currency,omitempty"`
	ID          string `json:"id,omitempty"` // the column that names cases, if there is one
	// Methods are all ways to choose actions, the model first.
	Methods []Audited     `json:"methods"`
	Yearly  *audit.Yearly `json:"yearly,omitempty"`
	Scores  Scores        `json:"scores"`
	Ratios  []Ratio       `json:"ratios,omitempty"` // of other costs of a unit too little, where it has one
	// Limited is what decisions within a capacity cost; nil if none was given.
	Limited *audit.Limited `json:"capacity,omitempty"`
	Worst   []CostCase     `json:"worst"`  // the cases that cost most
	Models  []AuditedModel `json:"models"` // of the folds
	Notes   []string       `json:"notes,omitempty"`
	Leaks   []string       `json:"leaks,omitempty"` // columns that tell the outcome almost by themselves
	// Choices are the names of actions that are no numbers.
	Choices []string `json:"choices,omitempty"`

	Recipe    []string       `json:"-"`
	Findings  table.Findings `json:"-"` // those of Notes that suggest an option
	Decisions []CostCase     `json:"-"` // all cases, in the order in which they were decided
	Actions   [][]float64    `json:"-"` // of every method
}

// AuditedModel is the model of a fold.
type AuditedModel struct {
	Rows        int      `json:"rows"`
	Outcome     string   `json:"outcome"` // its transformation and noise
	Kernel      string   `json:"kernel"`
	LogEvidence float64  `json:"log_evidence"`
	Warnings    []string `json:"warnings,omitempty"`
}

// Audited is what one way to choose actions costs in a case on average, with 95 % intervals.
type Audited struct {
	Name  string  `json:"name"`
	Cost  float64 `json:"cost"`
	Error float64 `json:"standard_error"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Saved is how much less the model costs than this, on the same cases.
	Saved      float64 `json:"saved"`
	SavedError float64 `json:"saved_standard_error"`
	SavedLow   float64 `json:"saved_low"`
	SavedHigh  float64 `json:"saved_high"`
	// P is the probability of a difference this large by chance. Where the comparison is not one that is Planned it is so after
	// Holm's correction, among all of these that differ in at least one action.
	P float64 `json:"p"`
}

// Planned tells whether the comparison is stated before looking: with the best action that is the same for all, and with one that
// does not depend on the costs.
func (a *Audited) Planned() bool { return a.Name == BestConstant || a.Name == PredictedMedian }

// Scores say whether what is predicted can be trusted.
type Scores struct {
	// Coverage is how many outcomes are in intervals, and how many are expected there.
	Coverage []Covered `json:"coverage"`
	// PIT counts cases by the predicted probability of outcomes up to theirs, in ten parts, which are
	// equal where predictions are right. A count is divided over the probabilities that it stands for.
	PIT       [10]float64 `json:"pit"`
	Quantiles []Scored    `json:"quantiles"`
	CRPS      float64     `json:"crps"`
	// UpToAction is how many outcomes are no larger than the action: where the action is a quantile, that quantile decides. Nil
	// where actions are no numbers.
	UpToAction *Compared `json:"up_to_action,omitempty"`
	// LogDensity is the logarithm of the predicted density, or probability, of outcomes.
	LogDensity float64 `json:"log_density"`
	Expected   float64 `json:"expected_cost"` // by the model itself
	// Surprise is how much more cases cost than the model expects.
	Surprise audit.Measure `json:"surprise"`
}

// Compared is a share of outcomes beside that which the model expects.
type Compared struct {
	Expected float64       `json:"expected"`
	Share    audit.Measure `json:"share"`
}

// Differs tells whether the share differs from the expected one by more than chance.
func (c *Compared) Differs() bool { return c.Share.Low > c.Expected || c.Share.High < c.Expected }

// Far tells whether its odds differ from the expected ones by more than those of LeastCoverage from those of 90 %.
func (c *Compared) Far() bool {
	by, most := c.oddsRatio(), odds(0.9)/odds(LeastCoverage)
	return !(by <= most && by >= 1/most)
}

func (c *Compared) oddsRatio() float64 { return odds(c.Share.Value) / odds(c.Expected) }

func odds(p float64) float64 { return p / (1 - p) }

// Covered is the share of outcomes in intervals of a level, beside the mean probability that these have: of counts, whose
// intervals end at whole numbers, more than the level.
type Covered struct {
	Level float64 `json:"level"`
	Compared
}

// Far tells whether as much more or less of the outcomes are inside, by the odds, as LeastCoverage or MostCoverage is than 90 %.
func (c *Covered) Far() bool {
	by := c.oddsRatio()
	return !(by >= odds(LeastCoverage)/odds(0.9) && by <= odds(MostCoverage)/odds(0.9))
}

// Scored is how good a predicted quantile is: the share of outcomes below it, and its pinball loss beside
// that of the same quantile of all training rows.
type Scored struct {
	Level    float64       `json:"level"`
	Below    audit.Measure `json:"below"`
	Pinball  float64       `json:"pinball"`
	Constant float64       `json:"pinball_of_constant"`
}

// Ratio is what a case costs on average if a unit too little costs so many times as much: with the action
// chosen for these costs, with that chosen for the costs given, and with the best constant one.
type Ratio struct {
	Times    float64       `json:"times"`
	Ratio    float64       `json:"ratio,omitempty"` // under:over, if it is the same in all cases
	Adapted  audit.Measure `json:"adapted"`
	Kept     audit.Measure `json:"kept"`
	Constant audit.Measure `json:"constant"`
}

// CostCase is what was decided in a case. Low and High bound a 90 % interval of its outcome.
type CostCase struct {
	Line     int     `json:"line"`
	ID       string  `json:"id,omitempty"` // of the column of identifiers, if there is one
	Outcome  float64 `json:"outcome"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Action   float64 `json:"action"`
	Expected float64 `json:"expected_cost"`
	Cost     float64 `json:"cost"`
}

// scoredCase is a case with the scores of what was predicted of it.
type scoredCase struct {
	CostCase
	Inside     [len(coveredLevels)]interval `json:"inside"`
	Stands     span                         `json:"stands"`
	UpToAction float64                      `json:"up_to_action"` // the probability of outcomes that are no larger
	CRPS       float64                      `json:"crps"`
	LogDensity float64                      `json:"log_density"`
	Pinball    [len(scoredLevels)]float64   `json:"pinball"`
	Sampled    [len(scoredLevels)]float64   `json:"pinball_of_constant"`
}

// The levels of intervals and of quantiles that are looked at.
var (
	coveredLevels = [...]float64{0.5, 0.8, 0.9, 0.95}
	scoredLevels  = [...]float64{0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95}
)

// newCase scores what is predicted of a case, beside the same quantiles of the training rows.
func newCase(line int, choice decision.NumberChoice, d Distribution, y float64, constants *[len(scoredLevels)]float64) scoredCase {
	c := scoredCase{CostCase: CostCase{Line: line, Outcome: y, Action: choice.Action, Expected: choice.Expected}, CRPS: d.CRPS(y), LogDensity: d.LogDensity(y), Stands: spanOf(d, y), UpToAction: d.CDF(choice.Action)}
	for k, p := range scoredLevels {
		q, loss := d.Quantile(p), decision.Pinball{Under: p, Over: 1 - p}
		c.Pinball[k], c.Sampled[k] = loss.Cost(q, y), loss.Cost(constants[k], y)
	}
	for k, level := range coveredLevels {
		c.Inside[k] = intervalOf(d, level)
		if level == coveredLevel {
			c.Low, c.High = c.Inside[k].Low, c.Inside[k].High
		}
	}
	return c
}

// interval is between two quantiles, with its ends, and what probability it has.
type interval struct {
	Low         float64 `json:"low"`
	High        float64 `json:"high"`
	Probability float64 `json:"probability"`
}

// intervalOf leaves as much out on either side as the level says, or less.
func intervalOf(d Distribution, level float64) interval {
	low, high := d.Quantile((1-level)/2), d.Quantile((1+level)/2)
	return interval{low, high, spanOf(d, high).To - spanOf(d, low).From}
}

// share is 1 if an outcome is inside, else 0.
func (i interval) share(y float64) float64 {
	if y >= i.Low && y <= i.High {
		return 1
	}
	return 0
}

// span is the probabilities that an outcome stands for: one for a number, those beside its own for a count.
type span struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

func spanOf(d Distribution, y float64) span {
	to := d.CDF(y)
	return span{max(0, min(to, 2*d.PIT(y)-to)), to}
}

// within is the part of a span in an interval of probabilities.
func (s span) within(low, high float64) float64 {
	if s.To > s.From {
		return max(0, min(high, s.To)-max(low, s.From)) / (s.To - s.From)
	}
	if s.To > low && s.To <= high || s.To == 0 && low == 0 {
		return 1
	}
	return 0
}

// Coverage of intervals that should have 90 % of the outcomes beyond which predictions are not to be relied on: twice
// as many outside, or a fifth.
const (
	LeastCoverage = 0.8
	MostCoverage  = 0.98
)

// MostSurprise is by how much of it costs may differ from those that the model expects: about as much as those of quantiles do
// where spread that is too small has LeastCoverage.
const MostSurprise = 0.25

// coveredLevel is that of the intervals that are given with cases.
const coveredLevel = 0.9

// finish makes means with intervals of what was gathered.
func (a *auditing) finish(out *Audit) error {
	n := len(a.cases)
	cases := compare.NewCases(n, a.weights, a.units)
	var fault error
	mean := func(of func(i int) float64, within *compare.Range) compare.Estimate {
		values := make([]float64, n)
		for i := range values {
			values[i] = of(i)
		}
		e, err := cases.Mean(values, within, audit.Level)
		fault = cmp.Or(fault, err)
		return e
	}
	out.Rows, out.Models, out.Independent = n, a.models, n
	for _, c := range a.cases {
		out.Decisions = append(out.Decisions, c.CostCase)
	}
	if a.units != nil {
		out.Independent = len(slices.Compact(slices.Sorted(slices.Values(a.units))))
	}
	out.Methods = a.methods(mean)
	for _, w := range a.ways {
		out.Actions = append(out.Actions, w.Actions)
	}
	if out.Scores = a.scores(mean); out.Choices != nil { // places of names, not numbers
		out.Scores.UpToAction = nil
	}
	measure := func(values []float64) audit.Measure {
		e := mean(func(i int) float64 { return values[i] }, nil)
		return audit.Measure{Value: e.Mean, Low: e.Low, High: e.High}
	}
	for _, r := range a.ratios {
		out.Ratios = append(out.Ratios, Ratio{Times: r.Times, Ratio: a.given() * r.Times, Adapted: measure(r.Adapted), Kept: measure(r.Kept), Constant: measure(r.Constant)})
	}
	if y := float64(a.opt.CasesPerYear); y > 0 {
		own, than := out.Methods[0], out.Methods[1]
		out.Yearly = &audit.Yearly{
			Cases: a.opt.CasesPerYear,
			Cost:  audit.Measure{Value: y * own.Cost, Low: y * own.Low, High: y * own.High},
			Saved: audit.Measure{Value: y * than.Saved, Low: y * than.SavedLow, High: y * than.SavedHigh},
		}
	}
	if err := a.limited(out, mean); err != nil {
		return err
	}
	out.Worst = slices.Clone(out.Decisions)
	slices.SortStableFunc(out.Worst, func(a, b CostCase) int { return cmp.Compare(b.Cost, a.Cost) })
	out.Worst = out.Worst[:min(mostWorst, n)]
	return fault
}

// mostWorst is how many of the cases that cost most are listed.
const mostWorst = 10

// methods are what all ways to choose cost.
func (a *auditing) methods(mean func(of func(i int) float64, within *compare.Range) compare.Estimate) (all []Audited) {
	var p []float64
	var family []int
	for k, w := range a.ways {
		e := mean(func(i int) float64 { return w.Costs[i] }, nil)
		saved := mean(func(i int) float64 { return w.Costs[i] - a.ways[0].Costs[i] }, nil)
		all = append(all, Audited{Name: w.Name, Cost: e.Mean, Error: e.StdErr, Low: e.Low, High: e.High, Saved: saved.Mean, SavedError: saved.StdErr, SavedLow: saved.Low, SavedHigh: saved.High})
		p = append(p, saved.P(0))
		if !all[k].Planned() && !slices.Equal(w.Actions, a.ways[0].Actions) {
			family = append(family, k)
		}
	}
	for k, adjusted := range compare.HolmAmong(p, family) {
		all[k].P = adjusted
	}
	return all
}

// scores say how right predictions are.
func (a *auditing) scores(mean func(of func(i int) float64, within *compare.Range) compare.Estimate) (s Scores) {
	share := func(low, high float64) audit.Measure {
		e := mean(func(i int) float64 { return a.cases[i].Stands.within(low, high) }, &compare.Range{Least: 0, Most: 1})
		return audit.Measure{Value: e.Mean, Low: e.Low, High: e.High}
	}
	for k, level := range coveredLevels {
		e := mean(func(i int) float64 { return a.cases[i].Inside[k].share(a.cases[i].Outcome) }, &compare.Range{Least: 0, Most: 1})
		expected := a.average(func(c *scoredCase) float64 { return c.Inside[k].Probability })
		s.Coverage = append(s.Coverage, Covered{level, Compared{expected, audit.Measure{Value: e.Mean, Low: e.Low, High: e.High}}})
	}
	for k, level := range scoredLevels {
		s.Quantiles = append(s.Quantiles, Scored{
			level, share(0, level),
			a.average(func(c *scoredCase) float64 { return c.Pinball[k] }), a.average(func(c *scoredCase) float64 { return c.Sampled[k] }),
		})
	}
	for k := range s.PIT {
		s.PIT[k] = float64(len(a.cases)) * a.average(func(c *scoredCase) float64 { return c.Stands.within(float64(k)/10, float64(k+1)/10) })
	}
	s.CRPS = a.average(func(c *scoredCase) float64 { return c.CRPS })
	s.LogDensity = a.average(func(c *scoredCase) float64 { return c.LogDensity })
	s.Expected = a.average(func(c *scoredCase) float64 { return c.Expected })
	e := mean(func(i int) float64 {
		if c := &a.cases[i]; c.Outcome <= c.Action {
			return 1
		}
		return 0
	}, &compare.Range{Least: 0, Most: 1})
	s.UpToAction = &Compared{a.average(func(c *scoredCase) float64 { return c.UpToAction }), audit.Measure{Value: e.Mean, Low: e.Low, High: e.High}}
	e = mean(func(i int) float64 { return a.cases[i].Cost - a.cases[i].Expected }, nil)
	s.Surprise = audit.Measure{Value: e.Mean, Low: e.Low, High: e.High}
	return s
}

// average is a mean over cases by their weights, of parts so that no sum is beyond the largest number.
func (a *auditing) average(of func(*scoredCase) float64) (sum float64) {
	total := float64(len(a.cases))
	if a.weights != nil {
		total = floats.Sum(a.weights)
	}
	for i := range a.cases {
		w := 1.0
		if a.weights != nil {
			w = a.weights[i]
		}
		sum += w / total * of(&a.cases[i])
	}
	return sum
}
