package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// writeAdd writes the sum of two rows of whole strips and a number.
func writeAdd(s isa) {
	TEXT("add"+s.name, NOSPLIT, "func(strips int, offset float64, src, dst *float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("add%s adds so many strips of %d numbers, and then offset, to others.", s.name, width))
	count, from, to := argument("strips"), argument("src"), argument("dst")
	offset := s.regs[len(s.regs)-1]
	VBROADCASTSD(NewParamAddr("offset", 8), offset)
	Label("strip")
	for v := range width / s.lanes {
		VMOVUPD(Mem{Base: from, Disp: v * s.vectorBytes()}, s.regs[v])
		VADDPD(Mem{Base: to, Disp: v * s.vectorBytes()}, s.regs[v], s.regs[v])
		VADDPD(offset, s.regs[v], s.regs[v])
		VMOVUPD(s.regs[v], Mem{Base: to, Disp: v * s.vectorBytes()})
	}
	ADDQ(U32(8*width), from)
	ADDQ(U32(8*width), to)
	DECQ(count)
	JNZ(LabelRef("strip"))
	VZEROUPPER()
	RET()
}
