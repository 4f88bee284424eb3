package factor

import (
	"math"

	"github.com/lossep/lossep/internal/finite"
)

// Poisson is the term of a count Y with mean e^f: t(f) = e^(Yf − e^f)/Y!.
type Poisson struct {
	Y float64
}

// Log implements Factor. With x = f − log Y it is −Y(eˣ − 1 − x) and what the most probable mean
// has, so that large counts keep their digits.
func (p Poisson) Log(f float64) (l, d1, d2 float64) {
	if p.Y == 0 {
		rate := math.Exp(f)
		return -rate, -rate, -rate
	}
	x := f - math.Log(p.Y)
	more := math.Expm1(x)
	if math.IsInf(more, 1) {
		return math.Inf(-1), math.Inf(-1), math.Inf(-1)
	}
	return stirling(p.Y) - p.Y*(more-x), -p.Y * more, -p.Y * (1 + more)
}

// stirling is log(yʸe⁻ʸ/y!).
func stirling(y float64) float64 {
	if y < 100 {
		log, _ := math.Lgamma(y + 1)
		return y*math.Log(y) - y - log
	}
	return -0.5*(logTwoPi+math.Log(y)) - tail(y)
}

// tail is log Γ(z) beyond (z − ½)log z − z + ½log 2π, for z from 100 on.
func tail(z float64) float64 { return (1/12. - (1/360.-1/(1260*z*z))/(z*z)) / z }

// rising is log Γ(z + by)/Γ(z), which differences of large logarithms would lose.
func rising(z, by float64) float64 {
	if z < 100 {
		top, _ := math.Lgamma(z + by)
		bottom, _ := math.Lgamma(z)
		return top - bottom
	}
	return (z-0.5)*math.Log1p(by/z) + by*(math.Log(z+by)-1) + tail(z+by) - tail(z)
}

// LogMean implements Factor by quadrature.
func (p Poisson) LogMean(m, v float64) (l, d1, d2 float64) {
	at := math.Log(p.Y + 1)
	return averaged(p.Log, p.Y, m, v, feature{at, 1}, feature{at + 3, 1})
}

// MeanLog implements Factor: E e^f = e^(m + v/2).
func (p Poisson) MeanLog(m, v float64) (l, d1, d2 float64) {
	if v == 0 {
		return p.Log(m)
	}
	l, d1, d2 = p.Log(m + v/2)
	return l - p.Y*v/2, d1, d2
}

// Raise implements Raiser: the term of the count αY with the mean αe^f.
func (p Poisson) Raise(alpha float64) Factor {
	to, more := Poisson{alpha * p.Y}, 0.0
	if p.Y > 0 {
		more = alpha*stirling(p.Y) - stirling(to.Y)
	}
	return moved{to, math.Log(alpha), more}
}

// NegativeBinomial is the term of a count Y with mean e^f whose variance is larger than its mean:
// μ + μ²/Size, which is that of a Poisson count for Size → ∞.
type NegativeBinomial struct {
	Y, Size float64
}

// Log implements Factor. With p = e^f/(Size + e^f) the slope is Y(1 − p) − Size·p.
func (n NegativeBinomial) Log(f float64) (l, d1, d2 float64) {
	x := f - math.Log(n.Size)
	// log p and log(1 − p) without what the larger of both would round away.
	soft := math.Log1p(math.Exp(-math.Abs(x)))
	logP, logQ := min(x, 0)-soft, -max(x, 0)-soft
	p, q := math.Exp(logP), math.Exp(logQ)
	l = n.choose() + n.Size*logQ
	if n.Y > 0 {
		l += n.Y * logP
	}
	return l, n.Y*q - n.Size*p, -(n.Y + n.Size) * p * q
}

// choose is log Γ(Y + Size)/(Γ(Size)Y!), from the larger of both on.
func (n NegativeBinomial) choose() float64 {
	from, by := n.Size, n.Y
	last, _ := math.Lgamma(n.Y + 1)
	if n.Y+1 > n.Size {
		from, by = n.Y+1, n.Size-1
		last, _ = math.Lgamma(n.Size)
	}
	return rising(from, by) - last
}

// LogMean implements Factor by quadrature: log t is singular at log Size ± iπ.
func (n NegativeBinomial) LogMean(m, v float64) (l, d1, d2 float64) {
	at := math.Log(n.Y + 1)
	return averaged(n.Log, n.Y, m, v, feature{at, 1}, feature{at + 3, 1}, feature{math.Log(n.Size), 2})
}

// MeanLog implements Factor by quadrature.
func (n NegativeBinomial) MeanLog(m, v float64) (l, d1, d2 float64) {
	return expect(n.Log, m, v, feature{math.Log(n.Size), math.Pi})
}

// MeanLogBy is MeanLog where the mean of the logarithm of the sigmoid is given: log(1 − p) is that of log Size − f.
func (n NegativeBinomial) MeanLogBy(logit func(m, v float64) (l, d1, d2 float64), m, v float64) (l, d1, d2 float64) {
	x := m - math.Log(n.Size)
	q, q1, q2 := logit(-x, v)
	return n.choose() + n.Y*x + (n.Y+n.Size)*q, n.Y - (n.Y+n.Size)*q1, (n.Y + n.Size) * q2
}

