package level3

import "sync"

const (
	factorBlock      = 192 // rows of a Cholesky factor found at a time
	smallFactorBlock = 96  // of a small one, in which the blocks on the diagonal are what is waited for
	smallFactorOrder = 900
	factorTask       = 96 // rows and columns of what is left in a task
)

// factoring is a Cholesky factorisation under way. It is kept in a pool with its
// buffers.
//
// With the upper triangle in blocks of rows, step j is
//
//	U_jjᵀU_jj = A_jj,  U_jk = U_jj⁻ᵀA_jk,  A_kl ← A_kl − U_jkᵀU_jl  for all k, l > j.
//
// The rows U_jk are found inside packed panels, which are then both operands of the
// product. The first task of that product goes on to factor its block, the next on the
// diagonal, while others work on the rest: no core waits for it, nor for packing.
// Columns B to the right of A take part as if they were A's, and become U⁻ᵀB.
type factoring struct {
	panels         // of the block on the diagonal
	update product // of what is below and to the right of it
	a      view    // the matrix, where it has another place than its factor
	u      view
	block  int // rows found at a time
	rows   int // of the last block on the diagonal that was factored
	known  int // rows of U that are known there
	base   int // rows above what is updated
	ok     bool

	solveBody, updateBody func(worker, task int)
}

var factoringPool = sync.Pool{New: func() any {
	f := new(factoring)
	f.solveBody, f.updateBody = f.solveTask, f.updateTask
	return f
}}

// cholesky writes U into the upper triangle of u, with UᵀU the matrix a, or what u was where a has no
// rows, and reports whether that is positive definite. Columns to the right of the triangle are replaced
// by U⁻ᵀ times them. Nothing below the diagonal is read or written.
func (s *session) cholesky(a, u view) bool {
	f := factoringPool.Get().(*factoring)
	p := &f.update
	f.session, f.a, f.u, f.block, f.known, f.base = s, a, u, factorBlock, 0, 0
	if u.rows <= smallFactorOrder {
		f.block = smallFactorBlock
	}
	p.session, p.alpha, p.accumulate, p.symmetric, p.widthA = s, -1, true, true, s.nr
	p.edge = grown(p.edge, s.workers*s.mr*s.nr)
	f.fetch(0, min(f.block, u.rows), 0, min(f.block, u.rows))
	f.factorNext()
	for f.ok && f.base < u.rows {
		f.step()
	}
	ok := f.ok
	f.session, f.a, f.u, p.session, p.c = nil, view{}, view{}, nil, view{}
	factoringPool.Put(f)
	return ok
}

// fetch has a part of the upper triangle at its place before it is first worked on.
func (f *factoring) fetch(iLo, iHi, jLo, jHi int) { f.u.copyRegion(f.a, upper, iLo, iHi, jLo, jHi) }

// factorNext factors the next block on the diagonal.
func (f *factoring) factorNext() {
	f.rows = min(f.block, f.u.rows-f.known)
	f.ok = f.smallCholesky(f.u.block(f.known, f.known, f.rows, f.rows))
	f.known += f.rows
}

// step finds the rows of U beside the block on the diagonal that is known, and takes
// their part from what is below them.
func (f *factoring) step() {
	f.base = f.known
	rest, across := f.u.rows-f.base, f.u.cols-f.base
	p := &f.update
	p.p1, p.i1, p.j1 = f.rows, rest, across
	p.packedB = grown(p.packedB, roundUp(across, f.nr)*f.block)
	f.run(flops(1, f.rows, f.rows, across), ceilDiv(across, f.nr), f.solveBody)
	// Kernels write rows: of the lower triangle, where those are contiguous.
	p.c, p.region = f.u.block(f.base, f.base, rest, across), upper
	if p.c.cs != 1 {
		p.c, p.region = p.c.t(), lower
		p.i1, p.j1 = across, rest
	}
	f.run(flops(1, rest, rest, f.block), ceilDiv(p.i1, factorTask)*ceilDiv(p.j1, factorTask), f.updateBody)
}

