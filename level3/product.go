package level3

import (
	"math"
	"slices"
	"sync"
)

// Block sizes; doc.go says why.
const (
	depthBlock = 384  // depth of a packed panel
	rowBlock   = 4032 // rows of the left operand packed at a time
	colBlock   = 4032 // columns of the right operand packed at a time
	packLines  = 48   // rows or columns packed in a task of a large C
	packDepth  = 192  // depth packed in a task of a C that makes few

	// Rows and columns of C in a task, of a large C and of a small one, which has
	// fewer tasks to share out evenly.
	taskRows, taskCols           = 192, 240
	smallTaskRows, smallTaskCols = 96, 120
	smallArea                    = 1000 * 1000
	// Of a C that makes fewer tasks than that for each core.
	leastTaskRows, leastTaskCols = 24, 48
	fewTasks                     = 4

	// Operands of so many numbers are packed in their whole depth, of a few depths.
	packedWhole, wholeDepths = 1 << 20, 6
)

// product computes region(C) += alpha·A·B, or C = … when accumulate is false. It is
// kept in a pool with its buffers.
type product struct {
	*session
	alpha      float64
	a, b, c    view
	base       view   // what a symmetric product is added to, if that is not C
	region     region // part of C wanted
	fromA      stairs // the zeros that rows of A begin with
	fromB      stairs // the zeros that columns of B begin with
	accumulate bool

	// A symmetric product is alpha·Bᵀ·diag(d)·B, a nil d being the identity. The panels
	// of √d·B serve as both operands; where d has a sign, those of A are d times B's.
	symmetric bool
	d         []float64 // √d unless signed
	signed    bool

	// The block in work: C's rows [i0,i1) and columns [j0,j1), depth [p0,p1), of which so much is
	// multiplied at a time.
	i0, i1, j0, j1, p0, p1 int
	step                   int
	taskRows, taskCols     int
	packLines, packDepth   int // rows or columns packed in a task, and how deep
	packedA, packedB, edge []float64
	roots                  []float64
	widthA                 int // of A's panels: mr, or nr in a symmetric product

	packBody, tileBody func(worker, task int)
}

var products = sync.Pool{New: func() any {
	p := new(product)
	p.packBody, p.tileBody = p.packTask, p.tileTask
	return p
}}

func (s *session) multiply(alpha float64, a, b, c view, r region, accumulate bool) {
	s.multiplyStairs(alpha, a, b, stairs{}, c, r, accumulate)
}

