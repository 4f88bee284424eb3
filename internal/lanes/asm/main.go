// Command asm writes the vector code of package lanes.
//
// One description serves both instruction sets: only the vector length (8 or 4
// doubles) and the number of registers differ. Run it through "go generate" in the
// lanes directory; it lives in a module of its own so that the assembler generator is
// no dependency of the library.
package main

import (
	"flag"
	"log"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// isa describes an instruction set.
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

// bytes is the size of a vector in memory.
func (s isa) bytes() int { return 8 * s.lanes }

// zero clears a register.
func (s isa) zero(r reg.VecPhysical) {
	if s.lanes == 8 {
		build.VPXORQ(r, r, r)
		return
	}
	build.VXORPD(r, r, r)
}

func main() {
	name := flag.String("isa", "avx512", "instruction set: avx512 or avx2")
	flag.Parse()

	var s isa
	switch *name {
	case "avx512":
		s = avx512
	case "avx2":
		s = avx2
	default:
		log.Fatalf("asm: unknown instruction set %q", *name)
	}
	writeSums(s)
	writeDecays(s)
	writeSquares(s)
	build.Generate()
}
