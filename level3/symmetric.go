package level3

import "gonum.org/v1/gonum/blas"

// SymProduct computes one triangle of
//
//	C = alpha·A·diag(d)·Aᵀ + beta·B,  A n×k  (tA NoTrans)
//	C = alpha·Aᵀ·diag(d)·A + beta·B,  A k×n  (tA Trans)
//
// for d of k elements of any sign; a nil d is the identity. lead[i] is the number of
// zeros that row i of A begins with; a nil lead knows of none. B may be C. The other triangles
// of B and C are neither read nor written, and of B nothing is where beta is zero. It takes n²k
// operations, half of the general product, and a third of that when A is square and half of it is
// zero. It panics as Dsyrk does, and when d or lead is short or lead out of range.
func (impl Implementation) SymProduct(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, lead []int, d []float64, beta float64, b []float64, ldb int, c []float64, ldc int) {
	if beta != 0 && !holds(b, n, n, ldb) {
		c, ldc = b, ldb
	}
	if !validUplo(ul) || !validTranspose(tA) || !holdsOp(tA, a, n, k, lda) || !holds(c, n, n, ldc) {
		reference.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	if d != nil {
		if len(d) < k {
			panic(shortD)
		}
		d = d[:k]
	}
	tmp := scratchPool.Get().(*scratch)
	defer scratchPool.Put(tmp)
	var from view // B, unless it is C
	if beta != 0 && n > 0 && (&b[0] != &c[0] || ldb != ldc) {
		from = rowMajor(b, n, n, ldb)
	}
	impl.symmetric(ul, alpha, operand(tA, a, n, k, lda), tmp.beginnings(tA, n, k, lead), d, beta, from, rowMajor(c, n, n, ldc))
}

// beginnings is where the rows of op(A), n×k, begin when those of A begin with so many
// zeros; at the last column those that are all zero.
func (s *scratch) beginnings(tA blas.Transpose, n, k int, lead []int) []int {
	if lead == nil {
		return nil
	}
	from := s.counts(n)
	if tA == blas.NoTrans {
		checkLead(lead, n, k)
		for i := range from {
			from[i] = min(lead[i], k-1)
		}
		return from
	}
	checkLead(lead, k, n)
	// Column j of A begins with the first row that has at most j zeros.
	known := n // from this column on
	for i, l := range lead[:k] {
		for ; known > l; known-- {
			from[known-1] = i
		}
	}
	for ; known > 0; known-- {
		from[known-1] = k - 1
	}
	return from
}

const shortD = "level3: insufficient length of d"

// symmetric computes the triangle ul of alpha·X·diag(d)·Xᵀ + beta·B, where B without rows is C. Row i of X
// begins with from[i] zeros.
func (impl Implementation) symmetric(ul blas.Uplo, alpha float64, x view, from []int, d []float64, beta float64, b, c view) {
	r := triangleOf(ul)
	n, k := x.rows, x.cols
	scaled := func() {
		c.copyRegion(b, r, 0, b.rows, 0, b.cols)
		c.scale(beta, r)
	}
	if alpha == 0 || n == 0 || k == 0 {
		scaled()
		return
	}
	st := stairs{lead: from}
	if impl.ks == nil || impl.ks.smallSymmetric(n, k) {
		scaled()
		symmetricByRows(r, alpha, x, st, d, c)
		return
	}
	s := impl.ks.begin(flops(1, n, n, k))
	defer s.end()
	if each := sliceRows(n, k); each < k {
		scaled()
		s.multiplyDeep(alpha, x.t(), st, d, c, r, each)
		return
	}
	if beta != 0 && beta != 1 {
		scaled()
		b = view{}
	}
	s.multiplySymmetric(alpha, x.t(), st, d, b, c, r, beta != 0)
}

// symmetricByRows adds alpha·X·diag(d)·Xᵀ to the region of C by one matrix-vector
// product per row of X.
func symmetricByRows(r region, alpha float64, x view, st stairs, d []float64, c view) {
	s := scratchPool.Get().(*scratch)
	defer scratchPool.Put(s)
	s.data = grown(s.data, x.cols)
	for i := range x.rows {
		from := st.begin(i, i+1)
		row := s.data[:x.cols-from]
		for k := range row {
			row[k] = x.data[x.index(i, from+k)]
			if d != nil {
				row[k] *= d[from+k]
			}
		}
		lo, hi := r.columns(i, x.rows)
		t, rows, cols, ld := blas.NoTrans, hi-lo, len(row), x.rs
		if x.cs != 1 || x.rs < cols { // a transpose; with one column both strides are 1
			t, rows, cols, ld = blas.Trans, cols, rows, x.cs
		}
		reference.Dgemv(t, rows, cols, alpha, x.data[x.index(lo, from):], ld, row, 1,
			1, c.data[c.index(i, lo):], c.cs)
	}
}
