package monitor

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// world draws cases of one number x and a code; the outcome has the log odds x·slope + shift, and the
// model believes in x. A positive costs 5 where it is missed, a false alarm 1.
func world(rng *rand.Rand, n int, mean, slope, shift float64) *Cases {
	c, of := mat.NewDense(n, 2, nil), new(Categories)
	for i := range n {
		x := mean + rng.NormFloat64()
		c.Set(i, 0, x)
		c.Set(i, 1, float64(rng.IntN(3)))
		p := 1 / (1 + math.Exp(-x))
		truth, y := 1/(1+math.Exp(-(slope*x+shift))), 0
		if rng.Float64() < truth {
			y = 1
		}
		costs := []float64{0, 5}
		if p > 1.0/6 {
			costs = []float64{1, 0}
		}
		of.Probabilities, of.Costs, of.Outcomes = append(of.Probabilities, []float64{1 - p, p}), append(of.Costs, costs), append(of.Outcomes, y)
	}
	return &Cases{c, of}
}

func days(n, size int) (all []Span) {
	for from := 0; from < n; from += size {
		all = append(all, Span{"day", from, from + size})
	}
	return all
}

var options = Options{Level: 0.05, Tolerance: 0.1, Numbers: 1, Columns: []Column{{"x", []int{0}}, {"kind", []int{1}}}}

