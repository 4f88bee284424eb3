package gp

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/level3"
	"github.com/lossep/lossep/pass"
)

// Inducing is a Gaussian process seen from M inducing inputs z. With Kzz = UᵀU the value
// at an input x is the view a = U⁻ᵀk(z, x) of v ~ N(0, I) with the residual variance
// r = k(x, x) − a·a, and given v the values at different inputs are taken as independent.
// Expectation propagation on these views is FITC-EP (Naish-Guzman and Holden 2007).
//
// What a white term of the kernel adds to the value at a row belongs to that row, so
// none of it is seen from an inducing input.
type Inducing struct {
	kernel kernel.Kernel
	z      *mat.Dense
	basis  *kernel.Basis
	root   *gauss.Root
	// effects are added to the process: what is known of them is an offset of the value at a
	// row and a part of its residual variance; or they are views of v, too.
	effects effects.Set
	trained []effects.Moment // of the sums of effects on the rows of Shards, function by function, nil where they are not known
}

// NewInducing is the process with kernel k seen from the rows of z, which it keeps.
func NewInducing(k kernel.Kernel, z *mat.Dense) (*Inducing, error) {
	p := &Inducing{kernel: k, z: z, basis: k.Basis(z)}
	var cross mat.Dense
	p.basis.Cross(&cross, z)
	m, _ := z.Dims()
	var err error
	if p.root, err = gauss.NewRoot(mat.NewSymDense(m, cross.RawMatrix().Data)); err != nil {
		return nil, fmt.Errorf("gp: kernel %v at %d inducing points: %w", k, m, err)
	}
	return p, nil
}

// With is the process with effects of groups added to it.
func (p *Inducing) With(e effects.Set) *Inducing {
	c := *p
	c.effects = e
	return &c
}

// Known is the process with effects as they are where q is what is known of v.
func (p *Inducing) Known(q gauss.Gaussians) *Inducing { return p.With(p.effects.Under(q)) }

// Trained is the process whose effects were learnt from the rows that it is going to make Shards of,
// and have these sums there: a row is not one of those that share its combination of categories.
func (p *Inducing) Trained(sums []effects.Moment) *Inducing {
	c := *p
	c.trained = sums
	return &c
}

// Effects are those added to the process.
func (p *Inducing) Effects() effects.Set { return p.effects }

// Kernel is the covariance function.
func (p *Inducing) Kernel() kernel.Kernel { return p.kernel }

// Points are the inducing inputs.
func (p *Inducing) Points() *mat.Dense { return p.z }

// Dim is the number M of inducing inputs.
func (p *Inducing) Dim() int { return p.basis.Len() }

// Jitter is what had to be added to the diagonal of Kzz; zero if nothing.
func (p *Inducing) Jitter() float64 { return p.root.Jitter }

// At are the views of the values at the rows of x.
func (p *Inducing) At(x *mat.Dense) *gauss.Views {
	rows := x.RawMatrix()
	return p.at(rows, make([]float64, rows.Rows*p.basis.Stride()), make([]float64, rows.Rows), nil, false)
}

// viewRows is the number of rows of one task of at.
const viewRows = 32

