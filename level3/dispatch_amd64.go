package level3

import "golang.org/x/sys/cpu"

// detect lists what the processor and the operating system can run, best first.
func detect() []*kernels {
	var found []*kernels
	if cpu.X86.HasAVX512F {
		found = append(found, &kernels{
			limits: limits{side: 4, volume: 14 * 14 * 14, symmetric: 15, triangle: 8, factor: 48},
			name:   "avx512", mr: 8, nr: 24, triangleBlock: 1024,
			gemm: gemmAVX512, trsm: trsmAVX512, trmm: trmmAVX512, potrf: potrfAVX512,
			copyRows: copyRowsAVX512, scaleRows: scaleRowsAVX512, transpose: transposeAVX512,
		})
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		found = append(found, &kernels{
			limits: limits{side: 4, volume: 14 * 14 * 14, symmetric: 15, triangle: 8, factor: 48},
			name:   "avx2", mr: 4, nr: 12, triangleBlock: 1024,
			gemm: gemmAVX2, trsm: trsmAVX2, trmm: trmmAVX2, potrf: potrfAVX2,
			copyRows: copyRowsAVX2, scaleRows: scaleRowsAVX2, transpose: transposeAVX2,
		})
	}
	return found
}
