package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writeCopy writes the kernel that moves a strip whose rows are contiguous.
func writeCopy(s isa) {
	TEXT("copyRows"+s.name, NOSPLIT, "func(rows, vectors int, dst *float64, ldd, step int, src *float64, lds int)")
	Pragma("noescape")
	Doc(
		fmt.Sprintf("copyRows%s copies rows of one or three vectors of %d doubles, which are step apart where they", s.name, s.lanes),
		"go; the strides ldd and lds may be negative.",
	)
	rows, vectors, dst, ldd, step, src, lds := argument("rows"), argument("vectors"), argument("dst"), argument("ldd"), argument("step"), argument("src"), argument("lds")
	SHLQ(Imm(3), ldd)
	SHLQ(Imm(3), step)
	SHLQ(Imm(3), lds)
	CMPQ(vectors, Imm(1))
	JEQ(LabelRef("narrow"))
	loop := func(label string, n int) {
		Label(label)
		for v := range n {
			VMOVUPD(Mem{Base: src, Disp: v * s.vectorBytes()}, s.regs[v])
		}
		to := Mem{Base: dst}
		for v := range n {
			if v > 0 {
				to.Index, to.Scale = step, uint8(v)
			}
			VMOVUPD(s.regs[v], to)
		}
		ADDQ(lds, src)
		ADDQ(ldd, dst)
		DECQ(rows)
		JNZ(LabelRef(label))
		VZEROUPPER()
		RET()
	}
	loop("wide", tileVectors)
	loop("narrow", 1)
}

// writeScale writes the kernel that folds a diagonal matrix into a packed panel.
func writeScale(s isa) {
	TEXT("scaleRows"+s.name, NOSPLIT, "func(rows int, dst, src, d *float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("scaleRows%s writes d[k] times row k of a panel, of %d doubles, into another or the same.", s.name, tileVectors*s.lanes))
	rows, dst, src, d := argument("rows"), argument("dst"), argument("src"), argument("d")
	Label("row")
	VBROADCASTSD(Mem{Base: d}, s.regs[0])
	for v := range tileVectors {
		VMULPD(tileInPanel(s, src, 0, v), s.regs[0], s.regs[1+v])
		VMOVUPD(s.regs[1+v], tileInPanel(s, dst, 0, v))
	}
	ADDQ(U32(s.rowBytes()), src)
	ADDQ(U32(s.rowBytes()), dst)
	ADDQ(Imm(8), d)
	DECQ(rows)
	JNZ(LabelRef("row"))
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

// advance moves all rows by a register or a constant.
func (l lines) advance(step Op) {
	ADDQ(step, l.base)
	ADDQ(step, l.base4)
}

// writeTranspose writes the kernel that moves a strip across its grain.
func writeTranspose(s isa) {
	TEXT("transpose"+s.name, NOSPLIT, "func(blocks int, dst *float64, ldd, dstStep int, src *float64, lds, srcStep int)")
	Pragma("noescape")
	Doc(
		fmt.Sprintf("transpose%s transposes a sequence of %d×%d blocks. Rows of a block are lds and ldd apart,", s.name, s.lanes, s.lanes),
		"blocks srcStep and dstStep; all four may be negative.",
	)
	blocks := argument("blocks")
	dst, ldd, dstStep := argument("dst"), argument("ldd"), argument("dstStep")
	src, lds, srcStep := argument("src"), argument("lds"), argument("srcStep")
	for _, stride := range []reg.GPVirtual{ldd, dstStep, lds, srcStep} {
		SHLQ(Imm(3), stride)
	}
	in, out := newLines(src, lds), newLines(dst, ldd)

	Label("block")
	x := s.regs[:s.lanes]
	y := s.regs[s.lanes : 2*s.lanes]
	for i := range s.lanes {
		VMOVUPD(in.row(i), x[i])
	}
	Comment("Pairs of rows: even columns into the first of two, odd columns into the second.")
	for i := 0; i < s.lanes; i += 2 {
		VUNPCKLPD(x[i+1], x[i], y[i])
		VUNPCKHPD(x[i+1], x[i], y[i+1])
	}
	if s.lanes == 4 {
		Comment("Halves of pairs make the columns.")
		for i := range 2 {
			VPERM2F128(Imm(0x20), y[2+i], y[i], x[i])
			VPERM2F128(Imm(0x31), y[2+i], y[i], x[2+i])
		}
	} else {
		// 0x88 picks quarters 0 and 2 of each operand, 0xdd quarters 1 and 3.
		Comment("Quarters of pairs make half columns, and half columns the columns.")
		for odd := range 2 {
			for half := range 2 {
				VSHUFF64X2(Imm(0x88), y[4*half+2+odd], y[4*half+odd], x[4*half+2*odd])
				VSHUFF64X2(Imm(0xdd), y[4*half+2+odd], y[4*half+odd], x[4*half+2*odd+1])
			}
		}
		// x[4h+2o] holds columns o and 4+o of half h, x[4h+2o+1] columns 2+o and 6+o.
		z := s.regs[8:16]
		for odd := range 2 {
			for two := range 2 {
				lo, hi := x[2*odd+two], x[4+2*odd+two]
				VSHUFF64X2(Imm(0x88), hi, lo, z[2*two+odd])
				VSHUFF64X2(Imm(0xdd), hi, lo, z[4+2*two+odd])
			}
		}
		x = z
	}
	for i := range s.lanes {
		VMOVUPD(x[i], out.row(i))
	}
	in.advance(srcStep)
	out.advance(dstStep)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}
