package lab

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/tasks"
)

// rangesOf are the actions over the thresholds of a domain of a posterior that does
// not depend on the threshold; at gives the threshold that the state exceeds with a
// given probability. As the threshold rises that probability falls, so the actions
// come in the reverse order of byProbability.
func rangesOf(t decision.Table, domain [2]float64, at func(p float64) float64) []Range {
	ranges := []Range{}
	from := domain[0]
	by := decision.Stakes{Table: t}.Ranges()
	for i, r := range slices.Backward(by) {
		to := domain[1]
		if i > 0 {
			to = min(to, at(r.From))
		}
		if to > from {
			ranges = append(ranges, Range{r.Action, from, to})
			from = to
		}
	}
	return ranges
}

// plan is how many equally spaced intervals a sweep begins with, and how often it
// halves one whose ends differ.
//
// Loss-VI changes its mind once for every pair of actions. Loss-EP has several fixed
// points, and can come back to an action for a twentieth of the domain: of 40 random
// reactors 12 did so, in half of the cases for less than a fortieth. It does so above
// all where its actions are held, and there the sweep looks more closely.
type plan struct {
	intervals, halvings int
}

var (
	finePlan   = plan{intervals: 40, halvings: 7}
	coarsePlan = plan{intervals: 10, halvings: 9}
)

const (
	// bisections bounds the further runs of a sweep: where many neighbours differ each
	// interval is halved less often, but leastHalvings times.
	bisections, leastHalvings = 48, 2
	// Next to runs with held actions an interval is divided into closer pieces, by at
	// most probes runs in all.
	closer, probes = 8, 48
)

// within is the plan for a problem of so many measurements. A run of the double loop,
// which many measurements call for, takes time with their cube: 50 ms at forty. So there
// are fewer of them, for the sweep to take a second or two and not ten.
func (p plan) within(measurements int) plan {
	const few = 15 // a run takes 3 ms or less
	if measurements <= few {
		return p
	}
	return plan{intervals: max(8, p.intervals*few/measurements), halvings: p.halvings - 2}
}

// run is what a method does at one threshold.
type run struct {
	threshold float64
	action    int
	unsettled bool
	held      bool // the actions did not come to rest by themselves
	err       error
}

// decider runs a calibrated method at one threshold.
type decider func(ctx context.Context, threshold float64) run

// sweep follows a calibrated method over the thresholds of a domain. known is the run
// at a threshold of interest, with which the ranges are made to agree.
func sweep(ctx context.Context, domain [2]float64, how plan, known run, decide decider) ([]Range, *Sweep, error) {
	var nodes []float64
	for _, t := range axis(domain[0], domain[1], how.intervals+1) {
		if t != known.threshold {
			nodes = append(nodes, t)
		}
	}
	var runs []run
	if known.threshold >= domain[0] && known.threshold <= domain[1] {
		runs = append(runs, known)
	}
	runs = decideAll(ctx, runs, nodes, decide)

	spacing := (domain[1] - domain[0]) / float64(how.intervals)
	runs, precision := refine(ctx, runs, math.Ldexp(spacing, -how.halvings), decide)
	if between := besideHeld(runs, spacing/closer); len(between) > 0 {
		runs = decideAll(ctx, runs, between, decide)
		runs, precision = refine(ctx, runs, precision, decide)
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	s := &Sweep{Runs: len(runs), Spacing: spacing, Precision: precision, Failures: []SweepFailure{}}
	for _, r := range runs {
		if r.err != nil {
			s.Failures = append(s.Failures, SweepFailure{r.threshold, reason(r.err)})
			continue
		}
		if r.unsettled {
			s.Unsettled++
		}
		if r.held {
			s.Held++
		}
	}
	return join(runs, domain), s, nil
}

// decideAll adds runs at more thresholds, and puts all in order.
func decideAll(ctx context.Context, runs []run, thresholds []float64, decide decider) []run {
	more := make([]run, len(thresholds))
	tasks.For(len(more), func(i int) { more[i] = decide(ctx, thresholds[i]) })
	return inOrder(append(more, runs...))
}

func inOrder(runs []run) []run {
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.threshold, b.threshold) })
	return runs
}

