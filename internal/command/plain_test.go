package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"plain text,\tßüé 漢字 🙂\n":  "plain text,\tßüé 漢字 🙂\n",
		"\x1b[31mred\x1b[0m":       `\u001b[31mred\u001b[0m`,
		"bell\a back\b return\r":   `bell\u0007 back\u0008 return\u000d`,
		"\u009b31m and \x7f":       `\u009b31m and \u007f`,
		"bytes \xff\x9b that are":  `bytes \xff\x9b that are`,
		"turned \u202eround\u2066": `turned \u202eround\u2066`,
		"\u2028 \U000e0041":        `\u2028 \udb40\udc41`,
		"joined می\u200cخواهم":     "joined می\u200cخواهم",
		"\ufffd itself":            "\ufffd itself",
	} {
		if got := escape(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
		// However it comes in pieces, the same goes out.
		var out bytes.Buffer
		p := &plain{to: &out}
		for k := range len(text) {
			if n, err := p.Write([]byte(text[k : k+1])); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if out.String() != want {
			t.Errorf("%q in pieces became %q", text, out.String())
		}
	}
}

// Names that obey nobody's terminal come from tables, utilities, model files and the
// command line, and none of them reaches a terminal as it is.
func TestNamesAreNotObeyed(t *testing.T) {
	t.Chdir(t.TempDir())
	const evil = "\x1b]0;owned\a\u009b2J\u202e"
	var table strings.Builder
	table.WriteString(`"in` + evil + `come","jo` + "\n" + `b",class,verdict` + "\n")
	for i := range 12 {
		good := i%2 == 0
		job := []string{`"cl` + evil + `erk"`, "smith"}[i/2%2]
		class, verdict := "bad", "bad"
		if good {
			class, verdict = "go\u202eod", "go"+evil+"od"
		}
		fmt.Fprintf(&table, "%d,%s,%s,%s\n", i*i%17+i, job, class, verdict)
	}
	write(t, "loans.csv", table.String())
	write(t, "utility.yaml", `outcomes: ["go\u202Eod", bad]
costs:
  "acc\u202Eept": {"go\u202Eod": 0, bad: 5}
  refuse: {"go\u202Eod": 1, bad: 0}
`)
	write(t, "control.yaml", `costs:
  "acc\eept": {"go\u202Eod": 0, bad: 5}
  refuse: {"go\u202Eod": 1, bad: 0}
`)
	model := "mo\x1b[31mdel.lossep"
	class := []string{"--target", "class", "--positive", "bad", "--drop", "verdict", "--utility", "utility.yaml"}
	verdict := []string{"--target", "verdict", "--positive", "bad", "--drop", "class", "--cost", "fn=5,fp=1"}
	for _, c := range []struct {
		code int
		args []string
	}{
		{0, append([]string{"fit", "loans.csv", "-o", model}, verdict...)},
		{0, []string{"show", model}},
		{0, append([]string{"fit", "loans.csv", "-o", model}, class...)},
		{0, []string{"show", model}},
		{0, []string{"decide", model, "loans.csv"}},
		{0, []string{"predict", model, "loans.csv"}},
		{0, append([]string{"audit", "loans.csv", "--folds", "2"}, class...)},
		{2, append([]string{"fit", "loans.csv"}, append(class[:len(class)-1:len(class)-1], "control.yaml")...)},
		{2, []string{"show", model + "x"}},
		{2, []string{"show", "loans.csv"}},
		{2, []string{"fit", "loans.csv", "--target", evil, "--cost", "fn=1,fp=1"}},
		{2, []string{"fit", "loans.csv", "--cost", evil}},
		{2, []string{"fit", "loans.csv", "--target", "class", "--positive", "bad", "--kernel", evil, "--cost", "fn=1,fp=1"}},
		{2, []string{"serve", evil}},
		{2, []string{evil}},
		{2, []string{"--" + evil}},
	} {
		for _, format := range []string{"text", "json"} {
			args := append(c.args[:len(c.args):len(c.args)], "--format", format)
			var out, errs bytes.Buffer
			if code := run(t.Context(), args, strings.NewReader(""), &out, &errs); code != c.code {
				t.Errorf("%q: exit code %d\n%s", args, code, errs.String())
			}
			said := errs.String()
			if rows := c.args[0] == "decide" || c.args[0] == "predict"; !rows {
				said += out.String() // rows are for programs, and as they were
			}
			if at := strings.IndexFunc(said, obeyed); at >= 0 {
				t.Errorf("%q says %q", args, said[max(0, at-40):min(len(said), at+40)])
			}
			if format == "json" && c.code == 0 && c.args[0] == "show" {
				var shown map[string]any
				if err := json.Unmarshal(out.Bytes(), &shown); err != nil {
					t.Errorf("%q: %v", args, err)
				}
			}
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Clean(path), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