// multiplyStairs is multiply for a B with stairs. Its memory then runs upwards, so that
// nothing is reversed here.
func (s *session) multiplyStairs(alpha float64, a, b view, fromB stairs, c view, r region, accumulate bool) {
	if c.rows == 0 || c.cols == 0 || a.cols == 0 {
		return
	}
	fromA := stairs{}
	// Kernels write rows of C: turn the product so that these are contiguous. Then
	// let memory run upwards; only rectangles come reversed.
	if c.cs != 1 && c.cs != -1 {
		a, b, c, r, fromA, fromB = b.t(), a.t(), c.t(), r.t(), fromB, fromA
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
	p.a, p.fromA, p.widthA = a, fromA, s.mr
	p.compute(s, alpha, b, fromB, c, r, accumulate)
}

// multiplySymmetric adds region(alpha·Bᵀ·diag(d)·B) to C, which is square, or to a base that C becomes.
func (s *session) multiplySymmetric(alpha float64, b view, st stairs, d []float64, base, c view, r region, accumulate bool) {
	if c.cs != 1 {
		base, c, r = base.t(), c.t(), r.t()
	}
	p := products.Get().(*product)
	p.base = base
	p.fromA, p.widthA = st, s.nr
	p.symmetric, p.d = true, d
	p.signed = slices.ContainsFunc(d, func(x float64) bool { return x < 0 })
	if d != nil && !p.signed {
		p.roots = grown(p.roots, len(d))
		for i, x := range d {
			p.roots[i] = math.Sqrt(x)
		}
		p.d = p.roots
	}
	p.compute(s, alpha, b, st, c, r, accumulate)
}

// compute runs a product that knows its A, and keeps it for the next.
func (p *product) compute(s *session, alpha float64, b view, fromB stairs, c view, r region, accumulate bool) {
	p.session, p.alpha, p.b, p.fromB, p.c, p.region, p.accumulate = s, alpha, b, fromB, c, r, accumulate
	m, n, k := c.rows, c.cols, b.rows
	rows, cols := rowBlock, colBlock
	if p.symmetric {
		rows, cols = m, n
	}
	p.edge = grown(p.edge, p.workers*p.mr*p.nr)
	// Equal slices of depth, in whole vectors: no thin one at the end.
	p.step = roundUp(ceilDiv(k, ceilDiv(k, depthBlock)), 8)
	depth := p.step
	if p.cores() > 1 && k <= wholeDepths*depthBlock && (roundUp(min(m, rows), p.widthA)+roundUp(min(n, cols), p.nr))*k <= packedWhole {
		depth = k // packed at once, as cores wait for each other after each packing
	}
	p.packedB = grown(p.packedB, roundUp(min(n, cols), p.nr)*min(depth, k))
	if !p.symmetric || p.signed {
		p.packedA = grown(p.packedA, roundUp(min(m, rows), p.widthA)*min(depth, k))
	}
	for p.p0 = 0; p.p0 < k; p.p0 = p.p1 {
		p.p1 = min(p.p0+depth, k)
		for p.j0 = 0; p.j0 < n; p.j0 = p.j1 {
			p.j1 = min(p.j0+cols, n)
			packB := true
			for p.i0 = 0; p.i0 < m; p.i0 = p.i1 {
				p.i1 = min(p.i0+rows, m)
				if p.region.misses(p.i0, p.i1, p.j0, p.j1) {
					continue
				}
				p.computeBlock(packB)
				packB = false
			}
		}
	}
	// Keep the buffers, not the caller's memory.
	p.session, p.a, p.b, p.base, p.c, p.d, p.fromA, p.fromB = nil, view{}, view{}, view{}, view{}, nil, stairs{}, stairs{}
	p.symmetric, p.signed = false, false
	products.Put(p)
}

// computeBlock packs the operands' part of the block in work and multiplies.
func (p *product) computeBlock(packB bool) {
	p.taskRows, p.taskCols, p.packLines, p.packDepth = taskRows, taskCols, packLines, p.p1-p.p0
	if (p.i1-p.i0)*(p.j1-p.j0) <= smallArea {
		p.taskRows, p.taskCols = smallTaskRows, smallTaskCols
	}
	if cores := p.cores(); cores > 1 && ceilDiv(p.i1-p.i0, p.taskRows)*ceilDiv(p.j1-p.j0, p.taskCols) < fewTasks*cores {
		p.taskRows, p.taskCols, p.packLines, p.packDepth = leastTaskRows, leastTaskCols, p.nr, packDepth
	}
	tasks := p.packTasksA()
	if packB {
		tasks += ceilDiv(p.j1-p.j0, p.packLines)
	}
	work := flops(2, p.i1-p.i0, p.j1-p.j0, p.p1-p.p0)
	p.run(work, tasks*ceilDiv(p.p1-p.p0, p.packDepth), p.packBody)
	p.run(work, ceilDiv(p.i1-p.i0, p.taskRows)*ceilDiv(p.j1-p.j0, p.taskCols), p.tileBody)
}

// packTasksA is the number of tasks that pack A.
func (p *product) packTasksA() int {
	if p.symmetric {
		return 0
	}
	return ceilDiv(p.i1-p.i0, p.packLines)
}

// packTask packs some lines of A or, for the later tasks, of B.
func (p *product) packTask(_, task int) {
	deep := ceilDiv(p.p1-p.p0, p.packDepth)
	line, from := task/deep, p.p0+task%deep*p.packDepth
	to := min(from+p.packDepth, p.p1)
	left := p.packTasksA()
	if line < left {
		lo := p.i0 + line*p.packLines
		hi := min(lo+p.packLines, p.i1)
		for i := lo; i < hi; i += p.nr {
			p.packLeft(i, min(i+p.nr, hi), from, to)
		}
		return
	}
	lo := p.j0 + (line-left)*p.packLines
	hi := min(lo+p.packLines, p.j1)
	for j := lo; j < hi; j += p.nr {
		p.packRight(j, min(j+p.nr, hi), from, to)
	}
}

// packLeft packs the rows [lo,hi) of A at the depth [from,to), from where they begin.
func (p *product) packLeft(lo, hi, from, to int) {
	depth := p.p1 - p.p0
	if from = max(from, p.fromA.begin(lo, hi)); from < to {
		panels := p.packedA[(lo-p.i0)*depth+(from-p.p0)*p.mr:]
		p.kernels.packLeft(panels, p.mr*depth, p.a.block(lo, from, hi-lo, to-from).t())
	}
}

// packRight packs the columns [lo,hi) of B at the depth [from,to), from where they begin,
// and makes the panels of a symmetric product's A where they differ.
func (p *product) packRight(lo, hi, from, to int) {
	if from = max(from, p.fromB.begin(lo, hi)); from >= to {
		return
	}
	at := (lo-p.j0)*(p.p1-p.p0) + (from-p.p0)*p.nr
	panel := p.packedB[at:]
	p.pack(panel, p.nr, p.b.block(from, lo, to-from, hi-lo))
	if p.d == nil {
		return
	}
	scaled := panel
	if p.signed {
		scaled = p.packedA[at:]
	}
	p.scaleRows(to-from, &scaled[0], &panel[0], &p.d[from])
}

// tileTask multiplies the packed panels of one rectangle of C.
func (p *product) tileTask(worker, task int) {
	across := ceilDiv(p.j1-p.j0, p.taskCols)
	rowLo := p.i0 + task/across*p.taskRows
	colLo := p.j0 + task%across*p.taskCols
	if p.p0 == 0 {
		p.c.copyRegion(p.base, p.region, rowLo, min(rowLo+p.taskRows, p.i1), colLo, min(colLo+p.taskCols, p.j1))
	}
	for q := p.p0; q < p.p1; q += p.step {
		p.rectangle(worker, rowLo, min(rowLo+p.taskRows, p.i1), colLo, min(colLo+p.taskCols, p.j1), q, min(q+p.step, p.p1))
	}
}

// rectangle multiplies the depth [q0,q1) of the packed panels of C's rows [rowLo,rowHi) and
// columns [colLo,colHi).
func (p *product) rectangle(worker, rowLo, rowHi, colLo, colHi, q0, q1 int) {
	ks, depth := p.kernels, p.p1-p.p0
	packedA := p.packedA
	if p.symmetric && !p.signed {
		packedA = p.packedB
	}
	for j := colLo; j < colHi; j += ks.nr {
		jEnd := min(j+ks.nr, colHi)
		fromB := p.fromB.begin(j, jEnd)
		for i := rowLo; i < rowHi; i += ks.mr {
			iEnd := min(i+ks.mr, rowHi)
			if p.region.misses(i, iEnd, j, jEnd) {
				continue
			}
			from := max(fromB, p.fromA.begin(i, iEnd))
			if from >= q1 {
				continue
			}
			lo := max(q0, from)
			// Whether C holds anything yet: what was there, or the depths before.
			accumulate := p.accumulate || from < q0
			panel := roundDown(i-p.i0, p.widthA)
			a := &packedA[panel*depth+(lo-p.p0)*p.widthA+i-p.i0-panel]
			b := &p.packedB[(j-p.j0)*depth+(lo-p.p0)*ks.nr]
			if iEnd-i == ks.mr && jEnd-j == ks.nr && p.region.contains(i, iEnd, j, jEnd) {
				ks.gemm(q1-lo, p.alpha, a, p.widthA, b, p.c.ptr(i, j), p.c.rs, accumulate)
				continue
			}
			edge := p.edge[worker*ks.mr*ks.nr:][:ks.mr*ks.nr]
			ks.gemm(q1-lo, p.alpha, a, p.widthA, b, &edge[0], ks.nr, false)
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
