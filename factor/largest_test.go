package factor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/normal"
)

// contest is values of outcomes, one of which occurred.
type contest struct {
	y    int
	m, v []float64
	// noise is the probability that the outcome was noted down wrongly.
	noise float64
}

func (c contest) term() factor.Multi {
	if c.noise == 0 {
		return factor.Largest{Outcome: c.y}
	}
	return factor.RobustLargest{Largest: factor.Largest{Outcome: c.y}, Noise: c.noise}
}

// robustContests are contests of which every second one has noise.
func robustContests(n int, seed uint64) []contest {
	all := contests(n, seed)
	for i := range all {
		all[i].noise = []float64{0, 0.01, 0, 0.3}[i%4]
	}
	return all
}

// contests are ordinary ones, and those in which scales or means are far apart.
func contests(n int, seed uint64) (all []contest) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		c := contest{m: make([]float64, 2+rng.IntN(9))}
		c.v, c.y = make([]float64, len(c.m)), rng.IntN(len(c.m))
		spread, scale := math.Exp(3*rng.Float64()), math.Exp(6*rng.Float64()-2)
		for k := range c.m {
			c.m[k], c.v[k] = spread*rng.NormFloat64(), scale*math.Exp(2*rng.NormFloat64())
		}
		all = append(all, c)
	}
	return all
}

func (c contest) logMean() (l float64, d1, d2 []float64) {
	d1, d2 = make([]float64, len(c.m)), make([]float64, len(c.m))
	return c.term().LogMean(c.m, c.v, d1, d2), d1, d2
}

// brute integrates by equal steps, a hundredth of the smallest standard deviation, which for
// such an integrand is right to rounding.
func (c contest) brute() (logZ float64, d1, d2 []float64) {
	n := len(c.m)
	s, least := make([]float64, n), math.Inf(1)
	for k, v := range c.v {
		s[k] = math.Sqrt(1 + v)
		least = min(least, s[k])
	}
	from, to := c.m[c.y]-40*s[c.y], c.m[c.y]+40*s[c.y]
	for k, m := range c.m {
		to = max(to, m+12*s[k])
	}
	h := least / 20
	var logs []float64
	peak := math.Inf(-1)
	steps := int((to - from) / h)
	for k := range steps {
		x := from + float64(k)*h
		l := normal.LogDensity((x-c.m[c.y])/s[c.y]) - math.Log(s[c.y])
		for j := range n {
			if j != c.y {
				l += normal.LogCDF((x - c.m[j]) / s[j])
			}
		}
		logs = append(logs, l)
		peak = max(peak, l)
	}
	d1, d2 = make([]float64, n), make([]float64, n)
	z := 0.0
	for k, l := range logs {
		if l < peak-45 {
			continue
		}
		x, w := from+float64(k)*h, math.Exp(l-peak)
		z += w
		for j := range n {
			e := (x - c.m[j]) / s[j]
			if j == c.y {
				d1[j] += w * e / s[j]
				d2[j] += w * (e*e - 1) / (s[j] * s[j])
				continue
			}
			rho := normal.Hazard(e)
			d1[j] -= w * rho / s[j]
			d2[j] -= w * e * rho / (s[j] * s[j])
		}
	}
	for j := range n {
		d1[j] /= z
		d2[j] = d2[j]/z - d1[j]*d1[j]
	}
	return peak + math.Log(z*h), d1, d2
}

func TestLargestAgainstEqualSteps(t *testing.T) {
	for i, c := range contests(200, 1) {
		l, d1, d2 := c.logMean()
		want, e1, e2 := c.brute()
		if !alike(l, want, 1e-9) {
			t.Errorf("contest %d: log Z is %v, and %v by equal steps", i, l, want)
		}
		for k := range d1 {
			scale := 1 / math.Sqrt(1+c.v[k])
			// Second derivatives of the reference lose what the square of the first has.
			if !alike(d1[k]/scale, e1[k]/scale, 1e-8) || !alike(d2[k]/(scale*scale), e2[k]/(scale*scale), 1e-8+1e-12*e1[k]*e1[k]/(scale*scale)) {
				t.Errorf("contest %d (%v): derivatives in value %d are %v and %v, and %v and %v by equal steps", i, c, k, d1[k], d2[k], e1[k], e2[k])
			}
		}
	}
}

// alike compares two numbers, relatively where they are large.
func alike(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*(1+math.Abs(b))
}

