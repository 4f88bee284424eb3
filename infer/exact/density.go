package exact

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
)

// density evaluates the log density of v under a model at one point after the
// other: log N(v; 0, I) + Σ_i w_i log E t_i(b_i + a_i·v + e_i) and, where actions are
// given, log U(actions, v). It holds scratch space for one goroutine.
type density struct {
	model   *infer.Model
	actions []int // nil leaves the utility out
	// variance and pointVariance are what f_i varies by around b_i + a_i·v: the
	// residual variances, and more where the density is blurred.
	variance, pointVariance []float64

	prior *gauss.Gaussian // blurred; nil stands for N(0, I)

	f, d1          []float64 // at the views
	pointF, p1, p2 []float64 // at the points
}

func newDensity(m *infer.Model, actions []int) *density {
	n := m.Views.Len()
	d := &density{
		model:    m,
		variance: make([]float64, n),
		f:        make([]float64, n),
		d1:       make([]float64, n),
	}
	if actions != nil {
		if m.Utility == nil || len(actions) != m.Points.Len() {
			panic(fmt.Sprintf("exact: %d actions for a model whose utility does not have as many points", len(actions)))
		}
		c := len(actions)
		d.actions = actions
		d.pointVariance = make([]float64, c)
		d.pointF, d.p1, d.p2 = make([]float64, c), make([]float64, c), make([]float64, c)
	}
	d.setVariances(nil)
	return d
}

// blur makes the density see the prior and every factor averaged over v + Σ_k ε_k u_k
// with ε_k ~ N(0, 1) and the given directions u_k. What is narrower than that can
// no longer be missed between two points.
func (d *density) blur(directions [][]float64) error {
	dim := d.model.Dim()
	cov := mat.NewSymDense(dim, nil)
	for i := range dim {
		cov.SetSym(i, i, 1)
	}
	for _, u := range directions {
		cov.SymRankOne(cov, 1, mat.NewVecDense(dim, u))
	}
	prior, err := gauss.FromMoments(make([]float64, dim), cov)
	d.prior = prior
	d.setVariances(directions)
	return err
}

func (d *density) setVariances(directions [][]float64) {
	for i := range d.variance {
		d.variance[i] = d.model.Views.Residual(i) + varianceAlong(d.model.Views.Row(i), directions)
	}
	for j := range d.pointVariance {
		d.pointVariance[j] = d.model.Points.Residual(j) + varianceAlong(d.model.Points.Row(j), directions)
	}
}

func varianceAlong(a []float64, directions [][]float64) (variance float64) {
	for _, u := range directions {
		s := floats.Dot(a, u)
		variance += s * s
	}
	return variance
}

var logTwoPi = math.Log(2 * math.Pi)

func (d *density) logPrior(v []float64) float64 {
	constant := -0.5 * float64(len(v)) * logTwoPi
	if d.prior == nil {
		return constant - 0.5*floats.Dot(v, v)
	}
	x := mat.NewVecDense(len(v), v)
	return constant - d.prior.LogPartition() - 0.5*mat.Inner(x, d.prior.Natural().P, x)
}

// at is the log density at v. If grad is not nil it writes the gradient there.
func (d *density) at(v, grad []float64) float64 {
	sum := d.logPrior(v)
	d.model.Views.At(d.f, v)
	for i, t := range d.model.Terms {
		l, g, _ := t.LogMean(d.f[i], d.variance[i])
		count := d.model.Count(i)
		sum += count * l
		d.d1[i] = count * g
	}
	if d.actions != nil {
		d.model.Points.At(d.pointF, v)
		sum += d.model.Utility.LogMean(d.actions, d.pointF, d.pointVariance, d.p1, d.p2)
	}
	if grad == nil {
		return sum
	}
	floats.ScaleTo(grad, -1, v)
	d.model.Views.Pull(grad, d.d1)
	if d.actions != nil {
		d.model.Points.Pull(grad, d.p1)
	}
	return sum
}
