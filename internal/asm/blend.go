package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// writeBlend writes the sum of four rows with weights.
func writeBlend(s isa) {
	TEXT("blend"+s.name, NOSPLIT, "func(vectors int, weights, rows *float64, stride int, dst *float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("blend%s adds Σ_k weights_k rows_k of four rows, stride bytes apart, to so many vectors of %d.", s.name, s.lanes))
	count, weights, at, stride, to := argument("vectors"), argument("weights"), argument("rows"), argument("stride"), argument("dst")
	third := GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, third)
	w, sum := s.regs[:4], s.regs[4]
	for k := range w {
		VBROADCASTSD(Mem{Base: weights, Disp: 8 * k}, w[k])
	}
	Label("vector")
	VMOVUPD(Mem{Base: to}, sum)
	VFMADD231PD(Mem{Base: at}, w[0], sum)
	VFMADD231PD(Mem{Base: at, Index: stride, Scale: 1}, w[1], sum)
	VFMADD231PD(Mem{Base: at, Index: stride, Scale: 2}, w[2], sum)
	VFMADD231PD(Mem{Base: at, Index: third, Scale: 1}, w[3], sum)
	VMOVUPD(sum, Mem{Base: to})
	ADDQ(U32(s.vectorBytes()), at)
	ADDQ(U32(s.vectorBytes()), to)
	DECQ(count)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	RET()
}
