package factor

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/lossep/lossep/internal/fault"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/normal"
)

// Multi is a positive function t of several values, such as those of the functions of all
// outcomes at a case, that are independent under what it is averaged over. Both questions
// write the first and second derivative in the mean of each value; there are no mixed ones.
type Multi interface {
	// LogMean is log E t(f), f_k ~ N(m_k, v_k), v_k ≥ 0.
	LogMean(m, v, d1, d2 []float64) float64
	// MeanLog is E log t(f), or a lower bound on it that has such derivatives; then d1 and
	// d2 are the derivatives of the bound in the mean and twice those in the variance.
	MeanLog(m, v, d1, d2 []float64) float64
}

// Differences is a Multi for which only the differences of the values count: t(f + u) = t(f)
// for a u that is the same for all.
type Differences interface {
	Multi
	OfDifferences()
}

// Largest is the term of the outcome with the largest value and noise (multinomial probit):
// t(f) = P(f_y + ε_y ≥ f_j + ε_j for all j) with independent ε ~ N(0, 1) and y the Outcome.
// With s² = 1 + v,
//
//	E t = ∫ N(x; m_y, s_y²) Π_{j≠y} Φ((x − m_j)/s_j) dx,
//
// a one-dimensional integral. Where the scales s are alike and E t is not small, equal steps of
// 0.4 of the smallest s give it to 1e-10, all Φ at once in vector registers (see equalSteps).
// Elsewhere panels do, with logarithms relative to the mode, so that no E t is too small: the
// integrand is log-concave, and its curvature falls with x, so that panels may become wider
// to the right.
type Largest struct {
	Outcome int
}

// OfDifferences implements Differences.
func (t Largest) OfDifferences() {}

const (
	largestNodes = 12
	// largestWidth is the width of a panel in standard deviations of a Gaussian with the
	// curvature at its left end. The error of the rule there is 8e-12. A Φ that is not yet one
	// there, to largestOne standard deviations, has to be followed by its own scale as well:
	// its derivatives are no wider.
	largestWidth = 4
	largestOne   = 7.5
	// largestDrop is how far below its mode the logarithm of an integrand is left out.
	largestDrop = 30
	// largestFar is the logarithm of a term at which rounding reaches the differences
	// between nodes. There the integrand is the Gaussian at its mode.
	largestFar = 1e9
	// mostPanels is never reached: an integrand has some five of them.
	mostPanels = 1000
)

var largestX, largestW = func() (x, w []float64) {
	x, w = make([]float64, largestNodes), make([]float64, largestNodes)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	return x, w
}()

// rivals are values in one place: log Φ of each at x, and its derivatives.
type rivals struct {
	m, s          []float64 // mean, seen from the largest, and standard deviation with the noise
	rho, second   []float64 // ρ and −ρ(z + ρ), with respect to z
	ref, squares  []float64
	d1, d2        []float64
	room          []float64
	x             []float64 // nodes of equalSteps
	below         []float64 // Φ there, value by value
	density       []float64
	before, after []float64 // products of Φ
}

var rivalsPool = sync.Pool{New: func() any { return new(rivals) }}

// set prepares for means and variances. It reports false where there are no such normals.
func (r *rivals) set(m, v []float64) bool {
	n := len(m)
	if len(r.room) < 8*n {
		r.room = make([]float64, 8*n)
	}
	part := func(k int) []float64 { return r.room[k*n : (k+1)*n : (k+1)*n] }
	r.m, r.s, r.rho, r.second, r.ref, r.squares, r.d1, r.d2 = part(0), part(1), part(2), part(3), part(4), part(5), part(6), part(7)
	largest := slices.Max(m)
	for c, x := range v {
		r.m[c], r.s[c] = m[c]-largest, math.Sqrt(1+x)
	}
	return finite.All(m...) && finite.All(r.s...)
}

// at is Σ log Φ((x − m_j)/s_j) over j ≠ y, with its first and second derivative.
func (r *rivals) at(x float64, y int) (l, d1, d2 float64) {
	for j, m := range r.m {
		if j == y {
			continue
		}
		one, first, second := normal.LogCDFDerivatives((x - m) / r.s[j])
		r.rho[j], r.second[j] = first, second
		l += one
		d1 += first / r.s[j]
		d2 += second / (r.s[j] * r.s[j])
	}
	return l, d1, d2
}

// integrand is the logarithm of what LogMean integrates, but for a constant, with derivatives.
func (r *rivals) integrand(x float64, y int) (l, d1, d2 float64) {
	l, d1, d2 = r.at(x, y)
	z := (x - r.m[y]) / r.s[y]
	return l - 0.5*z*z, d1 - z/r.s[y], d2 - 1/(r.s[y]*r.s[y])
}

