package decision

import (
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/orthant"
)

// Contest is the utility of acting on many points at once where each has one of several
// outcomes, the one with the largest function and noise: Z = Σ_j w_j Σ_c u[a_j][c] P_j(c).
// A point has C−1 views, of differences of the functions; that of two outcomes is a Utility
// with one.
type Contest struct {
	points
	maps []*mat.Dense // of each point: its functions, as its views give them
}

// NewContest is the utility of points that share a table, or have one each, with weights as for
// NewUtility. The maps give
// the functions of a point, C of them, as what its C−1 views read: f = Bs, but for what is
// the same for all.
func NewContest(maps []*mat.Dense, weights []float64, tables ...Table) (*Contest, error) {
	outcomes := 0
	if len(maps) > 0 {
		outcomes, _ = maps[0].Dims()
	}
	p, err := newPoints(len(maps), outcomes, weights, tables)
	if err != nil {
		return nil, err
	}
	return &Contest{points: p, maps: maps}, nil
}

// Views implements factor.Joint.
func (u *Contest) Views() int {
	_, views := u.maps[0].Dims()
	return views
}

// functions are the mean and covariance of the functions of point j with the noise of the
// outcomes.
func (u *Contest) functions(j int, m, v []float64) ([]float64, *mat.SymDense) {
	number, views := u.maps[j].Dims()
	mean := mat.NewVecDense(number, nil)
	mean.MulVec(u.maps[j], mat.NewVecDense(views, m[j*views:(j+1)*views]))
	var half, full mat.Dense
	half.Mul(u.maps[j], mat.NewDense(views, views, v[j*views*views:(j+1)*views*views]))
	full.Mul(&half, u.maps[j].T())
	cov := mat.NewSymDense(number, nil)
	for a := range number {
		for b := range a + 1 {
			cov.SetSym(a, b, 0.5*(full.At(a, b)+full.At(b, a)))
		}
		cov.SetSym(a, a, 1+cov.At(a, a))
	}
	return mean.RawVector().Data, cov
}

// Select implements factor.Utility.
func (u *Contest) Select(actions []int, m, v []float64) {
	number, _ := u.maps[0].Dims()
	tasks.For(len(actions), func(j int) {
		mean, cov := u.functions(j, m, v)
		p := make([]float64, number)
		orthant.NewLargest(number).Probabilities(p, mean, cov)
		actions[j] = Stakes{Table: u.Table(j)}.Best(p, actions[j])
	})
}

// LogMean implements factor.Utility. Where Z is zero it is −∞ and the derivatives are zero;
// where a point has no distribution it is NaN.
func (u *Contest) LogMean(actions []int, m, v, d1, d2 []float64) float64 {
	number, views := u.maps[0].Dims()
	worth := make([]float64, len(actions))
	tasks.For(len(actions), func(j int) {
		mean, cov := u.functions(j, m, v)
		grad, hess := make([]float64, number), mat.NewSymDense(number, nil)
		worth[j], _ = orthant.NewLargest(number).Worth(u.Table(j)[actions[j]], mean, cov, grad, hess)
		w := u.weights[j]
		worth[j] *= w
		// The chain rule through f = Bs.
		slope := mat.NewVecDense(views, d1[j*views:(j+1)*views])
		slope.MulVec(u.maps[j].T(), mat.NewVecDense(number, grad))
		slope.ScaleVec(w, slope)
		var half mat.Dense
		half.Mul(u.maps[j].T(), hess)
		bend := mat.NewDense(views, views, d2[j*views*views:(j+1)*views*views])
		bend.Mul(&half, u.maps[j])
		bend.Scale(w, bend)
	})
	return logSum(worth, d1, d2)
}

var _ factor.Joint = (*Contest)(nil)
