package level3

// cholesky replaces the lower triangle of a by L with L·Lᵀ = a, and reports whether a
// is positive definite. Nothing above the diagonal is read or written.
//
//	L₁₁L₁₁ᵀ = A₁₁,  L₂₁ = A₂₁L₁₁⁻ᵀ,  L₂₂L₂₂ᵀ = A₂₂ − L₂₁L₂₁ᵀ
func (s *session) cholesky(a view) bool {
	if a.rows <= triangleBlock {
		p := getPanels(s)
		defer p.release()
		return p.smallCholesky(a.t())
	}
	n := split(a.rows)
	a11, a21, a22 := quarters(a, n)
	if !s.cholesky(a11) {
		return false
	}
	s.solve(a11, triangleForm{diagonal: reciprocal}, a21.t())
	s.multiply(-1, a21, a21.t(), a22, lower, true)
	return s.cholesky(a22)
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
	p.triangle = grown(p.triangle, ks.panelOffset(blocks))
	p.columns = grown(p.columns, ceilDiv(n, nr)*rows*nr)
	p.packUpper(a, rows)

	for q := range blocks {
		i0 := q * mr
		c0 := roundDown(i0, nr) // first column of the panel that holds the corner
		own := p.columns[c0/nr*rows*nr:][:rows*nr]
		left := p.triangle[ks.panelOffset(q):ks.panelOffset(q+1)]
		if q > 0 {
			ks.copyRows(i0, 1, &left[0], mr, &own[i0-c0], nr)
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
