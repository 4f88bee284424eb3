package exact

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/tasks"
)

// Grid is the exact posterior of a model of one or two dimensions with terms of any
// kind, by quadrature on a grid over v. The zero value is ready to use.
//
// The grid is laid out in coordinates in which the posterior has mean 0 and
// covariance I, and wide enough for its edge to lie e⁻⁴⁰ below the peak. The search
// for them begins with nine standard deviations of the prior on every side, where it
// does not step over narrow factors; it follows the density farther out, but does
// not know of a second mode out there. On smooth densities the rule of
// equal weights converges faster than any power of the spacing; the spacing is
// halved until the evidence and the moments stand still.
type Grid struct {
	// Actions, if set, makes the model's utility with these actions one more
	// factor. The posterior is then the utility-weighted one, and the evidence grows
	// by the logarithm of the expected utility.
	Actions []int
	// Tolerance is how much log evidence, means and covariances in the grid's
	// coordinates may still change; 0 stands for 1e-10.
	Tolerance float64
}

// nodeCloud is a posterior on the nodes of a grid. Its expectations have the accuracy of
// the quadrature for factors that are smooth over one cell; a factor with a jump, on a
// view without residual variance, is uncertain by the probability of one cell.
type nodeCloud struct {
	cloud
	weight []float64
}

const (
	reach       = 9.0  // of the grid on every side, in standard deviations
	edgeDepth   = 40.0 // how far, in logs, the edge must lie below the peak
	searchSteps = 200
)

// The nodes on each axis, by dimension: while the coordinates are sought, and of the
// integration from a grid that shows most densities in full to the finest that is
// affordable.
var (
	searchNodes = [...]int{1: 513, 2: 49}
	firstNodes  = [...]int{1: 1025, 2: 65}
	lastNodes   = [...]int{1: 1<<18 + 1, 2: 1025}
)

// Fit integrates the model. It returns an *UnsupportedError if the model has more
// than two dimensions. A result whose quadrature did not settle says so in its
// Status, which has the number of grids laid out as Sweeps and the last change of
// evidence and moments as Residual.
func (o Grid) Fit(ctx context.Context, m *infer.Model) (*infer.Result, error) {
	m.Check()
	if err := m.CheckCopies("Grid"); err != nil {
		return nil, err
	}
	if m.Dim() > 2 {
		return nil, &infer.UnsupportedError{Method: "Grid", Reason: fmt.Sprintf("the model has %d dimensions and a grid serves at most 2; use independent draws or NUTS", m.Dim())}
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-10
	}
	g := newLattice(m, o.Actions)
	if err := g.search(ctx); err != nil {
		return nil, err
	}
	dim := m.Dim()
	var last, now gridMoments
	for g.nodes = firstNodes[dim]; ; g.nodes = 2*g.nodes - 1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g.evaluate(false)
		last, now = now, g.moments()
		if math.IsNaN(now.logSum) || math.IsInf(now.logSum, 0) {
			return nil, &infer.ImproperError{Of: "the density on the grid", Status: g.status}
		}
		if last.mean == nil {
			continue
		}
		g.status.Residual = now.change(last)
		// Log densities far below zero are rounded in proportion.
		rounding := 0x1p-48 * math.Abs(now.logSum)
		if g.status.Residual <= max(o.Tolerance, rounding) {
			g.status.Converged = g.status.Reason == ""
			break
		}
		if 2*g.nodes-1 > lastNodes[dim] {
			g.status.Reason = "the density is narrower than the finest grid, or has jumps"
			break
		}
	}
	return g.result(now), nil
}

// lattice is a square grid of nodes on [−radius, radius]^dim in coordinates x with
// v = mean + Bx.
type lattice struct {
	model   *infer.Model
	actions []int
	axes    *gauss.Views // read v from x
	radius  float64
	nodes   int       // on each axis
	logs    []float64 // log density at every node, the last axis fastest
	status  infer.Status
}

