package level3

// A symmetric product of few columns and many rows has few tiles, and many depths that follow each other. What is
// shared out then is its depth: every slice of it has a C of its own, and these are added up in their order.
const (
	deepOrder   = 240 // of a product with few tiles
	fewestDeep  = 4   // slices that are worth it
	mostSlices  = 64
	partOfWhole = 4 // all C together are no more than that part of B
)

// sliceRows is the depth of the slices that a symmetric product of order n and depth k is cut into; k is not at all.
func sliceRows(n, k int) int {
	slices := min(mostSlices, k/depthBlock, k/(partOfWhole*n))
	if n > deepOrder || slices < fewestDeep {
		return k
	}
	return roundUp(ceilDiv(k, slices), depthBlock)
}

// multiplyDeep adds region(alpha·Bᵀ·diag(d)·B) to C.
func (s *session) multiplyDeep(alpha float64, b view, st stairs, d []float64, c view, r region, each int) {
	n, k := c.rows, b.rows
	slices := ceilDiv(k, each)
	tmp := scratchPool.Get().(*scratch)
	defer scratchPool.Put(tmp)
	tmp.data = grown(tmp.data, slices*n*n)
	own := func(slice int) view { return rowMajor(tmp.data[slice*n*n:][:n*n], n, n, n) }
	s.run(flops(1, n, n, k), slices, func(_, slice int) {
		from, to := slice*each, min((slice+1)*each, k)
		part := own(slice)
		clear(part.data)
		var weights []float64
		if d != nil {
			weights = d[from:to]
		}
		alone := s.kernels.begin(0)
		defer alone.end()
		alone.multiplySymmetric(alpha, b.block(from, 0, to-from, n), st.below(from), weights, view{}, part, r, true)
	})
	for slice := range slices {
		part := own(slice)
		for i := range n {
			lo, hi := r.columns(i, n)
			for j := lo; j < hi; j++ {
				c.data[c.index(i, j)] += part.data[i*n+j]
			}
		}
	}
}
