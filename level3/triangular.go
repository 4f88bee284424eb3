package level3

import "sync"

// panels runs a panelStep down (or up) the columns of a matrix B, a panel of nr
// columns at a time: the innermost part of triangular solves and products. It is
// kept in a pool with its buffers.
type panels struct {
	*session
	kernel   panelStep
	upwards  bool
	l        view
	from, b  view   // B, and where the result goes: the same, or elsewhere
	stairs   stairs // zeros that the columns of B begin with
	form     triangleForm
	triangle []float64 // packed by packTriangle, in panels of height columns
	height   int
	columns  []float64 // panels of B per worker
	together int       // panels of B in a task

	packBody, columnBody, copyBody, inverseBody func(worker, task int)
}

var panelPool = sync.Pool{New: func() any {
	p := new(panels)
	p.packBody, p.columnBody = p.packTask, p.columnTask
	p.copyBody, p.inverseBody = p.copyTask, p.inverseTask
	return p
}}

func getPanels(s *session) *panels {
	p := panelPool.Get().(*panels)
	p.session = s
	return p
}

func (p *panels) release() {
	p.session, p.l, p.from, p.b, p.stairs = nil, view{}, view{}, view{}, stairs{}
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

// growTriangle makes room for so many panels of a triangle.
func (p *panels) growTriangle(blocks int) {
	p.height = blocks * p.mr
	p.triangle = grown(p.triangle, p.panelOffset(blocks))
}

// panelOffset is where the panel of block row q starts in a packed triangle.
func (p *panels) panelOffset(q int) int { return q * p.mr * p.height }

// packTriangle packs the lower triangle l.
func (p *panels) packTriangle(l view, form triangleForm) {
	p.growTriangle(ceilDiv(l.rows, p.mr))
	p.l, p.form = l, form
	p.run(flops(copyFlops/2, l.rows, l.rows, 1), ceilDiv(l.rows, p.nr), p.packBody)
}

// packTask packs nr rows of the triangle, reading nothing above its diagonal.
func (p *panels) packTask(_, task int) {
	i0 := task * p.nr
	rows := min(p.nr, p.l.rows-i0)
	p.packLeft(p.triangle[i0*p.height:], p.mr*p.height, p.l.block(i0, 0, rows, i0).t())
	for i := i0; i < i0+rows; i += p.mr {
		p.packCorner(i, i0)
	}
}

// packCorner packs a panel from column j0 on, which all rows have: what is left of its
// corner on the diagonal, and that. Rows added to fill the last panel are those of the
// identity: they come last, so nothing depends on them.
func (p *panels) packCorner(i0, j0 int) {
	l, mr := p.l, p.mr
	rows := min(mr, l.rows-i0)
	panel := p.triangle[i0*p.height:][:(i0+mr)*mr]
	p.pack(panel[j0*mr:], mr, l.block(i0, j0, rows, i0-j0).t())
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

// apply packs l and runs a kernel over the panels of b, which come from from.
func (s *session) apply(kernel panelStep, upwards bool, l view, form triangleForm, from, b view, st stairs) {
	p := getPanels(s)
	defer p.release()
	p.packTriangle(l, form)
	p.kernel, p.upwards, p.from, p.b, p.stairs = kernel, upwards, from, b, st
	p.together = taskPanels
	if cores := s.cores(); cores > 1 && ceilDiv(b.cols, taskPanels*s.nr) < fewTasks*cores {
		p.together = 1
	}
	p.columns = grown(p.columns, s.workers*p.height*p.together*s.nr)
	s.run(flops(1, l.rows, l.rows, b.cols), ceilDiv(b.cols, p.together*s.nr), p.columnBody)
}

// taskPanels is the number of panels of B in a task, where there are enough of them. They take
// their steps together, so that a large packed triangle is fetched that many times less often.
const taskPanels = 2

// columnTask works on some panels of columns. Leading zeros, which forward substitution
// keeps, are left out. The last panels come first: of stairs that go up, as those of a
// factor do, they take longest.
func (p *panels) columnTask(worker, task int) {
	ks, rows, width := p.kernels, p.b.rows, p.together*p.nr
	task = ceilDiv(p.b.cols, width) - 1 - task
	lo, hi := task*width, min((task+1)*width, p.b.cols)
	blocks := ceilDiv(rows, ks.mr)
	first := min(p.stairs.begin(lo, hi), rows) / ks.mr
	top := first * ks.mr
	if top >= rows {
		return
	}
	size := (blocks - first) * ks.mr * ks.nr // of a panel
	columns := p.columns[worker*p.height*width:]
	for j := lo; j < hi; j += ks.nr {
		panel := columns[(j-lo)/ks.nr*size:][:size]
		ks.pack(panel, ks.nr, p.from.block(top, j, rows-top, min(ks.nr, hi-j)))
		clear(panel[(rows-top)*ks.nr:])
	}
	for q := first; q < blocks; q++ {
		block := q
		if p.upwards {
			block = blocks - 1 - q
		}
		left := &p.triangle[p.panelOffset(block)+top*ks.mr]
		for j := lo; j < hi; j += ks.nr {
			p.kernel(block*ks.mr-top, left, &columns[(j-lo)/ks.nr*size])
		}
	}
	for j := lo; j < hi; j += ks.nr {
		ks.unpack(p.b.block(top, j, rows-top, min(ks.nr, hi-j)), columns[(j-lo)/ks.nr*size:][:size], ks.nr)
	}
}

// split is where an n×n triangle is cut: near the middle, in whole panels.
func (ks *kernels) split(n int) int { return roundUp(n/2, ks.nr) }

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
func (s *session) solve(l view, form triangleForm, b view, st stairs) {
	if l.rows <= s.triangleBlock {
		s.apply(s.trsm, false, l, form, b, b, st)
		return
	}
	n := s.split(l.rows)
	l11, l21, l22 := quarters(l, n)
	b1, b2 := halves(b, n)
	alpha := -1.0
	if form.negated {
		alpha = 1
	}
	s.solve(l11, form, b1, st)
	s.multiplyStairs(alpha, l21, b1, st, b2, full, true)
	s.solve(l22, form, b2, st.below(n))
}

// solveFrom writes the solution x of l·x = from into b.
func (s *session) solveFrom(l view, form triangleForm, from, b view, st stairs) {
	if l.rows <= s.triangleBlock {
		s.apply(s.trsm, false, l, form, from, b, st)
		return
	}
	if !b.is(from) {
		p := getPanels(s)
		p.from, p.b = from, b
		s.run(flops(copyFlops, b.rows, b.cols, 1), ceilDiv(b.cols, packLines), p.copyBody)
		p.release()
	}
	s.solve(l, form, b, st)
}

// copyTask copies some columns.
func (p *panels) copyTask(_, task int) {
	j := task * packLines
	width := min(packLines, p.b.cols-j)
	from, r := p.from.block(0, j, p.b.rows, width).byRows(full)
	to, _ := p.b.block(0, j, p.b.rows, width).byRows(full)
	for i := range to.rows {
		copy(to.row(i, r), from.row(i, r))
	}
}

// triangleTimes replaces b by l·b, l lower triangular, last rows first:
//
//	b₂ ← L₂₂b₂ + L₂₁b₁,  b₁ ← L₁₁b₁
func (s *session) triangleTimes(l view, form triangleForm, b view) {
	if l.rows <= s.triangleBlock {
		s.apply(s.trmm, true, l, form, b, b, stairs{})
		return
	}
	n := s.split(l.rows)
	l11, l21, l22 := quarters(l, n)
	b1, b2 := halves(b, n)
	s.triangleTimes(l22, form, b2)
	s.multiply(1, l21, b1, b2, full, true)
	s.triangleTimes(l11, form, b1)
}
