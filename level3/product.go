package level3

import "sync"

// Block sizes; doc.go says why.
const (
	depthBlock = 384  // depth of a packed panel
	rowBlock   = 4032 // rows of the left operand packed at a time
	colBlock   = 4032 // columns of the right operand packed at a time
	packLines  = 48   // rows or columns packed in a task

	// Rows and columns of C in a task, of a large C and of a small one, which has
	// fewer tasks to share out evenly.
	taskRows, taskCols           = 192, 240
	smallTaskRows, smallTaskCols = 96, 120
	smallArea                    = 1000 * 1000
)

// product computes region(C) += alpha·A·diag(d)·B, or C = … when accumulate is
// false. It is kept in a pool with its buffers.
type product struct {
	*session
	alpha      float64
	a, b, c    view
	d          []float64 // nil for the identity
	region     region    // part of C wanted
	triangle   region    // part of A, and of Bᵀ, that is not zero (full for any)
	accumulate bool

	// The block in work: C's rows [i0,i1) and columns [j0,j1), depth [p0,p1).
	i0, i1, j0, j1, p0, p1 int
	taskRows, taskCols     int
	packedA, packedB, edge []float64

	packBody, tileBody func(worker, task int)
}

var products = sync.Pool{New: func() any {
	p := new(product)
	p.packBody, p.tileBody = p.packTask, p.tileTask
	return p
}}

// multiply is the product without a diagonal or a known triangle.
func (s *session) multiply(alpha float64, a, b view, c view, r region, accumulate bool) {
	s.multiplyDiag(alpha, a, nil, b, c, r, full, accumulate)
}

func (s *session) multiplyDiag(alpha float64, a view, d []float64, b view, c view, r, triangle region, accumulate bool) {
	if c.rows == 0 || c.cols == 0 || a.cols == 0 {
		return
	}
	// Kernels write rows of C: turn the product so that these are contiguous. Then
	// let memory run upwards; only rectangles come reversed.
	if c.cs != 1 && c.cs != -1 {
		a, b, c, r = b.t(), a.t(), c.t(), r.t()
	}
	if c.cs < 0 {
		b, c = b.flipCols(), c.flipCols()
	}
	if c.rs < 0 {
		a, c = a.flipRows(), c.flipRows()
	}
	if a.cs < 0 {
		a, b = a.flipCols(), b.flipRows()
	}
	p := products.Get().(*product)
	p.session, p.alpha, p.a, p.b, p.c, p.d = s, alpha, a, b, c, d
	p.region, p.triangle, p.accumulate = r, triangle, accumulate
	p.compute()
	// Keep the buffers, not the caller's memory.
	p.session, p.a, p.b, p.c, p.d = nil, view{}, view{}, view{}, nil
	products.Put(p)
}

func (p *product) compute() {
	m, n, k := p.c.rows, p.c.cols, p.a.cols
	p.edge = grown(p.edge, p.workers*p.mr*p.nr)
	// Equal slices of depth, in whole vectors: no thin one at the end.
	depth := roundUp(ceilDiv(k, ceilDiv(k, depthBlock)), 8)
	p.packedA = grown(p.packedA, roundUp(min(m, rowBlock), p.mr)*min(depth, k))
	p.packedB = grown(p.packedB, roundUp(min(n, colBlock), p.nr)*min(depth, k))

	for p.p0 = 0; p.p0 < k; p.p0 = p.p1 {
		p.p1 = min(p.p0+depth, k)
		// Where the operands have a known triangle, this depth reaches part of C only.
		rowLo, rowHi, colLo, colHi := 0, m, 0, n
		switch p.triangle {
		case lower:
			rowLo, colLo = roundDown(p.p0, p.nr), roundDown(p.p0, p.nr)
		case upper:
			rowHi, colHi = min(roundUp(p.p1, p.nr), m), min(roundUp(p.p1, p.nr), n)
		}
		for p.j0 = colLo; p.j0 < colHi; p.j0 = p.j1 {
			p.j1 = min(p.j0+colBlock, colHi)
			packB := true
			for p.i0 = rowLo; p.i0 < rowHi; p.i0 = p.i1 {
				p.i1 = min(p.i0+rowBlock, rowHi)
				if p.region.misses(p.i0, p.i1, p.j0, p.j1) {
					continue
				}
				p.computeBlock(packB)
				packB = false
			}
		}
	}
}

// computeBlock packs the operands' part of the block in work and multiplies.
func (p *product) computeBlock(packB bool) {
	tasks := ceilDiv(p.i1-p.i0, packLines)
	if packB {
		tasks += ceilDiv(p.j1-p.j0, packLines)
	}
	p.taskRows, p.taskCols = taskRows, taskCols
	if (p.i1-p.i0)*(p.j1-p.j0) <= smallArea {
		p.taskRows, p.taskCols = smallTaskRows, smallTaskCols
	}
	work := flops(2, p.i1-p.i0, p.j1-p.j0, p.p1-p.p0)
	p.run(work, tasks, p.packBody)
	p.run(work, ceilDiv(p.i1-p.i0, p.taskRows)*ceilDiv(p.j1-p.j0, p.taskCols), p.tileBody)
}

