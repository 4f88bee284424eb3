package numbers

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
)

// With normal noise the means of effects and process are those of exact regression with the variances found, and
// the noise is what both leave.
func TestEffectsAreExactRegression(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var a, b [12]float64
	for g := range a {
		a[g], b[g] = 2*rng.NormFloat64(), rng.NormFloat64()
	}
	data := tableOf(t, "shops.csv", "a,b,y", 600, func(i int) string {
		g, h := rng.IntN(len(a)), rng.IntN(len(b))
		return fmt.Sprintf("a%d,b%d,%.5f", g, h, 7+a[g]+b[h]+0.5*rng.NormFloat64())
	})
	p, m := prepared(t, data, "under=3,over=1", func(o *lossep.Options) {
		o.Kernel, o.Data.Weights = "constant + effects(a) + effects(b)", ""
	})
	if m.shape.Transform.Name != "none" || m.family.Name() != "normal" || len(m.summary.Effects) != 2 {
		t.Fatalf("%v", m.Results())
	}
	noise := m.family.(normalNoise).variance
	// 576 degrees of freedom tell a standard deviation to 3 %.
	if sd := math.Sqrt(noise) * m.shape.Transform.Scale; math.Abs(sd-0.5) > 0.05 {
		t.Errorf("the standard deviation of the noise is %v in place of 0.5", sd)
	}
	n := p.Len()
	gram := mat.NewSymDense(n, nil)
	set := m.posterior.State().Effects
	for i := range n {
		for j := i; j < n; j++ {
			k := m.posterior.Kernel().Variance(p.X.RawRowView(i)) // a constant
			for _, e := range set {
				if e.Group(p.X.RawRowView(i)) == e.Group(p.X.RawRowView(j)) {
					k += e.Variance
				}
			}
			gram.SetSym(i, j, k)
		}
	}
	noisy := mat.NewSymDense(n, nil)
	noisy.CopySym(gram)
	for i := range n {
		noisy.SetSym(i, i, gram.At(i, i)+noise)
	}
	var root mat.Cholesky
	if !root.Factorize(noisy) {
		t.Fatal("no root")
	}
	var weights, want mat.VecDense
	if err := root.SolveVecTo(&weights, mat.NewVecDense(n, m.shape.Transform.all(p.Values))); err != nil {
		t.Fatal(err)
	}
	want.MulVec(gram, &weights)
	for i, got := range m.latent(p.X) {
		// Passes end where the bound rises by 1e-5 a row, which is half the square of what is left over the noise.
		if math.Abs(got.Mean-want.AtVec(i)) > 0.02*math.Sqrt(noise) {
			t.Fatalf("row %d: the mean is %v, of exact regression %v", i, got.Mean, want.AtVec(i))
		}
	}
	if c := m.summary.LeaveOneOut.Coverage; math.Abs(c-0.9) > 3*math.Sqrt(0.09/600) {
		t.Errorf("%v of outcomes in 90 %% intervals", c)
	}
	again := saved(t, m)
	for i, d := range again.predict(p.X) {
		if want := m.predict(p.X)[i].Mean(); d.Mean() != want {
			t.Fatalf("row %d is %v, once read %v", i, want, d.Mean())
		}
	}
}

