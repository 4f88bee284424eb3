// Command asm writes the vector code of packages level3 and lanes.
//
// One description serves all instruction sets. Of AVX-512 and AVX2 only the vector length (8
// or 4 doubles) and the number of registers differ, and with them the rows of the tile of a
// product; NEON's is a translation of AVX2's (neon.go). Run
// it through "go generate" in the directory of either package; it is a module of its own
// so that the assembler generator is no dependency of the library.
package main

import (
	"flag"
	"log"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tileVectors is the width of a register tile in vectors. Three vectors times
// eight rows fill 24 of AVX-512's 32 registers (three times four fill 12 of
// AVX2's 16): enough independent chains to hide the latency of the fused
// multiply-add on both of its ports, with room for one row of B and broadcasts.
const tileVectors = 3

// isa describes an instruction set to the kernel writers.
type isa struct {
	name  string // suffix of the function names
	lanes int    // doubles in a vector register
	rows  int    // rows of the tile of a product
	regs  []reg.VecPhysical
}

var (
	avx512 = isa{
		name: "AVX512", lanes: 8, rows: 8,
		regs: []reg.VecPhysical{
			reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
			reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
			reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
			reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
		},
	}
	avx2 = isa{
		name: "AVX2", lanes: 4, rows: 4,
		regs: []reg.VecPhysical{
			reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
			reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
		},
	}
)

// acc returns the accumulator register of a tile's row and vector.
func (s isa) acc(row, vec int) reg.VecPhysical { return s.regs[row*tileVectors+vec] }

// free returns the i-th register that is not an accumulator.
func (s isa) free(i int) reg.VecPhysical {
	n := s.rows * tileVectors
	return s.regs[n+i%(len(s.regs)-n)]
}

// vectorBytes is the size of a vector in memory, rowBytes that of a tile's row.
func (s isa) vectorBytes() int { return 8 * s.lanes }
func (s isa) rowBytes() int    { return tileVectors * s.vectorBytes() }

// columnBytes is the size of a column of a packed panel of A.
func (s isa) columnBytes() operand.Op { return operand.U32(8 * s.rows) }

// zero clears a register.
func (s isa) zero(r reg.VecPhysical) {
	if s.lanes == 8 {
		build.VPXORQ(r, r, r)
		return
	}
	build.VXORPD(r, r, r)
}

// argument is a parameter of the function that is being written, in a register.
func argument(name string) reg.GPVirtual {
	return build.Load(build.Param(name), build.GP64()).(reg.GPVirtual)
}

// packages are what is written for each, by the name of the package.
var packages = map[string][]func(isa){
	"level3": {writeGemm, writeTrsm, writeTrmm, writePotrf, writeCopy, writeTranspose, writeScale},
	"lanes":  {writeSums, writeDecays, writeColumns, writeAdd, writeNormals, writeBlend, writeOuter, writeSquares},
}

func main() {
	name := flag.String("isa", "avx512", "instruction set: avx512 or avx2")
	base := flag.String("neon", "", "translate the code for AVX2 in files that begin so")
	flag.Parse()
	if *base != "" {
		if err := translateNEON(*base); err != nil {
			log.Fatal(err)
		}
		return
	}

	s, ok := map[string]isa{"avx512": avx512, "avx2": avx2}[*name]
	if !ok {
		log.Fatalf("asm: unknown instruction set %q", *name)
	}
	writers, ok := packages[flag.Lookup("pkg").Value.String()]
	if !ok {
		log.Fatal("asm: give the package, -pkg level3 or -pkg lanes")
	}
	for _, write := range writers {
		write(s)
	}
	build.Generate()
}
