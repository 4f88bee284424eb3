// Package monitor tells window by window what decisions are expected to cost, before outcomes are
// known and allowing for cases that differ from those of the past; and once they are known, whether
// decisions cost more than that by more than chance.
package monitor

import (
	"fmt"
	"math"
	"slices"

	"github.com/lossep/lossep/normal"
)

// Column is a column of the table: its entries of an encoded row.
type Column struct {
	Name string
	At   []int
}

// Options of Watch.
type Options struct {
	// Level is the probability that there is ever an alarm of one of the two kinds although nothing is
	// wrong, and that of an interval to miss.
	Level float64
	// Tolerance is by how much costs may rise without an alarm, relative to those of the reference.
	Tolerance float64
	// Numbers is how many entries of encoded rows are numbers; those after them are codes.
	Numbers int
	Columns []Column
}

// The defaults.
const (
	DefaultLevel     = 0.05
	DefaultTolerance = 0.1
)

// Span is a window: the cases from one to before another.
type Span struct {
	Name     string
	From, To int
}

// Kind is what an alarm is about.
type Kind string

// The kinds of alarms.
const (
	// Inputs have changed such that decisions are expected to cost more than those of the reference.
	Inputs Kind = "inputs"
	// Outcomes cost more than the probabilities say.
	Outcomes Kind = "outcomes"
)

// Alarm is evidence against costs as they were, beyond the threshold.
type Alarm struct {
	Kind     Kind    `json:"kind"`
	Window   string  `json:"window"` // where it was first
	Evidence float64 `json:"evidence"`
}

// Result is what was found.
type Result struct {
	Level     float64   `json:"level"`
	Tolerance float64   `json:"tolerance"`
	Threshold float64   `json:"threshold"` // the evidence from which on there is an alarm
	Reference Reference `json:"reference"`
	Windows   []Window  `json:"windows"`
	Alarms    []Alarm   `json:"alarms"`
	// Strangers is how many outcomes of another table are of no case.
	Strangers int `json:"outcomes_of_no_case,omitempty"`
}

// Reference is what decisions on cases that the model was not fitted to cost.
type Reference struct {
	Rows     int     `json:"rows"`
	Expected float64 `json:"expected"` // by the model
	Realised float64 `json:"realised"`
}

