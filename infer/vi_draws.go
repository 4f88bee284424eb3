package infer

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/level3"
	"github.com/lossep/lossep/normal"
)

// scramblings is the number of independent sets that draws are made of. Their
// spread is the standard error.
const scramblings = 8

// DrawnUtility estimates E_q log U(a, v) by draws v_k = μ + U⁻¹z_k, where Λ = UᵀU
// is q's precision and the z_k are fixed. The estimate is then a smooth function of
// q, and what Propose asks for are its exact derivatives, not estimates of those
// of the expectation: so a bound with it can be climbed to any tolerance.
//
// With several functions, independent under q, a draw is one of each, and the points read those of
// the first function before those of the second.
type DrawnUtility struct {
	utility  factor.Utility
	points   *gauss.Views
	residual []float64 // of the points; of blocks of views, matrices
	actions  []int
	floor    float64 // is added to U; 0 for none

	visited visited

	logs   []float64  // log U at the draws
	values *mat.Dense // what the points read at the draws
	slopes *mat.Dense // derivatives of log U in these

	centre    []float64 // what the points read at the mean
	slope     []float64 // the mean of slopes
	functions []drawnFunction
}

// drawnFunction is what there is of one function.
type drawnFunction struct {
	z     *mat.Dense // one draw a row, all sets one after the other
	white *mat.Dense // the points as seen from z
	cross *mat.Dense // the mean of slope × z
	inner *mat.Dense
}

// NewDrawnUtility is that on points that so many functions are seen by, from a number of draws that is a
// multiple of 16.
func NewDrawnUtility(u factor.Utility, points *gauss.Views, functions, draws int, seed uint64) *DrawnUtility {
	c, dim, block := points.Len(), points.Dim(), factor.ViewsOf(u)
	d := &DrawnUtility{
		utility: u, points: points,
		residual: make([]float64, functions*c*block), actions: make([]int, c/block), logs: make([]float64, draws),
		values: mat.NewDense(draws, functions*c, nil), slopes: mat.NewDense(draws, functions*c, nil),
		centre: make([]float64, functions*c), slope: make([]float64, functions*c),
	}
	for k := range functions {
		d.functions = append(d.functions, drawnFunction{
			z: fixedNormals(draws, dim, seed+uint64(k)), white: mat.NewDense(c, dim, nil),
			cross: mat.NewDense(c, dim, nil), inner: mat.NewDense(dim, dim, nil),
		})
		for j := range c {
			d.residual[(k*c+j)*block+j%block] = points.Of(k).Residual(j)
		}
	}
	return d
}

// of are the columns of a function.
func (d *DrawnUtility) of(k int, all *mat.Dense) blas64.General {
	c, draws := d.points.Len(), len(d.logs)
	return all.Slice(0, draws, k*c, (k+1)*c).(*mat.Dense).RawMatrix()
}

// drawnSets are the sets of draws made last, as far as they are small. Runs under other
// utilities or from another start ask for the same, and their points are not moved.
var drawnSets struct {
	sync.Mutex
	made [8]struct {
		draws, dim int
		seed       uint64
		z          *mat.Dense
	}
	next int
}

// smallSet is the most numbers of a set that is kept: all eight take eight megabytes. Larger
// ones are little beside what is done with them.
const smallSet = 1 << 17

// fixedNormals are those of scrambledNormals, which must not be changed.
func fixedNormals(draws, dim int, seed uint64) *mat.Dense {
	if draws*dim > smallSet {
		return scrambledNormals(draws, dim, seed)
	}
	drawnSets.Lock()
	defer drawnSets.Unlock()
	for _, s := range drawnSets.made {
		if s.draws == draws && s.dim == dim && s.seed == seed && s.z != nil {
			return s.z
		}
	}
	to := &drawnSets.made[drawnSets.next]
	drawnSets.next = (drawnSets.next + 1) % len(drawnSets.made)
	to.draws, to.dim, to.seed, to.z = draws, dim, seed, scrambledNormals(draws, dim, seed)
	return to.z
}

// scrambledNormals are standard normal draws, one a row: sets of Halton points, each
// scrambled independently (Owen 2017), with the mirror image of every draw beside
// it, which makes the mean of the draws exactly zero.
func scrambledNormals(draws, dim int, seed uint64) *mat.Dense {
	// Beyond some dimensions Halton points are even in one of them at a time at
	// best. A Latin hypercube is so too, for any dimension and at once.
	const even = 50
	z := mat.NewDense(draws, dim, nil)
	pairs := draws / scramblings / 2
	halton := min(dim, even)
	for s := range scramblings {
		src := rand.NewPCG(seed, uint64(s))
		set := mat.NewDense(pairs, halton, nil)
		samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(halton, nil), Src: src}.Sample(set)
		rng := rand.New(src)
		for j := range dim {
			stratum := rng.Perm(pairs)
			for k := range pairs {
				u := (float64(stratum[k]) + rng.Float64()) / float64(pairs)
				if j < halton {
					u = set.At(k, j)
				}
				x := normal.Quantile(min(max(u, 0x1p-54), 1-0x1p-53))
				row := 2 * (s*pairs + k)
				z.Set(row, j, x)
				z.Set(row+1, j, -x)
			}
		}
	}
	return z
}

