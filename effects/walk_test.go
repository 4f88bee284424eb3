package effects

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/normal"
)

// walked are effects of a code of two categories by years, which are known but for the variance given.
func walked(t *testing.T, years []float64, means [2][]float64, variance float64, missing ...int) *Effect {
	t.Helper()
	a := &Axis{Column: 0, Cells: len(years) + 1, Cuts: []float64{}}
	for k, y := range years[1:] {
		a.Cuts = append(a.Cuts, (years[k]+y)/2)
	}
	codes := &Axis{Column: 1, Cells: 3}
	var keys []int
	for k := range 2 * len(years) {
		keys = append(keys, (1+k/2)*3+1+k%2)
	}
	for _, k := range missing {
		keys = append(keys[:k], keys[k+1:]...)
	}
	g, err := NewGrouping(NewFamily(Part{0, 16}, Part{1, 0}), []*Axis{a, codes}, keys, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := &Effect{Grouping: g, Variance: 1}
	for _, key := range keys {
		e.Moments = append(e.Moments, Moment{means[key%3-1][key/3-1], variance})
	}
	return Set{e}.Walking([]Levels{{0, years}})[0]
}

// likeliest is the rate under which steps of four years are most probable, by the covariance that they and a drift have.
func likeliest(t *testing.T, years []float64, means [2][]float64) float64 {
	want := 0.0
	for _, m := range means {
		// The quadratic form of the steps with their covariance, by the identity and the drift.
		steps, cov := mat.NewVecDense(3, nil), mat.NewSymDense(3, nil)
		for k := range 3 {
			steps.SetVec(k, m[k+1]-m[k])
			for j := range 3 {
				cov.SetSym(k, j, (years[k+1]-years[k])*(years[j+1]-years[j])/(2.5/3))
			}
		}
		for k := range 3 {
			cov.SetSym(k, k, cov.At(k, k)+years[k+1]-years[k])
		}
		var root mat.Cholesky
		var solved mat.VecDense
		if !root.Factorize(cov) || root.SolveVecTo(&solved, steps) != nil {
			t.Fatal("singular")
		}
		want += mat.Dot(steps, &solved) / 6
	}
	return want
}

// Beyond the last year, and before the first, effects are those of a Brownian motion with a drift, by conditioning the Gaussian of all of them.
func TestEffectsGoOnAsBrownianMotion(t *testing.T) {
	years := []float64{-1, 0, 0.5, 1.5}
	means := [2][]float64{{0.2, 0.5, 0.4, 1}, {0.3, -0.1, 0, -0.4}}
	e := walked(t, years, means, 0)
	if len(e.Walks) != 1 {
		t.Fatalf("%+v", e.Walks)
	}
	rate := e.Walks[0].Rate
	want := likeliest(t, years, means)
	if math.Abs(rate-want) > 1e-12 {
		t.Fatalf("rate %v, want %v", rate, want)
	}
	gap := 2.5 / 3
	for _, far := range []float64{0.1, 1, 2.4} {
		for _, from := range []float64{-1, 1.5} {
			// Values since the end that is farther off, of a motion of this rate with a drift of variance rate/gap.
			at := func(y float64) float64 { return math.Abs(y + from - 0.5) }
			x := from + math.Copysign(far, from)
			cov := func(a, b float64) float64 { return rate*min(at(a), at(b)) + rate/gap*at(a)*at(b) }
			var seen []float64
			origin := -1
			for k, y := range years {
				if at(y) == 0 {
					origin = k
				} else {
					seen = append(seen, y)
				}
			}
			k, with := mat.NewSymDense(3, nil), mat.NewVecDense(3, nil)
			for i, a := range seen {
				with.SetVec(i, cov(a, x))
				for j, b := range seen {
					k.SetSym(i, j, cov(a, b))
				}
			}
			var root mat.Cholesky
			var weights mat.VecDense
			if !root.Factorize(k) || root.SolveVecTo(&weights, with) != nil {
				t.Fatal("singular")
			}
			for code := range 2 {
				mean, i := means[code][origin], 0
				for k := range years {
					if k != origin {
						mean += weights.AtVec(i) * (means[code][k] - means[code][origin])
						i++
					}
				}
				variance := cov(x, x) - mat.Dot(&weights, with)
				got, ok := e.At([]float64{x, float64(code)}, 0)
				if !ok || math.Abs(got.Mean-mean) > 1e-9 || math.Abs(got.Variance-variance) > 1e-9 {
					t.Errorf("at %v: %+v, want mean %v and variance %v", x, got, mean, variance)
				}
			}
		}
	}
}

// Within the levels nothing changes, beyond twice their range nothing more, and a group that the rows had at the last of them only has no drift.
func TestEndsOfWalks(t *testing.T) {
	years := []float64{0, 1, 2}
	means := [2][]float64{{0, 1, 2}, {0, 0, 3}}
	e := walked(t, years, means, 0.01, 3, 1) // without the second category in the first two years
	at := func(year float64, code float64) Moment {
		w, _ := e.At([]float64{year, code}, 0)
		return w
	}
	for _, year := range []float64{0, 0.7, 1, 2, math.NaN()} {
		if w, _ := e.At([]float64{year, 0}, 0); year == year && w != e.Moments[[]int{0, 1, 2}[int(year+0.5)]] {
			t.Errorf("%v: %+v", year, w)
		}
	}
	if a, b := at(4, 0), at(1e9, 0); a != b || !(a.Mean > 2) {
		t.Errorf("far beyond the last year %+v, and %+v", a, b)
	}
	if w := at(3, 1); w.Mean != 3 || !(w.Variance > 0.01+e.Walks[0].Rate) {
		t.Errorf("of a group with one year %+v", w)
	}
	if zigzag := walked(t, []float64{0, 1, 2, 3}, [2][]float64{{0, 1, 0, 1}, {1, 0, 1, 0}}, 0); zigzag.Walks != nil {
		t.Errorf("effects without an order have %+v", zigzag.Walks)
	}
	if _, ok := e.At([]float64{3, 7}, 0); ok {
		t.Error("a category that is new has an effect")
	}
	known := Table{X: mat.NewDense(2, 2, []float64{0, 0, 2, 1})}
	if w := known.within(e); len(w) != 1 {
		t.Error("rows within the levels end the walk")
	}
	known.X.Set(1, 0, 3)
	if w := known.within(e); w != nil {
		t.Error("rows beyond the levels leave the walk as it is")
	}
}

func TestWalksAreChecked(t *testing.T) {
	e := walked(t, []float64{0, 1, 2}, [2][]float64{{0, 1, 2}, {0, 1, 3}}, 0)
	good := e.Walks[0]
	if err := good.Check(e.Grouping); err != nil {
		t.Error(err)
	}
	for _, w := range []Walk{
		{1, good.Levels, good.Rate},
		{-1, good.Levels, good.Rate},
		{2, good.Levels, good.Rate},
		{0, good.Levels[:2], good.Rate},
		{0, []float64{0, 2, 2}, good.Rate},
		{0, []float64{0, math.NaN(), 2}, good.Rate},
		{0, []float64{0, 1, math.Inf(1)}, good.Rate},
		{0, good.Levels, 0},
		{0, good.Levels, math.NaN()},
		{0, good.Levels, math.Inf(1)},
	} {
		if w.Check(e.Grouping) == nil {
			t.Errorf("%+v is taken", w)
		}
	}
}

// What it costs to let effects of so many levels go on to the next, and to take the last of them for it, which is given in brackets: by how much the pinball loss at 0.75 exceeds that
// under effects that are known, where noise has the standard deviation 1, and how many outcomes lie in intervals of 90 %.
func TestCostOfWalks(t *testing.T) {
	const draws, size, told = 5000, 0.2, 0.03
	rng := rand.New(rand.NewPCG(5, 5))
	best := normal.Density(normal.Quantile(0.75))
	loss := func(w Moment, truth float64) float64 {
		off := w.Mean + math.Sqrt(1+w.Variance)*normal.Quantile(0.75) - truth
		return off*(normal.CDF(off)-0.75) + normal.Density(off)
	}
	covered := func(w Moment, truth float64) float64 {
		half := normal.Quantile(0.95) * math.Sqrt(1+w.Variance)
		return normal.CDF(w.Mean+half-truth) - normal.CDF(w.Mean-half-truth)
	}
	for _, n := range []int{2, 3, 5, 10} {
		for _, of := range []string{"none", "independent", "walk", "trend"} {
			var cost, inside [2]float64
			for range draws {
				years, means := make([]float64, n+1), make([]float64, n+1)
				slope := size * rng.NormFloat64()
				for k := range years {
					years[k] = float64(k)
					switch z := size * rng.NormFloat64(); {
					case of == "independent":
						means[k] = z
					case of == "walk" && k > 0:
						means[k] = means[k-1] + z
					case of == "trend":
						means[k] = slope * float64(k)
					}
				}
				seen := append([]float64{}, means[:n]...)
				for k := range seen {
					seen[k] += told * rng.NormFloat64()
				}
				e := walked(t, years[:n], [2][]float64{seen, seen}, told*told)
				on, _ := e.At([]float64{float64(n), 0}, 0)
				for k, w := range []Moment{on, {seen[n-1], told * told}} {
					cost[k] += (loss(w, means[n])/best - 1) / draws
					inside[k] += covered(w, means[n]) / draws
				}
			}
			t.Logf("%2d levels, %-11s %.1f %% (%.1f %%), %.1f %% (%.1f %%) in intervals", n, of, 100*cost[0], 100*cost[1], 100*inside[0], 100*inside[1])
			if math.Abs(inside[0]-0.9) > 0.02 || of == "trend" && cost[0] > cost[1]/2 || cost[0] > cost[1]+0.035 {
				t.Errorf("%d levels, %s: cost %v, coverage %v", n, of, cost, inside)
			}
		}
	}
}

// Beyond the values of two columns each adds what it adds alone, in any order.
func TestWalksAdd(t *testing.T) {
	levels := []float64{0, 1, 2, 3}
	axis := func(column int) *Axis { return &Axis{Column: column, Cells: 5, Cuts: []float64{0.5, 1.5, 2.5}} }
	var keys []int
	var moments []Moment
	for i := range 4 {
		for j := range 4 {
			keys = append(keys, (1+i)*5+1+j)
			moments = append(moments, Moment{float64(i) + 10*float64(j), 0.01})
		}
	}
	g, err := NewGrouping(NewFamily(Part{0, 16}, Part{1, 16}), []*Axis{axis(0), axis(1)}, keys, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := Set{{Grouping: g, Variance: 100, Moments: moments}}.Walking([]Levels{{0, levels}, {1, levels}})[0]
	at := func(x ...float64) Moment {
		m, _ := e.At(x, 0)
		return m
	}
	end, both := at(3, 3), at(5, 5)
	mean, variance := at(5, 3).Mean+at(3, 5).Mean-end.Mean, at(5, 3).Variance+at(3, 5).Variance-end.Variance
	if len(e.Walks) != 2 || math.Abs(both.Mean-mean) > 1e-12*mean || math.Abs(both.Variance-variance) > 1e-12*variance || !(mean > 49) {
		t.Errorf("%d walks, beyond both %v, want %v and %v", len(e.Walks), both, mean, variance)
	}
}
