package factor

import (
	"math"

	"github.com/lossep/lossep/internal/finite"
)

// Raiser is a Factor whose powers have a form of their own.
type Raiser interface {
	Factor
	Raise(alpha float64) Factor
}

// Raise is the term tᵅ, α > 0: what power expectation propagation exchanges at a time, and a case
// that counts less than once.
func Raise(t Factor, alpha float64) Factor {
	if r, ok := t.(Raiser); ok {
		return r.Raise(alpha)
	}
	return Power{Of: t, Alpha: alpha}
}

// moved is the term e^more·t(f + by).
type moved struct {
	of       Factor
	by, more float64
}

func (t moved) Log(f float64) (l, d1, d2 float64) { return t.raised(t.of.Log(f + t.by)) }

func (t moved) LogMean(m, v float64) (l, d1, d2 float64) { return t.raised(t.of.LogMean(m+t.by, v)) }

func (t moved) MeanLog(m, v float64) (l, d1, d2 float64) { return t.raised(t.of.MeanLog(m+t.by, v)) }

func (t moved) raised(l, d1, d2 float64) (_, _, _ float64) { return l + t.more, d1, d2 }

// peak is log t(f), without derivatives.
func peak(t Factor, f float64) float64 {
	l, _, _ := t.Log(f)
	return l
}

// Power is the term tᵅ, α ≥ 0, for a t that bends near zero over about one, as the
// probability of an outcome does.
type Power struct {
	Of    Factor
	Alpha float64
}

// Log implements Factor.
func (p Power) Log(f float64) (l, d1, d2 float64) { return p.scaled(p.Of.Log(f)) }

// MeanLog implements Factor.
func (p Power) MeanLog(m, v float64) (l, d1, d2 float64) { return p.scaled(p.Of.MeanLog(m, v)) }

func (p Power) scaled(l, d1, d2 float64) (_, _, _ float64) {
	return p.Alpha * l, p.Alpha * d1, p.Alpha * d2
}

// LogMean implements Factor by quadrature.
func (p Power) LogMean(m, v float64) (l, d1, d2 float64) {
	if p.Alpha == 1 {
		return p.Of.LogMean(m, v)
	}
	if !finite.All(m, v) {
		return noNumbers()
	}
	sd := math.Sqrt(v)
	if m-sd == m || m+sd == m {
		return p.Log(m)
	}
	if m >= 0 {
		return logMean(p.Log, m, v)
	}
	// The mirror image, so that what a term and its mirror image ask for is added up in
	// the same order.
	l, d1, d2 = logMean(func(f float64) (l, d1, d2 float64) {
		l, d1, d2 = p.Log(-f)
		return l, -d1, d2
	}, -m, v)
	return l, -d1, d2
}

// nearOne is the peak of an integrand below which E t itself is integrated, and not what
// it lacks to one.
const nearOne = -0.5

// logMean is log E t(f), f ~ N(m, v), and its derivatives in m. By the theorems of Bonnet
// and Price those of E t are E t·l′ and E t·(l″ + l′²) with l = log t.
func logMean(log logFunc, m, v float64) (l, d1, d2 float64) {
	sd := math.Sqrt(v)
	// The integrand, about its mode, is no wider than N(m, v), and may be narrower.
	mode, width := tiltedMode(log, m, v)
	peak, _, _ := log(mode)
	peak -= 0.5 * (mode - m) * (mode - m) / v
	s := integral{m: mode, sd: sd, log: func(f float64) (w, d1, d2 float64) {
		l, d1, d2 := log(f)
		z := (f - mode) / sd
		w = math.Exp(l - 0.5*(f-m)*(f-m)/v - peak + 0.5*z*z)
		return w, w * d1, w * (d2 + d1*d1)
	}}
	offset, reach := 0.0, tiltedReach
	if peak > nearOne { // what E t lacks to one keeps its digits
		mode, peak, offset, reach = m, 0, 1, panelReach
		s.m = m
		s.log = func(f float64) (w, d1, d2 float64) {
			l, d1, d2 := log(f)
			w = math.Expm1(l)
			return w, (1 + w) * d1, (1 + w) * (d2 + d1*d1)
		}
	}
	if sd <= widestEven {
		s.even(reach, min(firstSpacing, firstSpacing/sd))
	} else {
		s.panels(-panelReach, panelReach, []feature{{0, 1}, {mode, 2 * width}})
	}
	mean := s.d1 / (offset + s.l)
	l, d2 = peak+math.Log1p(s.l+(offset-1)), s.d2/(offset+s.l)-mean*mean
	if math.IsInf(l, 0) || math.IsNaN(l) || math.IsNaN(mean) || math.IsNaN(d2) {
		// So far out that the integrand is the Gaussian with the curvature at its mode.
		return peak + math.Log(width/sd), (mode - m) / v, (width*width/v - 1) / v
	}
	return l, mean, d2
}

const (
	// firstSpacing is that of nodes at first, in standard deviations and in units of f over
	// which t bends. It is halved at least once.
	firstSpacing = 0.6
	// tiltedReach is how many standard deviations are covered about the mode, which N(m, v)
	// times t leaves no slower than N(m, v) its mean: beyond lies less than 1e-18.
	tiltedReach = 9.0
	// widestEven is the standard deviation up to which evenly spaced nodes are fewer than
	// those of panels.
	widestEven = 8
)

// even integrates by evenly spaced nodes. For what is analytic and vanishes at both ends the
// error falls geometrically, so that half the spacing squares it: the spacing is halved until
// that changes nothing by more than the root of rounding.
func (s *integral) even(reach, dz float64) {
	const (
		changed  = 1e-7
		halvings = 10
	)
	n := math.Ceil(reach / dz)
	for k := -n; k <= n; k++ {
		s.add(s.m+s.sd*k*dz, k*dz, dz)
	}
	for range halvings {
		between := integral{log: s.log, m: s.m, sd: s.sd}
		for k := -n; k < n; k++ {
			z := (k + 0.5) * dz
			between.add(s.m+s.sd*z, z, dz)
		}
		done := math.Abs(between.l-s.l) <= changed*math.Abs(s.l) && math.Abs(between.d1-s.d1) <= changed*math.Abs(s.d1) &&
			math.Abs(between.d2-s.d2) <= changed*(math.Abs(s.d1)+math.Abs(s.d2))
		s.l, s.d1, s.d2 = (s.l+between.l)/2, (s.d1+between.d1)/2, (s.d2+between.d2)/2
		if done {
			return
		}
		dz, n = dz/2, 2*n
	}
}

// tiltedMode is where t(f)·N(f; m, v) is highest, by Newton's method kept within brackets,
// and the standard deviation of the Gaussian with the curvature there.
func tiltedMode(log logFunc, m, v float64) (at, width float64) {
	at, lo, hi := m, math.Inf(-1), math.Inf(1)
	for range 100 {
		_, d1, d2 := log(at)
		slope, curvature := d1-(at-m)/v, max(1/v-d2, 0.5/v)
		width = 1 / math.Sqrt(curvature)
		if slope > 0 {
			lo = at
		} else {
			hi = at
		}
		next := at + slope/curvature
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if !(math.Abs(next-at) > 1e-3*width) || math.IsInf(next, 0) {
			break
		}
		at = next
	}
	return at, width
}
