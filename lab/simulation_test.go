package lab

import (
	"context"
	"encoding/json"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer/exact"
)

// small is the whole simulation at a size for tests.
func small() Simulation { return NewSimulation(1, 3, 60) }

func runSmall(t *testing.T, known []*Trial) ([]*Trial, []byte) {
	t.Helper()
	trials, err := small().Run(context.Background(), known, func(*Trial) error { return nil })
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
	p := PaperSimulation().places()
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

func TestSimulationCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := small().Run(ctx, nil, func(*Trial) error { return nil }); err != context.Canceled {
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
				for m, name := range PaperMethods() {
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

// The truth by weighted points is that of independent draws: at six inputs, within four
// standard errors of the difference.
func TestExact(t *testing.T) {
	p, err := small().problem(1)
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{-9, -3, 0, 4, 8, 15}
	sets, err := p.exact(x, 500, 7)
	if err != nil {
		t.Fatal(err)
	}
	r, err := exact.Sampler{Draws: 40_000, EvidencePoints: 1, Seed: 7}.Fit(context.Background(), p.model)
	if err != nil {
		t.Fatal(err)
	}
	want, wantErr := make([]float64, len(x)), make([]float64, len(x))
	decision.Probit().Probabilities(r, p.process.At(column(x)), want, wantErr)
	for j := range x {
		mean, stderr := meanAndError(sets.RawRowView(j))
		if stderr > 0.0015 {
			t.Errorf("at %v the standard error is %v", x[j], stderr)
		}
		near(t, "probability", mean, want[j], 4*math.Hypot(stderr, wantErr[j]))
	}
}

// A data set at the paper's size: a twentieth of the table.
func BenchmarkTrial(b *testing.B) {
	for b.Loop() {
		if _, err := PaperSimulation().Trial(context.Background(), 2); err != nil {
			b.Fatal(err)
		}
	}
}

// What cannot be one of the data sets is computed again, whatever it looks like.
func TestFits(t *testing.T) {
	s := small()
	whole, err := s.Trial(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Fits(whole) {
		t.Error("a data set does not fit its own simulation")
	}
	for name, change := range map[string]func(*Trial){
		"negative":  func(t *Trial) { t.Index = -1 },
		"beyond":    func(t *Trial) { t.Index = s.DataSets },
		"empty":     func(t *Trial) { t.Regret = nil },
		"short":     func(t *Trial) { t.Noise = t.Noise[:1] },
		"not a row": func(t *Trial) { t.Bias = [][][]float64{{}, {}, {}, {}, {}} },
	} {
		part := *whole
		change(&part)
		if s.Fits(&part) {
			t.Errorf("%s: it fits", name)
		}
	}
}

// Every method's probabilities at the places of one data set: their mean, and how far
// they are from EP's on average. Regrets of a small simulation are mostly zero and say
// little; these change with anything that any method does.
func TestProbabilitiesOfMethods(t *testing.T) {
	s := small()
	p, err := s.problem(1)
	if err != nil {
		t.Fatal(err)
	}
	answers, _, err := p.answer(context.Background(), s.places())
	if err != nil {
		t.Fatal(err)
	}
	ep := answers[slices.Index(PaperMethods(), "ep")]
	for k, name := range PaperMethods() {
		var sum, distance, n float64
		for u := range answers[k] {
			for sh := range answers[k][u] {
				for j, v := range answers[k][u][sh] {
					sum += v
					distance += math.Abs(v - ep[u][sh][j])
					n++
				}
			}
		}
		want := goldenProbabilities[name]
		// Methods settle to 1e-5 or better, most of them to 1e-9.
		if math.Abs(sum/n-want[0]) > 2e-5 || math.Abs(distance/n-want[1]) > 2e-5 {
			t.Errorf("%q: {%.6f, %.6f},", name, sum/n, distance/n)
		}
	}
}

// goldenProbabilities are the mean and the distance from EP, as first computed.
var goldenProbabilities = map[string][2]float64{
	"vi":        {0.593822, 0.008252},
	"loss-vi":   {0.591496, 0.011067},
	"ep":        {0.587532, 0},
	"loss-ep":   {0.587636, 0.000775},
	"evidence":  {0.592496, 0.005755},
	"corrected": {0.592580, 0.005918},
	"paired":    {0.592767, 0.006024},
}