func newLattice(m *infer.Model, actions []int) *lattice {
	return &lattice{model: m, actions: actions, axes: identityViews(m.Dim()), radius: reach, nodes: searchNodes[m.Dim()]}
}

// spacing is the distance of neighbouring nodes in x.
func (g *lattice) spacing() float64 { return 2 * g.radius / float64(g.nodes-1) }

// node writes the coordinates of the k-th node.
func (g *lattice) node(k int, x []float64) {
	for d := len(x) - 1; d >= 0; d-- {
		x[d] = -g.radius + float64(k%g.nodes)*g.spacing()
		k /= g.nodes
	}
}

// evaluate computes the log density at every node; blurred, as an average over
// about one cell around it.
func (g *lattice) evaluate(blurred bool) {
	g.status.Sweeps++
	dim := g.model.Dim()
	total := g.nodes
	if dim == 2 {
		total *= g.nodes
	}
	g.logs = grow(g.logs, total)
	var cell [][]float64
	if blurred {
		for j := range dim {
			side := make([]float64, dim)
			for i := range side {
				side[i] = g.spacing() * g.axes.Row(i)[j]
			}
			cell = append(cell, side)
		}
	}
	const block = 512
	tasks.Each((total+block-1)/block, func() func(int) {
		d := newDensity(g.model, g.actions)
		if blurred {
			if err := d.blur(cell); err != nil {
				panic(err) // no covariance is smaller than the prior's
			}
		}
		x, v := make([]float64, dim), make([]float64, dim)
		return func(task int) {
			for k := task * block; k < min((task+1)*block, total); k++ {
				g.node(k, x)
				g.axes.At(v, x)
				g.logs[k] = d.at(v, nil)
			}
		}
	})
}

// search finds the coordinates: the blurred density is seen on a coarse grid, the
// grid is widened until its edge is negligible, then moved and scaled to the
// moments, until these are close to 0 and I. Where the density is narrower than a
// cell its blur is about a cell wide, so each round narrows the view by half or more.
func (g *lattice) search(ctx context.Context) error {
	for range searchSteps {
		if err := ctx.Err(); err != nil {
			return err
		}
		g.evaluate(true)
		if g.edge() > floats.Max(g.logs)-edgeDepth {
			g.radius *= 1.5
			continue
		}
		m := g.moments()
		if math.IsNaN(m.logSum) || math.IsInf(m.logSum, 0) {
			return &infer.ImproperError{Of: "the density on the grid", Status: g.status}
		}
		if m.nearStandard() {
			return nil
		}
		if err := g.adopt(m); err != nil {
			return err
		}
		g.radius = reach
	}
	g.status.Reason = "no coordinates found in which the posterior is standard"
	return nil
}

// edge is the largest log density on the boundary of the grid.
func (g *lattice) edge() float64 {
	most := math.Inf(-1)
	last := g.nodes - 1
	for k, l := range g.logs {
		i, j := k/g.nodes, k%g.nodes
		if j == 0 || j == last || (g.model.Dim() == 2 && (i == 0 || i == last)) {
			most = max(most, l)
		}
	}
	return most
}

// gridMoments are the sum of the density over the nodes and its moments in x.
type gridMoments struct {
	logSum float64 // the logarithm of the integral over v
	mean   []float64
	cov    *mat.SymDense
}

func (g *lattice) moments() gridMoments {
	dim := g.model.Dim()
	m := gridMoments{mean: make([]float64, dim), cov: mat.NewSymDense(dim, nil)}
	most := floats.Max(g.logs)
	x := make([]float64, dim)
	sum := 0.0
	for k, l := range g.logs {
		w := math.Exp(l - most)
		sum += w
		g.node(k, x)
		floats.AddScaled(m.mean, w, x)
	}
	floats.Scale(1/sum, m.mean)
	for k, l := range g.logs {
		g.node(k, x)
		floats.Sub(x, m.mean)
		m.cov.SymRankOne(m.cov, math.Exp(l-most)/sum, mat.NewVecDense(dim, x))
	}
	scale, _ := mat.LogDet(g.basis())
	m.logSum = most + math.Log(sum) + float64(dim)*math.Log(g.spacing()) + scale
	return m
}

