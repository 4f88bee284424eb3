package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unroll is the number of rank-1 updates in the body of the main loop.
const unroll = 4

// update is a fused multiply-add in avo's form: (a, b, accumulator).
type update func(ops ...Op)

// rankOne adds (or subtracts) the outer product of one packed column of A and one
// packed row of B to the rows from first on of the tile. aOff and bOff are byte
// offsets from the panels' pointers.
func rankOne(s isa, fma update, a, b reg.GPVirtual, aOff, bOff, first int) {
	for v := range tileVectors {
		VMOVUPD(Mem{Base: b, Disp: bOff + v*s.vectorBytes()}, s.free(v))
	}
	for r := first; r < s.rows; r++ {
		// Rotate the broadcast through what is left so that loads run ahead.
		coeff := s.free(tileVectors + r%(len(s.regs)-tileVectors*(s.rows+1)))
		VBROADCASTSD(Mem{Base: a, Disp: aOff + 8*r}, coeff)
		for v := range tileVectors {
			fma(s.free(v), coeff, s.acc(r, v))
		}
	}
}

// rankK runs k rank-1 updates, moving a and b behind the columns and rows used.
// Columns of A are aBytes apart, a register or a constant.
func rankK(s isa, label string, fma update, k, a, b reg.GPVirtual, aBytes Op) {
	bBytes := s.rowBytes()
	loop, tail, done := label+"_loop", label+"_tail", label+"_done"

	SUBQ(Imm(unroll), k)
	JL(LabelRef(tail))
	Label(loop)
	for u := range unroll {
		rankOne(s, fma, a, b, 0, u*bBytes, 0)
		ADDQ(aBytes, a)
	}
	ADDQ(U32(unroll*bBytes), b)
	SUBQ(Imm(unroll), k)
	JGE(LabelRef(loop))

	Label(tail)
	ADDQ(Imm(unroll), k)
	JZ(LabelRef(done))
	Label(tail + "_loop")
	rankOne(s, fma, a, b, 0, 0, 0)
	ADDQ(aBytes, a)
	ADDQ(U32(bBytes), b)
	DECQ(k)
	JNZ(LabelRef(tail + "_loop"))
	Label(done)
}

func zeroTile(s isa) {
	for r := range s.rows {
		for v := range tileVectors {
			if s.lanes == 8 {
				VPXORQ(s.acc(r, v), s.acc(r, v), s.acc(r, v))
			} else {
				VXORPD(s.acc(r, v), s.acc(r, v), s.acc(r, v))
			}
		}
	}
}

// tileInPanel is the tile's row r and vector v inside a packed panel of B.
func tileInPanel(s isa, b reg.GPVirtual, r, v int) Mem {
	return Mem{Base: b, Disp: r*s.rowBytes() + v*s.vectorBytes()}
}

func writeGemm(s isa) {
	TEXT("gemm"+s.name, NOSPLIT, "func(k int, alpha float64, a *float64, lda int, b, c *float64, ldc int, accumulate bool)")
	Pragma("noescape")
	Doc(
		fmt.Sprintf("gemm%s computes the %d×%d tile alpha·A·B of two packed panels and adds it to C", s.name, s.rows, tileVectors*s.lanes),
		"(accumulate) or writes it over C without reading it. The columns of A are lda apart.",
	)
	k := Load(Param("k"), GP64()).(reg.GPVirtual)
	a := Load(Param("a"), GP64()).(reg.GPVirtual)
	lda := Load(Param("lda"), GP64()).(reg.GPVirtual)
	SHLQ(Imm(3), lda)
	b := Load(Param("b"), GP64()).(reg.GPVirtual)
	c := Load(Param("c"), GP64()).(reg.GPVirtual)
	ldc := Load(Param("ldc"), GP64()).(reg.GPVirtual)
	SHLQ(Imm(3), ldc)

	Comment("Fetch the tile of C while the product is formed.")
	row := GP64()
	MOVQ(c, row)
	for r := range s.rows {
		for off := 0; off < s.rowBytes(); off += 64 {
			PREFETCHT0(Mem{Base: row, Disp: off})
		}
		PREFETCHT0(Mem{Base: row, Disp: s.rowBytes() - 8})
		if r < s.rows-1 {
			ADDQ(ldc, row)
		}
	}

	zeroTile(s)
	rankK(s, "gemm", func(ops ...Op) { VFMADD231PD(ops...) }, k, a, b, lda)

	alpha := s.free(0)
	VBROADCASTSD(NewParamAddr("alpha", 8), alpha)
	flag := Load(Param("accumulate"), GP8())
	TESTB(flag, flag)
	JZ(LabelRef("overwrite"))
	eachRow := func(store func(r, v int, m Mem)) {
		for r := range s.rows {
			for v := range tileVectors {
				store(r, v, Mem{Base: c, Disp: v * s.vectorBytes()})
			}
			if r < s.rows-1 {
				ADDQ(ldc, c)
			}
		}
		VZEROUPPER()
		RET()
	}
	eachRow(func(r, v int, m Mem) {
		VFMADD213PD(m, alpha, s.acc(r, v))
		VMOVUPD(s.acc(r, v), m)
	})
	Label("overwrite")
	eachRow(func(r, v int, m Mem) {
		VMULPD(alpha, s.acc(r, v), s.acc(r, v))
		VMOVUPD(s.acc(r, v), m)
	})
}

