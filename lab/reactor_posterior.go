package lab

import (
	"context"
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
)

// ReactorPosterior is the exact posterior of the state, by quadrature: its density is a product of
// known functions, so that any number of measurements is as good as a few. A mixture
// (Mixture of package exact) has 2^N parts, of which every probability asks each; here a
// probability takes some thousand operations, and finding the threshold with a given
// probability a few of those.
//
// The product of the prior and the terms is a mixture of Gaussians, none narrower
// than s = (1/prior variance + k/noise variance)^−½ where k terms vary. The rule has
// ten Gauss–Legendre nodes on every panel of width 2s or less, which is exact to
// rounding; and it leaves out only where a bound says that there is nothing.
type ReactorPosterior struct {
	LogEvidence    float64
	Mean, Variance float64

	prior factor.Gaussian
	terms []factor.Factor // on the state itself
	peaks []float64       // of the terms, which fall off on both sides
	noise float64

	panels []panel
}

// panel is an interval, its probability, and that of all beyond it.
type panel struct {
	from, to     float64
	mass, beyond float64
}

var (
	// errIntricate says that a posterior has too many parts to look at.
	errIntricate = &InputError{"data", "the posterior is too intricate for quadrature in good time; bring the measurements closer together, or raise the noise variance"}
	// errRounded says that a log density is so far below zero that its rounding shows.
	errRounded = &InputError{"data", "the measurements are so far from where they can be that rounding hides the posterior; bring them closer together, or raise the noise variance or the clutter weight"}
)

const (
	panelNodes = 10
	maxPanels  = 8192
	// negligible is the share of the evidence below which an interval is left out.
	negligible = 1e-24
)

// legendre are the nodes and weights of the rule on [−1, 1].
var legendre = func() (rule struct{ x, w [panelNodes]float64 }) {
	quad.Legendre{}.FixedLocations(rule.x[:], rule.w[:], -1, 1)
	return rule
}()