// at is At with room for the views, basis.Stride numbers a row, and for the residuals. The sums of
// effects are given, or nil. Views may be made already; what effects add to them is not.
func (p *Inducing) at(x blas64.General, data, residual []float64, sums []effects.Moment, made bool) *gauss.Views {
	stride, n := p.basis.Stride(), x.Rows
	share := func(perNumber float64, body func(from, to int)) {
		level3.Share(perNumber*float64(n*stride), (n+viewRows-1)/viewRows, func(task int) {
			body(task*viewRows, min((task+1)*viewRows, n))
		})
	}
	slice := func(from, to int) blas64.General {
		return blas64.General{Rows: to - from, Cols: x.Cols, Stride: x.Stride, Data: x.Data[from*x.Stride:]}
	}
	a := blas64.General{Rows: n, Cols: p.Dim(), Stride: stride, Data: data[:n*stride]}
	if !made {
		share(kernelWork*float64(1+x.Cols), func(from, to int) {
			p.basis.At(data[from*stride:to*stride], slice(from, to))
		})
		p.root.Whiten(a)
	}
	share(kernelWork, func(from, to int) {
		for i := from; i < to; i++ {
			row := data[i*stride : i*stride+a.Cols]
			// Where the inducing inputs determine the value the difference is rounding.
			residual[i] = max(0, p.kernel.Variance(x.Data[i*x.Stride:i*x.Stride+x.Cols])-floats.Dot(row, row))
		}
	})
	if p.effects.Joint() != nil {
		return p.jointly(x, a, residual)
	}
	var dense mat.Dense
	dense.SetRawMatrix(a)
	if len(p.effects) == 0 && sums == nil {
		return gauss.NewViews(&dense, nil, residual)
	}
	functions := p.effects.Functions()
	if sums != nil {
		functions = len(sums) / n
	}
	b, r := make([][]float64, functions), make([][]float64, functions)
	for c := range b {
		b[c], r[c] = make([]float64, n), make([]float64, n)
	}
	share(kernelWork*float64(functions*len(p.effects)), func(from, to int) {
		for i := from; i < to; i++ {
			for c := range b {
				var w effects.Moment
				if sums != nil {
					w = sums[i*functions+c]
				} else {
					w = p.effects.At(x.Data[i*x.Stride:i*x.Stride+x.Cols], c)
				}
				b[c][i], r[c][i] = w.Mean, residual[i]+w.Variance
			}
		}
	})
	if functions == 1 {
		return gauss.NewViews(&dense, b[0], r[0])
	}
	return gauss.NewViews(&dense, nil, residual).With(b, r)
}

// jointly are the views a of the process with those of effects that are known jointly with it. A group that
// no row had is independent of it.
func (p *Inducing) jointly(x, a blas64.General, residual []float64) *gauss.Views {
	e, offset := p.effects.Joint(), make([]float64, x.Rows)
	for i := range x.Rows {
		g := e.Group(x.Data[i*x.Stride : i*x.Stride+x.Cols])
		if g < 0 {
			residual[i] += e.Variance
			continue
		}
		floats.Add(a.Data[i*a.Stride:i*a.Stride+a.Cols], e.Given.Row(g))
		offset[i] = e.Given.Offset(g)
		residual[i] += e.Given.Residual(g)
	}
	var dense mat.Dense
	dense.SetRawMatrix(a)
	return gauss.NewViews(&dense, offset, residual)
}

// kernelWork is what a covariance takes for each column, in operations of a product.
const kernelWork = 20

// shard is some rows seen from inducing points; see pass.Rows.
type shard struct {
	process *Inducing
	x       *mat.Dense
	from    int // row of x, and term, where the shard begins
	rows    int

	first    int         // of its blocks among those of all shards
	data     [][]float64 // of all blocks if they are kept, otherwise of the last
	residual []float64
	kept     []*gauss.Views
	made     []bool // blocks that are in the buffer that they are kept in
}

// singleShard and coupledShard are its rows with their terms.
type (
	singleShard struct {
		*shard
		terms SingleTerms
	}
	coupledShard struct {
		*shard
		terms CoupledTerms
	}
)

func (s singleShard) Term(i int) factor.Factor { return s.terms.Term(s.from + i) }
func (s singleShard) Count(i int) float64      { return CountOf(s.terms, s.from+i) }

func (s coupledShard) Functions() int           { return s.terms.Functions() }
func (s coupledShard) Joint(i int) factor.Multi { return s.terms.Joint(s.from + i) }
func (s coupledShard) Count(i int) float64      { return s.terms.Count(s.from + i) }

// with are the rows of the shard with their terms.
func (s *shard) with(terms Terms) pass.Rows {
	if c, ok := terms.(CoupledTerms); ok {
		return coupledShard{s, c}
	}
	return singleShard{s, terms.(SingleTerms)}
}

