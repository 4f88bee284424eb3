package numbers

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/normal"
)

// Part is one of the normals that make a distribution.
type Part struct{ Weight, Mean, SD float64 }

// Distribution is what is known of an outcome.
type Distribution interface {
	decision.Distribution
	// IsFinite tells whether it is made of numbers.
	IsFinite() bool
	// CDF is the probability of outcomes up to y, and PIT that of what is below it: of a count without
	// half of its own.
	CDF(y float64) float64
	PIT(y float64) float64
	// LogDensity is the logarithm of the density at y, or of its probability.
	LogDensity(y float64) float64
	// CRPS is the continuous ranked probability score at an outcome, ∫(F(x) − [x ≥ y])² dx, smaller
	// being better.
	CRPS(y float64) float64
}

// Bytes is about how much memory a distribution takes.
func Bytes(d Distribution) int64 {
	switch d := d.(type) {
	case counts:
		return 96 + 16*int64(len(d.means))
	case normals:
		return 64 + 24*int64(len(d.parts))
	}
	sum := int64(0)
	for _, part := range d.(blend).parts {
		sum += Bytes(part)
	}
	return sum
}

// normals is a mixture of normals, seen through a transformation.
type normals struct {
	parts     []Part // of weights that add up to one
	transform *Transform
	df        float64 // degrees of freedom of tails that are no normal's, else 0
}

// newNormals makes weights add up to one.
func newNormals(parts []Part, t *Transform, df float64) Distribution {
	sum := 0.0
	for _, p := range parts {
		sum += p.Weight
	}
	for k := range parts {
		parts[k].Weight /= sum
	}
	return normals{parts, t, df}
}

// IsFinite tells whether it is made of numbers.
func (d normals) IsFinite() bool {
	for _, p := range d.parts {
		if !(p.SD >= 0) || math.IsInf(p.SD, 0) || math.IsNaN(p.Mean) || math.IsInf(p.Mean, 0) || math.IsNaN(p.Weight) {
			return false
		}
	}
	return !math.IsInf(d.Mean(), 0)
}

// below is the probability and the density of transformed outcomes up to z.
func (d normals) below(z float64) (p, density float64) {
	for _, part := range d.parts {
		c, f := normal.CDFDensity((z - part.Mean) / part.SD)
		p += part.Weight * c
		density += part.Weight * f / part.SD
	}
	return p, density
}

// CDF is the probability of outcomes up to y.
func (d normals) CDF(y float64) float64 {
	if d.transform.amounts() && y < 0 {
		return 0
	}
	p, _ := d.below(d.transform.At(y))
	return p
}

// PIT implements Distribution.
func (d normals) PIT(y float64) float64 { return d.CDF(y) }

