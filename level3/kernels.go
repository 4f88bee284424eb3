package level3

// kernels is one instruction set's vector code. The register tile has mr rows and
// nr = 3·mr columns, mr being also the number of doubles in a vector.
type kernels struct {
	limits
	name      string
	mr, nr    int
	gemm      func(k int, alpha float64, a, b, c *float64, ldc int, accumulate bool)
	trsm      panelStep
	trmm      panelStep
	potrf     func(k int, a, b *float64, column int) bool
	copyRows  func(rows, vectors int, dst *float64, ldd int, src *float64, lds int)
	scaleRows func(rows int, panel, d *float64)
	transpose func(blocks int, dst *float64, ldd, dstStep int, src *float64, lds, srcStep int)
}

// panelStep updates mr rows of a packed panel b from the k rows above them and
// from a packed panel a of a triangular matrix.
type panelStep func(k int, a, b *float64)
