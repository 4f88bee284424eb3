package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The constants of the exponential; decay.go in package lanes says what they are for.
const (
	farthest = 800.0
	shifter  = 0x1.8p52
	ln2High  = 0x1.62e42fefa39efp-1
	ln2Low   = 0x1.abc9e3b39803fp-56
	degree   = 13
)

// table holds the constants of the decays and of the normals, one number each, to be spread over a vector
// where they are used.
type table struct {
	at     map[string]int
	memory Mem
}

func newTable() *table {
	t := &table{at: make(map[string]int)}
	t.memory = GLOBL("decayConstants", RODATA|NOPTR)
	next := 0
	add := func(name string, bits uint64) {
		DATA(next, U64(bits))
		t.at[name] = next
		next += 8
	}
	for _, c := range []struct {
		name string
		x    float64
	}{
		{"farthest", farthest},
		{"shifter", shifter},
		{"log2e", math.Log2E},
		{"ln2High", ln2High},
		{"ln2Low", ln2Low},
		{"half", 0.5},
		{"third", 1. / 3},
		{"one", 1},
		{"steepness", 0.22},
		{"1/√2π", 1 / math.Sqrt(2*math.Pi)},
	} {
		add(c.name, math.Float64bits(c.x))
	}
	for k, c := range mills {
		add(fmt.Sprintf("mills%d", k), math.Float64bits(c))
	}
	add("sign", 1<<63)
	add("magnitude", 1<<63-1)
	add("bias", 1023<<52)
	factorial := 1.0
	for k := 1; k <= degree; k++ {
		factorial *= float64(k)
		add(fmt.Sprintf("1/%d!", k), math.Float64bits(1/factorial))
	}
	return t
}

func (t *table) address(name string) Mem {
	at, ok := t.at[name]
	if !ok {
		panic("asm: no constant " + name)
	}
	return t.memory.Offset(at)
}

// decayer writes one of the decays.
type decayer struct {
	isa
	*table
	kept map[string]reg.VecPhysical // constants that stay in registers
	next int
}

// keep loads constants into registers for the whole loop.
func (d *decayer) keep(names ...string) {
	for _, name := range names {
		r := d.take()
		VBROADCASTSD(d.address(name), r)
		d.kept[name] = r
	}
}

// take hands out a register.
func (d *decayer) take() reg.VecPhysical {
	d.next++
	return d.regs[d.next-1]
}

// constant is a register that holds a constant: one that is kept, or else the spare.
func (d *decayer) constant(name string, spare reg.VecPhysical) reg.VecPhysical {
	if r, ok := d.kept[name]; ok {
		return r
	}
	VBROADCASTSD(d.address(name), spare)
	return spare
}

// exp replaces t by e^−t for 0 ≤ t ≤ farthest, with four registers of scratch.
func (d *decayer) exp(t, n, h, r, spare reg.VecPhysical) {
	Comment("n = round(−t·log₂e), by adding and taking away a number whose last digit is 1.")
	shift := d.kept["shifter"]
	VMOVAPD(shift, n)
	VFNMADD231PD(d.constant("log2e", spare), t, n)
	VSUBPD(shift, n, n)
	Comment("r = −t − n·ln 2.")
	VMOVAPD(n, r)
	VFNMSUB213PD(t, d.constant("ln2High", spare), r)
	VFNMADD231PD(d.constant("ln2Low", spare), n, r)
	Comment("The Taylor series of e^r.")
	VMOVAPD(d.constant(fmt.Sprintf("1/%d!", degree), spare), t)
	for k := degree - 1; k >= 1; k-- {
		VFMADD213PD(d.constant(fmt.Sprintf("1/%d!", k), spare), r, t)
	}
	VFMADD213PD(d.constant("one", spare), r, t)
	Comment("Times 2^n in two steps, of which the first is exact: n = round(n/2) + the rest.")
	VMOVAPD(shift, h)
	VFMADD231PD(d.constant("half", spare), n, h)
	VSUBPD(shift, h, r)
	VSUBPD(r, n, n)
	VADDPD(shift, n, n)
	for _, e := range []reg.VecPhysical{h, n} {
		VPSLLQ(Imm(52), e, e)
		VPADDQ(d.constant("bias", spare), e, e)
		VMULPD(e, t, t)
	}
}

// decayTable is written once, with the decays, and serves the normals too.
var decayTable *table

func writeDecays(s isa) {
	decayTable = newTable()
	t := decayTable
	for _, decay := range []struct {
		name, what string
		root       bool
		degree     int // of the polynomial in front of the exponential
	}{
		{"gaussian", "amplitude·exp(−scale·s)", false, 0},
		{"exponential", "amplitude·exp(−r), r² = scale·s", true, 0},
		{"matern32", "amplitude·(1 + r)·exp(−r), r² = scale·s", true, 1},
		{"matern52", "amplitude·(1 + r + r²/3)·exp(−r), r² = scale·s", true, 2},
	} {
		TEXT(decay.name+s.name, NOSPLIT, "func(vectors int, amplitude, scale float64, s *float64)")
		Pragma("noescape")
		Doc(fmt.Sprintf("%s%s replaces every s, in so many vectors of %d, by", decay.name, s.name, s.lanes), decay.what+".")
		count := argument("vectors")
		at := argument("s")
		d := &decayer{isa: s, table: t, kept: make(map[string]reg.VecPhysical)}
		amplitude, scale := d.take(), d.take()
		VBROADCASTSD(NewParamAddr("amplitude", 8), amplitude)
		VBROADCASTSD(NewParamAddr("scale", 16), scale)
		x, n, h, r, spare, front := d.take(), d.take(), d.take(), d.take(), d.take(), d.take()
		d.keep("shifter", "farthest")
		if s.lanes == 8 { // the other has too few registers
			d.keep("log2e", "ln2High", "ln2Low", "one", "bias")
			for k := 1; k <= degree; k++ {
				d.keep(fmt.Sprintf("1/%d!", k))
			}
		}
		Label("vector")
		VMULPD(Mem{Base: at}, scale, x)
		if decay.root {
			VSQRTPD(x, x)
		}
		Comment("The smaller one, or what is no number.")
		VMINPD(x, d.kept["farthest"], x)
		switch decay.degree {
		case 1:
			VMOVAPD(amplitude, front)
			VFMADD231PD(x, amplitude, front)
		case 2:
			VMOVAPD(x, front)
			VFMADD213PD(d.constant("one", spare), d.constant("third", h), front) // 1 + r/3
			VFMADD213PD(d.constant("one", spare), x, front)
			VMULPD(amplitude, front, front)
		}
		d.exp(x, n, h, r, spare)
		if decay.degree == 0 {
			front = amplitude
		}
		VMULPD(front, x, x)
		VMOVUPD(x, Mem{Base: at})
		ADDQ(U32(s.vectorBytes()), at)
		DECQ(count)
		JNZ(LabelRef("vector"))
		VZEROUPPER()
		RET()
	}
}