// visited is what log U and its slopes were last evaluated for.
type visited struct {
	white   [][]float64 // of each function
	centre  []float64
	actions []int
	floor   float64
}

// again reports whether that is what they are to be evaluated for now, and notes it.
func (d *DrawnUtility) again() bool {
	v := &d.visited
	same := v.white != nil && v.floor == d.floor && slices.Equal(v.actions, d.actions) && slices.Equal(v.centre, d.centre)
	if v.white == nil {
		v.white = make([][]float64, len(d.functions))
	}
	for k, f := range d.functions {
		white := f.white.RawMatrix().Data
		same = same && slices.Equal(v.white[k], white)
		v.white[k] = append(v.white[k][:0], white...)
	}
	v.centre, v.actions, v.floor = append(v.centre[:0], d.centre...), append(v.actions[:0], d.actions...), d.floor
	return same
}

// visit evaluates log U and its slopes at the draws of q, on all cores, unless it did so
// last. It reports false if U is zero at one of them.
func (d *DrawnUtility) visit(q gauss.Gaussians, ws *gauss.Workspace) bool {
	c := d.points.Len()
	for k, f := range d.functions {
		q[k].Whiten(f.white, d.points.Of(k), ws)
		d.points.Of(k).At(d.centre[k*c:(k+1)*c], q[k].Mean())
	}
	if d.again() {
		return floats.Min(d.logs) > math.Inf(-1)
	}
	for k, f := range d.functions {
		level3.Gemm(blas.NoTrans, blas.Trans, 1, f.z.RawMatrix(), f.white.RawMatrix(), 0, d.of(k, d.values))
	}
	const block = 32
	tasks.Each((len(d.logs)+block-1)/block, func() func(task int) {
		bends := make([]float64, len(d.residual))
		return func(task int) {
			for k := task * block; k < min((task+1)*block, len(d.logs)); k++ {
				d.visitDraw(k, bends)
			}
		}
	})
	return floats.Min(d.logs) > math.Inf(-1)
}

// Hold has the actions be these from here on. Where U touches zero under q it is raised by a share of its largest value, by how much is returned. The error
// is an *UnsupportedError where U has no slope at any draw.
func (d *DrawnUtility) Hold(q gauss.Gaussians, actions []int, floor float64, ws *gauss.Workspace) (raised float64, err error) {
	copy(d.actions, actions)
	if !d.visit(q, ws) {
		d.floor = floor * math.Exp(floats.Max(d.logs))
		d.visit(q, ws)
	}
	if d.flat() {
		return 0, &UnsupportedError{"Loss-VI", "the utility is piecewise constant in v, so its draws have no slope; use a smooth outcome, points with a residual, or Loss-EP"}
	}
	return d.floor, nil
}

// visitDraw evaluates log U and its slopes at draw k.
func (d *DrawnUtility) visitDraw(k int, bends []float64) {
	f, slope := d.values.RawRowView(k), d.slopes.RawRowView(k)
	floats.Add(f, d.centre)
	l := d.utility.LogMean(d.actions, f, d.residual, slope, bends)
	// A sum of slopes is no number if one of them is none.
	if math.IsInf(l, -1) || math.IsNaN(l) || math.IsNaN(floats.Sum(slope)) {
		l = math.Inf(-1)
		clear(slope)
	}
	if d.floor > 0 {
		// log(U + floor), whose slope is that of log U times U/(U + floor).
		raised := floats.LogSumExp([]float64{l, math.Log(d.floor)})
		floats.Scale(math.Exp(l-raised), slope)
		l = raised
	}
	d.logs[k] = l
}

