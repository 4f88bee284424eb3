package level3

// invert replaces the lower triangle of l by that of its inverse.
//
//	(L⁻¹)₂₁ = −L₂₂⁻¹L₂₁L₁₁⁻¹
func (s *session) invert(l view, d diagonal) {
	if l.rows <= s.triangleBlock {
		p := getPanels(s)
		defer p.release()
		p.smallInverse(l, d)
		return
	}
	l11, l21, l22 := quarters(l, s.split(l.rows))
	s.solve(l22, triangleForm{d, true}, l21, stairs{})
	// X·L₁₁ = L₂₁ from the left is L₁₁ᵀXᵀ = L₂₁ᵀ, an upper triangle: count backwards.
	s.solve(l11.t().flip(), triangleForm{diagonal: d}, l21.t().flipRows(), stairs{})
	s.invert(l11, d)
	s.invert(l22, d)
}

// smallInverse solves L·X = I inside packed panels, leaving out the zeros above X's
// diagonal.
func (p *panels) smallInverse(l view, d diagonal) {
	p.packTriangle(l, triangleForm{diagonal: d})
	p.b = l
	p.columns = grown(p.columns, p.workers*roundUp(l.rows, p.mr)*p.nr)
	p.run(flops(1./3, l.rows, l.rows, l.rows), ceilDiv(l.rows, p.nr), p.inverseBody)
}

// inverseTask finds a panel of columns of an inverse.
func (p *panels) inverseTask(worker, task int) {
	ks, l, n := p.kernels, p.b, p.b.rows
	mr, nr := ks.mr, ks.nr
	blocks := ceilDiv(n, mr)
	c := task * nr
	width := min(nr, n-c)
	// Row and column 0 of the panel are row and column c of X.
	panel := p.columns[worker*blocks*mr*nr:][:(blocks*mr-c)*nr]
	clear(panel)
	for j := range width {
		panel[j*nr+j] = 1
	}
	for q := c / mr; q < blocks; q++ {
		ks.trsm(q*mr-c, &p.triangle[p.panelOffset(q)+c*mr], &panel[0])
	}
	diagonal := 0
	if p.form.diagonal == ones {
		diagonal = -1 // the diagonal is not written either
	}
	below := min(c+nr, n)
	ks.unpackRegion(l.block(c, c, width, width), panel, nr, lower, diagonal)
	if below < n {
		ks.unpack(l.block(below, c, n-below, width), panel[nr*nr:], nr)
	}
}

// gramBlock is the largest triangle that gram copies before it overwrites it.
const gramBlock = 192

// gram replaces the lower triangle of l by that of Lᵀ·L.
//
//	C₁₁ = L₁₁ᵀL₁₁ + L₂₁ᵀL₂₁,  C₂₁ = L₂₂ᵀL₂₁,  C₂₂ = L₂₂ᵀL₂₂
func (s *session) gram(l view) {
	if l.rows <= gramBlock {
		tmp := scratchPool.Get().(*scratch)
		defer scratchPool.Put(tmp)
		factor := tmp.square(l.rows)
		lead := tmp.counts(l.rows)
		src, r := l.byRows(lower)
		for i := range src.rows {
			lead[i] = i
			clear(factor.row(i, r.t()))
			copy(factor.row(i, r), src.row(i, r))
		}
		if r == upper {
			factor = factor.t()
		}
		st := stairs{lead: lead}
		s.multiplySymmetric(1, factor, st, nil, view{}, l, lower, false)
		return
	}
	l11, l21, l22 := quarters(l, s.split(l.rows))
	s.gram(l11)
	s.multiplySymmetric(1, l21, stairs{}, nil, view{}, l11, lower, true)
	s.triangleTimes(l22.t().flip(), triangleForm{diagonal: asIs}, l21.flipRows())
	s.gram(l22)
}
