// Package level3 runs the matrix-matrix operations of BLAS, and the factorisations
// built on them, at the speed of the machine without cgo: products, symmetric
// products, triangular solves and products, Cholesky factors and inverses, in
// float64, row major, with gonum's conventions.
//
// # Use
//
// Implementation has the BLAS routines as methods, and Cholesky, CholeskySolve,
// CholeskyInverse, TriangularInverse, SymProduct and SolveStairs; Selected is the one to
// use. On processors with AVX-512, with AVX2 and FMA, or with NEON vector kernels run; on
// others, and for matrices too small to gain, gonum's code does. The environment variable
// LOSSEP_KERNEL (auto, avx512, avx2, neon, gonum) chooses for comparison. Use registers the
// package with gonum, so that blas64, lapack64 and mat of a whole program run on it.
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
// takes 7 for 12, and NEON's of 4×12 (24 of 32 registers of two) 4 loads of two registers for 24. So that all loads are contiguous, operands are first packed into
// panels, 8 (or 4) rows of A and 24 (or 12) columns of B wide. Packing takes time
// proportional to n² and multiplying to n³; transposes, reversals and diagonal factors
// are dealt with while packing, and cost the kernels nothing. A symmetric product packs
// its matrix once, in panels that serve as both operands; one of few columns and many
// rows has few tiles, so that its depth is shared out, in slices that are added up.
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
// A triangular matrix is packed once, and panels of 24 columns of B are solved in place,
// 8 rows at a time, by a kernel that is the product's with a substitution in registers
// at its end. There is nothing to wait for between panels, so that large triangles are
// done in one piece while a panel fits the second-level cache (1024 rows, 197 kB); two
// panels go together, which halves how often the triangle comes from further away.
// What is larger is halved, and what is beside the halves is a product. Upper triangles,
// transposes and sides are views of the one case lower-left-forward.
//
// Cholesky factors are found 192 rows at a time, and 96 up to an order of 900: as fast on one core, while more
// cores wait half as long for the blocks on the diagonal. Those beside a block on the diagonal
// are solved for in panels that then are the operands, packed already, of the product
// that updates the rest; the block itself is factored by one more kernel that ends in
// an elimination, by one core while the others still update.
//
// # Zeros
//
// Rows that begin with zeros, as those of a triangular matrix in the right order do,
// make stairs. Solves keep such zeros and products need not multiply them: SymProduct
// and SolveStairs receive how many there are, and take a third of the work for a
// triangle.
//
// # Cores
//
// Large operations are cut into tasks that cores take as they become free. Where
// the cuts are depends on the shapes alone, each element of a result belongs to one
// task, and the order of its sum is fixed by the depth: results are the same bits
// for any GOMAXPROCS. They differ, by rounding, between kernels, but
// NEON's are AVX2's. Helpers stay awake
// for up to 60 microseconds after a step, for the next one or the next operation.
// Share lends them to work of others.
package level3