// TestLargestOfTwo holds the closed form: the difference of two values is a normal.
func TestLargestOfTwo(t *testing.T) {
	for _, far := range []float64{0, 0.3, 5, 40, 1e3, 1e4, 1e8} {
		for _, v := range [][]float64{{0, 0}, {3, 0.2}, {0, 1e4}, {1e4, 0}, {1e-9, 1e8}} {
			for _, sign := range []float64{1, -1} {
				c := contest{y: 1, m: []float64{0.25, 0.25 + sign*far}, v: v}
				l, d1, d2 := c.logMean()
				s := math.Sqrt(2 + v[0] + v[1])
				want, first, second := normal.LogCDFDerivatives(sign * far / s)
				tolerance := 1e-8
				if far == 1e8 { // logarithms of 1e12, of which rounding leaves little after the point
					tolerance = 1
				}
				if !alike(l, want, 1e-9) || !alike(d1[1]*s, first, min(tolerance, 1e-6)) || !alike(-d1[0]*s, first, min(tolerance, 1e-6)) ||
					!alike(d2[1]*s*s, second, tolerance) || !alike(d2[0]*s*s, second, tolerance) {
					t.Errorf("%v: %v, %v, %v, and in closed form %v, %v, %v", c, l, d1, d2, want, first/s, second/(s*s))
				}
			}
		}
	}
}

// TestRobustLargest holds it to its definition, by which the terms of all outcomes add up to one, and that of two values to
// the term of two outcomes.
func TestRobustLargest(t *testing.T) {
	for i, c := range contests(100, 6) {
		n := len(c.m)
		l, _, _ := c.logMean()
		c.noise = 0.4 / float64(1+i%7)
		got, d1, d2 := c.logMean()
		p := math.Exp(l)
		if want := math.Log((1-c.noise)*p + c.noise*(1-p)/float64(n-1)); !alike(got, want, 1e-14) {
			t.Errorf("contest %d: %v, want %v", i, got, want)
		}
		sum := 0.0
		for y := range n {
			one := c
			one.y = y
			l, _, _ := one.logMean()
			sum += math.Exp(l)
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("contest %d: the probabilities add up to 1 + %v", i, sum-1)
		}
		if n > 2 {
			continue
		}
		want, first, second := factor.NewRobustProbit(c.y, c.noise).LogMean((c.m[1]-c.m[0])/math.Sqrt2, (c.v[0]+c.v[1])/2)
		if !alike(got, want, 1e-9) || !alike(d1[1], first/math.Sqrt2, 1e-8) || !alike(d1[0], -first/math.Sqrt2, 1e-8) ||
			!alike(d2[0], second/2, 1e-8) || !alike(d2[1], second/2, 1e-8) {
			t.Errorf("contest %d: %v, %v, %v, and of two outcomes %v, %v, %v", i, got, d1, d2, want, first, second)
		}
	}
}

func TestLargestDerivatives(t *testing.T) {
	for i, c := range robustContests(60, 2) {
		_, d1, d2 := c.logMean()
		for k := range c.m {
			h := 1e-4 * math.Sqrt(1+c.v[k])
			moved := func(by float64) float64 {
				m := c
				m.m = append([]float64(nil), c.m...)
				m.m[k] += by
				l, _, _ := m.logMean()
				return l
			}
			up, at, down := moved(h), moved(0), moved(-h)
			// Differences of logarithms that are right to 1e-11 or so, relatively.
			rounding := 1e-11 * (1 + math.Abs(at))
			if got := (up - down) / (2 * h); math.Abs(got-d1[k]) > 1e-6*(1+math.Abs(d1[k]))+rounding/h {
				t.Errorf("contest %d, value %d: the slope is %v, and %v by differences", i, k, d1[k], got)
			}
			if got := (up - 2*at + down) / (h * h); math.Abs(got-d2[k]) > 1e-4/(h*h)*1e-8+4*rounding/(h*h) {
				t.Errorf("contest %d, value %d: the curvature is %v, and %v by differences", i, k, d2[k], got)
			}
		}
	}
}