// solveTask finds a panel of columns of U.
func (f *factoring) solveTask(_, task int) {
	j := task * f.nr
	width := min(f.nr, f.u.cols-f.base-j)
	if f.base == f.block {
		f.fetch(0, f.rows, f.base+j, f.base+j+width)
	}
	b := f.u.block(f.base-f.rows, f.base+j, f.rows, width)
	blocks := ceilDiv(f.rows, f.mr)
	panel := f.update.packedB[j*f.block:][:blocks*f.mr*f.nr]
	f.pack(panel, f.nr, b)
	clear(panel[f.rows*f.nr:])
	for q := range blocks {
		f.trsm(q*f.mr, &f.triangle[f.panelOffset(q)], &panel[0])
	}
	f.unpack(b, panel, f.nr)
}

// updateTask updates a rectangle. Those of the next block on the diagonal belong to
// the first task, which factors it.
func (f *factoring) updateTask(worker, task int) {
	p := &f.update
	if task == 0 {
		f.rectangle(worker, 0, min(f.block, p.i1), 0, min(f.block, p.j1))
		f.factorNext()
		return
	}
	across := ceilDiv(p.j1, factorTask)
	i, j := task/across*factorTask, task%across*factorTask
	iEnd, jEnd := min(i+factorTask, p.i1), min(j+factorTask, p.j1)
	if iEnd > f.block || jEnd > f.block {
		f.rectangle(worker, i, iEnd, j, jEnd)
	}
}

// rectangle updates a rectangle of what is below and to the right of the block.
func (f *factoring) rectangle(worker, iLo, iHi, jLo, jHi int) {
	if f.base == f.block { // after the first, which has fetched nothing of it; rows may be those of the next already
		f.fetch(f.base+iLo, f.base+iHi, f.base+jLo, f.base+jHi)
	}
	f.update.rectangle(worker, iLo, iHi, jLo, jHi, 0, f.update.p1)
}

// smallCholesky is the Cholesky factorisation of a small matrix inside packed panels. It
// finds U = Lᵀ by block rows of mr: with the rows above block row q known,
//
//	S = A_q − U_qᵀU,  U_qq from S_qq,  the rest of the row = U_qq⁻ᵀS,
//
// which is one step of forward substitution per panel, and one of elimination in
// the panel that holds the corner. The packed panels of L that the steps need are
// columns of U as they lie in memory. Where a panel is below the diagonal it holds
// numbers that nothing depends on. a is left alone when it is not positive definite.
func (p *panels) smallCholesky(a view) bool {
	ks, n := p.kernels, a.rows
	mr, nr := ks.mr, ks.nr
	blocks := ceilDiv(n, mr)
	rows := blocks * mr
	p.growTriangle(blocks)
	p.columns = grown(p.columns, ceilDiv(n, nr)*rows*nr)
	p.packUpper(a, rows)

	for q := range blocks {
		i0 := q * mr
		c0 := roundDown(i0, nr) // first column of the panel that holds the corner
		own := p.columns[c0/nr*rows*nr:][:rows*nr]
		left := p.triangle[p.panelOffset(q):p.panelOffset(q+1)]
		if q > 0 {
			ks.copyRows(i0, 1, &left[0], mr, 0, &own[i0-c0], nr)
		}
		if !ks.potrf(i0, &left[0], &own[0], i0-c0) {
			return false
		}
		for c := c0 + nr; c < n; c += nr {
			ks.trsm(i0, &left[0], &p.columns[c*rows])
		}
	}
	p.unpackUpper(a, rows)
	return true
}

// packUpper packs the upper triangle of a into panels of rows rows, with the
// identity where rows and columns are added.
func (p *panels) packUpper(a view, rows int) {
	ks, n, nr := p.kernels, a.rows, p.nr
	for c := 0; c < n; c += nr {
		width := min(nr, n-c)
		panel := p.columns[c*rows:][:rows*nr]
		ks.pack(panel, nr, a.block(0, c, c, width))
		ks.packRegion(panel[c*nr:], nr, a.block(c, c, width, width), upper, 0)
		clear(panel[(c+width)*nr : min(c+nr, rows)*nr])
		for k := c + width; k < min(c+nr, rows); k++ {
			panel[k*nr+k-c] = 1
		}
	}
}

func (p *panels) unpackUpper(a view, rows int) {
	ks, n, nr := p.kernels, a.rows, p.nr
	for c := 0; c < n; c += nr {
		width := min(nr, n-c)
		panel := p.columns[c*rows:][:rows*nr]
		ks.unpack(a.block(0, c, c, width), panel, nr)
		ks.unpackRegion(a.block(c, c, width, width), panel[c*nr:], nr, upper, 0)
	}
}
