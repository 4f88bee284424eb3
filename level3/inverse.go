package level3

// invert replaces the lower triangle of l by that of its inverse.
//
//	(L⁻¹)₂₁ = −L₂₂⁻¹L₂₁L₁₁⁻¹
func (s *session) invert(l view, d diagonal) {
	if l.rows <= triangleBlock {
		p := getPanels(s)
		defer p.release()
		p.smallInverse(l, d)
		return
	}
	l11, l21, l22 := quarters(l, split(l.rows))
	s.solve(l22, triangleForm{d, true}, l21)
	// X·L₁₁ = L₂₁ from the left is L₁₁ᵀXᵀ = L₂₁ᵀ, an upper triangle: count backwards.
	s.solve(l11.t().flip(), triangleForm{diagonal: d}, l21.t().flipRows())
	s.invert(l11, d)
	s.invert(l22, d)
}

// smallInverse solves L·X = I inside packed panels, leaving out the zeros above X's
// diagonal.
func (p *panels) smallInverse(l view, d diagonal) {
	ks, n := p.kernels, l.rows
	mr, nr := ks.mr, ks.nr
	p.packTriangle(l, triangleForm{diagonal: d})
	blocks := ceilDiv(n, mr)
	p.columns = grown(p.columns, blocks*mr*nr)
	for c := 0; c < n; c += nr {
		width := min(nr, n-c)
		// Row and column 0 of the panel are row and column c of X.
		panel := p.columns[:(blocks*mr-c)*nr]
		clear(panel)
		for j := range width {
			panel[j*nr+j] = 1
		}
		for q := c / mr; q < blocks; q++ {
			ks.trsm(q*mr-c, &p.triangle[ks.panelOffset(q)+c*mr], &panel[0])
		}
		diagonal := 0
		if d == ones {
			diagonal = -1 // the diagonal is not written either
		}
		below := min(c+nr, n)
		ks.unpackRegion(l.block(c, c, width, width), panel, nr, lower, diagonal)
		if below < n {
			ks.unpack(l.block(below, c, n-below, width), panel[nr*nr:], nr)
		}
	}
}

// gram replaces the lower triangle of l by that of Lᵀ·L.
//
//	C₁₁ = L₁₁ᵀL₁₁ + L₂₁ᵀL₂₁,  C₂₁ = L₂₂ᵀL₂₁,  C₂₂ = L₂₂ᵀL₂₂
func (s *session) gram(l view) {
	if l.rows <= triangleBlock {
		tmp := scratchPool.Get().(*scratch)
		defer scratchPool.Put(tmp)
		factor := tmp.square(l.rows)
		src, r := l.byRows(lower)
		for i := range src.rows {
			copy(factor.row(i, r), src.row(i, r))
		}
		if r == upper {
			factor = factor.t()
		}
		s.multiplyDiag(1, factor.t(), nil, factor, l, lower, upper, false)
		return
	}
	l11, l21, l22 := quarters(l, split(l.rows))
	s.gram(l11)
	s.multiply(1, l21.t(), l21, l11, lower, true)
	s.triangleTimes(l22.t().flip(), triangleForm{diagonal: asIs}, l21.flipRows())
	s.gram(l22)
}
