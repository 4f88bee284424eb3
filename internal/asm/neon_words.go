package main

import "fmt"

// words are the instructions on two doubles that Go's assembler has no name for, with zeros for
// registers. Those "ByElement" take one of the two doubles of the last operand for both.
var words = map[string]uint32{
	"FADD":          0x4e60d400,
	"FSUB":          0x4ee0d400,
	"FMUL":          0x6e60dc00,
	"FDIV":          0x6e60fc00,
	"FMIN":          0x4ee0f400,
	"FSQRT":         0x6ee1f800,
	"FNEG":          0x6ee0f800,
	"FMULByElement": 0x4fc09000,
	"FMLAByElement": 0x4fc01000,
	"FMLSByElement": 0x4fc05000,
}

// word is d = n op m, or d = op n with m = 0, of vectors of two doubles; which element of m is
// for those by element.
func word(op string, d, n, m, element int) uint32 {
	w, ok := words[op]
	if !ok {
		panic("no encoding of " + op)
	}
	return w | uint32(m)<<16 | uint32(element)<<11 | uint32(n)<<5 | uint32(d)
}

// word writes an instruction as its encoding, with the name beside it.
func (t *translator) word(op string, d, n, m, element int) {
	name := fmt.Sprintf("%s V%d.D2, V%d.D2, V%d.D2", op, m, n, d)
	switch {
	case op == "FSQRT" || op == "FNEG":
		name = fmt.Sprintf("%s V%d.D2, V%d.D2", op, n, d)
	case len(op) > len("ByElement"):
		name = fmt.Sprintf("%s V%d.D[%d], V%d.D2, V%d.D2", op[:4], m, element, n, d)
	}
	t.emit("WORD $0x%08x // %s", word(op, d, n, m, element), name)
}
