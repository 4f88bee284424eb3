package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// writeOuter writes the update of rank one of a square matrix.
func writeOuter(s isa) {
	TEXT("outer"+s.name, NOSPLIT, "func(vectors, rows int, scale float64, column, a *float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("outer%s adds scale·column·columnᵀ to so many rows of a, each of so many vectors of %d.", s.name, s.lanes))
	vectors, rows, column, to := argument("vectors"), argument("rows"), argument("column"), argument("a")
	scale, weight, sum := s.regs[0], s.regs[1], s.regs[2]
	VBROADCASTSD(NewParamAddr("scale", 16), scale)
	of, at, count := GP64(), GP64(), GP64()
	MOVQ(column, of)
	Label("row")
	VBROADCASTSD(Mem{Base: of}, weight)
	VMULPD(scale, weight, weight)
	MOVQ(column, at)
	MOVQ(vectors, count)
	Label("vector")
	VMOVUPD(Mem{Base: to}, sum)
	VFMADD231PD(Mem{Base: at}, weight, sum)
	VMOVUPD(sum, Mem{Base: to})
	ADDQ(U32(s.vectorBytes()), at)
	ADDQ(U32(s.vectorBytes()), to)
	DECQ(count)
	JNZ(LabelRef("vector"))
	ADDQ(U32(8), of)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
