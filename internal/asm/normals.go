package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mills are the coefficients of the polynomial in normal.go of package lanes, from the
// constant on.
var mills = []float64{
	0x1.f84f387992000p-15, 0x1.c0eff2a26aebap-3, 0x1.ca1c56241ed24p-3, 0x1.a9a9e0b76bb86p-3, 0x1.00ad741ce173cp-3,
	0x1.00d6848d2ce7cp-1, -0x1.c448eff2e83eap-1, 0x1.fd182eb42fa2ap+0, -0x1.34a01b5fe8826p+1, 0x1.1470aa9d495dcp+1,
	-0x1.2e05d3d00bb6ap+0, 0x1.5ef75bbc08136p-2, -0x1.51e99dae71594p-5,
}

func writeNormals(s isa) {
	t := decayTable
	TEXT("normals"+s.name, NOSPLIT, "func(vectors int, z, density *float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("normals%s replaces every z, in so many vectors of %d, by Φ(z), and writes N(z).", s.name, s.lanes))
	count, at, to := argument("vectors"), argument("z"), argument("density")
	d := &decayer{isa: s, table: t, kept: make(map[string]reg.VecPhysical)}
	z, x, n, h, r, spare, u := d.take(), d.take(), d.take(), d.take(), d.take(), d.take(), d.take()
	d.keep("shifter", "farthest", "half")
	if s.lanes == 8 { // the other has too few registers
		d.keep("log2e", "ln2High", "ln2Low", "one", "bias", "magnitude")
		for k := 1; k <= degree; k++ {
			d.keep(fmt.Sprintf("1/%d!", k))
		}
	}
	and, or := VPAND, VPOR
	if s.lanes == 8 {
		and = func(a, b, to Op) { VPANDQ(a, b, to) }
		or = func(a, b, to Op) { VPORQ(a, b, to) }
	}
	Label("vector")
	VMOVUPD(Mem{Base: at}, z)
	Comment("u = 1/(1 + steepness·|z|).")
	and(d.constant("magnitude", spare), z, u)
	VMULPD(u, u, x)
	VMOVAPD(d.constant("one", h), n)
	VFMADD132PD(d.constant("steepness", spare), n, u)
	VDIVPD(u, n, u)
	Comment("e^−½z², where ½z² is the smaller one, or what is no number.")
	VMULPD(d.kept["half"], x, x)
	VMINPD(x, d.kept["farthest"], x)
	d.exp(x, n, h, r, spare)
	VMULPD(d.constant("1/√2π", spare), x, x)
	VMOVUPD(x, Mem{Base: to})
	Comment("The ratio of Φ(−|z|) to N(z).")
	VBROADCASTSD(d.address(fmt.Sprintf("mills%d", len(mills)-1)), n)
	for k := len(mills) - 2; k >= 0; k-- {
		VFMADD213PD(d.constant(fmt.Sprintf("mills%d", k), spare), u, n)
	}
	Comment("Φ(z) = ½ ± (½ − Φ(−|z|)), with the sign of z.")
	VFNMADD213PD(d.kept["half"], x, n)
	and(d.constant("sign", spare), z, z)
	or(z, n, n)
	VADDPD(d.kept["half"], n, n)
	VMOVUPD(n, Mem{Base: at})
	ADDQ(U32(s.vectorBytes()), at)
	ADDQ(U32(s.vectorBytes()), to)
	DECQ(count)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	RET()
}