// seen is the shard itself.
func (s *shard) seen() *shard { return s }

// ViewBuffer is memory for the views of rows. Whoever fits one kernel after the other lends the
// same buffer to all; views made in it are lost to the next.
type ViewBuffer struct {
	// Bytes is how much may be taken up. Views that do not fit are made again in every
	// pass.
	Bytes int64

	views    [][]float64 // of a block each
	residual []float64
	of       *gauss.Root // of the process whose views of x these are
	x        *mat.Dense
	made     [][]bool // blocks that are there, of each shard
}

// lend is memory for the views of blocks of so many rows, stride numbers a row, and for the residuals of all
// n rows, or nothing. That of each block is made by itself: to clear it takes as long as to read it.
func (r *ViewBuffer) lend(blocks []int, n, stride int) (views [][]float64, residual []float64) {
	if r == nil || int64(n)*int64(stride+1)*8 > r.Bytes {
		return nil, nil
	}
	enough := len(r.residual) >= n && len(r.views) >= len(blocks)
	for b := 0; b < len(blocks) && enough; b++ {
		enough = len(r.views[b]) >= blocks[b]*stride
	}
	if !enough {
		r.views, r.residual = nil, nil // collectable before the larger ones are made
		r.views, r.residual = make([][]float64, len(blocks)), make([]float64, n)
		tasks.For(len(blocks), func(b int) { r.views[b] = make([]float64, blocks[b]*stride) })
		r.of = nil
	}
	return r.views, r.residual[:n]
}

// ShardRows is the number of rows of a shard, unless told otherwise. Within one, blocks see
// each other's updates, and different ones can be gone over at the same time. How rows are
// cut depends on nothing else, so that a result does not either.
const ShardRows = 1 << 18

// Shard is the rows of x, with a term on the value at each, as one shard of a pass. Its
// views are made again in each pass.
func (p *Inducing) Shard(x *mat.Dense, terms Terms) pass.Rows {
	return p.Shards(x, terms, nil, terms.Len())[0]
}

// Shards are the rows of x, with a term on the value at each, as passes take them: so many
// in each shard and what is left in the last, where 0 stands for ShardRows. Their views are
// kept where the buffer is large enough for all of them, and made again in each pass where
// not; nil stands for no buffer.
func (p *Inducing) Shards(x *mat.Dense, terms Terms, buffer *ViewBuffer, size int) []pass.Rows {
	n, _ := x.Dims()
	if terms.Len() != n {
		panic(fmt.Sprintf("gp: %d terms for %d inputs", terms.Len(), n))
	}
	if size == 0 {
		size = ShardRows
	}
	var shards []*shard
	var blocks []int // rows of each
	for from := 0; from < n; from += size {
		s := &shard{process: p, x: x, from: from, rows: min(size, n-from), first: len(blocks)}
		block := pass.BlockRows(s.rows, p.Dim())
		for i := 0; i < s.rows; i += block {
			blocks = append(blocks, min(block, s.rows-i))
		}
		shards = append(shards, s)
	}
	data, residual := buffer.lend(blocks, n, p.basis.Stride())
	fresh := data != nil && (buffer.of != p.root || buffer.x != x || len(buffer.made) != len(shards))
	if fresh {
		buffer.of, buffer.x, buffer.made = p.root, x, nil
	}
	rows := make([]pass.Rows, len(shards))
	for k, s := range shards {
		end := len(blocks)
		if k+1 < len(shards) {
			end = shards[k+1].first
		}
		if data != nil {
			s.kept = make([]*gauss.Views, end-s.first)
			if fresh {
				buffer.made = append(buffer.made, make([]bool, len(s.kept)))
			}
			s.made = buffer.made[k]
			s.data, s.residual = data[s.first:end], residual[s.from:s.from+s.rows]
		}
		rows[k] = s.with(terms)
	}
	return rows
}

func (s *shard) Len() int { return s.rows }
func (s *shard) Dim() int { return s.process.Dim() }

