package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lossep/lossep/internal/fault"
)

// A kernel, a factor or a utility that panics, in whatever goroutine, is an error of
// every verb that meets it: the exit code of a failure, a line that says so, and the
// stack for those who mend it. Nothing is written half.
func TestFaultsAreErrors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	dir := t.TempDir()
	table, model := filepath.Join(dir, "loans.csv"), filepath.Join(dir, "loans.lossep")
	rows := "income,job,class\n"
	for i := range 40 {
		rows += []string{"1", "2", "5", "7", "9"}[i*3%5] + "," + []string{"clerk", "smith"}[i%2] + "," + []string{"good", "bad", "good"}[i%3] + "\n"
	}
	if err := os.WriteFile(table, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	past := []string{"--target", "class", "--positive", "bad", "--cost", "fn=5,fp=1"}
	if code, text := try(append([]string{"fit", table, "-o", model}, past...)); code != 0 {
		t.Fatal(text)
	}
	made, audited, repeated := filepath.Join(dir, "made"), filepath.Join(dir, "audited"), filepath.Join(dir, "repeated")
	all := []fault.Place{fault.Kernel, fault.Factor, fault.Utility}
	verbs := map[string]struct {
		args   []string
		passes []fault.Place
	}{
		"fit":     {append([]string{"fit", table, "-o", made}, past...), all},
		"predict": {[]string{"predict", model, table, "-o", made}, all[:2]},
		"decide":  {[]string{"decide", model, table, "-o", made}, all},
		"value":   {[]string{"value", model, table, "--ask", "income=0.1", "--labels", "-o", made}, all},
		"update":  {[]string{"update", model, table, "-o", made}, all},
		"monitor": {[]string{"monitor", model, table, "--window", "10", "--metrics", made}, all[:2]},
		"show":    {[]string{"show", model}, all[:1]}, // it makes the posterior
		"audit":   {append([]string{"audit", table, "--out", audited, "--folds", "2"}, past...), all},
		"reactor": {[]string{"reactor", "--data", "1,2,-1", "--threshold", "1", "--utility", "1,0.1/0.8,1"}, all[1:]},
		"paper":   {[]string{"paper", "--out", repeated, "--datasets", "2", "--points", "20", "--only", "table1"}, all},
		"serve":   {[]string{"serve", model, "--addr", "127.0.0.1:0"}, all[:1]},
	}
	for _, c := range newRoot(nil).Commands() {
		verb, tried := verbs[c.Name()]
		if !tried {
			// Two compute nothing; what a worker is asked is tried in its package, and the tools in mcp_test.go.
			if !slices.Contains([]string{"help", "licences", "worker", "mcp"}, c.Name()) {
				t.Errorf("%s is not tried", c.Name())
			}
			continue
		}
		for _, place := range all {
			// The first that arrives, all, and one in the midst of the work.
			for _, from := range []int64{1, 200} {
				if place != fault.Factor && from > 1 || !slices.Contains(verb.passes, place) {
					continue
				}
				var arrivals atomic.Int64
				remove := fault.Inject(func(p fault.Place) {
					if p == place && arrivals.Add(1) >= from {
						panic("this is broken")
					}
				})
				code, text := try(verb.args)
				remove()
				if from > 1 && arrivals.Load() < from {
					_ = os.Remove(made)
					continue // the verb is done before
				}
				if code != 1 || !strings.Contains(text, "internal fault: this is broken\n") ||
					!strings.Contains(text, "Please report it") || !strings.Contains(text, "fault_test.go") {
					t.Errorf("%s with a fault in a %s: exit code %d, and it says %.500s", c.Name(), place, code, text)
				}
				if left, err := os.ReadFile(made); err == nil {
					t.Errorf("%s with a fault in a %s left a file of %d bytes", c.Name(), place, len(left))
				}
			}
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if !slices.Contains([]string{table, model, audited, repeated}, path) {
			t.Errorf("%s is left over", path)
		}
	}
}

// try runs the command, and gives its exit code and what it says on standard error.
func try(args []string) (code int, text string) {
	var out, errs bytes.Buffer
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	code = run(ctx, args, strings.NewReader(""), &out, &errs)
	return code, errs.String()
}
