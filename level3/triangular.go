package level3

import "sync"

// triangleBlock is the largest triangle worked on inside packed panels; what is
// larger is split into two triangles and a product.
const triangleBlock = 192

// panels runs a panelStep down (or up) the columns of a matrix B, a panel of nr
// columns at a time: the innermost part of triangular solves and products. It is
// kept in a pool with its buffers.
type panels struct {
	team
	ks       *kernels
	step     panelStep
	upwards  bool
	b        view
	triangle []float64 // packed by packTriangle
	columns  []float64 // a panel of B per worker
	taskBody func(worker, task int)
}

var panelPool = sync.Pool{New: func() any {
	p := new(panels)
	p.taskBody = p.task
	return p
}}

func getPanels(ks *kernels) *panels {
	p := panelPool.Get().(*panels)
	p.ks = ks
	return p
}

func (p *panels) release() {
	p.b = view{}
	panelPool.Put(p)
}

// diagonal says what the packed triangle holds on its diagonal.
type diagonal int

const (
	asIs       diagonal = iota
	reciprocal          // 1/L(i,i): substitution multiplies
	ones                // the diagonal is not read
)

// panelOffset is where the panel of block row q starts in a packed triangle: the
// q panels before it have mr, 2mr, … columns of mr elements.
func (ks *kernels) panelOffset(q int) int { return ks.mr * ks.mr * q * (q + 1) / 2 }

// packTriangle packs the lower triangle l, at most triangleBlock wide, reading
// nothing above its diagonal. Rows added to fill the last panel are those of the
// identity: they come last, so nothing depends on them.
func (p *panels) packTriangle(l view, d diagonal) {
	mr := p.ks.mr
	blocks := ceilDiv(l.rows, mr)
	p.triangle = grown(p.triangle, p.ks.panelOffset(blocks))
	for q := range blocks {
		i0 := q * mr
		rows := min(mr, l.rows-i0)
		panel := p.triangle[p.ks.panelOffset(q):p.ks.panelOffset(q+1)]
		p.ks.pack(panel, mr, l.block(i0, 0, rows, i0).t())
		corner := panel[i0*mr:]
		clear(corner)
		for t := range mr {
			switch {
			case t >= rows || d == ones:
				corner[t*mr+t] = 1
			case d == reciprocal:
				corner[t*mr+t] = 1 / l.data[l.index(i0+t, i0+t)]
			default:
				corner[t*mr+t] = l.data[l.index(i0+t, i0+t)]
			}
			for r := t + 1; r < rows; r++ {
				corner[t*mr+r] = l.data[l.index(i0+r, i0+t)]
			}
		}
	}
}

// apply packs l and runs step over the panels of b.
func (ks *kernels) apply(step panelStep, upwards bool, l view, d diagonal, b view) {
	p := getPanels(ks)
	defer p.release()
	p.packTriangle(l, d)
	p.step, p.upwards, p.b = step, upwards, b
	workers := workersFor(float64(l.rows) * float64(l.rows) * float64(b.cols))
	p.columns = grown(p.columns, workers*roundUp(l.rows, ks.mr)*ks.nr)
	p.team.run(workers, ceilDiv(b.cols, ks.nr), p.taskBody)
}

// task works on one panel of columns.
func (p *panels) task(worker, task int) {
	ks := p.ks
	j := task * ks.nr
	b := p.b.block(0, j, p.b.rows, min(ks.nr, p.b.cols-j))
	blocks := ceilDiv(b.rows, ks.mr)
	panel := p.columns[worker*blocks*ks.mr*ks.nr:][:blocks*ks.mr*ks.nr]
	ks.pack(panel, ks.nr, b)
	clear(panel[b.rows*ks.nr:])
	for q := range blocks {
		if p.upwards {
			q = blocks - 1 - q
		}
		p.step(q*ks.mr, &p.triangle[ks.panelOffset(q)], &panel[0])
	}
	ks.unpack(b, panel, ks.nr)
}

// split is where an n×n triangle is cut: near the middle, in whole blocks.
func split(n int) int {
	return ceilDiv(ceilDiv(n, triangleBlock), 2) * triangleBlock
}

// quarters cuts a square matrix at n: top left, bottom left, bottom right.
func quarters(a view, n int) (a11, a21, a22 view) {
	return a.block(0, 0, n, n), a.block(n, 0, a.rows-n, n), a.block(n, n, a.rows-n, a.cols-n)
}

// halves cuts a matrix below its row n.
func halves(b view, n int) (top, bottom view) {
	return b.block(0, 0, n, b.cols), b.block(n, 0, b.rows-n, b.cols)
}

// solve replaces b by the solution x of l·x = b, l lower triangular.
//
//	L₁₁x₁ = b₁,  L₂₂x₂ = b₂ − L₂₁x₁
func (ks *kernels) solve(l view, d diagonal, b view) {
	if l.rows <= triangleBlock {
		ks.apply(ks.trsm, false, l, d, b)
		return
	}
	n := split(l.rows)
	l11, l21, l22 := quarters(l, n)
	b1, b2 := halves(b, n)
	ks.solve(l11, d, b1)
	ks.multiply(-1, l21, b1, b2, full, true)
	ks.solve(l22, d, b2)
}

// triangleTimes replaces b by l·b, l lower triangular, last rows first:
//
//	b₂ ← L₂₂b₂ + L₂₁b₁,  b₁ ← L₁₁b₁
func (ks *kernels) triangleTimes(l view, d diagonal, b view) {
	if l.rows <= triangleBlock {
		ks.apply(ks.trmm, true, l, d, b)
		return
	}
	n := split(l.rows)
	l11, l21, l22 := quarters(l, n)
	b1, b2 := halves(b, n)
	ks.triangleTimes(l22, d, b2)
	ks.multiply(1, l21, b1, b2, full, true)
	ks.triangleTimes(l11, d, b1)
}