// Window is what is known about the cases of a window, per case.
type Window struct {
	Name string `json:"window"`
	Rows int    `json:"rows"`
	// Expected is what decisions cost by the model's probabilities, and Estimated after these are
	// calibrated to reference cases that are like those of the window, within an interval for the
	// realised cost of as many cases.
	Expected  float64 `json:"expected"`
	Estimated float64 `json:"estimated"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	// Effective is how many reference cases those like the window's are worth, by the columns in which
	// there are any.
	Effective float64 `json:"effective_reference"`
	// Known is how many outcomes are known. The others are of these cases alone, nil without any:
	// what they cost, what was estimated for them, and the calibration slope.
	Known      int      `json:"known_outcomes"`
	Realised   *float64 `json:"realised,omitempty"`
	Comparable *float64 `json:"estimated_of_known,omitempty"`
	Slope      *float64 `json:"calibration_slope,omitempty"`
	// Coverage is the share of outcomes that are numbers in intervals that should have 90 % of them.
	Coverage *float64 `json:"coverage_90,omitempty"`
	// EvidenceInputs and EvidenceOutcomes are e-values of all cases so far against costs as before.
	EvidenceInputs   float64 `json:"evidence_inputs"`
	EvidenceOutcomes float64 `json:"evidence_outcomes"`
	Columns          []Moved `json:"columns"` // that moved by more than chance, the most costly first
}

// Watch compares windows of cases with reference cases, whose outcomes are known and which the model was
// not fitted to.
func Watch(reference, cases *Cases, spans []Span, o Options) (*Result, error) {
	known := 0
	for i := range reference.Len() {
		if _, is := reference.Realised(i); is {
			known++
		}
	}
	if known < max(leastReference, reference.Len()) {
		return nil, fmt.Errorf("monitor: %d reference cases; at least %d with outcomes are needed", known, leastReference)
	}
	w := newWatch(reference, o)
	r := &Result{Level: o.Level, Tolerance: o.Tolerance, Threshold: w.threshold(), Reference: w.before, Alarms: []Alarm{}}
	for _, s := range spans {
		one := w.window(cases.part(s), s.Name)
		r.Windows = append(r.Windows, one)
		for _, now := range []Alarm{{Inputs, s.Name, one.EvidenceInputs}, {Outcomes, s.Name, one.EvidenceOutcomes}} {
			raised := slices.ContainsFunc(r.Alarms, func(a Alarm) bool { return a.Kind == now.Kind })
			if !raised && now.Evidence >= w.threshold() {
				r.Alarms = append(r.Alarms, now)
			}
		}
	}
	return r, nil
}

// biasScale is that of the prior of a bias, relative to the reference's cost: of windows that were drawn from reference
// cases, estimates with it had the smallest squared error (docs/research/monitoring.md).
const biasScale = 0.02

// leastReference is the fewest cases that calibration is learnt from.
const leastReference = 30

// watch is a run of Watch.
type watch struct {
	opt         Options
	before      Reference
	calibration calibration
	level       float64   // what is added to costs by it, such that they average those of the reference
	expected    []float64 // cost of every reference case, by both
	least       float64   // of these
	limit       float64   // on the expected cost of a case on average
	reference   Decisions
	residuals   []float64 // what each cost beyond that
	alike       float64   // variance of a mean of cases that follow each other, over that of independent ones
	binned      *binned
	bins        []*bins
	inputs      evidence
	outcomes    evidence
}

func newWatch(reference *Cases, o Options) *watch {
	w := &watch{opt: o, reference: reference.Decisions, binned: newBinned(reference.X, o.Numbers)}
	n := float64(reference.Len())
	w.expected, w.residuals = make([]float64, reference.Len()), make([]float64, reference.Len())
	w.calibration = reference.calibrated()
	spread := 0.0
	for i := range w.expected {
		realised, _ := reference.Realised(i)
		w.expected[i], _ = w.calibration.estimate(reference.Decisions, i, nil, 0)
		w.residuals[i] = realised
		w.before.Expected += reference.Expected(i) / n
		w.before.Realised += realised / n
	}
	mean := w.before.Realised
	for _, x := range w.expected {
		w.level += (mean - x) / n
	}
	for i := range w.expected {
		w.expected[i] += w.level
		w.residuals[i] -= w.expected[i]
		spread += (w.expected[i] - mean) * (w.expected[i] - mean) / n
	}
	w.alike = alike(w.residuals)
	w.before.Rows = reference.Len()
	w.least = slices.Min(w.expected)
	w.limit = mean + w.margin(math.Abs(mean), spread/n)
	for _, c := range o.Columns {
		w.bins = append(w.bins, newBins(reference.X, c, o.Numbers))
	}
	return w
}

// threshold is the evidence from which on there is an alarm: by Ville's inequality an e-process ever comes to 4/level
// with a probability of at most level/4, its limit is too low with as much, and there are two.
func (w *watch) threshold() float64 { return 4 / w.opt.Level }

// margin is by how much costs have to rise to be more than those of the reference: the tolerance, or what the
// reference may be off by chance, given its variance, where that is more.
func (w *watch) margin(scale, variance float64) float64 {
	return max(w.opt.Tolerance*scale, normal.Quantile(1-w.opt.Level/4)*math.Sqrt(variance))
}

// window looks at the cases of one.
func (w *watch) window(c *Cases, name string) Window {
	n := float64(c.Len())
	out := Window{Name: name, Rows: c.Len()}
	out.Columns = w.moved(c.X)
	without := make(map[int]bool)
	for _, m := range out.Columns {
		if m.Unknown() {
			without[m.at] = true
		}
	}
	weights := w.binned.ratios(c.X, without)
	out.Effective = effective(weights)
	scale := w.calibration.scale()
	bias, noise := w.bias(weights)
	likely := shrunk(bias, noise, biasScale*scale)
	means, gradient, chance := w.estimates(c)
	unsure := w.alike * w.unsure(weights, gradient)
	margin := max(w.margin(scale, 0), bias-likely+w.margin(0, unsure))
	known, comparable, realised, lowest, highest := 0.0, 0.0, 0.0, 0.0, 0.0
	for i, mean := range means {
		mean += likely
		least, most := c.Bounds(i)
		out.Expected += c.Expected(i) / n
		out.Estimated += mean / n
		lowest, highest = lowest+least/n, highest+most/n
		w.inputs.add(max(0, mean-w.least), max(0, w.limit-w.least), scale)
		cost, is := c.Realised(i)
		if !is {
			continue
		}
		w.outcomes.add(cost-least, mean+margin-least, scale)
		known, comparable, realised = known+1, comparable+mean, realised+cost
	}
	out.EvidenceInputs, out.EvidenceOutcomes = w.inputs.value(), w.outcomes.value()
	centre := out.Estimated + bias - likely
	wide := normal.Quantile(1-w.opt.Level/2) * math.Sqrt(w.alike*chance+unsure)
	out.Estimated = max(lowest, min(highest, out.Estimated))
	out.Low, out.High = max(min(centre-wide, out.Estimated), lowest), min(max(centre+wide, out.Estimated), highest)
	if known > 0 {
		out.Known = int(known)
		realised, comparable = realised/known, comparable/known
		out.Realised, out.Comparable = &realised, &comparable
		if out.Known >= leastReference {
			c.score(&out)
		}
	}
	return out
}

// estimates are what cases cost on average by the calibration, the gradient of their mean in its parameters, and the
// variance that this mean has by chance.
func (w *watch) estimates(c *Cases) (means, gradient []float64, chance float64) {
	n := float64(c.Len())
	means, gradient = make([]float64, c.Len()), make([]float64, w.calibration.parameters())
	for i := range means {
		mean, variance := w.calibration.estimate(c.Decisions, i, gradient, 1/n)
		means[i] = mean + w.level
		chance += variance / (n * n)
	}
	return means, gradient, chance
}

// bias is by how much cases like those of the window cost more than estimated, the mean of residuals, weighted; and its
// variance. Estimates have what of it is likely, as probabilities are mostly as well calibrated for some cases as for all,
// and far from it where they are not. Intervals and the limits of alarms have all of it: they hold whatever the bias is,
// and those around the estimate would not where it is two or three standard errors, of which most is left out.
func (w *watch) bias(weights []float64) (mean, variance float64) {
	n, squares := float64(len(weights)), 0.0
	for i, r := range w.residuals { // which average zero
		mean += weights[i] * r / n
		squares += r * r / n
	}
	for i, r := range w.residuals {
		d := (weights[i] - 1) * r / n
		variance += d * d
	}
	return mean, max(variance, squares*(1/effective(weights)-1/n))
}

// unsure is the variance of the estimate with all of the bias, Σ m(x_j)/n' + Σ w_i r_i/n, by the outcomes of the reference.
// In these both are linear, about: the first changes by gᵀΣs, with g the gradient of the window and s the score of the
// likelihood, whose variance is Σ⁻¹, and the other by Σ w_i c_i/n − hᵀΣs, with h = Σ w_i ∂m_i/n, which is the covariance of
// Σ w_i c_i/n and s. So it is Σ w_i² Var c_i/n² − hᵀΣh + gᵀΣg: the error of the calibration cancels where weighted cases are like
// those of the window, and is not counted twice. Var c_i is by the calibration, or what residuals have where that is more.
func (w *watch) unsure(weights, gradient []float64) float64 {
	n := float64(len(weights))
	same, byModel, byResiduals := make([]float64, len(gradient)), 0.0, 0.0
	for i, x := range weights {
		_, variance := w.calibration.estimate(w.reference, i, same, x/n)
		byModel += x * x * variance / (n * n)
		byResiduals += x * x * w.residuals[i] * w.residuals[i] / (n * n)
	}
	return w.calibration.variance(gradient) + max(0, max(byModel, byResiduals)-w.calibration.variance(same))
}

// alike is by how much the variance of a mean of cases that follow each other is larger than that of cases which have
// nothing to do with each other, such as those of one household or place, by the residuals of the reference: that of
// means of √n cases.
func alike(residuals []float64) float64 {
	size := int(math.Sqrt(float64(len(residuals))))
	between, within := 0.0, 0.0
	for block := range slices.Chunk(residuals[:len(residuals)/size*size], size) {
		sum := 0.0
		for _, r := range block {
			sum += r
			within += r * r / float64(size)
		}
		between += sum * sum / float64(size)
	}
	if !(within > 0) {
		return 1
	}
	return max(1, between/within)
}

// shrunk is the posterior mean of what has been measured with a variance, and before that is
// N(0, λ²·scale²) with a half-Cauchy λ (Carvalho, Polson and Scott 2010).
func shrunk(measured, variance, scale float64) float64 {
	if !(variance > 0) || !(scale > 0) {
		return measured
	}
	const points = 200
	total, share := 0.0, 0.0
	for k := range points {
		lambda := math.Tan((float64(k) + 0.5) * math.Pi / (2 * points))
		prior := lambda * lambda * scale * scale
		all := prior + variance
		density := math.Exp(-measured*measured/(2*all)) / math.Sqrt(all)
		total += density
		share += density * prior / all
	}
	return measured * share / total
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
