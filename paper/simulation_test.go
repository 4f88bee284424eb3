package paper

import (
	"context"
	"encoding/json"
	"math"
	"runtime"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
)

// small is the whole simulation at a size for tests.
func small() Simulation { return New(1, 3, 60) }

func runSmall(t *testing.T, known []*Trial) ([]*Trial, []byte) {
	t.Helper()
	trials, err := small().Run(context.Background(), known, func(*Trial) {})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(trials)
	if err != nil {
		t.Fatal(err)
	}
	return trials, b
}

func TestPlaces(t *testing.T) {
	p := Default().places()
	// Three intervals of length 20 that overlap cover [−10, 20] with cells of 0.02.
	if len(p.x) != 1500 {
		t.Errorf("%d places, want 1500", len(p.x))
	}
	for s, shift := range Shifts() {
		x := gather(p.x, p.of[s])
		if len(x) != 1000 || math.Abs(x[0]-(shift-9.99)) > 1e-9 || math.Abs(x[999]-(shift+9.99)) > 1e-9 {
			t.Errorf("shift %v: %d points from %v to %v", shift, len(x), x[0], x[len(x)-1])
		}
	}
}

// The same bytes on one core and on two, and whether or not a data set was computed
// in an earlier run, read back from JSON.
func TestSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	trials, one := runSmall(t, nil)
	runtime.GOMAXPROCS(2)
	if _, two := runSmall(t, nil); string(one) != string(two) {
		t.Error("one core and two do not agree")
	}
	b, err := json.Marshal(trials[1])
	if err != nil {
		t.Fatal(err)
	}
	saved := new(Trial)
	if err := json.Unmarshal(b, saved); err != nil {
		t.Fatal(err)
	}
	if _, resumed := runSmall(t, []*Trial{saved}); string(one) != string(resumed) {
		t.Error("a resumed run differs")
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := small().Run(ctx, nil, func(*Trial) {}); err != context.Canceled {
		t.Errorf("error %v", err)
	}
}

// Where a method has no regret on any data set its mean is exactly zero, on any
// machine; the others are sums of probabilities that repeat to rounding.
func TestGoldenTrials(t *testing.T) {
	trials, _ := runSmall(t, nil)
	for i, tr := range trials {
		for u := range Utilities() {
			for s := range Shifts() {
				for m, name := range Methods() {
					got, want := tr.Regret[u][s][m], golden[i][u][s][m]
					// Draws and fits are deterministic; what differs between processors
					// is rounding, and Loss-VI stops at 1e-5.
					if math.Abs(got-want) > 1e-6+1e-3*want {
						t.Errorf("data set %d, u10 %v, shift %v, %s: %.4g, want %.4g", i, Utilities()[u], Shifts()[s], name, got, want)
					}
				}
			}
		}
		if len(tr.Notes) > 0 {
			t.Errorf("data set %d: %v", i, tr.Notes)
		}
	}
}

// Exact draws and NUTS have to agree: the root mean square of 21 correlated normal
// z-scores exceeds 3 less than once in a hundred seeds, and the seed is fixed.
func TestCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("runs NUTS")
	}
	c, err := small().Check(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if c.RMS > 3 || len(c.Z) != 21 {
		t.Errorf("%d z-scores with root mean square %v: %.2f", len(c.Z), c.RMS, c.Z)
	}
}

// What is computed by the table of normals is what package infer answers.
func TestExact(t *testing.T) {
	p, err := small().problem(1)
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{-9, -3, 0, 4, 8, 15}
	value, stderr, err := p.exact(context.Background(), x, 2000, 7)
	if err != nil {
		t.Fatal(err)
	}
	r, err := infer.Exact{Draws: 2000, EvidencePoints: 1, Seed: 7}.Fit(context.Background(), p.model)
	if err != nil {
		t.Fatal(err)
	}
	want, wantErr := make([]float64, len(x)), make([]float64, len(x))
	decision.Probit().Probabilities(r, p.process.At(column(x)), want, wantErr)
	for j := range x {
		// The table is good to 1e-9; the standard error is found from sums of squares.
		near(t, "probability", value[j], want[j], 2e-9)
		near(t, "standard error", stderr[j], wantErr[j], 1e-7)
	}
}

// A data set at the paper's size: a twentieth of the table.
func BenchmarkTrial(b *testing.B) {
	for b.Loop() {
		if _, err := Default().Trial(context.Background(), 2); err != nil {
			b.Fatal(err)
		}
	}
}