func writeTrsm(s isa) {
	TEXT("trsm"+s.name, NOSPLIT, "func(k int, a, b *float64)")
	Pragma("noescape")
	Doc(
		fmt.Sprintf("trsm%s performs one step of forward substitution inside a packed panel b: its rows", s.name),
		fmt.Sprintf("k to k+%d become L⁻¹(rows − A·b[0:k]). The packed panel a holds the k columns of A", s.rows-1),
		"followed by those of the triangle L, with reciprocals on the diagonal.",
	)
	k := Load(Param("k"), GP64()).(reg.GPVirtual)
	a := Load(Param("a"), GP64()).(reg.GPVirtual)
	b := Load(Param("b"), GP64()).(reg.GPVirtual)

	tile := GP64()
	IMUL3Q(U32(s.rowBytes()), k, tile)
	ADDQ(b, tile)
	for r := range s.rows {
		for v := range tileVectors {
			VMOVUPD(tileInPanel(s, tile, r, v), s.acc(r, v))
		}
	}
	rankK(s, "trsm", func(ops ...Op) { VFNMADD231PD(ops...) }, k, a, b, s.columnBytes())

	Comment("Solve the triangle; b now points at the tile.")
	coeff := s.free(0)
	for t := range s.rows {
		VBROADCASTSD(Mem{Base: a, Disp: 8 * (t*s.rows + t)}, coeff)
		for v := range tileVectors {
			VMULPD(coeff, s.acc(t, v), s.acc(t, v))
			VMOVUPD(s.acc(t, v), tileInPanel(s, b, t, v))
		}
		for r := t + 1; r < s.rows; r++ {
			m := s.free(1 + r%2)
			VBROADCASTSD(Mem{Base: a, Disp: 8 * (t*s.rows + r)}, m)
			for v := range tileVectors {
				VFNMADD231PD(s.acc(t, v), m, s.acc(r, v))
			}
		}
	}
	VZEROUPPER()
	RET()
}

func writeTrmm(s isa) {
	TEXT("trmm"+s.name, NOSPLIT, "func(k int, a, b *float64)")
	Pragma("noescape")
	Doc(
		fmt.Sprintf("trmm%s multiplies inside a packed panel b: its rows k to k+%d become", s.name, s.rows-1),
		"L·rows + A·b[0:k]. The packed panel a holds the k columns of A followed by those of the",
		"triangle L; what is above L's diagonal takes no part, not even as a zero.",
	)
	k := Load(Param("k"), GP64()).(reg.GPVirtual)
	a := Load(Param("a"), GP64()).(reg.GPVirtual)
	b := Load(Param("b"), GP64()).(reg.GPVirtual)
	zeroTile(s)
	fma := func(ops ...Op) { VFMADD231PD(ops...) }
	rankK(s, "trmm", fma, k, a, b, s.columnBytes())
	for t := range s.rows {
		rankOne(s, fma, a, b, 8*t*s.rows, t*s.rowBytes(), t)
	}
	for r := range s.rows {
		for v := range tileVectors {
			VMOVUPD(s.acc(r, v), tileInPanel(s, b, r, v))
		}
	}
	VZEROUPPER()
	RET()
}