// mode is where the integrand is largest. Its slope is convex and falls, and is not negative
// at m_y, so that Newton's method goes up to the mode from there and never beyond.
func (r *rivals) mode(y int) (at, peak, curvature float64) {
	at = r.m[y]
	for range 100 {
		l, d1, d2 := r.integrand(at, y)
		peak, curvature = l, -d2
		next := at + d1/curvature
		if !(next-at > 0.02/math.Sqrt(curvature)) {
			break
		}
		at = next
	}
	return at, peak, curvature
}

// left is a place left of the mode where a concave function that rises there has fallen to
// less than floor, and not much less, from one that lies further left: Newton's method from
// there never comes to where it is higher.
func left(of func(x float64) (l, d1, d2 float64), from, floor float64) float64 {
	for range 200 {
		l, d1, _ := of(from)
		if !(l < floor-3) {
			break
		}
		next := from + (floor-l)/d1
		if !(next > from) {
			break
		}
		from = next
	}
	return from
}

// width is that of the panel that begins at x, where the slope and the curvature are given. Where
// the integrand falls like an exponential it is no more than twelve of its lengths, which twelve
// nodes give to 8e-12 as well.
func (r *rivals) width(x, slope, curvature float64) float64 {
	width := largestWidth / math.Sqrt(curvature)
	if slope < 0 {
		width = min(width, -12/slope)
	}
	for j, m := range r.m {
		if x-m < largestOne*r.s[j] {
			width = min(width, largestWidth*r.s[j])
		}
	}
	return width
}

// LogMean implements Multi. With λ_j = N(z_j)/Φ(z_j) the logarithm of the integrand has the
// derivatives −λ_j/s_j in m_j, and in m_y, when x moves with it, Σ λ_j/s_j; the second
// derivative of log E t is the mean of theirs plus the variance of the first, which keeps its
// digits wherever the outcome is, from certain to impossible.
func (t Largest) LogMean(m, v, d1, d2 []float64) float64 {
	fault.At(fault.Factor)
	r := rivalsPool.Get().(*rivals)
	defer rivalsPool.Put(r)
	y := t.Outcome
	if !r.set(m, v) {
		return noTerm(d1, d2)
	}
	if l, ok := r.equalSteps(y, d1, d2); ok {
		return l
	}
	mode, peak, curvature := r.mode(y)
	_, slope, bend := r.at(mode, y)
	ref, sq := r.ref, r.squares
	for c := range m {
		ref[c] = -r.rho[c] / r.s[c]
	}
	ref[y] = slope
	if !(peak > -largestFar) {
		return t.far(r, peak, curvature, ref, bend, d1, d2)
	}
	of := func(x float64) (float64, float64, float64) { return r.integrand(x, y) }
	from := left(of, mode-math.Sqrt(2*largestDrop/curvature), peak-largestDrop)
	clear(d1)
	clear(d2)
	clear(sq)
	total := 0.0
	for range mostPanels {
		l, slope, bend := of(from)
		if from > mode && l < peak-largestDrop {
			break
		}
		width := r.width(from, slope, -bend)
		for k, node := range largestX {
			x := from + width*node
			l, up, down := r.at(x, y)
			z := (x - r.m[y]) / r.s[y]
			w := width * largestW[k] * math.Exp(l-0.5*z*z-peak)
			if w == 0 {
				continue
			}
			total += w
			for c := range d1 {
				step, bends := -r.rho[c]/r.s[c]-ref[c], r.second[c]/(r.s[c]*r.s[c])
				if c == y {
					step, bends = up-ref[y], down
				}
				d1[c] += w * step
				d2[c] += w * bends
				sq[c] += w * step * step
			}
		}
		from += width
	}
	for c := range d1 {
		step := d1[c] / total
		d1[c] = ref[c] + step
		d2[c] = r.bounded(c, d2[c]/total+(sq[c]/total-step*step))
	}
	return peak + math.Log(total/r.s[y]) - logSqrt2Pi
}

// logSqrt2Pi is log √(2π).
const logSqrt2Pi = 0.918938533204672741780329736405617640

// far is LogMean where the integrand is a Gaussian up to rounding.
func (t Largest) far(r *rivals, peak, curvature float64, slopes []float64, bend float64, d1, d2 []float64) float64 {
	for c := range d1 {
		own := r.second[c] / (r.s[c] * r.s[c])
		if c == t.Outcome {
			own = bend
		}
		d1[c], d2[c] = slopes[c], r.bounded(c, own+own*own/curvature)
	}
	return peak - 0.5*math.Log(curvature) - math.Log(r.s[t.Outcome])
}

// bounded keeps rounding from leaving the bounds of a second derivative: log E t is concave in
// the means, and bends by no more than the Gaussian that the noise makes of the values.
func (r *rivals) bounded(c int, d2 float64) float64 {
	return min(0, max(d2, -1/(r.s[c]*r.s[c])))
}

// noTerm is the answer where values have no distribution.
func noTerm(d1, d2 []float64) float64 {
	for c := range d1 {
		d1[c], d2[c] = math.NaN(), math.NaN()
	}
	return math.NaN()
}

