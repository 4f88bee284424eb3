package main

import (
	"fmt"
	"slices"
	"strings"
)

// vectors is where the registers of AVX2 are kept: a register k in V2k and V2k+1, at the borders
// of blocks of straight code, and between them wherever its last result was put. One that never
// holds anything but one number in all four places takes one register only.
type vectors struct {
	place  [16][2]int
	home   [16][2]int
	spread [16]bool
	local  [16]bool // not read in a block before it is written
	spare  []int    // registers that hold nothing

	// Instead of being spread, a number may be one of the two in a register, or a constant that is
	// still in memory.
	element  [16]*element
	constant [16]string
	borrowed []int           // registers of elements
	planned  map[int]element // what later instructions make a register, without doing anything
}

type element struct{ register, index int }

// register is the number of a vector register, or −1.
func register(s string) int {
	k := -1
	if strings.HasPrefix(s, "Y") || strings.HasPrefix(s, "X") {
		fmt.Sscanf(s[1:], "%d", &k)
	}
	return k
}

// accesses tells what an instruction reads and writes.
func accesses(in instruction) (reads []int, writes int) {
	writes = -1
	if !strings.HasPrefix(in.op, "V") || len(in.args) == 0 {
		return nil, -1
	}
	last := len(in.args) - 1
	for _, a := range in.args[:last] {
		if k := register(a); k >= 0 {
			reads = append(reads, k)
		}
	}
	k := register(in.args[last])
	if in.op == "VUCOMISD" {
		return append(reads, k), -1
	}
	if isZero(in) {
		reads = nil
	}
	if k >= 0 && strings.HasPrefix(in.op, "VF") {
		reads = append(reads, k)
	}
	return reads, k
}

func isZero(in instruction) bool {
	return in.op == "VXORPD" && in.args[0] == in.args[1] && in.args[1] == in.args[2]
}

// borders reports whether a block ends at an instruction.
func borders(in instruction) bool {
	return in.op == "" && strings.HasSuffix(in.text, ":") || branches[in.op] != "" || in.op == "RET"
}

func newVectors(code []instruction) vectors {
	v := vectors{}
	var used [16]bool
	for k := range 16 {
		v.home[k] = [2]int{2 * k, 2*k + 1}
		v.spread[k], v.local[k] = true, true
	}
	var written [16]bool // in this block
	for _, in := range code {
		if borders(in) {
			written = [16]bool{}
		}
		reads, writes := accesses(in)
		for _, k := range reads {
			used[k] = true
			v.local[k] = v.local[k] && written[k]
		}
		if writes >= 0 {
			used[writes], written[writes] = true, true
			v.spread[writes] = v.spread[writes] && (in.op == "VBROADCASTSD" || isZero(in))
		}
	}
	for k := range 16 {
		v.spread[k] = v.spread[k] && used[k]
		if v.spread[k] {
			v.home[k][1] = v.home[k][0]
		}
	}
	v.place = v.home
	for k := range 16 {
		if !used[k] {
			v.spare = append(v.spare, 2*k)
		}
		if !used[k] || v.spread[k] {
			v.spare = append(v.spare, 2*k+1)
		}
	}
	return v
}

// take hands out a register, release takes it back.
func (t *translator) take() int {
	if len(t.spare) == 0 {
		panic("no register left for " + strings.Join(t.code[t.at].args, ", "))
	}
	r := t.spare[0]
	t.spare = t.spare[1:]
	return r
}

func (t *translator) release(r ...int) { t.spare = append(t.spare, r...) }

func (t *translator) move(from, to int) {
	if from != to {
		t.emit("VMOV V%d.B16, V%d.B16", from, to)
	}
}

// settle brings home what is needed beyond a block.
func (t *translator) settle() {
	t.release(t.borrowed...)
	t.borrowed = nil
	var away [][2]int
	for k := range 16 {
		for h := range 2 {
			if t.local[k] && t.place[k] != t.home[k] {
				t.release(t.place[k][h])
			} else if t.place[k][h] != t.home[k][h] {
				away = append(away, [2]int{k, h})
			}
		}
	}
	for len(away) > 0 {
		next := slices.IndexFunc(away, func(a [2]int) bool { return slices.Contains(t.spare, t.home[a[0]][a[1]]) })
		k, h := away[0][0], away[0][1]
		to := 0
		if next < 0 { // all are in each other's place
			to = t.take()
		} else {
			k, h = away[next][0], away[next][1]
			to = t.home[k][h]
			t.spare = slices.DeleteFunc(t.spare, func(r int) bool { return r == to })
			away = slices.Delete(away, next, next+1)
		}
		t.move(t.place[k][h], to)
		t.release(t.place[k][h])
		t.place[k][h] = to
	}
	t.forget()
}