// Views implements pass.Rows. Blocks that are kept are made when they are first asked for.
func (s *shard) Views(i, j int) *gauss.Views {
	stride, at, made := s.process.basis.Stride(), 0, false
	block, room := i/pass.BlockRows(s.rows, s.Dim()), 0
	if s.kept != nil {
		if v := s.kept[block]; v != nil {
			return v
		}
		room, at, made = block, i, s.made[block]
	} else if len(s.residual) < j-i {
		s.data, s.residual = [][]float64{make([]float64, (j-i)*stride)}, make([]float64, j-i)
	}
	var sums []effects.Moment
	if s.process.trained != nil {
		n, _ := s.x.Dims()
		functions := len(s.process.trained) / n
		sums = s.process.trained[(s.from+i)*functions : (s.from+j)*functions]
	}
	v := s.process.at(s.inputs(i, j).RawMatrix(), s.data[room][:(j-i)*stride], s.residual[at:at+j-i], sums, made)
	if s.kept != nil {
		s.made[block], s.kept[block] = true, v
	}
	return v
}

// inputs are the rows of x from i to j.
func (s *shard) inputs(i, j int) *mat.Dense {
	_, d := s.x.Dims()
	return s.x.Slice(s.from+i, s.from+j, 0, d).(*mat.Dense)
}

// Slopes are the part of a shard, and of the sites of its rows, in the gradient of the log
// evidence in the logarithms of the kernel's parameters at a fixed point of expectation
// propagation, with the inducing inputs held, and the sums of the pass that finds it. With g
// the gradients in the views and W = U⁻¹g for each row that is Σ ρ ∂k(x,x) + Σ W·∂k(z,x).
func Slopes(q gauss.Naturals, rows pass.Rows, sites []gauss.Scalar, o pass.Options) (*pass.Sums, []float64, error) {
	s := rows.(interface{ seen() *shard }).seen()
	p := s.process
	grad := make([]float64, p.kernel.NumParams())
	sums, err := pass.Slopes(q, rows, sites, o, func(from, to int, gradient *mat.Dense, rho []float64) {
		x := s.inputs(from, to)
		p.root.Pull(gradient.RawMatrix())
		p.kernel.AddCrossGrad(grad, gradient, x, p.z)
		p.kernel.AddDiagGrad(grad, rho, x)
	})
	return sums, grad, err
}

// EvidenceGradient is the gradient of the log evidence in the logarithms of the kernel's
// parameters at a fixed point of expectation propagation, with the inducing inputs held,
// and the sums of the pass that finds it.
//
// With S = Σ(μμᵀ + Σ − I) − AᵀRA, the sum over the functions, it is what Slopes finds for the
// rows − ½ tr(U⁻¹SU⁻ᵀ ∂Kzz).
func (p *Inducing) EvidenceGradient(ctx context.Context, e Engine, q gauss.Gaussians, o pass.Options) ([]float64, *pass.Sums, error) {
	sums, grad, err := e.Slopes(ctx, q.Naturals(), o)
	if err != nil {
		return nil, nil, err
	}
	m := p.Dim()
	weights := mat.NewDense(m, m, nil)
	cov := mat.NewSymDense(m, nil)
	level3.Wake(3 * float64(m) * float64(m) * float64(m))
	for c, one := range q {
		one.Covariance(cov)
		mu, sigma, change := one.Mean(), cov.RawSymmetric(), sums.Change[0].P.RawSymmetric()
		level3.Share(2*kernelWork*float64(m*m), m, func(i int) {
			row := weights.RawRowView(i)
			for j := range m {
				low, high := min(i, j), max(i, j)
				w := mu[i]*mu[j] + sigma.Data[low*sigma.Stride+high]
				if c == 0 {
					w -= change.Data[low*change.Stride+high]
				}
				if i == j {
					w--
				}
				row[j] -= 0.5 * w
			}
		})
	}
	p.root.PullBoth(weights.RawMatrix())
	p.kernel.AddCrossGrad(grad, weights, p.z, p.z)
	return grad, sums, nil
}
