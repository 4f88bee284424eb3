package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// writeSquares writes the product of some rows with a panel of columns, of which only
// the squares are wanted.
func writeSquares(s isa) {
	TEXT("squares"+s.name, NOSPLIT, "func(depth int, a *float64, lda int, panel, sums *float64)")
	Pragma("noescape")
	Doc(
		fmt.Sprintf("squares%s multiplies %d rows of a, lda apart, by a panel of depth ≥ 1 and %d columns", s.name, s.rows, tileVectors*s.lanes),
		fmt.Sprintf("and adds the squares of each row of the product to a vector of %d sums.", s.lanes),
	)
	depth, a, lda, b, sums := argument("depth"), argument("a"), argument("lda"), argument("panel"), argument("sums")
	SHLQ(Imm(3), lda)
	rows := newLines(a, lda)

	zeroTile(s)
	unrolled("", depth, func(k int) {
		at := func(row int) Mem { return rows.row(row).Offset(8 * k) }
		rankOne(s, func(ops ...Op) { VFMADD231PD(ops...) }, at, b, k*s.rowBytes(), 0)
	}, func(n int) {
		rows.advance(U32(8 * n))
		ADDQ(U32(n*s.rowBytes()), b)
	})
	for r := range s.rows {
		at := Mem{Base: sums, Disp: r * s.vectorBytes()}
		VMOVUPD(at, s.free(0))
		for v := range tileVectors {
			VFMADD231PD(s.acc(r, v), s.acc(r, v), s.free(0))
		}
		VMOVUPD(s.free(0), at)
	}
	VZEROUPPER()
	RET()
}