// Raise implements Raiser: the term of the count αY with the mean αe^f and the size αSize.
func (n NegativeBinomial) Raise(alpha float64) Factor {
	to, more := NegativeBinomial{alpha * n.Y, alpha * n.Size}, 0.0
	if n.Y > 0 {
		more = alpha*peak(n, math.Log(n.Y)) - peak(to, math.Log(to.Y))
	}
	return moved{to, math.Log(alpha), more}
}

// averaged is log E t(f) of a count y, whose log t is concave and has its maximum at log y.
//
// The integrand has one maximum, between m and log y. Panels reach to where it has fallen by
// e^−42 on both sides, and are short beside it and beside the features of t.
func averaged(log logFunc, y, m, v float64, where ...feature) (l, d1, d2 float64) {
	if !finite.All(m, v) {
		return noNumbers()
	}
	if sd := math.Sqrt(v); m-sd == m || m+sd == m {
		return log(m)
	}
	lo, hi := min(m, math.Log(y)), max(m, math.Log(y))
	if y == 0 { // slopes are not below −e^f
		lo, hi = min(0, m-v), m
	}
	a := average{log: log, m: m, v: v}
	if a.climb(lo, hi); math.IsInf(a.top, 0) || math.IsNaN(a.top) {
		return math.Inf(-1), 0, 0 // where all of it is too small for a number
	}
	a.where = append(where, feature{a.at, 2 * a.width})
	if math.Sqrt(v) < widestLog {
		a.panels(-a.reach(-1), a.reach(1))
	}
	return a.result()
}

// widestLog is the standard deviation of a logarithm beyond which nobody can mean it.
const widestLog = 1e12

// average integrates t(f)N(f; m, v) beside its maximum.
type average struct {
	log   logFunc
	m, v  float64
	where []feature

	at, width float64 // of the maximum
	top       float64 // log t there
	centre    float64 // and its slope

	sum, slope, square, bend float64 // of the weight, times log t′, (log t′ − centre)² and log t″
	first, second            float64 // and times the distance and its square
}

// climb finds the maximum between lo and hi, where the slope falls through zero: by Newton's
// steps, every third of which halves the range, as an exponential may make them as short as one.
func (a *average) climb(lo, hi float64) {
	f := max(lo, min(hi, a.m))
	for k := range 200 {
		_, d1, d2 := a.log(f)
		slope := d1 - (f-a.m)/a.v
		if slope > 0 {
			lo = f
		} else {
			hi = f
		}
		next := f - slope/(d2-1/a.v)
		if !(next >= lo && next <= hi) || k%3 == 2 && hi-lo > 1 {
			next = lo + (hi-lo)/2
		}
		if done := math.Abs(next-f) <= 1e-12*(1+math.Abs(f)); done {
			f = next
			break
		}
		f = next
	}
	var d2 float64
	a.top, a.centre, d2 = a.log(f)
	a.at, a.width = f, 1/math.Sqrt(1/a.v-d2)
}

// fall is by how much the logarithm of the integrand is lower at a distance from the maximum.
func (a *average) fall(d, l float64) float64 {
	return a.top - l + d*((a.at-a.m)/a.v+0.5*d/a.v)
}

// reach is how far the integrand counts in a direction: no farther than the Gaussian alone, which
// has fallen by e^−42 at 9.2 standard deviations.
func (a *average) reach(sign float64) float64 {
	most := 9.2 * math.Sqrt(a.v)
	for d := 6 * a.width; d > 0 && d < most; d *= 1.3 {
		if l, _, _ := a.log(a.at + sign*d); !(a.fall(sign*d, l) < 42) {
			return d
		}
	}
	return most
}

// result is log E t(f) and its derivatives from what panels add up.
func (a *average) result() (l, d1, d2 float64) {
	sd, distance := math.Sqrt(a.v), (a.at-a.m)/math.Sqrt(a.v)
	l = a.top - 0.5*distance*distance
	if !(a.sum > 0) || math.IsInf(a.sum, 0) { // Laplace's approximation, where no float64 resolves it
		return l + math.Log(a.width/sd), 0, 0
	}
	d1 = a.slope / a.sum
	l += math.Log(a.sum/sd) - 0.5*logTwoPi
	// The variance of the slope about its mean, and the mean curvature.
	return l, d1, a.square/a.sum - (a.slope/a.sum-a.centre)*(a.slope/a.sum-a.centre) + a.bend/a.sum
}

// panels halves the range of distances until panels are short, and sums over them.
func (a *average) panels(lo, hi float64) {
	mid, half := (lo+hi)/2, (hi-lo)/2
	short := half <= widestHalf*math.Sqrt(a.v)
	for _, w := range a.where {
		short = short && !(featuresPerHalf*half > math.Hypot(a.at-w.at+mid, w.scale))
	}
	if !short && lo < mid && mid < hi {
		a.panels(lo, mid)
		a.panels(mid, hi)
		return
	}
	for i, x := range panelX {
		d := mid + half*x
		l, d1, d2 := a.log(a.at + d)
		w := panelW[i] * half * math.Exp(-a.fall(d, l))
		if !(w > 0) {
			continue
		}
		a.sum += w
		a.slope += w * d1
		a.square += w * (d1 - a.centre) * (d1 - a.centre)
		a.bend += w * d2
		a.first += w * d
		a.second += w * d * d
	}
}