// refine adds runs between neighbours that differ, until they are as close as precision,
// or as the bound on runs allows. It returns how close that is.
func refine(ctx context.Context, runs []run, precision float64, decide decider) ([]run, float64) {
	var gaps [][2]run
	widest := precision
	for i, r := range runs[1:] {
		if width := r.threshold - runs[i].threshold; differ(runs[i], r) && width > precision*(1+rounding) {
			gaps = append(gaps, [2]run{runs[i], r})
			widest = max(widest, width)
		}
	}
	if len(gaps) == 0 {
		return runs, precision
	}
	precision = max(precision, math.Ldexp(widest, -max(leastHalvings, bisections/len(gaps))))
	found := make([][]run, len(gaps))
	tasks.For(len(gaps), func(i int) { found[i] = bisect(ctx, gaps[i][0], gaps[i][1], precision, decide) })
	return inOrder(slices.Concat(append(found, runs)...)), precision
}

// rounding is by how much, relatively, widths may differ that are the same.
const rounding = 1e-9

// differ reports whether two runs have answers, and other ones.
func differ(a, b run) bool { return a.err == nil && b.err == nil && a.action != b.action }

// bisect are more runs between two that differ, around every change of action that it
// finds. A failure ends the search.
func bisect(ctx context.Context, a, b run, precision float64, decide decider) []run {
	mid := a.threshold + (b.threshold-a.threshold)/2
	if b.threshold-a.threshold <= precision*(1+rounding) || !(mid > a.threshold && mid < b.threshold) || ctx.Err() != nil {
		return nil
	}
	m := decide(ctx, mid)
	runs := []run{m}
	if differ(a, m) {
		runs = append(runs, bisect(ctx, a, m, precision, decide)...)
	}
	if differ(m, b) {
		runs = append(runs, bisect(ctx, m, b, precision, decide)...)
	}
	return runs
}

// besideHeld are thresholds that divide intervals with held actions at an end into
// pieces no longer than fineness, or than the bound on probes allows. Which of the
// choices that do not come to rest is held changes with the threshold at once, so that
// equal actions at both ends say little of what is between.
func besideHeld(runs []run, fineness float64) []float64 {
	var beside [][2]float64
	sum := 0.0
	for i, r := range runs[1:] {
		a := runs[i]
		width := r.threshold - a.threshold
		if a.err == nil && r.err == nil && (a.held || r.held) && width > fineness*(1+rounding) {
			beside = append(beside, [2]float64{a.threshold, r.threshold})
			sum += width
		}
	}
	fineness = max(fineness, sum/probes)
	var between []float64
	for _, ends := range beside {
		pieces := int(math.Ceil((ends[1] - ends[0]) / fineness * (1 - rounding)))
		if pieces > 1 {
			between = append(between, axis(ends[0], ends[1], pieces+1)[1:pieces]...)
		}
	}
	return between
}

// join makes ranges of runs in order. An action holds up to half way to the next, and
// to the ends of the domain; next to a failure it ends.
func join(runs []run, domain [2]float64) []Range {
	ranges := []Range{}
	for i, r := range runs {
		if r.err != nil {
			continue
		}
		from, to := domain[0], domain[1]
		if i > 0 {
			from = r.threshold
			if runs[i-1].err == nil {
				from = runs[i-1].threshold + (r.threshold-runs[i-1].threshold)/2
			}
		}
		if i < len(runs)-1 {
			to = r.threshold
			if runs[i+1].err == nil {
				to = r.threshold + (runs[i+1].threshold-r.threshold)/2
			}
		}
		if to <= from {
			continue // alone between two failures
		}
		if n := len(ranges); n > 0 && ranges[n-1].Action == r.action && ranges[n-1].To == from {
			ranges[n-1].To = to
			continue
		}
		ranges = append(ranges, Range{r.action, from, to})
	}
	return ranges
}
