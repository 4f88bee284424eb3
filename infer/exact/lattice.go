package exact

import (
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
)

// Lattice is the exact posterior of a model whose terms are all factor.Probit by weighted
// points in place of the draws of Exact: sets of points that each stand for the whole
// posterior, independent of each other (orthant.Region.Points). Expectations of what is
// smooth are ten times or more as exact as by as many draws.
type Lattice struct {
	cloud
	sets    int
	weights []float64
}

// NewLattice makes so many sets of so many points each, or a few more.
func NewLattice(m *infer.Model, sets, points int, seed uint64) (*Lattice, error) {
	m, labels, region, err := labelled(m)
	if err != nil {
		return nil, err
	}
	x, weights := region.Points(sets, points, seed)
	return &Lattice{cloud: regress(m.Views, labels, x), sets: sets, weights: weights}, nil
}

// Points is the number of points of a set.
func (l *Lattice) Points() int { return len(l.weights) / l.sets }

// Point is the mean of v given point k of a set, and the weight of that. The weights of a set
// add up to one. The mean must not be changed.
func (l *Lattice) Point(set, k int) (centre []float64, weight float64) {
	k += set * l.Points()
	return l.centres.RawRowView(k), l.weights[k]
}

// Spread is the variance of what each view reads around a point.
func (l *Lattice) Spread(views *gauss.Views) []float64 { return l.spread(views) }
