package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/level3"
)

// Pivots chooses inducing inputs among the rows of x by a randomised pivoted Cholesky
// factorisation of their covariances: the next one is drawn in proportion to the variance
// that those before leave of it, times a weight (Chen, Epperly, Tropp and Webber 2025).
// Rows are drawn in blocks and kept or refused one by one, which gives the same
// distribution as drawing them singly (Epperly, Tropp and Webber 2024). It takes N·M²
// operations.
//
// The zero value is not usable; see NewPivots.
type Pivots struct {
	kernel  kernel.Kernel
	x       *mat.Dense
	weights []float64
	rng     *rand.Rand

	most     int // that there will be, as far as is known
	chosen   []int
	factor   []float64 // F with K ≈ FFᵀ, a row of stride numbers for each row of x; behind it covariances with those drawn
	stride   int
	left     []float64 // residual variances
	total    float64   // of the variances
	finished bool      // nothing is left to explain
}

// NewPivots is ready to choose among the rows of x. Weights, one for each row, may be
// nil, which stands for ones.
func NewPivots(k kernel.Kernel, x *mat.Dense, weights []float64, rng *rand.Rand) *Pivots {
	n, _ := x.Dims()
	p := &Pivots{kernel: k, x: x, weights: weights, rng: rng, left: make([]float64, n)}
	p.strips(reaching, func(from, to int) {
		for i := from; i < to; i++ {
			// What a white term adds is no other row's business.
			p.left[i] = k.Cov(x.RawRowView(i), x.RawRowView(i))
		}
	})
	p.total = floats.Sum(p.left)
	return p
}

// Share is the part of the variance of the rows that the chosen ones leave.
func (p *Pivots) Share() float64 {
	if p.total == 0 {
		return 0
	}
	return floats.Sum(p.left) / p.total
}

// Chosen are the rows chosen so far, in the order in which they were.
func (p *Pivots) Chosen() []int { return p.chosen }

// Points are the inputs of the first m of the chosen rows.
func (p *Pivots) Points(m int) *mat.Dense {
	_, d := p.x.Dims()
	z := mat.NewDense(min(m, len(p.chosen)), d, nil)
	for i := range z.RawMatrix().Rows {
		z.SetRow(i, p.x.RawRowView(p.chosen[i]))
	}
	return z
}

// pivotBlock is the most rows drawn at a time; pivotFloor is the part of a variance
// below which what is left of it is rounding.
const (
	pivotBlock = 64
	pivotFloor = 1e-9
)

// Grow chooses rows until there are m of them, or the share left is at most the given
// one, or nothing is left. It returns the number of the chosen.
func (p *Pivots) Grow(m int, share float64) int {
	for len(p.chosen) < m && !p.finished && (len(p.chosen) == 0 || p.Share() > share) {
		p.block(m)
	}
	p.finished = p.finished || p.Share() == 0 // exactly so where few different rows come again and again
	return len(p.chosen)
}

// block draws some rows and keeps those that pass.
func (p *Pivots) block(m int) {
	drawn := p.draw(min(pivotBlock, max(1, len(p.chosen)), m-len(p.chosen)))
	if len(drawn) == 0 {
		p.finished = true
		return
	}
	_, d := p.x.Dims()
	z := mat.NewDense(len(drawn), d, nil)
	for i, row := range drawn {
		z.SetRow(i, p.x.RawRowView(row))
	}
	p.reserve(len(p.chosen)+len(drawn), max(m, p.most))
	n, old := len(p.left), len(p.chosen)
	cross := mat.NewDense(n, len(drawn), p.factor[n*p.stride:][:n*len(drawn)])
	p.kernel.Cross(cross, p.x, z)
	// What the earlier ones leave: K(·, S) − F F(S)ᵀ.
	kernels, _ := level3.Selected()
	c := cross.RawMatrix()
	if old > 0 {
		rows := make([]float64, len(drawn)*old)
		for i, row := range drawn {
			copy(rows[i*old:(i+1)*old], p.factor[row*p.stride:])
		}
		product := func(from, to int) {
			kernels.Dgemm(blas.NoTrans, blas.Trans, to-from, c.Cols, old, -1, p.factor[from*p.stride:], p.stride, rows, old, 1, c.Data[from*c.Stride:], c.Stride)
		}
		if operations := 2 * old * len(drawn); operations > fewOperations {
			product(0, n)
		} else {
			p.strips(slow*float64(operations), product)
		}
	}
	kept, root := p.refuse(drawn, c)
	if len(kept) == 0 {
		p.finished = true
		return
	}
	// The new columns of F: what is left of the kept ones, times U⁻¹.
	fresh := blas64.General{Rows: c.Rows, Cols: len(kept), Stride: p.stride, Data: p.factor[old:]}
	p.strips(reaching+slow*float64(len(kept)*len(kept)), func(from, to int) {
		for i := from; i < to; i++ {
			for k, j := range kept {
				fresh.Data[i*fresh.Stride+k] = c.Data[i*c.Stride+j]
			}
		}
		kernels.Dtrsm(blas.Right, blas.Upper, blas.NoTrans, blas.NonUnit, to-from, fresh.Cols, 1, root.Data, root.Stride, fresh.Data[from*fresh.Stride:], fresh.Stride)
		for i := from; i < to; i++ {
			row := fresh.Data[i*fresh.Stride : i*fresh.Stride+fresh.Cols]
			p.left[i] = max(0, p.left[i]-floats.Dot(row, row))
		}
	})
	for _, j := range kept {
		p.chosen = append(p.chosen, drawn[j])
		p.left[drawn[j]] = 0
	}
}