// basis is B in v = mean + Bx.
func (g *lattice) basis() *mat.Dense {
	dim := g.axes.Dim()
	b := mat.NewDense(dim, dim, nil)
	for i := range dim {
		b.SetRow(i, g.axes.Row(i))
	}
	return b
}

// nearStandard reports whether mean and covariance are close enough to 0 and I for
// the grid to lie well: within half a standard deviation, and no direction stretched
// by more than about two.
func (m gridMoments) nearStandard() bool {
	for i, x := range m.mean {
		if !(math.Abs(x) < 0.5 && math.Abs(m.cov.At(i, i)-1) < 0.6) {
			return false
		}
		for j := range i {
			if !(math.Abs(m.cov.At(i, j)) < 0.3) {
				return false
			}
		}
	}
	return true
}

// change is the largest difference of two estimates of the moments.
func (m gridMoments) change(o gridMoments) float64 {
	most := math.Abs(m.logSum - o.logSum)
	for i := range m.mean {
		most = max(most, math.Abs(m.mean[i]-o.mean[i]))
		for j := range i + 1 {
			most = max(most, math.Abs(m.cov.At(i, j)-o.cov.At(i, j)))
		}
	}
	return most
}

// adopt changes to the coordinates in which the moments seen are standard. A
// variance below that of a cell is rounding of the grid and counts as one cell.
func (g *lattice) adopt(m gridMoments) error {
	h := g.spacing()
	for i := range m.mean {
		m.cov.SetSym(i, i, m.cov.At(i, i)+h*h/12)
	}
	root, err := gauss.NewRoot(m.cov)
	if err != nil {
		return fmt.Errorf("exact: coordinates of the grid: %w", err)
	}
	dim := len(m.mean)
	local := mat.NewDense(dim, dim, nil)
	rows := root.Views()
	for i := range dim {
		local.SetRow(i, rows.Row(i))
	}
	centre := make([]float64, dim)
	g.axes.At(centre, m.mean)
	var b mat.Dense
	b.Mul(g.basis(), local)
	g.axes = gauss.NewViews(&b, centre, nil)
	return nil
}

// result keeps the nodes that carry weight.
func (g *lattice) result(m gridMoments) *infer.Result {
	const negligible = -46 // 1e-20 of the peak
	r := &nodeCloud{}
	dim := g.model.Dim()
	most := floats.Max(g.logs)
	x, v := make([]float64, dim), make([]float64, dim)
	var values []float64
	for k, l := range g.logs {
		if l-most < negligible {
			continue
		}
		g.node(k, x)
		g.axes.At(v, x)
		values = append(values, v...)
		r.weight = append(r.weight, math.Exp(l-most))
	}
	floats.Scale(1/floats.Sum(r.weight), r.weight)
	r.centres = mat.NewDense(len(r.weight), dim, values)
	return &infer.Result{Posterior: r, LogEvidence: m.logSum, Status: g.status}
}

// Moments implements Posterior.
func (r *nodeCloud) Moments(views *gauss.Views, mean, variance []float64) {
	r.eachView(views, func(i int, m []float64, v float64) {
		mean[i] = floats.Dot(r.weight, m)
		variance[i] = v
		for k, w := range r.weight {
			d := m[k] - mean[i]
			variance[i] += w * d * d
		}
	})
}

// Expect implements Posterior: the standard errors are zero.
func (r *nodeCloud) Expect(views *gauss.Views, t factor.Factor, value, stderr []float64) {
	clear(stderr)
	r.eachView(views, func(i int, m []float64, v float64) {
		expectEach(t, m, v)
		value[i] = floats.Dot(r.weight, m)
	})
}

var _ infer.Posterior = (*nodeCloud)(nil)
