package command

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fuzzFits are the flags of the fits that a table goes through.
var fuzzFits = [][]string{
	{"--cost", "fn=5,fp=1"},
	{"--cost", "fn=5,fp=1", "--method", "ep", "--kernel", "rbf(ard) + linear", "--fixed", "--missing", "impute"},
	{"--cost", "fn=5,fp=1", "--method", "loss-ep", "--kernel", "linear*linear*linear + rbf", "--fixed", "--likelihood", "logit", "--standardize=false"},
	{"--cost", "fn=0.01*amount,fp=1", "--method", "vi", "--fixed", "--kernel", "matern52 + white", "--missing", "impute"},
	{"--cost", "fn=5,fp=1", "--method", "loss-ep", "--inducing", "3", "--kernel", "rbf(ard) + linear", "--fixed", "--prevalence", "0.01", "--missing", "impute"},
	{"--cost", "fn=5,fp=1", "--method", "vi", "--inducing", "2", "--power", "0.5", "--weights", "amount", "--likelihood", "logit"},
	{"--cost", "fn=5,fp=1", "--method", "loss-vi", "--likelihood", "robust", "--label-noise", "0.1", "--fixed", "--header", "no", "--target", "last"},
	{"--cost", "fn=1,fp=1", "--method", "laplace", "--fixed", "--kernel", "periodic*linear + constant"},
}

// FuzzTableToDecisions takes bytes through the whole command: a table, in which $1 and $2
// stand for numbers, is fitted, shown, and decided by what was fitted. Every step ends
// with 0 and finite numbers, or with 2 and a reason; none fails.
func FuzzTableToDecisions(f *testing.F) {
	plain := "amount,job,class\n1,clerk,0\n2,smith,1\n$1,clerk,1\n3,smith,0\n$2,clerk,1\n7,baker,0\n"
	for i := range byte(len(fuzzFits)) {
		f.Add([]byte(plain), i, 5.0, 2.0)
		f.Add([]byte(plain), i, 1e300, -1e49)
		f.Add([]byte(plain), i, math.SmallestNonzeroFloat64, 1e30)
	}
	f.Add([]byte(strings.Replace(plain, "$1", "", 1)), byte(1), 0.0, 1.0)
	f.Add([]byte(strings.ReplaceAll(plain, "clerk", "clérk\t\"")), byte(3), 1.0, 1.0)
	f.Add([]byte("\xef\xbb\xbfa;b\r\n1,5;yes\r\n2,5;no\r\n"), byte(0), 0.0, 0.0)
	f.Add([]byte("class\n0\n1\n"), byte(5), 0.0, 0.0)
	f.Add([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, byte(0), 0.0, 0.0)
	f.Fuzz(func(t *testing.T, table []byte, which byte, a, b float64) {
		if len(table) > 2000 || bytes.Count(table, []byte{'\n'}) > 40 {
			t.Skip("small ones are quick")
		}
		table = bytes.ReplaceAll(table, []byte("$1"), fmt.Append(nil, a))
		table = bytes.ReplaceAll(table, []byte("$2"), fmt.Append(nil, b))
		dir := t.TempDir()
		path, model := filepath.Join(dir, "table.csv"), filepath.Join(dir, "model.lossep")
		if err := os.WriteFile(path, table, 0o600); err != nil {
			t.Fatal(err)
		}
		fit := append([]string{"fit", path, "-o", model}, fuzzFits[int(which)%len(fuzzFits)]...)
		if !endsWell(t, fit) {
			if _, err := os.Stat(model); err == nil {
				t.Errorf("%v left a model", fit)
			}
			return
		}
		if !endsWell(t, []string{"show", model}) {
			t.Errorf("the model of %v cannot be shown", fit)
		}
		for _, format := range []string{"text", "json"} {
			endsWell(t, []string{"predict", model, path, "--format", format})
			endsWell(t, []string{"decide", model, path, "--format", format})
		}
	})
}

// endsWell runs the command, and tells whether it did what it was asked.
func endsWell(t *testing.T, args []string) bool {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(context.Background(), args, nil, &out, &errs)
	if code != 0 && code != 2 || code == 2 && (out.Len() > 0 || errs.Len() == 0) {
		t.Errorf("%v: exit code %d, %d bytes on standard output, and %s", args, code, out.Len(), errs.String())
	}
	for _, line := range strings.Split(out.String(), "\n") {
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(",: {}[]", r) }) {
			// Words of the table may look like this, in quotes.
			if args[0] != "show" && (word == "NaN" || strings.Trim(word, "+-") == "Inf") {
				t.Errorf("%v: %s", args, line)
			}
		}
	}
	if text := errs.String(); strings.Contains(text, "goroutine ") {
		t.Errorf("%v: %s", args, text)
	}
	return code == 0
}