// forget is settle where nothing is needed any more.
func (t *translator) forget() {
	fresh := newVectors(t.code)
	t.place, t.spare = fresh.place, fresh.spare
	t.element, t.constant, t.borrowed, t.planned = fresh.element, fresh.constant, nil, nil
}

// dead reports whether what a register holds is not read after an instruction.
func (t *translator) dead(k, after int) bool {
	for _, in := range t.code[after+1:] {
		if borders(in) {
			return t.local[k]
		}
		reads, writes := accesses(in)
		if slices.Contains(reads, k) {
			return false
		}
		if writes == k {
			return true
		}
	}
	return true
}

// onlyMultiplies reports whether what is written to a register by an instruction is used as a
// factor only, and in its own block.
func (t *translator) onlyMultiplies(k, by int) bool {
	for i, in := range t.code[by+1:] {
		reads, writes := accesses(in)
		if slices.Contains(reads, k) {
			factor := in.op == "VMULPD" || strings.HasSuffix(in.op, "ADD231PD")
			if !factor || register(in.args[0]) >= 0 && register(in.args[1]) != k && register(in.args[0]) != k || in.args[0] == in.args[1] || writes == k {
				return false
			}
		}
		if t.dead(k, by+1+i) {
			return true
		}
		if borders(in) || writes == k {
			return t.local[k]
		}
	}
	return true
}

// half is where one half of a register is.
func (t *translator) half(k, h int) int {
	if t.element[k] != nil || t.constant[k] != "" {
		panic(fmt.Sprintf("Y%d is not spread", k))
	}
	return t.place[k][h]
}

// into is where a result goes: the register's place. One that is spread has one place.
func (t *translator) into(k, h int) int {
	t.element[k], t.constant[k] = nil, ""
	return t.place[k][h]
}

// load reads the halves of an operand in memory into registers.
func (t *translator) load(from string, lo, hi int) {
	t.emit("FLDPQ %s, (F%d, F%d)", t.memory(from, 0), lo, hi)
}

// operand calls use with the two halves of an operand; those of one in memory are read into
// spare registers, one after the other if there is one only.
func (t *translator) operand(s string, use func(h, v int)) {
	k := register(s)
	if k >= 0 && t.constant[k] == "" {
		for h := range 2 {
			use(h, t.half(k, h))
		}
		return
	}
	if k >= 0 {
		s = t.constant[k]
	}
	if len(t.spare) < 2 {
		for h := range 2 {
			v := t.take()
			t.emit("FMOVQ %s, F%d", t.memory(s, 16*h), v)
			use(h, v)
			t.release(v)
		}
		return
	}
	lo, hi := t.take(), t.take()
	t.load(s, lo, hi)
	use(0, lo)
	use(1, hi)
	t.release(lo, hi)
}

// spreadFrom translates VBROADCASTSD.
func (t *translator) spreadFrom(from, to string) {
	k := register(to)
	if x := register(from); x >= 0 {
		t.duplicate(t.half(x, 0), k)
		return
	}
	constant := constantForm.MatchString(from)
	if t.at+1 < len(t.code) && constant {
		// The addend of what comes next, which is replaced there.
		next := t.code[t.at+1]
		if strings.HasSuffix(next.op, "213PD") && next.args[0] == to && next.args[1] != to && next.args[2] != to && t.dead(k, t.at+1) {
			t.constant[k], t.element[k] = from, nil
			return
		}
	}
	if t.spread[k] && !constant && t.onlyMultiplies(k, t.at) {
		t.elementFrom(from, k)
		return
	}
	switch {
	case constant && t.spread[k]:
		t.emit("FMOVQ %s, F%d", t.memory(from, 0), t.into(k, 0))
	case constant:
		t.load(from, t.into(k, 0), t.into(k, 1))
	default:
		v := t.into(k, 0)
		t.emit("FMOVD %s, F%d", t.memory(from, 0), v)
		t.duplicate(v, k)
	}
}

// duplicate spreads the first number of a register.
func (t *translator) duplicate(from, k int) {
	lo, hi := t.into(k, 0), t.into(k, 1)
	if hi != lo {
		t.emit("VDUP V%d.D[0], V%d.D2", from, hi)
	}
	t.emit("VDUP V%d.D[0], V%d.D2", from, lo)
}

