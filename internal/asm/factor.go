package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// writePotrf writes the kernel for the block row of a Cholesky factor that holds
// its own diagonal: an update as in trsm, then elimination inside the tile.
func writePotrf(s isa) {
	TEXT("potrf"+s.name, NOSPLIT, "func(k int, a, b *float64, column int) bool")
	Pragma("noescape")
	Doc(
		fmt.Sprintf("potrf%s finds the rows k to k+%d of a Cholesky factor U inside its packed panel b:", s.name, s.rows-1),
		"S = rows − A·b[0:k] is eliminated with the square of S that starts at the given column of",
		"the panel, a multiple of the vector length. The packed panel a holds the k columns of A;",
		"those of the triangle Uᵀ, with reciprocals on the diagonal, are written behind them. It",
		"returns false at the first pivot that is not positive.",
	)
	k, a, b, corner := argument("k"), argument("a"), argument("b"), argument("column")

	loadTile(s, k, b)
	rankK(s, "potrf", func(ops ...Op) { VFNMADD231PD(ops...) }, k, a, b, s.columnBytes())

	Comment("Eliminate; a now points at the triangle and b at the tile.")
	LEAQ(Mem{Base: b, Index: corner, Scale: 8}, corner)
	root, inverse, coeff, zero := s.free(0), s.free(1), s.free(2), s.free(3)
	element := func(r, c int) Mem { return Mem{Base: corner, Disp: r*s.rowBytes() + 8*c} }
	for t := range s.rows {
		// Elements are broadcast from memory: which vector holds the corner is not
		// known here.
		for v := range tileVectors {
			VMOVUPD(s.acc(t, v), tileInPanel(s, b, t, v))
		}
		pivot := inverse
		VMOVSD(element(t, t), pivot.AsX())
		s.zero(zero)
		VUCOMISD(zero.AsX(), pivot.AsX())
		JLS(LabelRef("fail")) // not above zero, or not a number
		VSQRTSD(pivot.AsX(), pivot.AsX(), root.AsX())
		VDIVSD(pivot.AsX(), root.AsX(), inverse.AsX()) // √p/p = 1/√p
		VMOVSD(inverse.AsX(), Mem{Base: a, Disp: 8 * (t*s.rows + t)})
		VBROADCASTSD(inverse.AsX(), coeff)
		for v := range tileVectors {
			VMULPD(coeff, s.acc(t, v), s.acc(t, v))
			VMOVUPD(s.acc(t, v), tileInPanel(s, b, t, v))
		}
		for r := t + 1; r < s.rows; r++ {
			VBROADCASTSD(element(t, r), coeff)
			VMOVSD(coeff.AsX(), Mem{Base: a, Disp: 8 * (t*s.rows + r)})
			for v := range tileVectors {
				VFNMADD231PD(s.acc(t, v), coeff, s.acc(r, v))
			}
		}
		VMOVSD(root.AsX(), element(t, t))
	}
	ret := GP8()
	MOVB(U8(1), ret)
	Store(ret, ReturnIndex(0))
	VZEROUPPER()
	RET()
	Label("fail")
	XORB(ret, ret)
	Store(ret, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
