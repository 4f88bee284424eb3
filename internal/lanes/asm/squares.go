package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tileVectors is the width of the tile of a product in vectors: three vectors times
// eight rows fill 24 of AVX-512's 32 registers, three times four fill 12 of AVX2's 16.
const tileVectors = 3

// unroll is the number of rank-1 updates in the body of the main loop.
const unroll = 4

// writeSquares writes the product of some rows with a panel of columns, of which only
// the squares are wanted.
func writeSquares(s isa) {
	TEXT("squares"+s.name, NOSPLIT, "func(depth int, a *float64, lda int, panel, sums *float64)")
	Pragma("noescape")
	Doc(
		fmt.Sprintf("squares%s multiplies %d rows of a, lda apart, by a panel of depth ≥ 1 and %d columns", s.name, s.rows, tileVectors*s.lanes),
		fmt.Sprintf("and adds the squares of each row of the product to a vector of %d sums.", s.lanes),
	)
	depth := Load(Param("depth"), GP64()).(reg.GPVirtual)
	a := Load(Param("a"), GP64()).(reg.GPVirtual)
	lda := Load(Param("lda"), GP64()).(reg.GPVirtual)
	b := Load(Param("panel"), GP64()).(reg.GPVirtual)
	sums := Load(Param("sums"), GP64()).(reg.GPVirtual)
	SHLQ(Imm(3), lda)
	rows := newLines(a, lda)

	tile, free := s.regs[:tileVectors*s.rows], s.regs[tileVectors*s.rows:]
	for _, r := range tile {
		s.zero(r)
	}
	panelRow := tileVectors * s.bytes()
	rankOne := func(k int) {
		for v := range tileVectors {
			VMOVUPD(Mem{Base: b, Disp: k*panelRow + v*s.bytes()}, free[v])
		}
		for r := range s.rows {
			// Rotate the broadcast through what is left so that loads run ahead.
			coeff := free[tileVectors+r%(len(free)-tileVectors)]
			from := rows.row(r)
			from.Disp = 8 * k
			VBROADCASTSD(from, coeff)
			for v := range tileVectors {
				VFMADD231PD(free[v], coeff, tile[tileVectors*r+v])
			}
		}
	}
	advance := func(n int) {
		rows.advance(8 * n)
		ADDQ(U32(uint32(n*panelRow)), b)
	}
	SUBQ(Imm(unroll), depth)
	JL(LabelRef("tail"))
	Label("loop")
	for k := range unroll {
		rankOne(k)
	}
	advance(unroll)
	SUBQ(Imm(unroll), depth)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(Imm(unroll), depth)
	JZ(LabelRef("done"))
	Label("tail_loop")
	rankOne(0)
	advance(1)
	DECQ(depth)
	JNZ(LabelRef("tail_loop"))

	Label("done")
	for r := range s.rows {
		at := Mem{Base: sums, Disp: r * s.bytes()}
		VMOVUPD(at, free[0])
		for v := range tileVectors {
			VFMADD231PD(tile[tileVectors*r+v], tile[tileVectors*r+v], free[0])
		}
		VMOVUPD(free[0], at)
	}
	VZEROUPPER()
	RET()
}

// lines addresses up to eight rows with few registers: the fifth row has a pointer of
// its own and three times the stride is kept.
type lines struct{ base, base4, ld, ld3 reg.GPVirtual }

func newLines(base, ld reg.GPVirtual) lines {
	ld3, base4 := GP64(), GP64()
	LEAQ(Mem{Base: ld, Index: ld, Scale: 2}, ld3)
	LEAQ(Mem{Base: base, Index: ld, Scale: 4}, base4)
	return lines{base, base4, ld, ld3}
}

func (l lines) row(i int) Mem {
	base := l.base
	if i >= 4 {
		base = l.base4
	}
	switch i % 4 {
	case 0:
		return Mem{Base: base}
	case 1:
		return Mem{Base: base, Index: l.ld, Scale: 1}
	case 2:
		return Mem{Base: base, Index: l.ld, Scale: 2}
	default:
		return Mem{Base: base, Index: l.ld3, Scale: 1}
	}
}

func (l lines) advance(bytes int) {
	ADDQ(U32(uint32(bytes)), l.base)
	ADDQ(U32(uint32(bytes)), l.base4)
}