const (
	reaching      = 4000 // operations that it takes to reach the memory of a row
	slow          = 10   // by how much matrices of few columns are slower than products
	fewOperations = 4096 // for a row, up to which operations on whole matrices would leave them to one core
)

// strips calls body for strips of rows that take so many operations each, on all processors where that is worth it.
func (p *Pivots) strips(perRow float64, body func(from, to int)) {
	const rows = 256
	n := len(p.left)
	level3.Share(perRow*float64(n), (n+rows-1)/rows, func(task int) { body(task*rows, min((task+1)*rows, n)) })
}

// draw draws rows in proportion to what is left of them and to their weights.
func (p *Pivots) draw(n int) []int {
	sums := make([]float64, len(p.left))
	sum := 0.0
	for i, v := range p.left {
		if v > pivotFloor*p.total/float64(len(p.left)) {
			if p.weights != nil {
				v *= p.weights[i]
			}
			sum += v
		}
		sums[i] = sum
	}
	if !(sum > 0) {
		return nil
	}
	var drawn []int
	for range n {
		u := p.rng.Float64() * sum
		i, _ := slices.BinarySearchFunc(sums, u, func(s, u float64) int {
			if s <= u {
				return -1
			}
			return 1
		})
		if !slices.Contains(drawn, i) && i < len(sums) {
			drawn = append(drawn, i)
		}
	}
	return drawn
}

// refuse keeps a drawn row with the probability that those kept before it leave of it,
// and returns which were kept with the factor of what is left of them.
func (p *Pivots) refuse(drawn []int, left blas64.General) (kept []int, root blas64.General) {
	b := len(drawn)
	root = blas64.General{Rows: b, Cols: b, Stride: b, Data: make([]float64, b*b)}
	floor := pivotFloor * p.total / float64(len(p.left))
	for j, row := range drawn {
		// The column of U for this row, if it is kept.
		at := len(kept)
		rest := left.Data[row*left.Stride+j]
		whole := rest
		column := make([]float64, at)
		for k, i := range kept {
			v := left.Data[drawn[i]*left.Stride+j]
			for e := range k {
				v -= root.Data[e*b+k] * column[e]
			}
			column[k] = v / root.Data[k*b+k]
			rest -= column[k] * column[k]
		}
		if !(rest > floor) || p.rng.Float64()*whole >= rest {
			continue
		}
		for k, v := range column {
			root.Data[k*b+at] = v
		}
		root.Data[at*b+at] = math.Sqrt(rest)
		kept = append(kept, j)
	}
	root.Rows, root.Cols = len(kept), len(kept)
	return kept, root
}

// mostReserved is how many bytes F may take for columns that may never come.
const mostReserved = 256 << 20

// reserve makes room for so many columns of F, and for all that there may be unless they take too much.
func (p *Pivots) reserve(columns, most int) {
	if columns <= p.stride {
		return
	}
	stride := max(columns, 2*p.stride)
	if most <= mostReserved/8/len(p.left) {
		stride = max(columns, most)
	}
	grown := takeFactor(len(p.left) * (stride + pivotBlock))
	p.strips(reaching, func(from, to int) {
		for i := from; i < to; i++ {
			copy(grown[i*stride:], p.factor[i*p.stride:i*p.stride+len(p.chosen)])
		}
	})
	p.Release()
	p.factor, p.stride = grown, stride
}

// factors are those of choices that are over, for the next ones: they are the largest memory of a choice.
var factors sync.Pool

// takeFactor is so many numbers of any value: columns of F are written before they are read.
func takeFactor(n int) []float64 {
	if f, ok := factors.Get().(*[]float64); ok && cap(*f) >= n {
		return (*f)[:n]
	}
	return make([]float64, n)
}

// Release gives the memory of F to later choices. Nothing more can be chosen.
func (p *Pivots) Release() {
	if f := p.factor; f != nil {
		p.factor = nil
		factors.Put(&f)
	}
}

// lost is half the weighted variance left, per row: about what the variational bound lacks
// for want of points, if the weights are the curvatures of the terms. Without weights
// curvatures are taken as one.
func (p *Pivots) lost() float64 {
	sum := 0.0
	for i, v := range p.left {
		if p.weights != nil {
			v *= p.weights[i]
		}
		sum += v
	}
	return 0.5 * sum / float64(len(p.left))
}
