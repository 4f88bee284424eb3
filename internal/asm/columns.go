package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writeColumns writes the sums of functions of one column each of a probe and a strip of
// triples, and their contraction with weights; triples.go in package lanes has the formulas.
func writeColumns(s isa) {
	writeColumnSums(s)
	writeColumnSlopes(s)
}

// columnLoop is what both loops over columns share.
type columnLoop struct {
	isa
	d, x, apart, strip reg.GPVirtual
	p, up, down, mask  reg.VecPhysical
}

func newColumnLoop(s isa, regs []reg.VecPhysical) *columnLoop {
	l := &columnLoop{isa: s, d: argument("d"), x: argument("x"), apart: argument("apart"), strip: argument("strip")}
	l.p, l.up, l.down, l.mask = regs[0], regs[1], regs[2], regs[3]
	SHLQ(Imm(3), l.apart)
	VBROADCASTSD(decayTable.address("magnitude"), l.mask)
	return l
}

// begin spreads the probe's numbers of a column.
func (l *columnLoop) begin() {
	VBROADCASTSD(Mem{Base: l.x}, l.p)
	VBROADCASTSD(Mem{Base: l.x, Index: l.apart, Scale: 1}, l.up)
	VBROADCASTSD(Mem{Base: l.x, Index: l.apart, Scale: 2}, l.down)
}

// end goes to the next column, if there is one.
func (l *columnLoop) end(label string) {
	ADDQ(Imm(8), l.x)
	ADDQ(U32(3*8*width), l.strip)
	DECQ(l.d)
	JNZ(LabelRef(label))
}

// pair sets u = |p − q| and e = e^−u of a vector of cases, with one register of scratch.
func (l *columnLoop) pair(v int, u, e, other reg.VecPhysical) {
	at := func(part int) Mem { return Mem{Base: l.strip, Disp: part*8*width + v*l.vectorBytes()} }
	VSUBPD(at(0), l.p, u)
	if l.lanes == 8 {
		VPANDQ(l.mask, u, u)
	} else {
		VANDPD(l.mask, u, u)
	}
	VMULPD(at(2), l.up, e)
	VMULPD(at(1), l.down, other)
	VMINPD(other, e, e)
}

func writeColumnSums(s isa) {
	TEXT("columnSums"+s.name, NOSPLIT, "func(d int, x *float64, apart int, amplitudes, strip, dst *float64)")
	Pragma("noescape")
	Doc(
		fmt.Sprintf("columnSums%s writes Σ_k amplitude_k (1 + u_k) e^−u_k, u_k = |p_k − q_k|, for the %d cases of a strip of", s.name, width),
		"triples with d ≥ 1 columns. The parts of the probe are apart from each other.",
	)
	vectors := width / s.lanes
	sum, rest := s.regs[:vectors], s.regs[vectors:]
	l := newColumnLoop(s, rest)
	amplitudes, dst := argument("amplitudes"), argument("dst")
	amplitude, u, e, other := rest[4], rest[5], rest[6], rest[7]
	for _, r := range sum {
		s.zero(r)
	}
	Label("column")
	l.begin()
	VBROADCASTSD(Mem{Base: amplitudes}, amplitude)
	for v := range vectors {
		l.pair(v, u, e, other)
		VFMADD213PD(amplitude, amplitude, u)
		VFMADD231PD(u, e, sum[v])
	}
	ADDQ(Imm(8), amplitudes)
	l.end("column")
	for v := range vectors {
		VMOVUPD(sum[v], Mem{Base: dst, Disp: v * s.vectorBytes()})
	}
	VZEROUPPER()
	RET()
}

func writeColumnSlopes(s isa) {
	TEXT("columnSlopes"+s.name, NOSPLIT, "func(d int, x *float64, apart int, weights, strip, sums *float64)")
	Pragma("noescape")
	Doc(
		fmt.Sprintf("columnSlopes%s adds w (1 + u_k) e^−u_k and w u_k² e^−u_k of the %d cases of a strip of triples to", s.name, width),
		"eight sums each for every one of d ≥ 1 columns. The parts of the probe are apart from each other.",
	)
	l := newColumnLoop(s, s.regs)
	weights, sums := argument("weights"), argument("sums")
	one, u, e, other := s.regs[4], s.regs[5], s.regs[6], s.regs[7]
	VBROADCASTSD(decayTable.address("one"), one)
	parts := 8 / s.lanes // vectors of eight sums
	values, slopes := s.regs[8:8+parts], s.regs[8+parts:8+2*parts]
	each := func(move func(r reg.VecPhysical, at Mem)) {
		for i := range parts {
			move(values[i], Mem{Base: sums, Disp: i * s.vectorBytes()})
			move(slopes[i], Mem{Base: sums, Disp: (parts + i) * s.vectorBytes()})
		}
	}
	Label("column")
	l.begin()
	each(func(r reg.VecPhysical, at Mem) { VMOVUPD(at, r) })
	for v := range width / s.lanes {
		l.pair(v, u, e, other)
		VMULPD(Mem{Base: weights, Disp: v * s.vectorBytes()}, e, e)
		VADDPD(one, u, other)
		VFMADD231PD(other, e, values[v%parts])
		VMULPD(u, u, u)
		VFMADD231PD(u, e, slopes[v%parts])
	}
	each(func(r reg.VecPhysical, at Mem) { VMOVUPD(r, at) })
	ADDQ(U32(2*8*8), sums)
	l.end("column")
	VZEROUPPER()
	RET()
}