// MeanLog implements Multi by a bound: with u the noise of the outcome, log t(f) is
// log E Π Φ(f_y − f_j + u) ≥ Σ E log Φ(f_y − f_j + u) − KL for any conditional distribution of u
// given f. The best is taken of all N(μ + k·(f − m), s), so that arguments are Gaussian with variances
// Σ_c (δ_cy − δ_cj + k_c)²v_c + s. At the best, with h_j the second derivatives of the terms of the sum
// and H = Σ h_j, μ = Σ of the first ones, s = 1/(1 − H), k_j = −s·h_j and k_y = sH; there the derivatives of
// the bound in the variances are ½(h_j + s·h_j²), and ½sH for y.
func (t Largest) MeanLog(m, v, d1, d2 []float64) float64 {
	return t.MeanLogBy(Probit{Y: 1}.MeanLog, 1e-7, m, v, d1, d2)
}

// MeanLogBy is MeanLog with E log Φ as it is given, such as one that takes less time, and the mean and variance
// of u to a tolerance.
func (t Largest) MeanLogBy(meanLog func(m, v float64) (l, d1, d2 float64), tolerance float64, m, v, d1, d2 []float64) float64 {
	y := t.Outcome
	if !finite.All(m...) || !finite.All(v...) {
		return noTerm(d1, d2)
	}
	mean, variance := 0.0, 1.0
	bound := 0.0
	clear(d2) // until the end the h_j, and H
	for range 30 {
		shared := 0.0 // k²·v
		for c, h := range d2 {
			shared += variance * variance * h * h * v[c]
		}
		own := shared + v[y]*(1+2*variance*d2[y]) + variance
		slope, bend := 0.0, 0.0
		bound = -0.5 * (variance + mean*mean + shared - 1 - math.Log(variance))
		for j := range m {
			if j == y {
				continue
			}
			l, first, second := meanLog(m[y]-m[j]+mean, own+v[j]*(1+2*variance*d2[j]))
			bound += l
			d1[j], d2[j] = -first, second
			slope += first
			bend += second
		}
		d1[y], d2[y] = slope, bend
		step, next := (slope-mean)/(1-bend), 1/(1-bend)
		moved := math.Abs(step) + math.Abs(next-variance)
		mean, variance = mean+step, next
		if !(moved > tolerance*(1+math.Abs(mean))) {
			break
		}
	}
	for j, h := range d2 {
		d2[j] = h + variance*h*h
	}
	return bound
}

const (
	// outcomesDrop is how far below one the logarithm of the probability to be below x has to
	// be for x to be left out.
	outcomesDrop = 70
	// rarest is the probability below which an integral of its own is taken: it is made
	// where all others together have next to nothing.
	rarest = 1e-13
)

// OutcomeProbabilities writes how probable each outcome is where their values are independent
// normals: what Largest has as its mean, of all at once from one set of nodes, to 1e-11. Where
// values have no distribution they are NaN.
//
// With G(x) = Π Φ(z_j), P(c) = ∫ G(x) ρ(z_c)/s_c dx.
func OutcomeProbabilities(p, m, v []float64) {
	r := rivalsPool.Get().(*rivals)
	defer rivalsPool.Put(r)
	if !r.set(m, v) {
		for c := range p {
			p[c] = math.NaN()
		}
		return
	}
	if !r.equalProbabilities(p) {
		r.probabilities(p)
	}
	for c := range p {
		if !(p[c] > rarest) {
			d1, d2 := r.d1, r.d2 // which the other integral, with rivals of its own, does not use
			p[c] = math.Exp(Largest{Outcome: c}.LogMean(m, v, d1, d2))
		}
		p[c] = min(1, p[c])
	}
}

// probabilities is OutcomeProbabilities by panels.
func (r *rivals) probabilities(p []float64) {
	below := func(x float64) (l, d1, d2 float64) { return r.at(x, -1) }
	from, to := math.Inf(-1), math.Inf(-1)
	for c, x := range r.m {
		from, to = max(from, x-12*r.s[c]), max(to, x+largestOne*r.s[c])
	}
	from = left(below, from, -outcomesDrop)
	clear(p)
	for range mostPanels {
		if !(from < to) {
			break
		}
		_, _, bend := below(from)
		sharpest := 0.0
		for c, x := range r.m {
			if from < x+largestOne*r.s[c] { // otherwise it is surely not the largest
				sharpest = max(sharpest, (1+r.second[c])/(r.s[c]*r.s[c]))
			}
		}
		width := r.width(from, 0, sharpest-bend)
		for k, node := range largestX {
			l, _, _ := below(from + width*node)
			w := width * largestW[k] * math.Exp(l)
			for c := range p {
				p[c] += w * r.rho[c] / r.s[c]
			}
		}
		from += width
	}
}