// elementFrom makes a register an element of a vector. Four neighbours that are wanted one after
// the other, the column of a packed panel, are read at once.
func (t *translator) elementFrom(from string, k int) {
	if e, ok := t.planned[t.at]; ok {
		t.element[k] = &e
		return
	}
	t.release(t.borrowed...)
	t.borrowed = nil
	v := t.into(k, 0)
	t.element[k] = &element{v, 0}
	if rest := t.column(from, k); rest != nil && len(t.spare) > 0 {
		second := t.take()
		t.borrowed = []int{second}
		t.load(from, v, second)
		t.planned = map[int]element{rest[0]: {v, 1}, rest[1]: {second, 0}, rest[2]: {second, 1}}
		return
	}
	t.emit("FMOVD %s, F%d", t.memory(from, 0), v)
}

// column finds the instructions that spread the next three numbers in memory, with nothing in
// between that may change them or where they are.
func (t *translator) column(from string, k int) (at []int) {
	first := parseMemory(from)
	for i := t.at + 1; i < len(t.code) && first.index == ""; i++ {
		in := t.code[i]
		_, writes := accesses(in)
		switch {
		case in.op == "VBROADCASTSD" && writes == k:
			if m := parseMemory(in.args[0]); m.base != first.base || m.index != "" || m.disp != first.disp+8*(len(at)+1) || !t.onlyMultiplies(k, i) {
				return nil
			}
			if at = append(at, i); len(at) == 3 {
				return at
			}
		case in.op == "": // a comment, or the end of the block
			if borders(in) {
				return nil
			}
		case writes < 0 || writes == k: // to memory, or to a general register
			return nil
		}
	}
	return nil
}

// plain are the operations on two operands, by how they are written for NEON.
var plain = map[string]string{
	"VADDPD": "FADD", "VSUBPD": "FSUB", "VMULPD": "FMUL", "VDIVPD": "FDIV", "VMINPD": "FMIN",
	"VANDPD": "VAND", "VPAND": "VAND", "VPOR": "VORR", "VPADDQ": "VADD",
}

func (t *translator) vector(in instruction) {
	a := in.args
	if op, ok := plain[in.op]; ok {
		t.arithmetic(op, a[0], a[1], register(a[2]))
		return
	}
	if strings.HasPrefix(in.op, "VFM") || strings.HasPrefix(in.op, "VFN") {
		t.multiplyAdd(in)
		return
	}
	switch in.op {
	case "VZEROUPPER":
	case "VXORPD":
		if !isZero(in) {
			panic("VXORPD of two")
		}
		for _, v := range t.distinct(register(a[2])) {
			t.emit("VEOR V%d.B16, V%d.B16, V%d.B16", v, v, v)
		}
	case "VBROADCASTSD":
		t.spreadFrom(a[0], a[1])
	case "VMOVUPD", "VMOVAPD":
		from, to := register(a[0]), register(a[1])
		switch {
		case from < 0:
			t.load(a[0], t.into(to, 0), t.into(to, 1))
		case to < 0:
			t.emit("FSTPQ (F%d, F%d), %s", t.half(from, 0), t.half(from, 1), t.memory(a[1], 0))
		default:
			for h := range 2 {
				t.move(t.half(from, h), t.into(to, h))
			}
		}
	case "VMOVSD":
		if from := register(a[0]); from >= 0 {
			t.emit("FMOVD F%d, %s", t.half(from, 0), t.memory(a[1], 0))
			return
		}
		t.emit("FMOVD %s, F%d", t.memory(a[0], 0), t.into(register(a[1]), 0))
	case "VUCOMISD":
		t.emit("FCMPD F%d, F%d", t.half(register(a[0]), 0), t.half(register(a[1]), 0))
	case "VSQRTSD":
		t.emit("FSQRTD F%d, F%d", t.half(register(a[0]), 0), t.into(register(a[2]), 0))
	case "VDIVSD":
		t.emit("FDIVD F%d, F%d, F%d", t.half(register(a[0]), 0), t.half(register(a[1]), 0), t.into(register(a[2]), 0))
	case "VSQRTPD":
		for h := range 2 {
			t.word("FSQRT", t.into(register(a[1]), h), t.half(register(a[0]), h), 0, 0)
		}
	case "VPSLLQ":
		for h := range 2 {
			t.emit("VSHL %s, V%d.D2, V%d.D2", strings.Replace(a[0], "0x34", "52", 1), t.half(register(a[1]), h), t.into(register(a[2]), h))
		}
	case "VUNPCKLPD", "VUNPCKHPD":
		zip := map[string]string{"VUNPCKLPD": "VZIP1", "VUNPCKHPD": "VZIP2"}[in.op]
		for h := range 2 {
			t.emit("%s V%d.D2, V%d.D2, V%d.D2", zip, t.half(register(a[0]), h), t.half(register(a[1]), h), t.into(register(a[2]), h))
		}
	case "VPERM2F128": // $0x20 takes the lower halves of two, $0x31 the upper ones
		h := map[string]int{"$0x20": 0, "$0x31": 1}[a[0]]
		t.move(t.half(register(a[2]), h), t.into(register(a[3]), 0))
		t.move(t.half(register(a[1]), h), t.into(register(a[3]), 1))
	default:
		panic("no translation of " + in.op)
	}
}

