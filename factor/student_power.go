package factor

import (
	"math"

	"github.com/lossep/lossep/internal/finite"
)

// Raise implements Raiser.
func (t StudentT) Raise(alpha float64) Factor { return studentPower{t, alpha} }

// studentPower is tᵅ ∝ (1 + (Y − f)²/(DF·Scale²))⁻ᵃ, a = α(DF + 1)/2: a mixture of normals again, with
// weights that are no probabilities. With λ = Λ/(DF/2) and N⁰ a normal density over its peak,
//
//	(t(f)/t(Y))ᵅ = 1/Γ(a) ∫ Λᵃ e^−Λ N⁰(Y; f, Scale²/λ) d log Λ.
type studentPower struct {
	StudentT
	alpha float64
}

// Raise implements Raiser.
func (t studentPower) Raise(alpha float64) Factor { return studentPower{t.StudentT, t.alpha * alpha} }

// Log implements Factor.
func (t studentPower) Log(f float64) (l, d1, d2 float64) {
	l, d1, d2 = t.StudentT.Log(f)
	return t.alpha * l, t.alpha * d1, t.alpha * d2
}

// MeanLog implements Factor.
func (t studentPower) MeanLog(m, v float64) (l, d1, d2 float64) {
	l, d1, d2 = t.StudentT.MeanLog(m, v)
	return t.alpha * l, t.alpha * d1, t.alpha * d2
}

// LogMean implements Factor.
func (t studentPower) LogMean(m, v float64) (l, d1, d2 float64) {
	if t.alpha == 1 {
		return t.StudentT.LogMean(m, v)
	}
	if !finite.All(m, v) {
		return noNumbers()
	}
	if t.straight(t.Y-m, v) {
		return t.Log(m)
	}
	if t.alpha > 1 {
		return t.beside(m, v)
	}
	return t.mixed(t.Y-m, v)
}

// mixed is LogMean for a power below one, by the trapezoidal rule in log Λ as for t itself.
//
// To the left the integrand falls as slowly as Λᵃ. But it is nothing else there to e^−40, so that what the rule adds up
// from there on is a geometric series, and nodes are few for any power. Where E (t/t(Y))ᵅ is near one
// it is what it lacks to that which is added up, as its logarithm is of the order of α.
func (t studentPower) mixed(e, v float64) (l, d1, d2 float64) {
	half, a, wide := t.DF/2, t.alpha*(t.DF+1)/2, t.Scale*math.Sqrt(t.DF)
	outlier := -2 * math.Log(math.Hypot(1, math.Hypot(math.Sqrt(v), e)/wide))
	h, hi := t.spacing(), t.highest()+math.Log(half)
	lo := max(outlier-40, min(0, outlier+math.Log(a))-40/a-9/math.Sqrt(a))
	norm, _ := math.Lgamma(1 + a)
	norm = math.Log(h) - norm
	var room [nodesAtHand]scaled
	nodes := room[:0]
	lack, top, at := 0.0, math.Inf(-1), hi
	lambda, less := math.Exp(hi)/half, math.Exp(-h)
	for k := range int((hi-lo)/h) + 1 {
		at = hi - float64(k)*h
		noise := t.Scale * t.Scale / lambda
		w := v + noise
		weight, drop := norm+a*at-half*lambda, -0.5*(e/w*e+math.Log1p(v/noise))
		lack -= math.Exp(weight) * math.Expm1(drop)
		nodes = append(nodes, scaled{w, weight + drop})
		top = max(top, weight+drop)
		lambda *= less
	}
	l, d1, d2 = summed(nodes, e, top, math.Exp(norm+a*(at-h)-top)/-math.Expm1(-a*h))
	if l += math.Log(a); l > nearOne {
		l = math.Log1p(-a * lack)
	}
	return peak(t, t.Y) + l, d1, d2
}

// beside is LogMean for a power above one, by panels about the maxima of the integrand: with a large power the width of
// the mixture falls as its root, and so would the step of a rule in log Λ, over a range that an outlier makes long.
//
// With f = Y ± Scale·√DF·s the slope is zero where s + κs/(1 + s²) = δ, the distance of m in these units, κ = 2av/(DF·Scale²).
// The left side rises but for κ > 8 between the roots of (1 + s²)² = κ(s² − 1), so that there is one maximum, or one on either
// side of them. Measurements on both sides are the mirror image of one another, added up in the same order.
func (t studentPower) beside(m, v float64) (l, d1, d2 float64) {
	sign := math.Copysign(1, m-t.Y)
	m, t.Y = math.Abs(m-t.Y), 0
	wide := t.Scale * math.Sqrt(t.DF)
	kappa := t.alpha * (t.DF + 1) * (math.Sqrt(v) / wide) * (math.Sqrt(v) / wide)
	ranges := [][2]float64{{0, m}}
	if kappa > 8 && kappa <= math.MaxFloat64 {
		outer := math.Sqrt((kappa - 2 + math.Sqrt(kappa-8)*math.Sqrt(kappa)) / 2)
		inner := math.Sqrt(1+kappa) / outer
		left := func(s float64) float64 { return (s + kappa/(s+1/s)) * wide }
		ranges = ranges[:0]
		if left(inner) >= m {
			ranges = append(ranges, [2]float64{0, min(inner*wide, m)})
		}
		if left(outer) < m || len(ranges) == 0 {
			ranges = append(ranges, [2]float64{outer * wide, m})
		}
	}
	var best average
	var where []feature
	height := math.Inf(-1)
	for k, r := range ranges {
		a := average{log: t.Log, m: m, v: v}
		a.climb(r[0], r[1])
		ranges[k] = [2]float64{a.at - a.reach(-1), a.at + a.reach(1)}
		where = append(where, feature{a.at, 2 * a.width})
		if h := a.top - 0.5*(a.at-m)/v*(a.at-m); !(h <= height) {
			height, best = h, a
		}
	}
	if len(ranges) == 2 && ranges[0][1] >= ranges[1][0] {
		ranges = [][2]float64{{min(ranges[0][0], ranges[1][0]), max(ranges[0][1], ranges[1][1])}}
	}
	best.where = append(where, feature{0, wide})
	for _, r := range ranges {
		best.panels(r[0]-best.at, r[1]-best.at)
	}
	if l, d1, d2 = best.result(); best.width*best.width < v/2 {
		// Where t is the narrower of both the moments of f keep their digits, and the curvature is nearly −1/v.
		mean := best.first / best.sum
		d1, d2 = (best.at+mean-m)/v, ((best.second/best.sum-mean*mean)/v-1)/v
	}
	if math.IsNaN(l) || math.IsNaN(d1) || math.IsNaN(d2) {
		return math.Inf(-1), 0, 0 // where all of it is too small for a number
	}
	return l, sign * d1, d2
}
