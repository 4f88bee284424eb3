package decision

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/orthant"
)

// Apart is the utility of acting on many points at once where each has one of several outcomes
// and the functions of the outcomes are independent of each other:
// Z = Σ_j w_j Σ_c u[a_j][c] P_j(c). Its arguments are the values of all functions at the
// points, those of the first function at all points first; derivatives are those in each of them,
// without mixed ones.
type Apart struct {
	points
	outcomes int
}

// NewApart is the utility of n points that share a table, or have one each, with weights as for
// NewUtility.
func NewApart(n, outcomes int, weights []float64, tables ...Table) (*Apart, error) {
	p, err := newPoints(n, outcomes, weights, tables)
	if err != nil {
		return nil, err
	}
	return &Apart{points: p, outcomes: outcomes}, nil
}

// Mislabelled is what entries are worth where each of several outcomes is noted down wrongly with probability noise, as each
// of the others alike: with P what is behind it and κ = noise/(C−1) it is noted down as c with probability κ + (1 − Cκ)P(c).
func (t Table) Mislabelled(noise float64) Table {
	of := make(Table, len(t))
	for a, row := range t {
		kappa := noise / float64(len(row)-1)
		total := floats.Sum(row)
		for _, u := range row {
			of[a] = append(of[a], kappa*total+(1-float64(len(row))*kappa)*u)
		}
	}
	return of
}

// values are the means and variances of the functions at point j.
func (u *Apart) values(j, points int, m, v []float64) (mean, variance []float64) {
	mean, variance = make([]float64, u.outcomes), make([]float64, u.outcomes)
	for c := range mean {
		mean[c], variance[c] = m[c*points+j], v[c*points+j]
	}
	return mean, variance
}

// Select implements factor.Utility.
func (u *Apart) Select(actions []int, m, v []float64) {
	tasks.For(len(actions), func(j int) {
		mean, variance := u.values(j, len(actions), m, v)
		p := make([]float64, u.outcomes)
		factor.OutcomeProbabilities(p, mean, variance)
		actions[j] = Stakes{Table: u.Table(j)}.Best(p, actions[j])
	})
}

// LogMean implements factor.Utility. Where Z is zero it is −∞ and the derivatives are zero;
// where a point has no distribution it is NaN.
func (u *Apart) LogMean(actions []int, m, v, d1, d2 []float64) float64 {
	points := len(actions)
	worth := make([]float64, points)
	tasks.For(points, func(j int) {
		mean, variance := u.values(j, points, m, v)
		cov := mat.NewSymDense(u.outcomes, nil)
		for c, x := range variance {
			cov.SetSym(c, c, 1+x)
		}
		grad, hess := make([]float64, u.outcomes), mat.NewSymDense(u.outcomes, nil)
		worth[j], _ = orthant.NewLargest(u.outcomes).Worth(u.Table(j)[actions[j]], mean, cov, grad, hess)
		w := u.weights[j]
		worth[j] *= w
		for c := range grad {
			d1[c*points+j], d2[c*points+j] = w*grad[c], w*hess.At(c, c)
		}
	})
	return logSum(worth, d1, d2)
}

var _ factor.Utility = (*Apart)(nil)
