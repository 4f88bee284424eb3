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

// rankOne adds (or subtracts) the outer product of one column of A and one packed row of
// B to the rows from first on of the tile. a tells where the column's element of a row
// is; bOff is a byte offset from the panel's pointer.
func rankOne(s isa, fma update, a func(row int) Mem, b reg.GPVirtual, bOff, first int) {
	for v := range tileVectors {
		VMOVUPD(Mem{Base: b, Disp: bOff + v*s.vectorBytes()}, s.free(v))
	}
	for r := first; r < s.rows; r++ {
		// Rotate the broadcast through what is left so that loads run ahead.
		coeff := s.free(tileVectors + r%(len(s.regs)-tileVectors*(s.rows+1)))
		VBROADCASTSD(a(r), coeff)
		for v := range tileVectors {
			fma(s.free(v), coeff, s.acc(r, v))
		}
	}
}

// packed is a column of a packed panel of A, aOff bytes behind its pointer.
func packed(a reg.GPVirtual, aOff int) func(row int) Mem {
	return func(row int) Mem { return Mem{Base: a, Disp: aOff + 8*row} }
}

// unrolled runs step k times, a few in the body of the main loop. A step receives how many
// came before it since the last call of advance, which moves behind so many.
func unrolled(prefix string, k reg.GPVirtual, step, advance func(n int)) {
	loop, tail, rest, done := prefix+"loop", prefix+"tail", prefix+"tail_loop", prefix+"done"
	SUBQ(Imm(unroll), k)
	JL(LabelRef(tail))
	Label(loop)
	for u := range unroll {
		step(u)
	}
	advance(unroll)
	SUBQ(Imm(unroll), k)
	JGE(LabelRef(loop))

	Label(tail)
	ADDQ(Imm(unroll), k)
	JZ(LabelRef(done))
	Label(rest)
	step(0)
	advance(1)
	DECQ(k)
	JNZ(LabelRef(rest))
	Label(done)
}

// rankK runs k rank-1 updates, moving a and b behind the columns and rows used.
// Columns of A are aBytes apart, a register or a constant.
func rankK(s isa, label string, fma update, k, a, b reg.GPVirtual, aBytes Op) {
	unrolled(label+"_", k, func(u int) {
		rankOne(s, fma, packed(a, 0), b, u*s.rowBytes(), 0)
		ADDQ(aBytes, a)
	}, func(n int) { ADDQ(U32(n*s.rowBytes()), b) })
}

func zeroTile(s isa) {
	for r := range s.rows {
		for v := range tileVectors {
			s.zero(s.acc(r, v))
		}
	}
}

// tileInPanel is the tile's row r and vector v inside a packed panel of B.
func tileInPanel(s isa, b reg.GPVirtual, r, v int) Mem {
	return Mem{Base: b, Disp: r*s.rowBytes() + v*s.vectorBytes()}
}

// loadTile loads the rows from k on of a packed panel of B.
func loadTile(s isa, k, b reg.GPVirtual) {
	tile := GP64()
	IMUL3Q(U32(s.rowBytes()), k, tile)
	ADDQ(b, tile)
	for r := range s.rows {
		for v := range tileVectors {
			VMOVUPD(tileInPanel(s, tile, r, v), s.acc(r, v))
		}
	}
}

func writeGemm(s isa) {
	TEXT("gemm"+s.name, NOSPLIT, "func(k int, alpha float64, a *float64, lda int, b, c *float64, ldc int, accumulate bool)")
	Pragma("noescape")
	Doc(
		fmt.Sprintf("gemm%s computes the %d×%d tile alpha·A·B of two packed panels and adds it to C", s.name, s.rows, tileVectors*s.lanes),
		"(accumulate) or writes it over C without reading it. The columns of A are lda apart.",
	)
	k, a, lda := argument("k"), argument("a"), argument("lda")
	SHLQ(Imm(3), lda)
	b, c, ldc := argument("b"), argument("c"), argument("ldc")
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
	k, a, b := argument("k"), argument("a"), argument("b")

	loadTile(s, k, b)
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
	k, a, b := argument("k"), argument("a"), argument("b")
	zeroTile(s)
	fma := func(ops ...Op) { VFMADD231PD(ops...) }
	rankK(s, "trmm", fma, k, a, b, s.columnBytes())
	for t := range s.rows {
		rankOne(s, fma, packed(a, 8*t*s.rows), b, t*s.rowBytes(), t)
	}
	for r := range s.rows {
		for v := range tileVectors {
			VMOVUPD(s.acc(r, v), tileInPanel(s, b, r, v))
		}
	}
	VZEROUPPER()
	RET()
}