// saved is a model that was written and read.
func saved(t *testing.T, m *Model) *Model {
	t.Helper()
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	again, err := Read(&file, lossep.DefaultMaxMemory)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// Noise that differs between groups is found, and with it what each outcome is likely to be; even noise is left as it is.
func TestNoiseOfGroups(t *testing.T) {
	for _, most := range []float64{1, 4} {
		rng := rand.New(rand.NewPCG(3, 9))
		data := tableOf(t, "noise", "a,b,y", 2400, func(i int) string {
			g, h := rng.IntN(4), rng.IntN(3)
			sd := math.Pow(most, float64(g)/3) / 2
			return fmt.Sprintf("a%d,b%d,%.6f", g, h, 50+float64(g*h)+sd*rng.NormFloat64())
		})
		o := lossep.Options{Kernel: "constant + effects(a, b)", Seed: 1}
		o.Data.Target = "y"
		p, err := Prepare(data, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := &Model{recipe: p.Recipe, coding: p.coding, costs: p.Costs, x: p.X, values: p.Values, shape: Shape{Transform: Transform{Name: "none", Scale: 1, Mean: 50}, Noise: "normal"}, summary: Summary{Rows: p.Len(), Version: "1"}}
		if err := p.induced(t.Context(), m, &terms{y: m.shape.Transform.all(p.Values), family: normalNoise{1}}, nil); err != nil {
			t.Fatal(err)
		}
		if (most == 1) != (m.uneven.spread == nil) || m.uneven.tails != nil {
			t.Fatalf("noise up to %v times as large: %v", most, m.Results())
		}
		again, off := saved(t, m).predict(p.X), 0.0
		for i, d := range m.predict(p.X) {
			got := (d.Quantile(0.95) - d.Quantile(0.05)) / (2 * 1.6449)
			g := p.X.At(i, 0)
			off = max(off, math.Abs(math.Log(got/(math.Pow(most, g/3)/2))))
			if math.Abs(again[i].Quantile(0.9)-d.Quantile(0.9)) > 1e-12*d.Quantile(0.9) { // the logarithm of the noise is kept
				t.Fatal("another distribution once the model is read")
			}
		}
		// 600 rows of a group tell the standard deviation of its noise to 3 %, and what its mean is adds 1 %.
		if off > 0.12 {
			t.Errorf("noise up to %v times as large: standard deviations are off by a factor of e^%v", most, off)
		}
	}
}

// Counts and outcomes with long tails have effects too, and their noise is found beside these. Half of the variance of
// the counts is noise.
func TestEffectsOfCountsAndLongTails(t *testing.T) {
	for _, c := range []struct {
		name   string
		family Family
		draw   func(rng *rand.Rand, f float64) float64
		check  func(f Family) bool
	}{
		{"counts", negativeBinomial{3, 10}, func(rng *rand.Rand, f float64) float64 {
			gamma := 0.0 // of shape 4
			for range 4 {
				gamma += rng.ExpFloat64() / 4
			}
			return float64(poissonDraw(rng, math.Exp(3+0.6*f)*gamma))
		}, func(f Family) bool { s := f.(negativeBinomial).size; return s > 3 && s < 5.5 }},
		{"tails", studentNoise{1, 5}, func(rng *rand.Rand, f float64) float64 {
			z := 0.0
			for range 3 {
				x := rng.NormFloat64()
				z += x * x / 3
			}
			return 3*f + 0.5*rng.NormFloat64()/math.Sqrt(z)
		}, func(f Family) bool { d := f.(studentNoise).df; return d > 2 && d < 5 }},
	} {
		rng := rand.New(rand.NewPCG(8, 1))
		var cell [6][6]float64
		for g := range cell {
			for h := range cell[g] {
				cell[g][h] = rng.NormFloat64()
			}
		}
		data := tableOf(t, c.name, "a,b,x,y", 1200, func(i int) string {
			g, h, x := rng.IntN(6), rng.IntN(6), rng.Float64()
			return fmt.Sprintf("a%d,b%d,%.3f,%.6g", g, h, x, c.draw(rng, cell[g][h]))
		})
		o := lossep.Options{Kernel: "constant + effects(auto)", Seed: 1}
		o.Data.Target = "y"
		p, err := Prepare(data, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := &Model{recipe: p.Recipe, coding: p.coding, costs: p.Costs, shape: Shape{Transform: Transform{Name: "none", Scale: 1}, Noise: c.family.Name()}}
		if err := p.induced(t.Context(), m, &terms{y: p.Values, family: c.family}, nil); err != nil {
			t.Fatal(err)
		}
		if len(m.summary.Effects) == 0 || !c.check(m.family) {
			t.Errorf("%s: %v", c.name, m.Results())
		}
		loo := m.summary.LeaveOneOut
		if loo == nil || math.Abs(loo.Coverage-0.9) > 0.03 || loo.Cost > 0.75*loo.Constant {
			t.Errorf("%s: left out %+v", c.name, loo)
		}
	}
}

// poissonDraw is a count of a mean, by arrivals of a unit rate.
func poissonDraw(rng *rand.Rand, mean float64) (n int) {
	for at := rng.ExpFloat64(); at < mean; at += rng.ExpFloat64() {
		n++
	}
	return n
}
