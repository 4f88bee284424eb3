//go:build unix

package command

import (
	"encoding/csv"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// The guide is executed: what docs/guide/deciding.md shows below a command is what that writes.
func TestDecidingGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide/deciding.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var command, answer string
	compared := 0
	for _, b := range block.FindAllStringSubmatch(string(guide), -1) {
		switch language, code := b[1], b[2]; language {
		case "csv":
			sameRows(t, command, answer, code)
			compared++
		case "sh":
			out, err := exec.Command("sh", "-ec", code).Output()
			if err != nil {
				t.Fatalf("%s%v", code, err)
			}
			command, answer = code, string(out)
		}
	}
	if compared == 0 {
		t.Error("the guide has no answers")
	}
}

// sameRows compares CSV texts. Numbers may differ in their last digits, which depend on the vector units of the
// processor.
func sameRows(t *testing.T, command, got, want string) {
	t.Helper()
	a, err := csv.NewReader(strings.NewReader(got)).ReadAll()
	if err != nil {
		t.Fatalf("%s%v", command, err)
	}
	b, err := csv.NewReader(strings.NewReader(want)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	same := len(a) == len(b)
	for i := 0; same && i < len(a); i++ {
		same = len(a[i]) == len(b[i])
		for j := 0; same && j < len(a[i]); j++ {
			x, notX := strconv.ParseFloat(a[i][j], 64)
			y, notY := strconv.ParseFloat(b[i][j], 64)
			same = a[i][j] == b[i][j] || notX == nil && notY == nil && math.Abs(x-y) <= 1e-8*max(1, math.Abs(x))
		}
	}
	if !same {
		t.Errorf("%s\nwrites\n%s\nand the guide says\n%s", command, got, want)
	}
}
