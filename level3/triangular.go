package level3

import "sync"

// triangleBlock is the largest triangle worked on inside packed panels; what is
// larger is split into two triangles and a product.
const triangleBlock = 192

// panels runs a panelStep down (or up) the columns of a matrix B, a panel of nr
// columns at a time: the innermost part of triangular solves and products. It is
// kept in a pool with its buffers.
type panels struct {
	*session
	kernel   panelStep
	upwards  bool
	l, b     view
	form     triangleForm
	triangle []float64 // packed by packTriangle
	columns  []float64 // a panel of B per worker

	packBody, columnBody func(worker, task int)
}

var panelPool = sync.Pool{New: func() any {
	p := new(panels)
	p.packBody, p.columnBody = p.packTask, p.columnTask
	return p
}}

func getPanels(s *session) *panels {
	p := panelPool.Get().(*panels)
	p.session = s
	return p
}

func (p *panels) release() {
	p.session, p.l, p.b = nil, view{}, view{}
	panelPool.Put(p)
}

// diagonal says what the packed triangle holds on its diagonal.
type diagonal int

const (
	asIs       diagonal = iota
	reciprocal          // 1/L(i,i): substitution multiplies
	ones                // the diagonal is not read
)

// triangleForm says how a triangle enters: with which diagonal, and whether −L takes
// the place of L.
type triangleForm struct {
	diagonal diagonal
	negated  bool
}

// panelOffset is where the panel of block row q starts in a packed triangle: the
// q panels before it have mr, 2mr, … columns of mr elements.
func (ks *kernels) panelOffset(q int) int { return ks.mr * ks.mr * q * (q + 1) / 2 }

// packTriangle packs the lower triangle l, at most triangleBlock wide.
func (p *panels) packTriangle(l view, form triangleForm) {
	blocks := ceilDiv(l.rows, p.mr)
	p.triangle = grown(p.triangle, p.panelOffset(blocks))
	p.l, p.form = l, form
	p.run(flops(triangleBlock, l.rows, l.rows, 1), blocks, p.packBody)
}

// packTask packs one block row of the triangle, reading nothing above its
// diagonal. Rows added to fill the last panel are those of the identity: they come
// last, so nothing depends on them.
func (p *panels) packTask(_, q int) {
	l, mr := p.l, p.mr
	i0 := q * mr
	rows := min(mr, l.rows-i0)
	panel := p.triangle[p.panelOffset(q):p.panelOffset(q+1)]
	p.pack(panel, mr, l.block(i0, 0, rows, i0).t())
	corner := panel[i0*mr:]
	clear(corner)
	for t := range mr {
		switch {
		case t >= rows || p.form.diagonal == ones:
			corner[t*mr+t] = 1
		case p.form.diagonal == reciprocal:
			corner[t*mr+t] = 1 / l.data[l.index(i0+t, i0+t)]
		default:
			corner[t*mr+t] = l.data[l.index(i0+t, i0+t)]
		}
		for r := t + 1; r < rows; r++ {
			corner[t*mr+r] = l.data[l.index(i0+r, i0+t)]
		}
	}
	if p.form.negated {
		for i := range panel {
			panel[i] = -panel[i]
		}
	}
}

// apply packs l and runs a kernel over the panels of b.
func (s *session) apply(kernel panelStep, upwards bool, l view, form triangleForm, b view) {
	p := getPanels(s)
	defer p.release()
	p.packTriangle(l, form)
	p.kernel, p.upwards, p.b = kernel, upwards, b
	p.columns = grown(p.columns, s.workers*roundUp(l.rows, s.mr)*s.nr)
	s.run(flops(1, l.rows, l.rows, b.cols), ceilDiv(b.cols, s.nr), p.columnBody)
}

// columnTask works on one panel of columns.
func (p *panels) columnTask(worker, task int) {
	ks := p.kernels
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
		p.kernel(q*ks.mr, &p.triangle[ks.panelOffset(q)], &panel[0])
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
func (s *session) solve(l view, form triangleForm, b view) {
	if l.rows <= triangleBlock {
		s.apply(s.trsm, false, l, form, b)
		return
	}
	n := split(l.rows)
	l11, l21, l22 := quarters(l, n)
	b1, b2 := halves(b, n)
	alpha := -1.0
	if form.negated {
		alpha = 1
	}
	s.solve(l11, form, b1)
	s.multiply(alpha, l21, b1, b2, full, true)
	s.solve(l22, form, b2)
}

// triangleTimes replaces b by l·b, l lower triangular, last rows first:
//
//	b₂ ← L₂₂b₂ + L₂₁b₁,  b₁ ← L₁₁b₁
func (s *session) triangleTimes(l view, form triangleForm, b view) {
	if l.rows <= triangleBlock {
		s.apply(s.trmm, true, l, form, b)
		return
	}
	n := split(l.rows)
	l11, l21, l22 := quarters(l, n)
	b1, b2 := halves(b, n)
	s.triangleTimes(l22, form, b2)
	s.multiply(1, l21, b1, b2, full, true)
	s.triangleTimes(l11, form, b1)
}
