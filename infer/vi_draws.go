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

// drawnUtility estimates E_q log U(a, v) by draws v_k = μ + U⁻¹z_k, where Λ = UᵀU
// is q's precision and the z_k are fixed. The estimate is then a smooth function of
// q, and what evaluate asks for are its exact derivatives, not estimates of those
// of the expectation: so a bound with it can be climbed to any tolerance.
type drawnUtility struct {
	utility  factor.Utility
	points   *gauss.Views
	residual []float64 // of the points; of blocks of views, matrices
	actions  []int
	floor    float64 // is added to U; 0 for none

	visited visited

	z      *mat.Dense // one draw a row, all sets one after the other
	logs   []float64  // log U at the draws
	values *mat.Dense // what the points read at the draws
	slopes *mat.Dense // derivatives of log U in these

	white  *mat.Dense // the points as seen from z
	centre []float64  // what the points read at the mean
	slope  []float64  // the mean of slopes
	cross  *mat.Dense // the mean of slope × z
	inner  *mat.Dense
	site   *gauss.Natural // the parameters last unpacked
	change *gauss.Natural // the full step, to those that q asks for
	cov    *mat.SymDense
}

func newDrawnUtility(m *Model, draws int, seed uint64) *drawnUtility {
	c, dim, block := m.Points.Len(), m.Dim(), factor.ViewsOf(m.Utility)
	d := &drawnUtility{
		utility: m.Utility, points: m.Points,
		residual: make([]float64, c*block), actions: make([]int, c/block),
		z: fixedNormals(draws, dim, seed), logs: make([]float64, draws),
		values: mat.NewDense(draws, c, nil), slopes: mat.NewDense(draws, c, nil),
		white: mat.NewDense(c, dim, nil), centre: make([]float64, c), slope: make([]float64, c),
		cross: mat.NewDense(c, dim, nil), inner: mat.NewDense(dim, dim, nil),
		change: gauss.NewNatural(dim), site: gauss.NewNatural(dim), cov: mat.NewSymDense(dim, nil),
	}
	for j := range c {
		d.residual[j*block+j%block] = m.Points.Residual(j)
	}
	return d
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
	white   []float64
	centre  []float64
	actions []int
	floor   float64
}

// again reports whether that is what they are to be evaluated for now, and notes it.
func (d *drawnUtility) again() bool {
	v, white := &d.visited, d.white.RawMatrix().Data
	same := v.floor == d.floor && slices.Equal(v.actions, d.actions) && slices.Equal(v.centre, d.centre) && slices.Equal(v.white, white)
	if !same {
		v.white, v.centre = append(v.white[:0], white...), append(v.centre[:0], d.centre...)
		v.actions, v.floor = append(v.actions[:0], d.actions...), d.floor
	}
	return same
}

// visit evaluates log U and its slopes at the draws of q, on all cores, unless it did so
// last. It reports false if U is zero at one of them.
func (d *drawnUtility) visit(q *gauss.Gaussian, ws *gauss.Workspace) bool {
	q.Whiten(d.white, d.points, ws)
	d.points.At(d.centre, q.Mean())
	if d.again() {
		return floats.Min(d.logs) > math.Inf(-1)
	}
	level3.Gemm(blas.NoTrans, blas.Trans, 1, d.z.RawMatrix(), d.white.RawMatrix(), 0, d.values.RawMatrix())
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

// visitDraw evaluates log U and its slopes at draw k.
func (d *drawnUtility) visitDraw(k int, bends []float64) {
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

// evaluate returns E log U and tr(PΣ) for the current site, and writes the step to
// the site that q asks for.
//
// With S = U⁻¹ a change dΣ of the covariance moves S by S·upper(U dΣ Uᵀ), where
// upper keeps the upper triangle and half of the diagonal. So ∂E/∂Σ = ½Uᵀ[B]U, with
// B = Wᵀ·mean(slope × z) and [B] its upper triangle mirrored. The site is
// P = −2 ∂E/∂Σ and H = ∂E/∂μ + Pμ.
func (d *drawnUtility) evaluate(q *gauss.Gaussian, step []gauss.Scalar, ws *gauss.Workspace) (mean, trace float64) {
	if !d.visit(q, ws) {
		return math.Inf(-1), 0
	}
	share := 1 / float64(len(d.logs))
	level3.Gemm(blas.Trans, blas.NoTrans, share, d.slopes.RawMatrix(), d.z.RawMatrix(), 0, d.cross.RawMatrix())
	level3.Gemm(blas.Trans, blas.NoTrans, -1, d.white.RawMatrix(), d.cross.RawMatrix(), 0, d.inner.RawMatrix())
	asked := d.change
	for i := range asked.H {
		for j := i; j < len(asked.H); j++ {
			asked.P.SetSym(i, j, d.inner.At(i, j))
		}
	}
	q.Unwhiten(asked.P, ws)
	clear(d.slope)
	for k := range d.logs {
		floats.AddScaled(d.slope, share, d.slopes.RawRowView(k))
	}
	blas64.Symv(1, asked.P.RawSymmetric(), column(q.Mean()), 0, column(asked.H))
	d.points.Pull(asked.H, d.slope)
	d.change.Times(d.site, -1)
	d.pack(step, d.change)
	q.Covariance(d.cov)
	return stat.Mean(d.logs, nil), traceOfProduct(d.site.P, d.cov)
}

// standardError is that of the mean of log U at the draws last visited, from the
// spread of the means of the independently scrambled sets.
func (d *drawnUtility) standardError() float64 {
	size := len(d.logs) / scramblings
	means := make([]float64, scramblings)
	for s := range means {
		means[s] = stat.Mean(d.logs[s*size:(s+1)*size], nil)
	}
	return stat.StdErr(stat.StdDev(means, nil), scramblings)
}

// flat reports whether log U varies between the draws, beyond rounding, but has no slope at any:
// then it is piecewise constant and no derivative leads anywhere.
func (d *drawnUtility) flat() bool {
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