// distinct are the places of a register that is written.
func (t *translator) distinct(k int) []int {
	if lo, hi := t.into(k, 0), t.into(k, 1); lo != hi {
		return []int{lo, hi}
	}
	return []int{t.place[k][0]}
}

// arithmetic is to = b op a.
func (t *translator) arithmetic(op, a, b string, to int) {
	write := func(h, n, m int) {
		if strings.HasPrefix(op, "F") {
			t.word(op, t.into(to, h), n, m, 0)
			return
		}
		form := "B16"
		if op == "VADD" {
			form = "D2"
		}
		t.emit("%s V%d.%s, V%d.%s, V%d.%s", op, m, form, n, form, t.into(to, h), form)
	}
	kb := register(b)
	for _, factors := range [][2]string{{a, b}, {b, a}} {
		if k := register(factors[0]); op == "FMUL" && k >= 0 && t.element[k] != nil {
			e := t.element[k]
			t.operand(factors[1], func(h, v int) { t.word("FMULByElement", t.into(to, h), v, e.register, e.index) })
			return
		}
	}
	if register(a) < 0 && to != kb && !t.spread[to] { // the result's own place serves
		t.load(a, t.into(to, 0), t.into(to, 1))
		a = fmt.Sprintf("Y%d", to)
	}
	t.operand(a, func(h, m int) { write(h, t.half(kb, h), m) })
}

// multiplyAdd translates the fused forms: to = ±x·y + z, where the digits of the name tell which
// of the operands, counted from the last, are x, y and z.
func (t *translator) multiplyAdd(in instruction) {
	a, to := in.args, register(in.args[2])
	op := "FMLA"
	if strings.HasPrefix(in.op, "VFNMADD") {
		op = "FMLS"
	}
	if strings.HasSuffix(in.op, "231PD") {
		x, y := a[0], a[1]
		if k := register(x); k >= 0 && t.element[k] != nil {
			x, y = y, x
		}
		k := register(y)
		if e := t.element[k]; e != nil {
			t.operand(x, func(h, v int) { t.word(op+"ByElement", t.place[to][h], v, e.register, e.index) })
			return
		}
		t.operand(x, func(h, v int) { t.fused(op, t.place[to][h], v, t.half(k, h)) })
		return
	}
	x, z := a[1], a[0]
	if strings.HasSuffix(in.op, "132PD") {
		x, z = a[0], a[1]
	}
	// NEON adds to z in its place, which becomes that of the result.
	add := func(h, sum int) {
		t.fused(op, sum, t.half(register(x), h), t.half(to, h))
		if strings.HasPrefix(in.op, "VFNMSUB") { // −x·y − z = −(x·y + z)
			t.word("FNEG", sum, sum, 0, 0)
		}
		t.release(t.place[to][h])
		t.place[to][h] = sum
	}
	k := register(z)
	if k >= 0 && t.constant[k] != "" {
		z, t.constant[k] = t.constant[k], ""
		k = -1
	}
	switch {
	case k >= 0:
		for h := range 2 {
			sum := t.take()
			t.move(t.half(k, h), sum)
			add(h, sum)
		}
	case len(t.spare) < 2:
		for h := range 2 {
			sum := t.take()
			t.emit("FMOVQ %s, F%d", t.memory(z, 16*h), sum)
			add(h, sum)
		}
	default:
		lo, hi := t.take(), t.take()
		t.load(z, lo, hi)
		add(0, lo)
		add(1, hi)
	}
}

// fused is sum ± n·m in place of sum.
func (t *translator) fused(op string, sum, n, m int) {
	t.emit("V%s V%d.D2, V%d.D2, V%d.D2", op, m, n, sum)
}
