package effects

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/normal"
)

// A pass asks every term for the mean of its logarithm. Terms find that to the last digit by
// some two hundred evaluations of their logarithm; here it is found to six digits or more, a hundred times
// faster, by few nodes and a table of the logarithm's Taylor series.

// series are a logarithm and its derivatives at a point of the grid.
type series [6]float64

// The grid of a table. Between its points a series is used over 1/64 on either side, where the
// terms left out of the second derivative are below 1e-8.
const (
	gridLow   = -12.0
	gridHigh  = 9.0
	gridSteps = 32 // a unit
)

// tabulated is log t of a term whose label is +1.
type tabulated struct {
	series []series
	exact  func(f float64) (l, d1, d2 float64)
}

func tabulate(exact func(f float64) (l, d1, d2 float64), at func(f float64) series) *tabulated {
	t := &tabulated{exact: exact}
	for i := range int((gridHigh-gridLow)*gridSteps) + 1 {
		s := at(gridLow + float64(i)/gridSteps)
		for k, factorial := 2, 1.0; k < len(s); k++ {
			factorial *= float64(k)
			s[k] /= factorial
		}
		t.series = append(t.series, s)
	}
	return t
}

var (
	tabulatedProbit = tabulate(normal.LogCDFDerivatives, probitSeries)
	tabulatedLogit  = tabulate(factor.NewLogit(1).Log, logitSeries)
)

// probitSeries are the derivatives of log Φ, from ρ′ = −ρ(x + ρ).
func probitSeries(x float64) series {
	l, r, r1 := normal.LogCDFDerivatives(x)
	sum := r // x + ρ, without cancellation
	if r > 0 {
		sum = -r1 / r
	}
	r2 := -r1*sum - r*(1+r1)
	r3 := -r2*sum - 2*r1*(1+r1) - r*r2
	r4 := -r3*sum - 3*r2*(1+r1) - 3*r1*r2 - r*r3
	return series{l, r, r1, r2, r3, r4}
}

// logitSeries are the derivatives of log σ; with p = σ(x) and w = p(1 − p) they are 1 − p, −w,
// −w(1 − 2p) and so on.
func logitSeries(x float64) series {
	l, q, d2 := factor.NewLogit(1).Log(x)
	w, s := -d2, 2*q-1 // 1 − 2p
	return series{l, q, -w, -w * s, -w * (s*s - 2*w), -w * s * (s*s - 8*w)}
}

// at is the logarithm and its derivatives.
func (t *tabulated) at(f float64) (l, d1, d2 float64) {
	place := (f - gridLow) * gridSteps
	if !(place >= 0 && place < (gridHigh-gridLow)*gridSteps) {
		return t.exact(f)
	}
	i := int(place + 0.5)
	u := f - (gridLow + float64(i)*(1.0/gridSteps))
	s := &t.series[i]
	l = s[0] + u*(s[1]+u*(s[2]+u*(s[3]+u*(s[4]+u*s[5]))))
	d1 = s[1] + u*(2*s[2]+u*(3*s[3]+u*(4*s[4]+u*5*s[5])))
	d2 = 2*s[2] + u*(6*s[3]+u*(12*s[4]+u*20*s[5]))
	return l, d1, d2
}

// hermite is a Gauss–Hermite rule for N(0, 1).
type hermite struct {
	most float64 // variance up to which it is used
	x, w []float64
}

// analytic is the distance ρ from the real line within which the logarithms of Φ and of the sigmoid are analytic.
const analytic = 2.8

// A rule with k nodes is off by about k!(v/ρ²)ᵏ: below 1e-6 up to these variances.
var rules = func() (all []hermite) {
	for _, r := range []struct {
		nodes int
		most  float64
	}{{3, 0.02}, {5, 0.12}, {7, 0.28}, {9, 0.4}} {
		x, w := make([]float64, r.nodes), make([]float64, r.nodes)
		quad.Hermite{}.FixedLocations(x, w, math.Inf(-1), math.Inf(1))
		for i := range x {
			w[i] /= math.Sqrt(math.Pi) // those of the rule are for exp(−x²)
			x[i] *= math.Sqrt2
		}
		all = append(all, hermite{r.most, x, w})
	}
	return all
}()

// meanLog is E log t(f), f ~ N(m, v), and its derivatives in m.
func meanLog(t factor.Factor, m, v float64) (l, d1, d2 float64) {
	table, sign := tabulatedProbit, 1.0
	switch t := t.(type) {
	case factor.Probit:
		sign = t.Y
	case factor.Logit:
		table, sign = tabulatedLogit, t.Y
	case factor.StudentT:
		return meanOf(t.Log, m, v, t.Scale*math.Sqrt(t.DF))
	case byLogit:
		return t.MeanLogBy(tabulatedLogit.mean, m, v)
	default:
		return t.MeanLog(m, v)
	}
	l, d1, d2 = table.mean(sign*m, v)
	return l, sign * d1, d2
}

// byLogit are terms whose mean logarithm follows from that of the sigmoid.
type byLogit interface {
	MeanLogBy(logit func(m, v float64) (l, d1, d2 float64), m, v float64) (l, d1, d2 float64)
}

// byProbit are terms on several values whose bound follows from mean logarithms of Φ, to a tolerance.
type byProbit interface {
	MeanLogBy(probit func(m, v float64) (l, d1, d2 float64), tolerance float64, m, v, d1, d2 []float64) float64
}

// jointMeanLog is E log t(f) of a term on several values, or a bound on it, with its derivatives.
func jointMeanLog(t factor.Multi, m, v, d1, d2 []float64) float64 {
	if of, ok := t.(byProbit); ok {
		return of.MeanLogBy(tabulatedProbit.mean, 1e-4, m, v, d1, d2)
	}
	return t.MeanLog(m, v, d1, d2)
}

func (t *tabulated) mean(m, v float64) (l, d1, d2 float64) {
	return meanOf(t.at, m, v, analytic)
}

// meanOf is the mean of a function at N(m, v) that is analytic within a distance of the real line.
func meanOf(at func(f float64) (l, d1, d2 float64), m, v, distance float64) (l, d1, d2 float64) {
	sd, ratio := math.Sqrt(v), analytic/distance
	for i := range rules {
		r := &rules[i]
		if v*ratio*ratio > r.most {
			continue
		}
		for k, x := range r.x {
			a, b, c := at(m + sd*x)
			w := r.w[k]
			l += w * a
			d1 += w * b
			d2 += w * c
		}
		return l, d1, d2
	}
	return wide(at, m, sd, distance)
}

// wide is mean by the trapezoidal rule with steps of h standard deviations, which is off by
// exp(y²/2 − 2πy/h) for every y up to the distance of the nearest singularity over sd: below 1e-6.
func wide(at func(f float64) (l, d1, d2 float64), m, sd, distance float64) (l, d1, d2 float64) {
	y := min(distance/sd, 5)
	h := min(1, 2*math.Pi*y/(16+y*y/2))
	if !(h > 1e-3) { // too wide to matter, or no number
		return at(m)
	}
	// e^{−z²/2} from one node to the next: ratios that fall by a constant factor.
	ratio := math.Exp(-h * h / 2)
	factor, weight := ratio*ratio, h/math.Sqrt(2*math.Pi)
	l, d1, d2 = at(m)
	l, d1, d2 = weight*l, weight*d1, weight*d2
	for z := h; z < 6; z += h {
		weight *= ratio
		ratio *= factor
		a, b, c := at(m + sd*z)
		p, q, r := at(m - sd*z)
		l += weight * (a + p)
		d1 += weight * (b + q)
		d2 += weight * (c + r)
	}
	return l, d1, d2
}
