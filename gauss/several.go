package gauss

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Naturals are Gaussian factors on vectors of the same dimension that are independent of each
// other, such as what several functions have at the same inducing points.
type Naturals []*Natural

// NewNaturals is so many constant factors in m dimensions.
func NewNaturals(number, m int) Naturals {
	all := make(Naturals, number)
	for c := range all {
		all[c] = NewNatural(m)
	}
	return all
}

// Dim is the dimension of each vector.
func (n Naturals) Dim() int { return n[0].Dim() }

// SetStandard makes each the standard Gaussian.
func (n Naturals) SetStandard() {
	for _, one := range n {
		one.SetStandard()
	}
}

// CopyFrom makes n equal to o.
func (n Naturals) CopyFrom(o Naturals) {
	for c, one := range n {
		one.CopyFrom(o[c])
	}
}

// Times multiplies each by the one of o to the given power.
func (n Naturals) Times(o Naturals, power float64) {
	for c, one := range n {
		one.Times(o[c], power)
	}
}

// SetProduct makes each the product of those of a and b to the given power.
func (n Naturals) SetProduct(a, b Naturals, power float64) {
	for c, one := range n {
		one.SetProduct(a[c], b[c], power)
	}
}

// Gaussians are proper Gaussians of the same dimension that are independent of each other.
type Gaussians []*Gaussian

// NewGaussians is so many standard Gaussians in m dimensions.
func NewGaussians(number, m int) Gaussians {
	all := make(Gaussians, number)
	for c := range all {
		all[c] = NewGaussian(m)
	}
	return all
}

// Dim is the dimension of each vector.
func (g Gaussians) Dim() int { return g[0].Dim() }

// Exchange is that of all of them, or of none.
func (g Gaussians) Exchange(n Naturals) error {
	for c, one := range g {
		if err := one.Exchange(n[c]); err != nil {
			for back := range c {
				// What was proper before is so again.
				_ = g[back].Exchange(n[back])
			}
			return err
		}
	}
	return nil
}

// Naturals are the natural forms. They must not be changed.
func (g Gaussians) Naturals() Naturals {
	all := make(Naturals, len(g))
	for c, one := range g {
		all[c] = one.Natural()
	}
	return all
}

// LogPartition is the sum of those of all.
func (g Gaussians) LogPartition() float64 {
	sum := 0.0
	for _, one := range g {
		sum += one.LogPartition()
	}
	return sum
}

// Step is the longest of the steps of all.
func (g Gaussians) Step(change Naturals, ws *Workspace) float64 {
	longest := 0.0
	for c, one := range g {
		longest = max(longest, one.Step(change[c], ws))
	}
	return longest
}

// Equal tells whether the two are the same numbers.
func (n Naturals) Equal(o Naturals) bool {
	return slices.EqualFunc(n, o, func(a, b *Natural) bool { return slices.Equal(a.H, b.H) && mat.Equal(a.P, b.P) })
}
