package explore

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lossep/lossep/decision"
)

// rangesOf are the actions over the thresholds of a domain of a posterior that does
// not depend on the threshold; at gives the threshold that the state exceeds with a
// given probability. As the threshold rises that probability falls, so the actions
// come in the reverse order of byProbability.
func rangesOf(t decision.Table, domain [2]float64, at func(p float64) float64) []Range {
	ranges := []Range{}
	from := domain[0]
	by := t.Ranges()
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
// reactors 12 did so, in half of the cases for less than a fortieth.
type plan struct {
	intervals, halvings int
}

var (
	finePlan   = plan{intervals: 40, halvings: 7}
	coarsePlan = plan{intervals: 10, halvings: 9}
)

// bisections bounds the further runs of a sweep: where many neighbours differ each
// interval is halved less often, but leastHalvings times.
const bisections, leastHalvings = 48, 2

// run is what a method does at one threshold.
type run struct {
	threshold float64
	action    int
	unsettled bool
	err       error
}

// decider runs a calibrated method at one threshold.
type decider func(ctx context.Context, threshold float64) run

// sweep follows a calibrated method over the thresholds of a domain. known is the run
// at a threshold of interest, with which the ranges are made to agree.
func sweep(ctx context.Context, domain [2]float64, how plan, known run, decide decider) ([]Range, *Sweep, error) {
	var runs []run
	for _, t := range axis(domain[0], domain[1], how.intervals+1) {
		if t != known.threshold {
			runs = append(runs, run{threshold: t})
		}
	}
	each(len(runs), func(i int) { runs[i] = decide(ctx, runs[i].threshold) })
	if known.threshold >= domain[0] && known.threshold <= domain[1] {
		runs = append(runs, known)
	}
	slices.SortFunc(runs, byThreshold)

	var gaps [][2]run
	for i, r := range runs[1:] {
		if differ(runs[i], r) {
			gaps = append(gaps, [2]run{runs[i], r})
		}
	}
	halvings := how.halvings
	if len(gaps) > 0 {
		halvings = max(leastHalvings, min(halvings, bisections/len(gaps)))
	}
	found := make([][]run, len(gaps))
	each(len(gaps), func(i int) { found[i] = bisect(ctx, gaps[i][0], gaps[i][1], halvings, decide) })
	runs = slices.Concat(append(found, runs)...)
	slices.SortFunc(runs, byThreshold)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	spacing := (domain[1] - domain[0]) / float64(how.intervals)
	s := &Sweep{Runs: len(runs), Spacing: spacing, Precision: spacing, Failures: []SweepFailure{}}
	for range halvings {
		s.Precision /= 2
	}
	for _, r := range runs {
		if r.err != nil {
			s.Failures = append(s.Failures, SweepFailure{r.threshold, reason(r.err)})
		} else if r.unsettled {
			s.Unsettled++
		}
	}
	return join(runs, domain), s, nil
}

func byThreshold(a, b run) int { return cmp.Compare(a.threshold, b.threshold) }

// differ reports whether two runs have answers, and other ones.
func differ(a, b run) bool { return a.err == nil && b.err == nil && a.action != b.action }

// bisect are more runs between two that differ, around every change of action that it
// finds. A failure ends the search.
func bisect(ctx context.Context, a, b run, halvings int, decide decider) []run {
	mid := a.threshold + (b.threshold-a.threshold)/2
	if halvings == 0 || !(mid > a.threshold && mid < b.threshold) || ctx.Err() != nil {
		return nil
	}
	m := decide(ctx, mid)
	runs := []run{m}
	if differ(a, m) {
		runs = append(runs, bisect(ctx, a, m, halvings-1, decide)...)
	}
	if differ(m, b) {
		runs = append(runs, bisect(ctx, m, b, halvings-1, decide)...)
	}
	return runs
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

// each runs tasks 0 … n−1 on all cores.
func each(n int, do func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wait.Wait()
}
