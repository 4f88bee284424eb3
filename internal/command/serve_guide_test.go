//go:build unix

package command

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// block is a piece of code in the guide, with the language that it is said to be in.
var block = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// The guide is executed: what docs/guide/serving.md says that a command answers is what it
// answers. The server takes a free port, and the others use it.
func TestServingGuide(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the guide uses curl, which is not installed")
	}
	guide, err := os.ReadFile("../../docs/guide/serving.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var p *process
	var command, answer string
	compared := 0
	for _, b := range block.FindAllStringSubmatch(string(guide), -1) {
		language, code := b[1], b[2]
		switch {
		case language == "json":
			if err := sameAnswer(answer, code); err != nil {
				t.Errorf("%s%v", command, err)
			}
			compared++
		case language == "sh" && strings.HasPrefix(code, "lossep serve "):
			p = serve(t, strings.Fields(code)[2:]...)
		case language == "sh":
			command = code
			if p != nil {
				code = strings.ReplaceAll(code, "127.0.0.1:8080", p.address)
			}
			out, err := exec.Command("sh", "-ec", code).Output()
			if err != nil {
				t.Fatalf("%s%v", command, err)
			}
			answer = string(out)
		}
	}
	if compared == 0 {
		t.Error("the guide has no answers")
	}
}

// version is what an answer says of the model's version.
var version = regexp.MustCompile(`("model_version":\s*)"[0-9a-f]{12}"`)

// sameAnswer compares JSON texts. Numbers may differ in their last digits, which depend
// on the vector units of the processor; and so may the version of the model, which is a
// hash of its numbers.
func sameAnswer(got, want string) error {
	got, want = version.ReplaceAllString(got, `$1"version"`), version.ReplaceAllString(want, `$1"version"`)
	var a, b any
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		return fmt.Errorf("%w in %s", err, got)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		return fmt.Errorf("%w in %s", err, want)
	}
	near := cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) <= 1e-8*max(1, math.Abs(x)) })
	if diff := cmp.Diff(b, a, near); diff != "" {
		return fmt.Errorf("the guide (-) says something else than the server (+):\n%s", diff)
	}
	return nil
}
