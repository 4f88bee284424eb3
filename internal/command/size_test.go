package command

import (
	"strings"
	"testing"
	"time"

	"github.com/lossep/lossep"
)

// What is left is estimated by what has been done, once that is something, and not where it is
// nothing.
func TestTimeLeft(t *testing.T) {
	var p passes
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		at   float64 // seconds
		done float64
		want string
	}{
		{0, 0, ""},
		{60, 0, ""},        // nothing is known of how long it takes
		{63, 0.2, ""},      // 3 s are few
		{66, 0.009, ""},    // and so is this
		{70, 0.1, "1m30s"}, // a tenth in 10 s, from the last pass that nothing was known in
		{90, 0.5, "30s"},   // half in 30 s
		{119.8, 0.999, ""},
		{125, 0, ""}, // the passes of a method
		{200, 0, ""},
	} {
		text := p.line(lossep.Progress{Stage: "searching", Pass: 1, Done: c.done}, begin.Add(time.Duration(c.at*float64(time.Second))))
		_, left, _ := strings.Cut(text, ", at most ")
		if left, _ = strings.CutSuffix(left, " left"); left != c.want {
			t.Errorf("after %v s %q, want %q", c.at, text, c.want)
		}
	}
	// A search that was resumed knows from its first pass on.
	p = passes{}
	if text := p.line(lossep.Progress{Pass: 1, Done: 0.5}, begin); strings.Contains(text, "left") {
		t.Error(text)
	}
}