func TestLargestProbabilities(t *testing.T) {
	for i, c := range contests(300, 3) {
		p := make([]float64, len(c.m))
		factor.OutcomeProbabilities(p, c.m, c.v)
		sum := 0.0
		for k := range p {
			sum += p[k]
			l, _, _ := contest{y: k, m: c.m, v: c.v}.logMean()
			if want := math.Exp(l); math.Abs(p[k]-want) > 1e-10 || l > -600 && want < 1e-13 && !alike(math.Log(p[k]), l, 1e-8) {
				t.Errorf("contest %d, outcome %d: the probability is %v, and %v by its own integral", i, k, p[k], math.Exp(l))
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("contest %d: the probabilities add up to 1 + %v", i, sum-1)
		}
	}
}

func TestLargestPermuted(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	for i, c := range contests(40, 4) {
		l, d1, d2 := c.logMean()
		order := rng.Perm(len(c.m))
		p := contest{m: make([]float64, len(c.m)), v: make([]float64, len(c.m))}
		for k, from := range order {
			p.m[k], p.v[k] = c.m[from], c.v[from]
			if from == c.y {
				p.y = k
			}
		}
		again, e1, e2 := p.logMean()
		if !alike(again, l, 1e-12) {
			t.Errorf("contest %d: %v, and %v in another order", i, l, again)
		}
		for k, from := range order {
			// Sums in another order round otherwise.
			if !alike(e1[k], d1[from], 1e-10) || !alike(e2[k], d2[from], 1e-10) {
				t.Errorf("contest %d: value %d has other derivatives in another order", i, from)
			}
		}
	}
}

// TestLargestFar asks about values that no data lead to.
func TestLargestFar(t *testing.T) {
	for _, far := range []float64{1e2, 1e4, 1e6, 1e10, 1e30} {
		for _, v := range []float64{0, 1, 1e8, 1e20} {
			for _, other := range []float64{0, 1, 1e8} {
				for y := range 3 {
					c := contest{y: y, m: []float64{0, far, -far}, v: []float64{v, other, v}}
					l, d1, d2 := c.logMean()
					if math.IsNaN(l) || l > 1e-10 {
						t.Errorf("%v: log Z is %v", c, l)
					}
					for k := range d1 {
						shrink := 1 + c.v[k]*d2[k]
						if math.IsNaN(d1[k]) || !(shrink > -1e-7) || d2[k] > 1e-8 {
							t.Errorf("%v: derivatives %v, %v", c, d1, d2)
						}
					}
				}
				p := make([]float64, 3)
				factor.OutcomeProbabilities(p, []float64{0, far, -far}, []float64{v, other, v})
				if sum := p[0] + p[1] + p[2]; !(math.Abs(sum-1) < 1e-9) {
					t.Errorf("far %v, v %v, %v: probabilities %v", far, v, other, p)
				}
			}
		}
	}
	if l, _, _ := (contest{m: []float64{0, math.Inf(1)}, v: []float64{1, 1}}).logMean(); !math.IsNaN(l) {
		t.Errorf("log Z of an infinite value is %v", l)
	}
}

// TestLargestBound holds the bound below the mean of the logarithm, by draws, and its
// derivatives to differences of it.
func TestLargestBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	for i, c := range robustContests(20, 5) {
		d1, d2 := make([]float64, len(c.m)), make([]float64, len(c.m))
		bound := func(m, v []float64) float64 {
			e1, e2 := make([]float64, len(m)), make([]float64, len(m))
			return c.term().MeanLog(m, v, e1, e2)
		}
		b := c.term().MeanLog(c.m, c.v, d1, d2)
		sum, square, zero := 0.0, 0.0, make([]float64, len(c.m))
		const draws = 4000
		for range draws {
			f := make([]float64, len(c.m))
			for k := range f {
				f[k] = c.m[k] + math.Sqrt(c.v[k])*rng.NormFloat64()
			}
			l, _, _ := contest{c.y, f, zero, c.noise}.logMean()
			sum += l
			square += l * l
		}
		mean := sum / draws
		if sd := math.Sqrt(max(0, square/draws-mean*mean) / draws); b > mean+5*sd {
			t.Errorf("contest %d: the bound %v is above the mean %v ± %v", i, b, mean, sd)
		}
		for k := range c.m {
			h := 1e-4 * math.Sqrt(1+c.v[k])
			up, down := append([]float64(nil), c.m...), append([]float64(nil), c.m...)
			up[k] += h
			down[k] -= h
			if got := (bound(up, c.v) - bound(down, c.v)) / (2 * h); math.Abs(got-d1[k]) > 1e-5*(1+math.Abs(d1[k])) {
				t.Errorf("contest %d, value %d: the slope of the bound is %v, and %v by differences", i, k, d1[k], got)
			}
			wide, slim := append([]float64(nil), c.v...), append([]float64(nil), c.v...)
			by := 1e-4 * c.v[k]
			wide[k] += by
			slim[k] -= by
			if got := (bound(c.m, wide) - bound(c.m, slim)) / by; math.Abs(got-d2[k]) > 1e-4*(math.Abs(d2[k])+1e-4) {
				t.Errorf("contest %d, value %d: twice the slope in the variance is %v, and %v by differences", i, k, d2[k], got)
			}
		}
	}
}

func BenchmarkLargest(b *testing.B) {
	for _, n := range []int{3, 10} {
		m, v, d1, d2 := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for k := range m {
			m[k], v[k] = float64(k%3), 1+0.1*float64(k)
		}
		b.Run(fmt.Sprint("LogMean/", n), func(b *testing.B) {
			for b.Loop() {
				factor.Largest{Outcome: 1}.LogMean(m, v, d1, d2)
			}
		})
		b.Run(fmt.Sprint("MeanLog/", n), func(b *testing.B) {
			for b.Loop() {
				factor.Largest{Outcome: 1}.MeanLog(m, v, d1, d2)
			}
		})
		b.Run(fmt.Sprint("Probabilities/", n), func(b *testing.B) {
			for b.Loop() {
				factor.OutcomeProbabilities(d1, m, v)
			}
		})
	}
}
