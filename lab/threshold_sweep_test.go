package lab

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/normal"
)

// follow sweeps over [0, 10] a method that is known in full.
func follow(t *testing.T, action func(threshold float64) int) ([]Range, *Sweep) {
	t.Helper()
	return followHeld(t, action, func(float64) bool { return false })
}

// followHeld is the same, where the method holds its actions at some thresholds.
func followHeld(t *testing.T, action func(threshold float64) int, held func(threshold float64) bool) ([]Range, *Sweep) {
	t.Helper()
	known := run{threshold: 3.3, action: action(3.3), held: held(3.3)}
	ranges, s, err := sweep(context.Background(), [2]float64{0, 10}, finePlan, known, func(_ context.Context, threshold float64) run {
		switch a := action(threshold); {
		case a < 0:
			return run{threshold: threshold, err: errors.New("no luck")}
		default:
			return run{threshold: threshold, action: a, held: held(threshold)}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return ranges, s
}

// Every change of action is found to the precision that is stated.
func TestSweepFindsFlips(t *testing.T) {
	flips := []float64{1.2345, 4, 4.6, 7.0001, 7.05}
	actions := []int{2, 0, 1, 0, 2, 1} // two flips lie between the same two thresholds
	ranges, s := follow(t, func(threshold float64) int {
		k, _ := slices.BinarySearch(flips, threshold)
		return actions[k]
	})
	if len(ranges) != len(actions) {
		t.Fatalf("%v, want actions %v", ranges, actions)
	}
	for k, r := range ranges {
		from, to := 0.0, 10.0
		if k > 0 {
			from = flips[k-1]
			if r.From != ranges[k-1].To {
				t.Errorf("%v does not begin where the one before ends", r)
			}
		}
		if k < len(flips) {
			to = flips[k]
		}
		if r.Action != actions[k] || math.Abs(r.From-from) > s.Precision || math.Abs(r.To-to) > s.Precision {
			t.Errorf("%+v, want %d from %v to %v to %v", r, actions[k], from, to, s.Precision)
		}
	}
	if s.Runs > finePlan.intervals+2+2*bisections || len(s.Failures) > 0 {
		t.Errorf("%+v", s)
	}
}

// A range between two equally spaced thresholds, a quarter apart, is found where the
// actions are held.
func TestSweepLooksBesideHeld(t *testing.T) {
	flips := []float64{6.01, 6.06, 6.12}
	actions := []int{1, 0, 1, 0}
	ranges, s := followHeld(t, func(threshold float64) int {
		k, _ := slices.BinarySearch(flips, threshold)
		return actions[k]
	}, func(threshold float64) bool { return threshold > flips[0] && threshold < flips[2] })
	if len(ranges) != len(actions) || s.Held == 0 {
		t.Fatalf("%v, want actions %v; %d held", ranges, actions, s.Held)
	}
	for k, flip := range flips {
		if math.Abs(ranges[k].To-flip) > s.Precision {
			t.Errorf("a change at %v, want %v to %v", ranges[k].To, flip, s.Precision)
		}
	}
}

// Where a method fails there is a gap, and the failures are reported.
func TestSweepTellsFailures(t *testing.T) {
	ranges, s := follow(t, func(threshold float64) int {
		switch {
		case threshold > 4.1 && threshold < 5.2:
			return -1
		case threshold > 8:
			return 1
		}
		return 0
	})
	if len(s.Failures) < 3 || s.Failures[0].Reason != "no luck" {
		t.Errorf("failures %+v", s.Failures)
	}
	if len(ranges) != 3 || ranges[0].Action != 0 || ranges[1].Action != 0 || ranges[2].Action != 1 {
		t.Fatalf("%+v", ranges)
	}
	if gap := [2]float64{ranges[0].To, ranges[1].From}; gap[0] > 4.1 || gap[0] < 4.1-s.Spacing || gap[1] < 5.2 || gap[1] > 5.2+s.Spacing {
		t.Errorf("a gap of %v", gap)
	}
}

// A method that is erratic keeps the work within bounds.
func TestSweepIsBounded(t *testing.T) {
	erratic := func(threshold float64) int { return int(1e6*threshold) % 2 }
	for _, held := range []func(float64) bool{
		func(float64) bool { return false },
		func(float64) bool { return true },
		func(threshold float64) bool { return threshold > 4 && threshold < 5 },
	} {
		ranges, s := followHeld(t, erratic, held)
		if s.Runs > finePlan.intervals+2+leastHalvings*2*finePlan.intervals+2*bisections+probes {
			t.Errorf("%d runs", s.Runs)
		}
		for k, r := range ranges[1:] {
			if r.From != ranges[k].To || r.Action == ranges[k].Action {
				t.Fatalf("%v after %v", r, ranges[k])
			}
		}
	}
	// One action throughout, never at rest: no more than the probes.
	if _, s := followHeld(t, func(float64) int { return 0 }, func(float64) bool { return true }); s.Runs > finePlan.intervals+2+probes || s.Held != s.Runs {
		t.Errorf("%d runs, %d held", s.Runs, s.Held)
	}
}

func TestSweepCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := sweep(ctx, [2]float64{0, 1}, coarsePlan, run{}, func(ctx context.Context, threshold float64) run {
		return run{threshold: threshold, err: ctx.Err()}
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Ranges of a posterior that does not depend on the threshold: at any threshold the
// action is that of the table for the probability above it.
func TestRangesOf(t *testing.T) {
	for _, table := range []decision.Table{
		{{1, 0.01}, {0.9, 1}},
		{{1, 0}, {0.8, 0.5}, {0.2, 0.9}, {0, 1}},
		{{1, 0}, {0.1, 0.1}, {0, 1}}, // the second is never best
		{{1, 0.5}, {0.5, 0.2}},       // the first always
		{{0, 1}, {1, 0}},             // the other way round
	} {
		domain := [2]float64{-3, 4}
		ranges := rangesOf(table, domain, func(p float64) float64 { return -normal.Quantile(p) })
		if ranges[0].From != domain[0] || ranges[len(ranges)-1].To != domain[1] {
			t.Errorf("%v: %v do not cover the domain", table, ranges)
		}
		for _, at := range axis(domain[0], domain[1], 1009) {
			above := normal.CDF(-at)
			want := decision.Stakes{Table: table}.Best([]float64{1 - above, above}, -1)
			for _, r := range ranges {
				if at > r.From && at < r.To && r.Action != want {
					t.Errorf("%v: action %d at %v, want %d", table, r.Action, at, want)
				}
			}
		}
	}
}
