package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// The code for NEON is that for AVX2, translated: a register of four doubles is two of two, so
// that AVX2's sixteen are NEON's thirty-two, and every operation is done twice. The order of
// operations stays, and so do the bits of the results.

// translateNEON writes base_neon_arm64.s and .go from base_avx2_amd64.s and .go.
func translateNEON(base string) error {
	from, err := os.ReadFile(base + "_avx2_amd64.s")
	if err != nil {
		return err
	}
	stubs, err := os.ReadFile(base + "_avx2_amd64.go")
	if err != nil {
		return err
	}
	const notice = "// Code generated from the code for AVX2 by command: go generate. DO NOT EDIT."
	_, body, _ := strings.Cut(string(from), "\n")
	text, err := translated(body)
	if err != nil {
		return err
	}
	if err := os.WriteFile(base+"_neon_arm64.s", []byte(notice+"\n"+text), 0o644); err != nil {
		return err
	}
	_, body, _ = strings.Cut(string(stubs), "\n")
	return os.WriteFile(base+"_neon_arm64.go", []byte(notice+"\n"+strings.ReplaceAll(body, "AVX2", "NEON")), 0o644)
}

// instruction is a line of a function. A label, a comment or an empty line has no operands.
type instruction struct {
	op   string
	args []string
	text string // what is no instruction, as it stands
}

var blanks = regexp.MustCompile(`\s+`)

func parse(line string) instruction {
	code := strings.TrimSpace(line)
	if code == "" || strings.HasPrefix(code, "//") || strings.HasSuffix(code, ":") {
		return instruction{text: line}
	}
	op, rest, _ := strings.Cut(blanks.ReplaceAllString(code, " "), " ")
	if rest == "" {
		return instruction{op: op}
	}
	return instruction{op: op, args: strings.Split(rest, ", ")}
}

// translated is the text of a file, from the line after the notice on.
func translated(body string) (text string, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("asm: for NEON: %v", cause)
		}
	}()
	var out strings.Builder
	lines := strings.Split(strings.ReplaceAll(body, "AVX2", "NEON"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, "// Requires:"):
		case strings.HasPrefix(line, "DATA "):
			out.WriteString(fourTimes(line))
		case strings.HasPrefix(line, "GLOBL "):
			var size int
			at := strings.LastIndex(line, "$")
			fmt.Sscanf(line[at:], "$%d", &size)
			fmt.Fprintf(&out, "%s$%d\n", line[:at], constantCopies*size)
		case strings.HasPrefix(line, "TEXT "):
			end := i + 1
			for end < len(lines) && !strings.HasPrefix(lines[end], "TEXT ") && !strings.HasPrefix(lines[end], "// func ") && !strings.HasPrefix(lines[end], "DATA ") {
				end++
			}
			out.WriteString(line + "\n" + translateFunction(lines[i+1:end]))
			i = end - 1
		default:
			out.WriteString(line + "\n")
		}
	}
	return strings.TrimRight(out.String(), "\n") + "\n", nil
}

// constantCopies is how often a constant of eight bytes is written: as often as two vectors hold
// it, so that one instruction loads both. The register that points at them points at middle, from
// where an instruction reaches 1008 bytes either way.
const (
	constantCopies = 4
	middle         = 512
)

var data = regexp.MustCompile(`^DATA (\S+)<>\+(\d+)\(SB\)/8, (\S+)$`)

func fourTimes(line string) string {
	m := data.FindStringSubmatch(line)
	if m == nil {
		panic("no eight bytes of data: " + line)
	}
	var out strings.Builder
	for k := range constantCopies {
		fmt.Fprintf(&out, "DATA %s<>+%d(SB)/8, %s\n", m[1], constantCopies*number(m[2])+8*k, m[3])
	}
	return out.String()
}

func number(s string) (n int) {
	if s == "" {
		return 0
	}
	if _, err := fmt.Sscanf(s, "%v", &n); err != nil {
		panic("no number: " + s)
	}
	return n
}

// general are the registers that stand for those of amd64; the bytes AL and CL are their lowest.
var general = map[string]string{
	"AX": "R0", "CX": "R1", "DX": "R2", "BX": "R3", "SI": "R4", "DI": "R5", "BP": "R6", "R8": "R8", "R9": "R9", "R10": "R10",
	"R11": "R11", "R12": "R12", "R13": "R13", "R14": "R14", "R15": "R15", "AL": "R0", "CL": "R1", "DL": "R2", "BL": "R3",
}

// Registers of arm64 that nothing else stands in: addresses that are made of two registers, a
// factor, and the address of the constants.
const (
	firstAddress, lastAddress = 19, 24
	factorRegister            = "R25"
	constantsRegister         = "R26"
)

// translator is the function in work.
type translator struct {
	out       strings.Builder
	code      []instruction
	at        int // of the instruction in work
	addresses map[string]int
	next      int // register for the next address
	vectors
}

func translateFunction(lines []string) string {
	t := &translator{addresses: make(map[string]int)}
	for _, line := range lines {
		t.code = append(t.code, parse(line))
	}
	t.vectors = newVectors(t.code)
	if constants := regexp.MustCompile(`\w+<>`).FindString(strings.Join(lines, "\n")); constants != "" {
		t.emit("MOVD $%s+%d(SB), %s", constants, middle, constantsRegister)
	}
	for t.at = 0; t.at < len(t.code); t.at++ {
		t.translate(t.code[t.at])
	}
	return t.out.String()
}

func (t *translator) emit(format string, args ...any) { fmt.Fprintf(&t.out, "\t"+format+"\n", args...) }

