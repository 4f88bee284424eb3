package level3

// kernels is one instruction set's vector code. The register tile has mr rows and
// nr = 3·mr columns, mr being also the number of doubles in a vector.
type kernels struct {
	limits
	name   string
	mr, nr int
	// triangleBlock is the largest triangle worked on inside packed panels; what is
	// larger is split into two triangles and a product.
	triangleBlock int
	gemm          func(k int, alpha float64, a *float64, lda int, b, c *float64, ldc int, accumulate bool)
	trsm          panelStep
	trmm          panelStep
	potrf         func(k int, a, b *float64, column int) bool
	copyRows      func(rows, vectors int, dst *float64, ldd, step int, src *float64, lds int)
	scaleRows     func(rows int, dst, src, d *float64)
	transpose     func(blocks int, dst *float64, ldd, dstStep int, src *float64, lds, srcStep int)
}

// panelStep updates mr rows of a packed panel b from the k rows above them and
// from a packed panel a of a triangular matrix.
type panelStep func(k int, a, b *float64)
