package level3

import "gonum.org/v1/gonum/blas"

// SymProduct computes one triangle of
//
//	C = alpha·A·diag(d)·Aᵀ + beta·C,  A n×k  (tA NoTrans)
//	C = alpha·Aᵀ·diag(d)·A + beta·C,  A k×n  (tA Trans)
//
// for d of k elements of any sign; a nil d is the identity. The other triangle of
// C is neither read nor written. It takes n²k operations, half of the general
// product. It panics as Dsyrk does, and when d is short.
func (impl Implementation) SymProduct(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, d []float64, beta float64, c []float64, ldc int) {
	if d == nil {
		impl.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	if !validUplo(ul) || !validTranspose(tA) || !holdsOp(tA, a, n, k, lda) || !holds(c, n, n, ldc) {
		reference.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	if len(d) < k {
		panic(shortD)
	}
	impl.symmetric(ul, alpha, operand(tA, a, n, k, lda), d[:k], full, beta, rowMajor(c, n, n, ldc))
}

// TriSymProduct is SymProduct for a triangular A of order n, stored in the triangle
// ulA; the other triangle is taken as zero and not read. It takes n³/3 operations,
// a third of what SymProduct needs.
func (impl Implementation) TriSymProduct(ul, ulA blas.Uplo, tA blas.Transpose, n int, alpha float64, a []float64, lda int, d []float64, beta float64, c []float64, ldc int) {
	if !validUplo(ul) || !validUplo(ulA) || !validTranspose(tA) || !holds(a, n, n, lda) || !holds(c, n, n, ldc) {
		if !validUplo(ulA) {
			ul = ulA
		}
		reference.Dsyrk(ul, tA, n, n, alpha, a, lda, beta, c, ldc)
		return
	}
	if d != nil {
		if len(d) < n {
			panic(shortD)
		}
		d = d[:n]
	}
	triangle := triangleOf(ulA)
	if tA != blas.NoTrans {
		triangle = triangle.t()
	}
	impl.symmetric(ul, alpha, operand(tA, a, n, n, lda), d, triangle, beta, rowMajor(c, n, n, ldc))
}

const shortD = "level3: insufficient length of d"

// symmetric computes the triangle ul of alpha·X·diag(d)·Xᵀ + beta·C.
func (impl Implementation) symmetric(ul blas.Uplo, alpha float64, x view, d []float64, triangle region, beta float64, c view) {
	r := triangleOf(ul)
	n, k := x.rows, x.cols
	if alpha == 0 || n == 0 || k == 0 {
		c.scale(beta, r)
		return
	}
	if impl.ks == nil || impl.ks.smallSymmetric(n, k) {
		c.scale(beta, r)
		symmetricByRows(r, alpha, x, d, triangle, c)
		return
	}
	if beta != 0 {
		c.scale(beta, r)
	}
	s := impl.ks.begin(flops(1, n, n, k))
	defer s.end()
	s.multiplyDiag(alpha, x, d, x.t(), c, r, triangle, beta != 0)
}

// symmetricByRows adds alpha·X·diag(d)·Xᵀ to the region of C by one matrix-vector
// product per row of X.
func symmetricByRows(r region, alpha float64, x view, d []float64, triangle region, c view) {
	s := scratchPool.Get().(*scratch)
	defer scratchPool.Put(s)
	s.data = grown(s.data, x.cols)
	for i := range x.rows {
		// Row i of X is zero outside [kLo,kHi); so that X is dense there in the rows
		// [jLo,jHi) it is multiplied with, take those after i for a lower triangle
		// and those before it for an upper one.
		kLo, kHi := triangle.columns(i, x.cols)
		jLo, jHi := 0, i+1
		if triangle == lower || triangle == full && r == upper {
			jLo, jHi = i, x.rows
		}
		row := s.data[:kHi-kLo]
		for k := range row {
			row[k] = x.data[x.index(i, kLo+k)]
			if d != nil {
				row[k] *= d[kLo+k]
			}
		}
		// By symmetry the result is row i or column i of C, whichever is wanted.
		out := c
		if jLo == i == (r == lower) {
			out = c.t()
		}
		t, rows, cols, ld := blas.NoTrans, jHi-jLo, kHi-kLo, x.rs
		if x.cs != 1 || x.rs < cols { // a transpose; with one column both strides are 1
			t, rows, cols, ld = blas.Trans, cols, rows, x.cs
		}
		reference.Dgemv(t, rows, cols, alpha, x.data[x.index(jLo, kLo):], ld, row, 1,
			1, out.data[out.index(i, jLo):], out.cs)
	}
}