// Propose returns E log U, and writes the steps from a site to the one that q asks for.
//
// With S = U⁻¹ a change dΣ of the covariance moves S by S·upper(U dΣ Uᵀ), where
// upper keeps the upper triangle and half of the diagonal. So ∂E/∂Σ = ½Uᵀ[B]U, with
// B = Wᵀ·mean(slope × z) and [B] its upper triangle mirrored. The site is
// P = −2 ∂E/∂Σ and H = ∂E/∂μ + Pμ.
func (d *DrawnUtility) Propose(q gauss.Gaussians, site, step gauss.Naturals, ws *gauss.Workspace) float64 {
	if !d.visit(q, ws) {
		return math.Inf(-1)
	}
	c, share := d.points.Len(), 1/float64(len(d.logs))
	clear(d.slope)
	for k := range d.logs {
		floats.AddScaled(d.slope, share, d.slopes.RawRowView(k))
	}
	for k, f := range d.functions {
		level3.Gemm(blas.Trans, blas.NoTrans, share, d.of(k, d.slopes), f.z.RawMatrix(), 0, f.cross.RawMatrix())
		level3.Gemm(blas.Trans, blas.NoTrans, -1, f.white.RawMatrix(), f.cross.RawMatrix(), 0, f.inner.RawMatrix())
		asked := step[k]
		for i := range asked.H {
			for j := i; j < len(asked.H); j++ {
				asked.P.SetSym(i, j, f.inner.At(i, j))
			}
		}
		q[k].Unwhiten(asked.P, ws)
		blas64.Symv(1, asked.P.RawSymmetric(), column(q[k].Mean()), 0, column(asked.H))
		d.points.Of(k).Pull(asked.H, d.slope[k*c:(k+1)*c])
	}
	step.Times(site, -1)
	return stat.Mean(d.logs, nil)
}

// drawnUtility is the utility of a model as a climb has it: with a site whose natural parameters are some of what it moves.
type drawnUtility struct {
	*DrawnUtility
	site   *gauss.Natural // the parameters last unpacked
	change *gauss.Natural // the full step, to those that q asks for
	cov    *mat.SymDense
}

func newDrawnUtility(m *Model, draws int, seed uint64) *drawnUtility {
	dim := m.Dim()
	return &drawnUtility{NewDrawnUtility(m.Utility, m.Points, 1, draws, seed), gauss.NewNatural(dim), gauss.NewNatural(dim), mat.NewSymDense(dim, nil)}
}

// evaluate returns E log U and tr(PΣ) for the current site, and writes the step to
// the site that q asks for.
func (d *drawnUtility) evaluate(q *gauss.Gaussian, step []gauss.Scalar, ws *gauss.Workspace) (mean, trace float64) {
	mean = d.Propose(gauss.Gaussians{q}, gauss.Naturals{d.site}, gauss.Naturals{d.change}, ws)
	if math.IsInf(mean, -1) {
		return mean, 0
	}
	d.pack(step, d.change)
	q.Covariance(d.cov)
	return mean, traceOfProduct(d.site.P, d.cov)
}

// standardError is that of the mean of log U at the draws last visited, from the
// spread of the means of the independently scrambled sets.
func (d *DrawnUtility) standardError() float64 {
	size := len(d.logs) / scramblings
	means := make([]float64, scramblings)
	for s := range means {
		means[s] = stat.Mean(d.logs[s*size:(s+1)*size], nil)
	}
	return stat.StdErr(stat.StdDev(means, nil), scramblings)
}

// flat reports whether log U varies between the draws, beyond rounding, but has no slope at any:
// then it is piecewise constant and no derivative leads anywhere.
func (d *DrawnUtility) flat() bool {
	return floats.Max(d.logs)-floats.Min(d.logs) > 1e-8 &&
		!slices.ContainsFunc(d.slopes.RawMatrix().Data, func(slope float64) bool { return slope != 0 })
}

// params is the number of pairs that hold H and the upper triangle of P.
func (d *drawnUtility) params() int {
	m := d.site.Dim()
	return (m + m*(m+1)/2 + 1) / 2
}

// pack writes H and then P into pairs of numbers.
func (d *drawnUtility) pack(dst []gauss.Scalar, n *gauss.Natural) {
	k := 0
	eachParameter(n, func(x *float64) {
		if k%2 == 0 {
			dst[k/2].Nu = *x
		} else {
			dst[k/2].Tau = *x
		}
		k++
	})
}

// unpack reads the site back.
func (d *drawnUtility) unpack(src []gauss.Scalar) {
	k := 0
	eachParameter(d.site, func(x *float64) {
		if k%2 == 0 {
			*x = src[k/2].Nu
		} else {
			*x = src[k/2].Tau
		}
		k++
	})
}

// eachParameter visits H and then the upper triangle of P, row by row.
func eachParameter(n *gauss.Natural, visit func(x *float64)) {
	for i := range n.H {
		visit(&n.H[i])
	}
	p := n.P.RawSymmetric()
	for i := range n.H {
		row := p.Data[i*p.Stride : i*p.Stride+p.N]
		for j := i; j < len(row); j++ {
			visit(&row[j])
		}
	}
}

func traceOfProduct(a, b *mat.SymDense) (trace float64) {
	m := a.SymmetricDim()
	for i := range m {
		trace += a.At(i, i) * b.At(i, i)
		for j := i + 1; j < m; j++ {
			trace += 2 * a.At(i, j) * b.At(i, j)
		}
	}
	return trace
}

func column(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }
