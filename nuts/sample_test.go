package nuts

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

func mustSample(t *testing.T, target Target, opt Options) *Result {
	t.Helper()
	r, err := Sample(context.Background(), func() Target { return cloneOf(target) }, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// cloneOf gives every chain its own scratch.
func cloneOf(target Target) Target {
	if g, ok := target.(*gaussian); ok {
		return newGaussian(g.mean, g.precision)
	}
	return target
}

// zScore is how many standard errors the estimate lies from the truth.
func zScore(t *testing.T, s Series, truth float64) float64 {
	t.Helper()
	e, err := s.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	return (e.Mean - truth) / e.MCSE
}

func TestStandardNormalMoments(t *testing.T) {
	const dim = 10
	r := mustSample(t, standardNormal(dim), Options{Seed: 1})
	if len(r.Warnings) > 0 {
		t.Errorf("warnings: %v", r.Warnings)
	}
	var means, squares float64
	for i := range dim {
		x := r.Coordinate(i)
		means += math.Pow(zScore(t, x, 0), 2)
		squares += math.Pow(zScore(t, r.Map(func(x []float64) float64 { return x[i] * x[i] }), 1), 2)
	}
	// Sums of dim independent squared z-scores; one right seed in 10⁴ fails.
	limit := distuv.ChiSquared{K: dim}.Quantile(1 - 1e-4)
	if means > limit || squares > limit {
		t.Errorf("Σz² of means %.1f, of squares %.1f, limit %.1f", means, squares, limit)
	}
	for k, c := range r.Chains {
		// Dual averaging settles within a few per cent of its aim, and NUTS
		// usually a little above it.
		if math.Abs(c.MeanAccept-0.8) > 0.1 {
			t.Errorf("chain %d: mean acceptance %.3f, aimed at 0.8", k, c.MeanAccept)
		}
	}
}

// Fifty dimensions, standard deviations from 0.01 to 1: the metric must learn them so
// well that trajectories become short.
func TestIllConditionedGaussian(t *testing.T) {
	const dim = 50
	rng := rand.New(rand.NewPCG(2, 2))
	precisions, mean := make([]float64, dim), make([]float64, dim)
	for i := range dim {
		precisions[i] = math.Pow(10, 4*float64(i)/(dim-1))
		mean[i] = rng.NormFloat64()
	}
	target := newGaussian(mean, diagonal(precisions))
	r := mustSample(t, target, Options{Seed: 3, Chains: 2})
	if len(r.Warnings) > 0 {
		t.Errorf("warnings: %v", r.Warnings)
	}
	if d := slices.Max(r.Chains[0].Depth); d > 5 {
		t.Errorf("trees reach depth %d: the metric was not learnt", d)
	}
	var means, squares float64
	for k := range dim {
		along := r.Map(func(x []float64) float64 { return x[k] })
		square := r.Map(func(x []float64) float64 { return math.Pow(x[k]-mean[k], 2) })
		means += math.Pow(zScore(t, along, mean[k]), 2)
		squares += math.Pow(zScore(t, square, 1/precisions[k]), 2)
	}
	limit := distuv.ChiSquared{K: dim}.Quantile(1 - 1e-4)
	if means > limit || squares > limit {
		t.Errorf("Σz² of means %.1f, of squares %.1f, limit %.1f", means, squares, limit)
	}
}

func TestOneDimensionAgainstQuadrature(t *testing.T) {
	const nu = 5.0
	studentT := density{1, func(x, grad []float64) float64 {
		grad[0] = -(nu + 1) * x[0] / (nu + x[0]*x[0])
		return -(nu + 1) / 2 * math.Log1p(x[0]*x[0]/nu)
	}}
	mixture := density{1, func(x, grad []float64) float64 {
		a := 0.3 * math.Exp(-(x[0]+1.5)*(x[0]+1.5)/2)
		b := math.Exp(-(x[0] - 1.5) * (x[0] - 1.5) / 2 / 0.49) // weight 0.7 over a standard deviation of 0.7
		grad[0] = -(a*(x[0]+1.5) + b*(x[0]-1.5)/0.49) / (a + b)
		return math.Log(a + b)
	}}
	functions := map[string]func(float64) float64{
		"x":       func(x float64) float64 { return x },
		"|x|":     math.Abs,
		"tanh²":   func(x float64) float64 { return math.Tanh(x) * math.Tanh(x) },
		"P(x>1)":  func(x float64) float64 { return heaviside(x - 1) },
		"P(x<-3)": func(x float64) float64 { return heaviside(-3 - x) },
	}
	for name, target := range map[string]density{"Student t": studentT, "mixture": mixture} {
		r := mustSample(t, target, Options{Seed: 5, Draws: 4000, TargetAccept: 0.9})
		expectation := func(f func(float64) float64) float64 {
			pdf := func(x float64) float64 { return math.Exp(target.log([]float64{x}, make([]float64, 1))) }
			var top, bottom float64
			// Pieces end where the functions jump or bend; beyond ±1000 a t
			// with 5 degrees of freedom holds less than 1e-9 of E|x|.
			cuts := []float64{-1000, -100, -20, -3, 0, 1, 5, 20, 100, 1000}
			for i := range len(cuts) - 1 {
				top += quad.Fixed(func(x float64) float64 { return f(x) * pdf(x) }, cuts[i], cuts[i+1], 200, nil, 0)
				bottom += quad.Fixed(pdf, cuts[i], cuts[i+1], 200, nil, 0)
			}
			return top / bottom
		}
		for what, f := range functions {
			// Ten z-scores: a right sampler passes 4 once in 1,500 seeds.
			z := zScore(t, r.Map(func(x []float64) float64 { return f(x[0]) }), expectation(f))
			if math.Abs(z) > 4 {
				t.Errorf("%s: %s is %.1f standard errors off", name, what, z)
			}
		}
	}
}

func heaviside(x float64) float64 {
	if x > 0 {
		return 1
	}
	return 0
}

func kinds(r *Result) []WarningKind {
	var out []WarningKind
	for _, w := range r.Warnings {
		out = append(out, w.Kind)
	}
	return out
}

func TestFunnelIsFlagged(t *testing.T) {
	r := mustSample(t, funnel(10), Options{Seed: 7})
	got := kinds(r)
	if !slices.Contains(got, DivergentTransitions) {
		t.Errorf("no divergences in %v", r.Warnings)
	}
	for _, w := range r.Warnings {
		if w.Kind != DivergentTransitions {
			continue
		}
		count := 0
		for _, c := range r.Chains {
			for _, d := range c.Divergent {
				if d {
					count++
				}
			}
		}
		if w.Count != count || w.Value != float64(count)/4000 {
			t.Errorf("warning counts %d (%g), draws %d", w.Count, w.Value, count)
		}
	}
}

func TestSeparatedModesAreFlagged(t *testing.T) {
	modes := density{1, func(x, grad []float64) float64 {
		a, b := -(x[0]+10)*(x[0]+10)/2, -(x[0]-10)*(x[0]-10)/2
		w := 1 / (1 + math.Exp(b-a))
		grad[0] = -w*(x[0]+10) - (1-w)*(x[0]-10)
		total, _ := mix(a, b)
		return total
	}}
	r := mustSample(t, modes, Options{Seed: 7, Init: [][]float64{{-10}, {10}, {-9}, {9}}})
	if got := kinds(r); !slices.Contains(got, HighRHat) || !slices.Contains(got, LowBulkESS) {
		t.Errorf("chains in two modes give only %v", r.Warnings)
	}
}

func TestSaturationIsFlagged(t *testing.T) {
	scaled := density{2, func(x, grad []float64) float64 {
		grad[0], grad[1] = -x[0], -1e4*x[1]
		return -x[0]*x[0]/2 - 1e4*x[1]*x[1]/2
	}}
	// Fewer than 150 warm-up draws and a depth of 2: nothing can go well.
	r := mustSample(t, scaled, Options{Seed: 7, Warmup: 20, Draws: 100, MaxDepth: 2})
	got := kinds(r)
	if !slices.Contains(got, DepthSaturated) || !slices.Contains(got, LowBulkESS) || !slices.Contains(got, LowTailESS) {
		t.Errorf("got %v", r.Warnings)
	}
}

// Densities with an edge, with NaN gradients or with an infinite pole never
// put anything but finite numbers into the result.
func TestHostileDensities(t *testing.T) {
	hostile := map[string]Target{
		"edge": density{1, func(x, grad []float64) float64 {
			grad[0] = -1
			if x[0] < 0 {
				return math.Inf(-1)
			}
			return -x[0]
		}},
		"NaN gradient": density{1, func(x, grad []float64) float64 {
			grad[0] = -x[0]
			if x[0] > 1 {
				grad[0] = math.NaN()
			}
			return -x[0] * x[0] / 2
		}},
		"NaN density": density{1, func(x, grad []float64) float64 {
			grad[0] = -x[0]
			if x[0] > 1 {
				return math.NaN()
			}
			return -x[0] * x[0] / 2
		}},
		"pole": density{1, func(x, grad []float64) float64 {
			grad[0] = -x[0]
			if math.Abs(x[0]-0.5) < 0.01 {
				return math.Inf(1)
			}
			return -x[0] * x[0] / 2
		}},
	}
	for name, target := range hostile {
		r := mustSample(t, target, Options{Seed: 11, Draws: 500, Warmup: 200})
		if got := kinds(r); !slices.Contains(got, DivergentTransitions) {
			t.Errorf("%s: no divergences reported, only %v", name, r.Warnings)
		}
		for _, c := range r.Chains {
			if !allFinite(slices.Concat(c.Draws...)) || !allFinite(c.LogDensity) || !allFinite(c.Energy) || !allFinite(c.Accept) {
				t.Errorf("%s: something not finite", name)
			}
		}
	}
}

// Cutting the plane at x = 0 leaves an exponential distribution; divergences
// at the edge are rejections and must not bias it.
func TestEdgeIsRejectedWithoutBias(t *testing.T) {
	half := density{1, func(x, grad []float64) float64 {
		grad[0] = -x[0]
		if x[0] < 0 {
			return math.Inf(-1)
		}
		return -x[0] * x[0] / 2
	}}
	r := mustSample(t, half, Options{Seed: 13, Draws: 5000})
	if z := zScore(t, r.Coordinate(0), math.Sqrt(2/math.Pi)); math.Abs(z) > 4 {
		t.Errorf("mean of the half normal is %.1f standard errors off", z)
	}
}

func TestErrors(t *testing.T) {
	normal := standardNormal(2)
	nowhere := density{1, func(_, grad []float64) float64 { grad[0] = 0; return math.NaN() }}
	flat := density{1, func(_, grad []float64) float64 { grad[0] = 0; return 0 }}
	spike := density{1, func(x, grad []float64) float64 {
		grad[0] = 1
		if x[0] == 0 {
			return 0
		}
		return math.Inf(-1)
	}}
	var option *OptionError
	var start *InitError
	var step *StepSizeError
	for name, test := range map[string]struct {
		target Target
		opt    Options
		as     any
	}{
		"negative chains":    {normal, Options{Chains: -1}, &option},
		"short warm-up":      {normal, Options{Warmup: 19}, &option},
		"few draws":          {normal, Options{Draws: 3}, &option},
		"acceptance of 1":    {normal, Options{TargetAccept: 1}, &option},
		"NaN acceptance":     {normal, Options{TargetAccept: math.NaN()}, &option},
		"depth":              {normal, Options{MaxDepth: 99}, &option},
		"scale":              {normal, Options{InitScale: math.Inf(1)}, &option},
		"too few points":     {normal, Options{Init: [][]float64{{1, 2}}}, &option},
		"wrong point":        {normal, Options{Chains: 1, Init: [][]float64{{1}}}, &option},
		"no finite start":    {nowhere, Options{}, &start},
		"bad given start":    {nowhere, Options{Chains: 1, Init: [][]float64{{1}}}, &start},
		"infinite start":     {normal, Options{Chains: 1, Init: [][]float64{{1, math.Inf(1)}}}, &start},
		"flat":               {flat, Options{}, &step},
		"nothing but a peak": {spike, Options{Chains: 1, Init: [][]float64{{0}}}, &step},
	} {
		r, err := Sample(context.Background(), always(test.target), test.opt)
		if r != nil || !errors.As(err, test.as) || !strings.HasPrefix(err.Error(), "nuts: ") {
			t.Errorf("%s: result %v, error %v", name, r, err)
		}
	}
}

// A start that is finite now and then is found by trying again.
func TestInitRetries(t *testing.T) {
	half := density{4, func(x, grad []float64) float64 {
		for i, v := range x {
			grad[i] = -v
			if v < 0 {
				return math.NaN()
			}
		}
		return -floats.Dot(x, x) / 2
	}}
	if _, err := Sample(context.Background(), always(half), Options{Warmup: 20, Draws: 4}); err != nil {
		t.Error(err)
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	run := func(procs int, seed uint64) *Result {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		g := newGaussian([]float64{1, -1}, mat.NewSymDense(2, []float64{2, 0.9, 0.9, 1}))
		return mustSample(t, g, Options{Seed: seed, Warmup: 200, Draws: 100})
	}
	one := run(1, 5)
	if four := run(4, 5); !reflect.DeepEqual(one, four) {
		t.Error("the result depends on GOMAXPROCS")
	}
	if other := run(1, 6); reflect.DeepEqual(one.Chains[0].Draws, other.Chains[0].Draws) {
		t.Error("seed has no effect")
	}
	if reflect.DeepEqual(one.Chains[0].Draws, one.Chains[1].Draws) {
		t.Error("chains are equal")
	}
}

func TestFactory(t *testing.T) {
	made := 0
	factory := func() Target { made++; return standardNormal(1) }
	if _, err := Sample(context.Background(), factory, Options{Chains: 3, Warmup: 50, Draws: 25}); err != nil || made != 3 {
		t.Errorf("error %v, %d targets made", err, made)
	}
}

func TestCancellation(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	evaluations := 0
	slow := density{2, func(x, grad []float64) float64 {
		// A tiny scale and a unit start make the first trees deep.
		evaluations++
		if evaluations == 2000 {
			cancel(cause)
		}
		grad[0], grad[1] = -x[0], -1e8*x[1]
		return -x[0]*x[0]/2 - 1e8*x[1]*x[1]/2
	}}
	r, err := Sample(ctx, always(slow), Options{Chains: 1, MaxDepth: 20, Init: [][]float64{{1, 1e-4}}})
	if r != nil || !errors.Is(err, cause) {
		t.Errorf("result %v, error %v", r, err)
	}
	if after := evaluations - 2000; after > 1<<cancelDepth {
		t.Errorf("%d evaluations after cancellation", after)
	}
}

func TestStuckCoordinateIsFlagged(t *testing.T) {
	r := &Result{Coordinates: []Summary{{RHat: 1, BulkESS: 1e4, TailESS: 1e4}, {Constant: true, RHat: 1, BulkESS: 1e4, TailESS: 1e4}}}
	got := r.warn()
	if len(got) != 1 || got[0].Kind != StuckCoordinate || got[0].Index != 1 {
		t.Errorf("got %v", got)
	}
}

func TestWarningText(t *testing.T) {
	for want, w := range map[string]Warning{
		"R̂ too high: coordinates affected: 2, worst 1.2 at 5 (limit 1.01); run longer, or look for several modes":               {HighRHat, 2, 5, 1.2, MaxRHat},
		"R̂ too high: 1.2 (limit 1.01); run longer, or look for several modes":                                                   {HighRHat, 1, -1, 1.2, MaxRHat},
		"divergent transitions: 12 draws (0.3 %), most in chain 0; raise TargetAccept or reparametrise":                          {DivergentTransitions, 12, 0, 0.003, 0},
		"energy explored too slowly (E-BFMI): chains affected: 1, worst 0.1 in chain 3 (limit 0.3); run longer or reparametrise": {LowEBFMI, 1, 3, 0.1, MinEBFMI},
	} {
		if got := w.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for k := range WarningKind(len(warningTexts)) {
		if warningTexts[k].what == "" || warningTexts[k].remedy == "" {
			t.Errorf("warning %d has no text", k)
		}
	}
}