// LogDensity is the logarithm of the density at y, −MaxFloat64 where an outcome is impossible: an amount below zero,
// or zero where none was seen.
func (d normals) LogDensity(y float64) float64 {
	if d.transform.amounts() && (y < 0 || y+d.transform.Unit == 0) {
		return -math.MaxFloat64
	}
	z := d.transform.At(y)
	top := math.Inf(-1)
	logs := make([]float64, len(d.parts))
	for k, p := range d.parts {
		logs[k] = math.Log(p.Weight/p.SD) + normal.LogDensity((z-p.Mean)/p.SD)
		top = max(top, logs[k])
	}
	if math.IsInf(top, -1) {
		return -math.MaxFloat64
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	return max(top+math.Log(sum), -math.MaxFloat64) + d.transform.logSlope(y)
}

// Quantile is the outcome that the share p lies below, 0 < p < 1.
func (d normals) Quantile(p float64) float64 { return d.transform.Back(d.quantile(p)) }

// quantile is that of transformed outcomes: between those of the parts, by Newton's steps that stay
// where it must be.
func (d normals) quantile(p float64) float64 {
	lo, hi, q := math.Inf(1), math.Inf(-1), normal.Quantile(p)
	for _, part := range d.parts {
		lo, hi = min(lo, part.Mean+q*part.SD), max(hi, part.Mean+q*part.SD)
	}
	z := lo + (hi-lo)/2
	for range 200 {
		if !(hi-lo > 1e-13*(math.Abs(lo)+math.Abs(hi))) {
			break
		}
		c, f := d.below(z)
		if c < p {
			lo = z
		} else {
			hi = z
		}
		if next := z - (c-p)/f; next > lo && next < hi {
			if math.Abs(next-z) <= 1e-13*(1+math.Abs(z)) {
				return next
			}
			z = next
		} else {
			z = lo + (hi-lo)/2
		}
	}
	return z
}

// Mean is the expected outcome: in closed form but for roots and powers.
func (d normals) Mean() float64 {
	t, mean := d.transform, 0.0
	switch {
	case t.plain():
		for _, p := range d.parts {
			mean += p.Weight * p.Mean
		}
		return t.Mean + t.Scale*mean
	case t.Name == "log" && t.Unit == 0:
		for _, p := range d.parts {
			mean += p.Weight * math.Exp(t.Mean+t.Scale*p.Mean+0.5*t.Scale*t.Scale*p.SD*p.SD)
		}
		return mean
	}
	return d.Expect(func(y float64) float64 { return y })
}

// Short is E (a − y)⁺: what an action a is expected to exceed the outcome by.
func (d normals) Short(a float64) float64 { return d.beside(a, 1) }

// Excess is E (y − a)⁺: what the outcome is expected to exceed an action a by.
func (d normals) Excess(a float64) float64 { return d.beside(a, -1) }

// beside is E (side·(a − y))⁺. Of a normal it is σ(xΦ(x) + φ(x)), x = side·(a − μ)/σ.
func (d normals) beside(a, side float64) float64 {
	if t := d.transform; t.plain() {
		z, sum := t.At(a), 0.0
		for _, p := range d.parts {
			x := side * (z - p.Mean) / p.SD
			c, f := normal.CDFDensity(x)
			sum += p.Weight * p.SD * max(0, x*c+f)
		}
		return t.Scale * sum
	}
	return d.Expect(func(y float64) float64 { return max(side*(a-y), 0) }, a)
}

// reach is how many standard deviations of every part expectations look at.
const reach = 9

var panelX, panelW = func() (x, w []float64) {
	x, w = make([]float64, 16), make([]float64, 16)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	return x, w
}()

// Expect is E g(y) for a function that bends sharply at the given outcomes alone, by panels that are
// no longer than a standard deviation of the narrowest part near them.
func (d normals) Expect(g func(y float64) float64, kinks ...float64) float64 {
	var ends []float64
	for _, p := range d.parts {
		if p.Weight > leastWeight {
			for k := -reach; k <= reach; k++ {
				ends = append(ends, p.Mean+float64(k)*p.SD)
			}
		}
	}
	slices.Sort(ends)
	lo, hi := ends[0], ends[len(ends)-1]
	// Of many parts, panels that widen with the distance from the narrowest are enough.
	narrow := d.parts[0]
	for _, p := range d.parts {
		if p.SD < narrow.SD {
			narrow = p
		}
	}
	kept := []float64{lo}
	for _, e := range ends {
		if e-kept[len(kept)-1] > 0.3*math.Abs(e-narrow.Mean)+0.5*narrow.SD || e == hi {
			kept = append(kept, e)
		}
	}
	for _, y := range append(kinks, d.zero()...) {
		if z := d.transform.At(y); z > lo && z < hi {
			kept = append(kept, z)
		}
	}
	slices.Sort(kept)
	sum, total := 0.0, 0.0
	for k := range len(kept) - 1 {
		mid, half := (kept[k]+kept[k+1])/2, (kept[k+1]-kept[k])/2
		if half <= 1e-12*narrow.SD { // between two of what is one kink but for rounding, where g may be infinite
			continue
		}
		for i, x := range panelX {
			z := mid + half*x
			_, f := d.below(z)
			w := panelW[i] * half * f
			sum += w * g(d.transform.Back(z))
			total += w
		}
	}
	return sum / total
}

// zero is where transformed outcomes reach the least that there is.
func (d normals) zero() []float64 {
	if d.transform.amounts() {
		return []float64{0}
	}
	return nil
}

// CRPS implements Distribution: E|Y − y| − ½E|Y − Y′|, where E|Y − Y′| = 4(E Y·F(Y)) − 2E Y.
func (d normals) CRPS(y float64) float64 {
	if t := d.transform; t.plain() && len(d.parts) == 1 {
		p := d.parts[0]
		x := (t.At(y) - p.Mean) / p.SD
		c, f := normal.CDFDensity(x)
		return t.Scale * p.SD * (x*(2*c-1) + 2*f - 1/math.Sqrt(math.Pi))
	}
	mean := d.Mean()
	apart := d.Expect(func(x float64) float64 { return math.Abs(x - y) }, y)
	within := 4 * d.Expect(func(x float64) float64 { return (x - mean) * d.CDF(x) })
	return max(0, apart-0.5*within)
}