// packTask packs some lines of A or, for the later tasks, of B.
func (p *product) packTask(_, task int) {
	depth := p.p1 - p.p0
	left := ceilDiv(p.i1-p.i0, packLines)
	if task < left {
		lo := p.i0 + task*packLines
		hi := min(lo+packLines, p.i1)
		for i := lo; i < hi; i += p.mr {
			panel := p.packedA[(i-p.i0)*depth:][:p.mr*depth]
			from, to := p.packPanel(panel, p.mr, p.a.t(), i, min(i+p.mr, hi))
			if p.d != nil && from < to {
				p.scaleRows(to-from, &panel[(from-p.p0)*p.mr], &p.d[from])
			}
		}
		return
	}
	lo := p.j0 + (task-left)*packLines
	hi := min(lo+packLines, p.j1)
	for j := lo; j < hi; j += p.nr {
		p.packPanel(p.packedB[(j-p.j0)*depth:][:p.nr*depth], p.nr, p.b, j, min(j+p.nr, hi))
	}
}

// packPanel packs the columns [lo,hi) of x, the transpose of a triangle or any
// matrix, at the depth in work. Of a triangle it packs what span asks for: where it
// is dense and, filled up with zeros, the square on the diagonal. It returns the
// depth packed.
func (p *product) packPanel(panel []float64, width int, x view, lo, hi int) (from, to int) {
	denseLo, denseHi := p.p0, p.p1
	switch p.triangle {
	case lower:
		denseHi = min(denseHi, lo)
	case upper:
		denseLo = max(denseLo, hi)
	}
	if denseLo < denseHi {
		p.pack(panel[(denseLo-p.p0)*width:], width, x.block(denseLo, lo, denseHi-denseLo, hi-lo))
	}
	squareLo, squareHi := max(p.p0, lo), min(p.p1, hi)
	if p.triangle != full && squareLo < squareHi {
		square := x.block(squareLo, lo, squareHi-squareLo, hi-lo)
		p.packRegion(panel[(squareLo-p.p0)*width:], width, square, p.triangle.t(), squareLo-lo)
		denseLo, denseHi = min(denseLo, squareLo), max(denseHi, squareHi)
	}
	return denseLo, denseHi
}

// span is the depth [lo,hi) that a tile of C needs, and whether earlier depths have
// reached the tile already. A triangle leaves out the zeros of both operands.
func (p *product) span(iLo, iHi, jLo, jHi int) (lo, hi int, reached bool) {
	switch p.triangle {
	case lower:
		return p.p0, min(p.p1, iHi, jHi), p.p0 > 0
	case upper:
		start := max(iLo, jLo)
		return max(p.p0, start), p.p1, p.p0 > start
	default:
		return p.p0, p.p1, p.p0 > 0
	}
}

// tileTask multiplies the packed panels of one rectangle of C.
func (p *product) tileTask(worker, task int) {
	ks, depth := p.kernels, p.p1-p.p0
	across := ceilDiv(p.j1-p.j0, p.taskCols)
	rowLo := p.i0 + task/across*p.taskRows
	rowHi := min(rowLo+p.taskRows, p.i1)
	colLo := p.j0 + task%across*p.taskCols
	colHi := min(colLo+p.taskCols, p.j1)
	if p.region.misses(rowLo, rowHi, colLo, colHi) {
		return
	}
	for j := colLo; j < colHi; j += ks.nr {
		jEnd := min(j+ks.nr, colHi)
		for i := rowLo; i < rowHi; i += ks.mr {
			iEnd := min(i+ks.mr, rowHi)
			if p.region.misses(i, iEnd, j, jEnd) {
				continue
			}
			lo, hi, reached := p.span(i, iEnd, j, jEnd)
			if lo >= hi {
				continue
			}
			accumulate := p.accumulate || reached
			a := &p.packedA[(i-p.i0)*depth+(lo-p.p0)*ks.mr]
			b := &p.packedB[(j-p.j0)*depth+(lo-p.p0)*ks.nr]
			if iEnd-i == ks.mr && jEnd-j == ks.nr && p.region.contains(i, iEnd, j, jEnd) {
				ks.gemm(hi-lo, p.alpha, a, b, p.c.ptr(i, j), p.c.rs, accumulate)
				continue
			}
			edge := p.edge[worker*ks.mr*ks.nr:][:ks.mr*ks.nr]
			ks.gemm(hi-lo, p.alpha, a, b, &edge[0], ks.nr, false)
			p.writeEdge(edge, i, iEnd, j, jEnd, accumulate)
		}
	}
}

// writeEdge moves a tile that C or the wanted region does not hold entirely.
func (p *product) writeEdge(edge []float64, iLo, iHi, jLo, jHi int, accumulate bool) {
	for i := iLo; i < iHi; i++ {
		lo, hi := p.region.columns(i, p.c.cols)
		lo, hi = max(lo, jLo), min(hi, jHi)
		if lo >= hi {
			continue
		}
		src := edge[(i-iLo)*p.nr+lo-jLo:][:hi-lo]
		dst := p.c.data[p.c.index(i, lo):][:hi-lo]
		if !accumulate {
			copy(dst, src)
			continue
		}
		for j, x := range src {
			dst[j] += x
		}
	}
}