// Exact integrates the posterior.
func (p Reactor) Exact(ctx context.Context) (*ReactorPosterior, error) {
	m, err := p.Model()
	if err != nil {
		return nil, err
	}
	s := &ReactorPosterior{
		prior: factor.Gaussian{Y: p.PriorMean, Variance: p.PriorVariance},
		terms: m.Terms, peaks: p.Data, noise: p.NoiseVariance,
	}
	// Far out the prior and every term fall off; 40 standard deviations are e^−800.
	far := 40 * math.Sqrt(max(p.PriorVariance, p.NoiseVariance))
	from, to := p.PriorMean, p.PriorMean
	for _, y := range p.Data {
		from, to = min(from, y), max(to, y)
	}
	floor := s.evidenceFloor() + math.Log(negligible)
	if !s.divide(from-far, to+far, floor) {
		return nil, errIntricate
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.integrate()
	// Each of up to forty terms is rounded to 2^−53 of itself: the density, to a
	// millionth or less.
	const deepest = 1e9
	if !(math.Abs(s.LogEvidence) < deepest) || !(s.Variance > 0) {
		return nil, errRounded
	}
	return s, nil
}

// log is the log density, not normalised, with its slope.
func (s *ReactorPosterior) log(phi float64) (l, slope float64) {
	l, slope, _ = s.prior.Log(phi)
	for _, t := range s.terms {
		lt, dt, _ := t.Log(phi)
		l += lt
		slope += dt
	}
	return l, slope
}

// evidenceFloor is a lower bound on the log evidence. The log density bends down by
// no more than 1/s² with all terms in s, so that from any φ on it stays above a
// parabola, whose integral is at least that of its even part, √(2π)·s times the
// density at φ.
// The best of some φ is taken, each moved uphill first.
func (s *ReactorPosterior) evidenceFloor() float64 {
	bend := 1/s.prior.Variance + float64(len(s.terms))/s.noise
	together := s.prior.Y / s.prior.Variance // the mean if every measurement is good
	for _, y := range s.peaks {
		together += y / s.noise
	}
	best := math.Inf(-1)
	for _, phi := range append([]float64{s.prior.Y, together / bend}, s.peaks...) {
		for range 10 {
			l, slope := s.log(phi)
			best = max(best, l)
			phi += slope / bend
		}
	}
	return best + 0.5*math.Log(2*math.Pi/bend)
}

// divide appends panels that cover [from, to] but for what holds less than e^floor.
// It reports false when they become too many.
func (s *ReactorPosterior) divide(from, to, floor float64) bool {
	// Prior and terms fall off from their peaks, so that each is largestNumber in the
	// interval at the place nearest to its peak: together that is an upper bound.
	l, _, _ := s.prior.Log(min(max(s.prior.Y, from), to))
	vary := 0
	for i, t := range s.terms {
		near, _, _ := t.Log(min(max(s.peaks[i], from), to))
		l += near
		end := from
		if to-s.peaks[i] > s.peaks[i]-from {
			end = to
		}
		if far, _, _ := t.Log(end); near-far > 1e-14 {
			vary++
		}
	}
	width := to - from
	if l+math.Log(width) < floor {
		return true
	}
	if width <= 2/math.Sqrt(1/s.prior.Variance+float64(vary)/s.noise) {
		s.panels = append(s.panels, panel{from: from, to: to})
		return len(s.panels) <= maxPanels
	}
	mid := from + width/2
	return s.divide(from, mid, floor) && s.divide(mid, to, floor)
}

// integrate finds the masses of the panels, the evidence and the moments.
func (s *ReactorPosterior) integrate() {
	logs := make([]float64, 0, panelNodes*len(s.panels))
	top := math.Inf(-1)
	for _, p := range s.panels {
		for _, x := range legendre.x {
			l, _ := s.log(p.at(x))
			logs = append(logs, l)
			top = max(top, l)
		}
	}
	var total, first float64
	for i := range s.panels {
		p := &s.panels[i]
		for k, x := range legendre.x {
			w := legendre.w[k] * (p.to - p.from) / 2 * math.Exp(logs[panelNodes*i+k]-top)
			p.mass += w
			first += w * p.at(x)
		}
		total += p.mass
	}
	s.LogEvidence, s.Mean = top+math.Log(total), first/total
	for i := range s.panels {
		p := &s.panels[i]
		p.mass /= total
		for k, x := range legendre.x {
			d := p.at(x) - s.Mean
			s.Variance += legendre.w[k] * (p.to - p.from) / 2 * math.Exp(logs[panelNodes*i+k]-s.LogEvidence) * d * d
		}
	}
	beyond := 0.0
	for i := len(s.panels) - 1; i >= 0; i-- {
		s.panels[i].beyond = beyond
		beyond += s.panels[i].mass
	}
}

// at is the place of a node of [−1, 1] in the panel.
func (p panel) at(x float64) float64 { return p.from + (p.to-p.from)*(1+x)/2 }

// Density of the state at φ.
func (s *ReactorPosterior) Density(phi float64) float64 {
	l, _ := s.log(phi)
	return math.Exp(l - s.LogEvidence)
}

// between is the probability of an interval within one panel.
func (s *ReactorPosterior) between(from, to float64) float64 {
	sum := 0.0
	for k, x := range legendre.x {
		sum += legendre.w[k] * s.Density(panel{from: from, to: to}.at(x))
	}
	return sum * (to - from) / 2
}

// Above is the probability of a state above the threshold.
func (s *ReactorPosterior) Above(threshold float64) float64 {
	for _, p := range s.panels {
		if threshold <= p.from {
			return min(1, p.mass+p.beyond)
		}
		if threshold < p.to {
			return min(1, s.between(threshold, p.to)+p.beyond)
		}
	}
	return 0
}

// Threshold is where the probability of a state above it is p: in the panel where that
// is passed, by bisection.
func (s *ReactorPosterior) Threshold(p float64) float64 {
	for _, q := range s.panels {
		if q.beyond > p {
			continue
		}
		low, high := q.from, q.to
		// A panel is no wider than 2s, so that 2^−44 of it is rounding.
		for range 44 {
			mid := low + (high-low)/2
			if s.between(mid, q.to)+q.beyond > p {
				low = mid
			} else {
				high = mid
			}
		}
		return low + (high-low)/2
	}
	return s.panels[len(s.panels)-1].to
}

// state is the line that the i-th view reads, less its residual, as one of φ itself:
// f = b + aφ.
func (s *ReactorPosterior) state(views *gauss.Views, i int) (a, b float64) {
	a = views.Row(i)[0] / math.Sqrt(s.prior.Variance)
	return a, views.Offset(i) - a*s.prior.Y
}

// Moments implements infer.Posterior.
func (s *ReactorPosterior) Moments(views *gauss.Views, mean, variance []float64) {
	for i := range mean {
		a, b := s.state(views, i)
		mean[i], variance[i] = b+a*s.Mean, views.Residual(i)+a*a*s.Variance
	}
}

// Expect implements infer.Posterior, for factors that are smooth within a panel, and for
// a factor.Step.
func (s *ReactorPosterior) Expect(views *gauss.Views, t factor.Factor, value, stderr []float64) {
	step, jumps := t.(factor.Step)
	clear(stderr)
	for i := range value {
		a, b := s.state(views, i)
		r := views.Residual(i)
		if jumps && r == 0 && a != 0 {
			above := s.Above((step.T - b) / a)
			if a < 0 {
				above = 1 - above
			}
			value[i] = step.Below*(1-above) + step.Above*above
			continue
		}
		value[i] = 0
		for _, p := range s.panels {
			for k, x := range legendre.x {
				l, _, _ := t.LogMean(b+a*p.at(x), r)
				value[i] += legendre.w[k] * (p.to - p.from) / 2 * s.Density(p.at(x)) * math.Exp(l)
			}
		}
	}
}

var _ infer.Posterior = (*ReactorPosterior)(nil)
