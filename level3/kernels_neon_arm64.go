// Code generated from the code for AVX2 by command: go generate. DO NOT EDIT.

package level3

// gemmNEON computes the 4×12 tile alpha·A·B of two packed panels and adds it to C
// (accumulate) or writes it over C without reading it. The columns of A are lda apart.
//
//go:noescape
func gemmNEON(k int, alpha float64, a *float64, lda int, b *float64, c *float64, ldc int, accumulate bool)

// trsmNEON performs one step of forward substitution inside a packed panel b: its rows
// k to k+3 become L⁻¹(rows − A·b[0:k]). The packed panel a holds the k columns of A
// followed by those of the triangle L, with reciprocals on the diagonal.
//
//go:noescape
func trsmNEON(k int, a *float64, b *float64)

// trmmNEON multiplies inside a packed panel b: its rows k to k+3 become
// L·rows + A·b[0:k]. The packed panel a holds the k columns of A followed by those of the
// triangle L; what is above L's diagonal takes no part, not even as a zero.
//
//go:noescape
func trmmNEON(k int, a *float64, b *float64)

// potrfNEON finds the rows k to k+3 of a Cholesky factor U inside its packed panel b:
// S = rows − A·b[0:k] is eliminated with the square of S that starts at the given column of
// the panel, a multiple of the vector length. The packed panel a holds the k columns of A;
// those of the triangle Uᵀ, with reciprocals on the diagonal, are written behind them. It
// returns false at the first pivot that is not positive.
//
//go:noescape
func potrfNEON(k int, a *float64, b *float64, column int) bool

// copyRowsNEON copies rows of one or three vectors of 4 doubles, which are step apart where they
// go; the strides ldd and lds may be negative.
//
//go:noescape
func copyRowsNEON(rows int, vectors int, dst *float64, ldd int, step int, src *float64, lds int)

// transposeNEON transposes a sequence of 4×4 blocks. Rows of a block are lds and ldd apart,
// blocks srcStep and dstStep; all four may be negative.
//
//go:noescape
func transposeNEON(blocks int, dst *float64, ldd int, dstStep int, src *float64, lds int, srcStep int)

// scaleRowsNEON writes d[k] times row k of a panel, of 12 doubles, into another or the same.
//
//go:noescape
func scaleRowsNEON(rows int, dst *float64, src *float64, d *float64)
