package main

import (
	"os"
	"strings"
	"testing"
)

// The encodings are those of GNU's assembler.
func TestEncodings(t *testing.T) {
	for _, c := range []struct {
		gnu              string
		op               string
		d, n, m, element int
		want             uint32
	}{
		{"fadd v1.2d, v12.2d, v31.2d", "FADD", 1, 12, 31, 0, 0x4e7fd581},
		{"fsub v1.2d, v12.2d, v31.2d", "FSUB", 1, 12, 31, 0, 0x4effd581},
		{"fmul v1.2d, v12.2d, v31.2d", "FMUL", 1, 12, 31, 0, 0x6e7fdd81},
		{"fdiv v1.2d, v12.2d, v31.2d", "FDIV", 1, 12, 31, 0, 0x6e7ffd81},
		{"fmin v1.2d, v12.2d, v31.2d", "FMIN", 1, 12, 31, 0, 0x4efff581},
		{"fsqrt v1.2d, v12.2d", "FSQRT", 1, 12, 0, 0, 0x6ee1f981},
		{"fneg v1.2d, v12.2d", "FNEG", 1, 12, 0, 0, 0x6ee0f981},
		{"fmul v1.2d, v12.2d, v31.d[1]", "FMULByElement", 1, 12, 31, 1, 0x4fdf9981},
		{"fmla v1.2d, v12.2d, v31.d[1]", "FMLAByElement", 1, 12, 31, 1, 0x4fdf1981},
		{"fmls v1.2d, v12.2d, v31.d[1]", "FMLSByElement", 1, 12, 31, 1, 0x4fdf5981},
		{"fmls v30.2d, v0.2d, v17.d[0]", "FMLSByElement", 30, 0, 17, 0, 0x4fd1501e},
	} {
		if got := word(c.op, c.d, c.n, c.m, c.element); got != c.want {
			t.Errorf("%s is %#08x, want %#08x", c.gnu, got, c.want)
		}
	}
}

var files = []string{"../../level3/kernels", "../lanes/vectors"}

// What is committed is what the generator writes.
func TestTranslationIsUpToDate(t *testing.T) {
	for _, base := range files {
		from, err := os.ReadFile(base + "_avx2_amd64.s")
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(string(from), "\n")
		want, err := translated(body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(base + "_neon_arm64.s")
		if err != nil {
			t.Fatal(err)
		}
		if _, code, _ := strings.Cut(string(got), "\n"); code != want {
			t.Errorf("%s_neon_arm64.s is not what make generate writes", base)
		}
	}
}

// The loop of a product of 4×12 takes 24 multiply-adds of two numbers for a column of A and a row
// of B. Beside them are four loads of two registers each and one addition to an address, and for
// four columns three instructions that end the loop: 29.75 where 24 would be ideal.
func TestInstructionsOfAProduct(t *testing.T) {
	code, err := os.ReadFile(files[0] + "_neon_arm64.s")
	if err != nil {
		t.Fatal(err)
	}
	for name, most := range map[string]int{"gemm": 119, "trsm": 119, "trmm": 119, "potrf": 119} {
		_, loop, _ := strings.Cut(string(code), "\n"+name+"_loop:\n")
		loop, _, _ = strings.Cut(loop, "\n\n")
		all, multiply := 0, 0
		for _, line := range strings.Split(loop, "\n") {
			all++
			if strings.Contains(line, "// FML") {
				multiply++
			}
		}
		if multiply != 4*24 || all > most {
			t.Errorf("%s: %d instructions, %d of them multiply and add; want at most %d and %d", name, all, multiply, most, 4*24)
		}
	}
}

// What cannot be translated is an error that names it.
func TestUnknownInstruction(t *testing.T) {
	for _, line := range []string{"\tVHADDPD Y1, Y2, Y3", "\tCPUID", "\tVMOVUPD 8(AX)(CX*5), Y1"} {
		if _, err := translated("TEXT ·f(SB), NOSPLIT, $0-0\n" + line + "\n\tRET\n"); err == nil {
			t.Errorf("%q was translated", line)
		}
	}
}
