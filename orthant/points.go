package orthant

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/normal"
)

// Points are weighted points that stand for X given X > lower, in place of draws: the
// tilted draws that [Region.LogProb] weighs, at the points of a shifted lattice. A smooth
// function of X has its mean Σ w_k f(x_k) to an error that falls nearly as one over the
// number of points, where that of draws falls as its root.
//
// They come in sets of the given number of points, or a few more, each with a shift of its
// own. The weights of a set add up to one, the sets are independent, and the spread of the
// means that they give tells the error of their average. It tells nothing of the bias of a
// ratio of two estimates, which is the product of their errors and so far smaller.
//
// Row s·(rows/sets)+k of x is point k of set s, the variables in the order given to [New].
// The same seed gives the same bytes whatever the number of processors.
func (r *Region) Points(sets, points int, seed uint64) (x *mat.Dense, weights []float64) {
	points = primeFrom(points)
	generator := latticeGenerator(points, r.Dim())
	x, weights = mat.NewDense(sets*points, r.Dim(), nil), make([]float64, sets*points)
	tasks.Each(sets, func() func(int) {
		z := make([]float64, r.Dim())
		return func(s int) {
			l := newLattice(generator, newStream(seed, pointStream, s))
			own := weights[s*points : (s+1)*points]
			for k := range own {
				own[k] = r.place(x.RawRowView(s*points+k), l.next(), z)
			}
			largest := floats.Max(own)
			for k, logWeight := range own {
				own[k] = math.Exp(logWeight - largest)
			}
			floats.Scale(1/floats.Sum(own), own)
		}
	})
	return x, weights
}

// place writes the draw that the point u of the unit cube stands for, and returns the
// logarithm of its weight, −Σ gap.
func (r *Region) place(x, u, z []float64) (logWeight float64) {
	for k := range r.bounded {
		t := r.truncation(k, z)
		logTail := squeezed(-t) // 1e-10 is nothing beside what so many points leave open
		logWeight -= r.gap(k, t, logTail)
		excess := squeezedExcess(u[k], t, logTail)
		z[k] = r.tilt[k] + t + excess
		x[r.order[k]] = r.lower[k] + r.diag[k]*excess
	}
	for k := r.bounded; k < r.Dim(); k++ {
		z[k] = normal.Quantile(u[k])
		x[r.order[k]] = r.diag[k] * (z[k] + floats.Dot(r.row(k), z[:k]))
	}
	return logWeight
}
