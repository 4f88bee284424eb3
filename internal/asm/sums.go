package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// width is the number of cases in a strip.
const width = 32

// writeSums writes the three sums over the columns of one case and a strip of others.
// A strip keeps its sums in 4 registers (8 with AVX2), which is as many independent
// chains as hide the latency of the fused multiply-add.
func writeSums(s isa) {
	writeSum(s, "distances", "(x_k − z_k)²", false, true)
	writeSum(s, "weightedDistances", "w_k (x_k − z_k)²", true, true)
	writeSum(s, "dots", "x_k z_k", false, false)
}

func writeSum(s isa, name, what string, weighted, difference bool) {
	args := "x"
	if weighted {
		args = "x, w"
	}
	TEXT(name+s.name, NOSPLIT, fmt.Sprintf("func(d int, %s, strip, dst *float64)", args))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s%s writes Σ_k %s for the %d cases z of a strip with d ≥ 1 columns.", name, s.name, what, width))
	d, x := argument("d"), argument("x")
	var w reg.GPVirtual
	if weighted {
		w = argument("w")
	}
	z, dst := argument("strip"), argument("dst")

	vectors := width / s.lanes
	sum, rest := s.regs[:vectors], s.regs[vectors:]
	for _, r := range sum {
		s.zero(r)
	}
	xk, wk, temps := rest[0], rest[1], rest[2:]
	Label("column")
	VBROADCASTSD(Mem{Base: x}, xk)
	if weighted {
		VBROADCASTSD(Mem{Base: w}, wk)
	}
	for v := range vectors {
		from := Mem{Base: z, Disp: v * s.vectorBytes()}
		if !difference {
			VFMADD231PD(from, xk, sum[v])
			continue
		}
		e := temps[v%4]
		VSUBPD(from, xk, e)
		if !weighted {
			VFMADD231PD(e, e, sum[v])
			continue
		}
		scaled := s.regs[len(s.regs)-1] // wherever it is, renaming frees it at once
		VMULPD(wk, e, scaled)
		VFMADD231PD(scaled, e, sum[v])
	}
	ADDQ(Imm(8), x)
	if weighted {
		ADDQ(Imm(8), w)
	}
	ADDQ(U32(8*width), z)
	DECQ(d)
	JNZ(LabelRef("column"))
	for v := range vectors {
		VMOVUPD(sum[v], Mem{Base: dst, Disp: v * s.vectorBytes()})
	}
	VZEROUPPER()
	RET()
}
