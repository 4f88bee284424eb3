// Package level3 runs the matrix-matrix operations of BLAS, and the factorisations
// built on them, at the speed of the machine without cgo: products, symmetric
// products, triangular solves and products, Cholesky factors and inverses, in
// float64, row major, with gonum's conventions.
//
// # Use
//
// Use registers the package with gonum, so that blas64, lapack64 and mat run on it.
// Implementation has the BLAS routines as methods, and Cholesky, CholeskyInverse,
// TriangularInverse, SymProduct and TriSymProduct, which are also functions of the
// package. On processors with AVX-512 or with AVX2 and FMA vector kernels run; on
// others, and for matrices too small to gain, gonum's code does. The environment
// variable LOSSEP_KERNEL (auto, avx512, avx2, gonum) chooses for comparison.
//
// # Blocking
//
// The scheme is that of Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication" (ACM TOMS 34(3), 2008), in the form of BLIS (Van Zee and van de
// Geijn, ACM TOMS 41(3), 2015). A kernel keeps a tile of C in registers and adds
// one column of A times one row of B after another to it. A processor with two
// fused multiply-add units of latency four needs eight independent sums, and loads
// must not outnumber what two load ports bring: a tile of 8×24 (AVX-512, 24 of 32
// registers) takes 11 loads for 24 multiply-adds, one of 4×12 (AVX2, 12 of 16)
// takes 7 for 12. So that all loads are contiguous, operands are first packed into
// panels, 8 (or 4) rows of A and 24 (or 12) columns of B wide. Packing takes time
// proportional to n² and multiplying to n³; transposes, reversals, diagonal factors
// and zero triangles are dealt with while packing, and cost the kernels nothing.
//
// Panels are 384 deep. A task multiplies 192 rows of A, 590 kB in the second-level
// cache (1 to 2 MB where AVX-512 is found), with one panel of B after another: 74 kB
// that are read 24 times, past the first-level cache but at a rate (16 bytes a
// cycle) the second level sustains. Greater depth means fewer passes over C, each
// of which reads and writes it once; depths from 256 to 512 measured alike. A task
// has 240 columns, and half of that each way where C is small, so that there are
// enough tasks to share out evenly.
//
// # Triangles
//
// A triangular matrix is halved until it is 192 wide; what is beside the halves is
// a product. In the small triangle a panel of 24 columns of B (37 kB, first-level
// cache) is solved in place, 8 rows at a time, by a kernel that is the product's
// with a substitution in registers at its end. Upper triangles, transposes and
// sides are views of the one case lower-left-forward. The Cholesky factor of a
// small matrix is found by the same kernel, its diagonal blocks by one more that
// ends in an elimination; larger matrices are halved too (Gustavson, "Recursion
// leads to automatic variable blocking", IBM J. Res. Dev. 41(6), 1997).
//
// # Cores
//
// Large operations are cut into tasks that cores take as they become free. Where
// the cuts are depends on the shapes alone, each element of a result belongs to one
// task, and the order of its sum is fixed by the depth: results are the same bits
// for any GOMAXPROCS. They differ, by rounding, between kernels. Helpers stay awake
// for up to 200 microseconds between the steps of an operation, and leave with it.
package level3