// branches are the jumps by what they are after an integer instruction.
var branches = map[string]string{"JZ": "BEQ", "JEQ": "BEQ", "JNZ": "BNE", "JL": "BLT", "JGE": "BGE", "JLS": "BLE"}

// flags is the suffix of an instruction that the next one, a jump, depends on.
func (t *translator) flags() string {
	if t.at+1 < len(t.code) && branches[t.code[t.at+1].op] != "" {
		return "S"
	}
	return ""
}

func (t *translator) translate(in instruction) {
	if in.op == "" {
		if strings.HasSuffix(in.text, ":") {
			t.settle()
			clear(t.addresses)
		}
		t.out.WriteString(in.text + "\n")
		return
	}
	if strings.HasPrefix(in.op, "V") {
		t.vector(in)
		return
	}
	a := in.args
	if to, jump := branches[in.op]; jump {
		t.settle()
		t.emit("%s %s", to, a[0])
		return
	}
	switch in.op {
	case "RET":
		t.forget()
		t.emit("RET")
	case "PREFETCHT0":
		t.emit("PRFM %s, PLDL1KEEP", t.memory(a[0], 0))
	case "MOVQ":
		t.write(a[1])
		t.emit("MOVD %s, %s", t.scalar(a[0]), general[a[1]])
	case "MOVB":
		if _, loads := general[a[1]]; loads && !strings.HasPrefix(a[0], "$") {
			t.emit("MOVBU %s, %s", a[0], general[a[1]])
			return
		} else if loads {
			t.emit("MOVD %s, %s", a[0], general[a[1]])
			return
		}
		t.emit("MOVB %s, %s", t.scalar(a[0]), a[1])
	case "XORB":
		t.emit("MOVD $0, %s", general[a[1]])
	case "TESTB":
		t.emit("CMP $0, %s", general[a[0]])
	case "CMPQ":
		t.emit("CMP %s, %s", t.scalar(a[1]), t.scalar(a[0]))
	case "DECQ":
		t.write(a[0])
		t.emit("SUB%s $1, %s", t.flags(), general[a[0]])
	case "ADDQ", "SUBQ":
		t.write(a[1])
		t.emit("%s%s %s, %s", strings.TrimSuffix(in.op, "Q"), t.flags(), t.scalar(a[0]), general[a[1]])
	case "SHLQ":
		t.write(a[1])
		t.emit("LSL %s, %s", a[0], general[a[1]])
	case "IMUL3Q":
		t.write(a[2])
		t.emit("MOVD %s, %s", a[0], factorRegister)
		t.emit("MUL %s, %s, %s", factorRegister, general[a[1]], general[a[2]])
	case "LEAQ":
		m := parseMemory(a[0])
		if m.index == "" || m.disp != 0 {
			panic("LEAQ of " + a[0])
		}
		t.write(a[1])
		t.emit("ADD %s<<%d, %s, %s", general[m.index], m.shift, general[m.base], general[a[1]])
	default:
		panic("no translation of " + in.op)
	}
}

// scalar is an operand that is a register, a constant or a parameter.
func (t *translator) scalar(s string) string {
	if r, ok := general[s]; ok {
		return r
	}
	if strings.HasPrefix(s, "$") || strings.HasSuffix(s, "(FP)") {
		return s
	}
	panic("no scalar: " + s)
}

// write notes that a register changes, and with it the addresses that are made of it.
func (t *translator) write(register string) {
	for key := range t.addresses {
		m := parseMemory(key)
		if m.base == register || m.index == register {
			delete(t.addresses, key)
		}
	}
}

type memory struct {
	disp        int
	base, index string
	shift       int
}

var memoryForm = regexp.MustCompile(`^(-?\d+)?\((\w+)\)(?:\((\w+)\*(\d)\))?$`)

func parseMemory(s string) memory {
	m := memoryForm.FindStringSubmatch(s)
	if m == nil {
		panic("no address: " + s)
	}
	shift, ok := map[string]int{"": 0, "1": 0, "2": 1, "4": 2, "8": 3}[m[4]]
	if !ok {
		panic("no address: " + s)
	}
	return memory{number(m[1]), m[2], m[3], shift}
}

var constantForm = regexp.MustCompile(`^\w+<>\+(\d+)\(SB\)$`)

// memory is an address so many bytes behind one of amd64. A sum of two registers is made once
// as long as neither changes.
func (t *translator) memory(s string, behind int) string {
	if m := constantForm.FindStringSubmatch(s); m != nil {
		return fmt.Sprintf("%d(%s)", constantCopies*number(m[1])-middle+behind, constantsRegister)
	}
	if strings.HasSuffix(s, "(FP)") {
		return s
	}
	m := parseMemory(s)
	base := general[m.base]
	if m.index != "" {
		key := fmt.Sprintf("(%s)(%s*%d)", m.base, m.index, 1<<m.shift)
		r, known := t.addresses[key]
		if !known {
			r = t.address()
			t.addresses[key] = r
			t.emit("ADD %s<<%d, %s, R%d", general[m.index], m.shift, base, r)
		}
		base = fmt.Sprintf("R%d", r)
	}
	return fmt.Sprintf("%d(%s)", m.disp+behind, base)
}

// address hands out a register for an address, the least recent one.
func (t *translator) address() int {
	r := firstAddress + t.next%(lastAddress-firstAddress+1)
	t.next++
	for key, old := range t.addresses {
		if old == r {
			delete(t.addresses, key)
		}
	}
	return r
}