func watched(t *testing.T, seed uint64, mean, slope, shift float64, blind bool) *Result {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	reference, cases := world(rng, 1000, 0, 1, 0), world(rng, 4000, mean, slope, shift)
	if blind {
		cases.Decisions.(*Categories).Outcomes = nil
	}
	r, err := Watch(reference, cases, days(4000, 400), options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Where nothing changes there is no alarm, and about 95 % of the intervals have the realised cost in
// them: of 300, 285 ± 4 by chance, and somewhat fewer as those of a run share one reference.
func TestNothingChanges(t *testing.T) {
	inside, all, alarms := 0, 0, 0
	for seed := range uint64(30) {
		r := watched(t, seed, 0, 1, 0, false)
		alarms += len(r.Alarms)
		for _, w := range r.Windows {
			if all++; w.Low <= *w.Realised && *w.Realised <= w.High {
				inside++
			}
			if w.Effective < 600 {
				t.Errorf("cases like those before are worth %v of 1000", w.Effective)
			}
		}
	}
	if share := float64(inside) / float64(all); share < 0.90 || share > 0.99 || alarms > 0 {
		t.Errorf("%.3f of intervals hold, %d alarms", share, alarms)
	}
}

// A reference in which dear outcomes are few by chance is no alarm of those that follow, and twice as many are: 15 of 500 is
// what 4 % give in 16 of 100 references or fewer, and 10 % in none.
func TestRareOutcomes(t *testing.T) {
	rare := func(n, every int) *Cases {
		c := new(Categories)
		for i := range n {
			y := 0
			if i%every == 0 {
				y = 1
			}
			c.Probabilities, c.Costs, c.Outcomes = append(c.Probabilities, []float64{0.96, 0.04}), append(c.Costs, []float64{0, 20}), append(c.Outcomes, y)
		}
		return &Cases{mat.NewDense(n, 2, nil), c}
	}
	for every, alarms := range map[int]int{25: 0, 10: 1} {
		r, err := Watch(rare(500, 34), rare(30000, every), days(30000, 30000), options)
		if err != nil || len(r.Alarms) != alarms {
			t.Errorf("one in %d: alarms %+v, %v", every, r.Alarms, err)
		}
	}
}

// Other cases are reported before outcomes are known, with the column that moved and what that costs;
// outcomes that follow otherwise from the same inputs are not, and are reported once they are known.
func TestDrift(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	reference, cases := world(rng, 4000, 0, 1, 0), world(rng, 8000, -0.9, 1, 0)
	cases.Decisions.(*Categories).Outcomes = nil
	r, err := Watch(reference, cases, days(8000, 800), options) // the expected cost rises from 0.485 to 0.594
	if err != nil {
		t.Fatal(err)
	}
	w := r.Windows[len(r.Windows)-1]
	if len(r.Alarms) != 1 || r.Alarms[0].Kind != Inputs || w.Realised != nil {
		t.Errorf("alarms %+v of other inputs", r.Alarms)
	}
	if len(w.Columns) == 0 || w.Columns[0].Column != "x" || *w.Columns[0].Cost <= 0 || w.Effective > 2400 {
		t.Errorf("columns %+v, effectively %v cases", w.Columns, w.Effective)
	}
	if d := w.Estimated - r.Reference.Expected; math.Abs(d-*w.Columns[0].Cost) > 0.7*d {
		t.Errorf("the cost of the column that moved is %v, and costs rose by %v", *w.Columns[0].Cost, d)
	}
	r = watched(t, 2, 0, 1, -1, true)
	if len(r.Alarms) != 0 {
		t.Errorf("alarms %+v without outcomes", r.Alarms)
	}
	r = watched(t, 2, 0, 1, -1, false)
	if len(r.Alarms) != 1 || r.Alarms[0].Kind != Outcomes {
		t.Errorf("alarms %+v of other outcomes", r.Alarms)
	}
	// Calibration is where the model was wrong from the beginning.
	wrong, err := Watch(world(rng, 4000, 0, 0.5, -0.7), world(rng, 8000, 0, 0.5, -0.7), days(8000, 8000), options)
	if err != nil {
		t.Fatal(err)
	}
	if w := wrong.Windows[0]; math.Abs(w.Estimated-*w.Realised) > 0.03 || math.Abs(w.Expected-*w.Realised) < 0.04 || math.Abs(*w.Slope-0.5) > 0.1 || len(wrong.Alarms) > 0 {
		t.Errorf("expected %v, estimated %v, realised %v, slope %v", w.Expected, w.Estimated, *w.Realised, *w.Slope)
	}
}

// What a column costs is not known where its values lie beyond all of the reference's; and cases are then
// compared by the other columns, in which they may be alike, and are not the more alike the farther they are.
func TestOutside(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	reference, cases := world(rng, 1000, 0, 1, 0), world(rng, 1200, 0, 1, 0)
	grow := func(c *Cases, from float64) { // a number that only grows, such as a date
		n := c.Len()
		x := mat.NewDense(n, 3, nil)
		for i := range n {
			x.SetRow(i, []float64{c.X.At(i, 0), from + float64(i)/1000, c.X.At(i, 1)})
		}
		c.X = x
	}
	grow(reference, 0)
	grow(cases, 1)
	o := options
	o.Numbers, o.Columns = 2, []Column{{"x", []int{0}}, {"day", []int{1}}, {"kind", []int{2}}}
	r, err := Watch(reference, cases, days(1200, 400), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range r.Windows {
		if len(w.Columns) != 1 || w.Columns[0].Column != "day" || !w.Columns[0].Unknown() || w.Columns[0].Outside < 0.99 || math.Abs(w.Columns[0].Distance-1) > 0.01 {
			t.Errorf("columns %+v", w.Columns)
		}
		if w.Effective < 600 { // as where nothing changes
			t.Errorf("cases like those before but for their day are worth %v of 1000", w.Effective)
		}
	}
}

// demands are cases with outcomes x + spread(x)·z of which the model knows N(x, sd(x)); every unit too little costs 3, too
// much 1, so that the action is the quantile at 3/4, q deviations above, which costs 4φ(q) of one: 1.271.
func demands(rng *rand.Rand, n int, mean float64, sd, spread func(x float64) float64) *Cases {
	const q = 0.6744897501960817
	x, c := mat.NewDense(n, 2, nil), new(Numbers)
	for i := range n {
		z, at := rng.NormFloat64(), mean+rng.NormFloat64()
		x.Set(i, 0, at)
		x.Set(i, 1, float64(rng.IntN(3)))
		off, s := spread(at)*z-q*sd(at), sd(at)
		c.Means, c.Variances = append(c.Means, 1.2711*s), append(c.Variances, (squared-1.2711*1.2711)*s*s)
		c.Costs, c.Inside = append(c.Costs, max(3*off, -off)), append(c.Inside, 0)
		if math.Abs(off+q*s) < 1.6449*s {
			c.Inside[i] = 1
		}
	}
	return &Cases{x, c}
}

// squared is E (3(z − q)⁺ + (q − z)⁺)² of a standard normal z with q its quantile at 3/4: 9·∫_q(z − q)²φ + ∫^q(q − z)²φ.
var squared = func() (sum float64) {
	const q, step = 0.6744897501960817, 1e-4
	for z := -9.0; z < 9; z += step {
		c := max(3*(z-q), q-z)
		sum += step * c * c * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	}
	return sum
}()

// Where the outcome is a number: without a change intervals hold and nothing alarms; more noise does once outcomes are known,
// and cases of more noise before; a model that is wrong from the beginning is calibrated.
func TestNumbers(t *testing.T) {
	one, steep := func(float64) float64 { return 1 }, func(x float64) float64 { return math.Exp(x / 2) }
	watched := func(seed uint64, mean float64, sd, before, after func(float64) float64, known bool) *Result {
		rng := rand.New(rand.NewPCG(seed, 7))
		reference, cases := demands(rng, 1000, 0, sd, before), demands(rng, 4000, mean, sd, after)
		if !known {
			for i := range cases.Len() {
				cases.Decisions.(*Numbers).Costs[i] = math.NaN()
			}
		}
		r, err := Watch(reference, cases, days(4000, 400), options)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	inside, all, alarms := 0, 0, 0
	for seed := range uint64(20) {
		r := watched(seed, 0, steep, steep, steep, true)
		alarms += len(r.Alarms)
		for _, w := range r.Windows {
			if all++; w.Low <= *w.Realised && *w.Realised <= w.High {
				inside++
			}
			if w.Slope != nil || math.Abs(*w.Coverage-0.9) > 0.06 { // four standard deviations of 400 outcomes
				t.Errorf("coverage %v", *w.Coverage)
			}
		}
	}
	if share := float64(inside) / float64(all); share < 0.90 || share > 0.99 || alarms > 0 {
		t.Errorf("%.3f of intervals hold, %d alarms", share, alarms)
	}
	if r := watched(1, 0.8, steep, steep, steep, false); len(r.Alarms) != 1 || r.Alarms[0].Kind != Inputs || r.Windows[0].Realised != nil || r.Windows[0].Coverage != nil {
		t.Errorf("cases of more noise: %+v", r.Alarms)
	}
	if r := watched(2, 0, one, one, func(float64) float64 { return 1.5 }, true); len(r.Alarms) != 1 || r.Alarms[0].Kind != Outcomes {
		t.Errorf("more noise: %+v", r.Alarms)
	}
	wrong := watched(3, 0, one, steep, steep, true)
	if w := wrong.Windows[9]; len(wrong.Alarms) > 0 || math.Abs(wrong.Windows[9].Estimated-wrong.Reference.Realised) > 0.1*wrong.Reference.Realised || math.Abs(w.Expected-1.2711) > 1e-9 {
		t.Errorf("wrong from the beginning: expected %v, estimated %v, of the reference %v realised, %+v", w.Expected, w.Estimated, wrong.Reference.Realised, wrong.Alarms)
	}
}

// A case of which the model has no idea, such as one that costs 1e12 on average and hardly ever, does not hide the others.
func TestNoIdea(t *testing.T) {
	one, rng := func(float64) float64 { return 1 }, rand.New(rand.NewPCG(4, 7))
	reference, cases := demands(rng, 1000, 0, one, one), demands(rng, 4000, 0, one, func(float64) float64 { return 1.5 })
	for _, c := range []*Cases{reference, cases} {
		of := c.Decisions.(*Numbers)
		of.Means[17], of.Variances[17] = 1e12, 1e30
	}
	r, err := Watch(reference, cases, days(4000, 400), options)
	if err != nil {
		t.Fatal(err)
	}
	if w := r.Windows[0]; len(r.Alarms) != 1 || r.Alarms[0].Kind != Outcomes || w.High > 2 || w.Low < 0.8 || w.Expected < 1e9 {
		t.Errorf("%+v, alarms %+v", w, r.Alarms)
	}
}

// Cases that move where each column has the values that it had are found by both together, and what the model gets
// wrong about them, of which the reference has few, is in the estimate and in its interval.
func TestColumnsThatMoveTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	draw := func(n int, unlike float64) *Cases { // the share of cases whose two numbers have different signs
		x, c := mat.NewDense(n, 2, nil), new(Categories)
		for i := range n {
			a, b, p, y := math.Abs(rng.NormFloat64()), math.Abs(rng.NormFloat64()), 0.1, 0
			if rng.Float64() < 0.5 {
				a, b = -a, -b
			}
			truth := p
			if rng.Float64() < unlike {
				b, truth = -b, 0.3
			}
			if rng.Float64() < truth {
				y = 1
			}
			x.SetRow(i, []float64{a, b})
			c.Probabilities, c.Costs, c.Outcomes = append(c.Probabilities, []float64{1 - p, p}), append(c.Costs, []float64{0, 1}), append(c.Outcomes, y)
		}
		return &Cases{x, c}
	}
	o := options
	o.Numbers, o.Columns = 2, []Column{{"a", []int{0}}, {"b", []int{1}}}
	r, err := Watch(draw(6000, 0.1), draw(3000, 0.9), days(3000, 1000), o) // 600 of the reference are like 90 % of those
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range r.Windows {
		if w.Low > *w.Realised || *w.Realised > w.High || math.Abs(w.Estimated-*w.Realised) > 0.06 || w.Effective > 2000 {
			t.Errorf("estimated %v (%v to %v), realised %v, by %v cases", w.Estimated, w.Low, w.High, *w.Realised, w.Effective)
		}
	}
}

// What is measured with little noise stays as it is, and what is within its noise is mostly left at zero.
func TestShrunk(t *testing.T) {
	for _, c := range []struct{ measured, variance, low, high float64 }{
		{0, 1, 0, 0},
		{1, 1e-6, 0.999, 1},
		{10, 1, 9.5, 10},
		{1, 1, 0.05, 0.35}, // within its noise
	} {
		mean := shrunk(c.measured, c.variance, 0.3)
		if mean < c.low || mean > c.high {
			t.Errorf("%+v: %v", c, mean)
		}
		if other := shrunk(-c.measured, c.variance, 0.3); other != -mean {
			t.Errorf("%+v: %v of the negative", c, other)
		}
	}
}

// Intervals hold whatever the bias of the cases that a window is made of: a hundred of 1,000 reference cases are of a kind whose
// mistakes are 0 or 3 standard errors more frequent than probabilities say, and all of the window's. Of 100 about
// 95 hold, and fewer than 87 with a probability of 4e-4.
func TestIntervalsWhateverTheBias(t *testing.T) {
	for _, errors := range []float64{0, 3} {
		held := 0
		for seed := range uint64(100) {
			rng := rand.New(rand.NewPCG(seed, 11))
			draw := func(n int, rare float64) *Cases {
				x, c := mat.NewDense(n, 1, nil), new(Categories)
				for i := range n {
					truth, y := 0.3, 0
					if rng.Float64() < rare {
						x.Set(i, 0, 1)
						truth += errors * math.Sqrt(0.3*0.7/100)
					}
					if rng.Float64() < truth {
						y = 1
					}
					c.Probabilities, c.Costs, c.Outcomes = append(c.Probabilities, []float64{0.7, 0.3}), append(c.Costs, []float64{0, 1}), append(c.Outcomes, y)
				}
				return &Cases{x, c}
			}
			r, err := Watch(draw(1000, 0.1), draw(500, 1), days(500, 500), Options{Level: 0.05, Tolerance: 0.1, Columns: []Column{{"kind", []int{0}}}})
			if err != nil {
				t.Fatal(err)
			}
			if w := r.Windows[0]; w.Low <= *w.Realised && *w.Realised <= w.High {
				held++
			}
		}
		if held < 87 {
			t.Errorf("with a bias of %v standard errors %d of 100 intervals hold", errors, held)
		}
	}
}

// Intervals hold where the reference is small beside the window, and where four cases that follow each other have
// one chance between them, as households have: of 100 about 95, and fewer than 87 with a probability of 4e-4.
func TestIntervalsHold(t *testing.T) {
	for _, c := range []struct {
		name            string
		reference, size int
		mean            float64
		household       int
	}{
		{"small reference, other cases", 200, 2000, -0.5, 1},
		{"households, other cases", 600, 2000, -0.5, 4},
	} {
		held := 0
		for seed := range uint64(100) {
			rng := rand.New(rand.NewPCG(seed, 12))
			draw := func(n int, mean float64) *Cases {
				all, u := world(rng, n, mean, 1, 0), 0.0
				of := all.Decisions.(*Categories)
				for i := range n {
					if i%c.household == 0 {
						u = rng.Float64()
					} else { // alike in what is known of them, too
						all.X.SetRow(i, all.X.RawRowView(i-1))
						of.Probabilities[i], of.Costs[i] = of.Probabilities[i-1], of.Costs[i-1]
					}
					if of.Outcomes[i] = 0; u < of.Probabilities[i][1] {
						of.Outcomes[i] = 1
					}
				}
				return all
			}
			r, err := Watch(draw(c.reference, 0), draw(c.size, c.mean), days(c.size, c.size), options)
			if err != nil {
				t.Fatal(err)
			}
			if w := r.Windows[0]; w.Low <= *w.Realised && *w.Realised <= w.High {
				held++
			}
		}
		if t.Logf("%s: %d of 100 intervals hold", c.name, held); held < 87 {
			t.Error("too few")
		}
	}
}

// Cases in households of ten that have the same outcome vary ten times as much in their mean; those that have nothing to
// do with each other as they do: of 100 blocks the variance is known to 14 %.
func TestAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	one, ten := make([]float64, 10000), make([]float64, 10000)
	for i := range one {
		if one[i] = rng.NormFloat64(); i%10 == 0 {
			ten[i] = rng.NormFloat64()
		} else {
			ten[i] = ten[i-1]
		}
	}
	if a, b := alike(one), alike(ten); a > 1.45 || b < 6 || b > 14 {
		t.Errorf("%v of cases on their own, %v in tens", a, b)
	}
}

// The e-process of costs at their limit ever comes to 20 in at most one of 20 runs: of 400 runs in at most
// 20, and by chance 33 (three standard deviations).
func TestEvidenceHoldsItsLevel(t *testing.T) {
	rng, ever := rand.New(rand.NewPCG(1, 2)), 0
	for range 400 {
		var e evidence
		for range 2000 {
			cost := 0.0
			if rng.Float64() < 0.1 {
				cost = 5
			}
			e.add(cost, 0.5, 0.5)
			if e.value() >= 20 {
				ever++
				break
			}
		}
	}
	if ever > 33 {
		t.Errorf("%d of 400 runs", ever)
	}
}

func TestTooFew(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	if _, err := Watch(world(rng, 5, 0, 1, 0), world(rng, 5, 0, 1, 0), days(5, 5), options); err == nil {
		t.Error("five cases are a reference")
	}
}
