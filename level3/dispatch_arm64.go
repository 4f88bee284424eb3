package level3

// detect lists what every processor of this architecture can run.
func detect() []*kernels {
	return []*kernels{{
		limits: limits{side: 4, volume: 14 * 14 * 14, symmetric: 15, triangle: 8, factor: 48},
		name:   "neon", mr: 4, nr: 12, triangleBlock: 1024,
		gemm: gemmNEON, trsm: trsmNEON, trmm: trmmNEON, potrf: potrfNEON,
		copyRows: copyRowsNEON, scaleRows: scaleRowsNEON, transpose: transposeNEON,
	}}
}
