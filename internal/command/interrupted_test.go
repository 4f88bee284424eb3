//go:build unix

package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lossep/lossep/internal/fault"
)

// Reading ends with the first signal, also from a pipe on which nothing more arrives.
func TestInterruptedWhileReading(t *testing.T) {
	model := filepath.Join(t.TempDir(), "model.lossep")
	save(t, fitLoans(t, 1), model)
	for _, args := range []string{"fit - --cost fn=1,fp=1", "audit - --cost fn=1,fp=1", "predict " + model + " -", "decide " + model + " -"} {
		in, pipe := io.Pipe()
		go func() { _, _ = io.WriteString(pipe, loans) }() // and then nothing
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(100*time.Millisecond, cancel)
		var out, errs bytes.Buffer
		if got := run(ctx, strings.Fields(args), in, &out, &errs); got != 130 || out.Len() > 0 || !strings.Contains(errs.String(), "interrupted") {
			t.Errorf("lossep %s: exit code %d, %q, %q", args, got, out.String(), errs.String())
		}
		if told := strings.Contains(errs.String(), "no row was written"); told != strings.Contains(args, model) {
			t.Errorf("lossep %s: %q", args, errs.String())
		}
		_ = in.Close()
	}
}

// A fit of many rows that is interrupted says what is kept of it, and the same command that it
// goes on from there.
func TestInterruptedFitIsKept(t *testing.T) {
	dir := t.TempDir()
	table, model := filepath.Join(dir, "many.csv"), filepath.Join(dir, "many.lossep")
	var rows strings.Builder
	rows.WriteString("x,y\n")
	for i := range 8800 {
		fmt.Fprintf(&rows, "%d,%d\n", i*5%97, i*i%7/4)
	}
	if err := os.WriteFile(table, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	fit := func(ctx context.Context) (int, string) {
		var out, errs bytes.Buffer
		code := run(ctx, strings.Fields("fit "+table+" --cost fn=5,fp=1 --fixed --kernel rbf(variance=2,lengthscale=1) --inducing 8 -o "+model), nil, &out, &errs)
		return code, errs.String()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var terms atomic.Int64
	remove := fault.Inject(func(p fault.Place) {
		if p != fault.Factor || terms.Add(1)%100 > 0 {
			return
		}
		if _, err := os.Stat(model + ".unfinished"); err == nil { // the sample of 1100 is over
			cancel()
		}
	})
	code, said := fit(ctx)
	remove()
	if strings.Contains(said, "going on") || strings.Contains(said, "anew") {
		t.Errorf("nothing to go on from is talked about: %s", said)
	}
	kept := "what was found with 1100 rows is kept in " + model + ".unfinished; the same command goes on from there\nlossep: interrupted\n"
	if code != 130 || !strings.HasSuffix(said, kept) {
		t.Errorf("exit code %d, %s", code, said)
	}
	state, err := os.ReadFile(model + ".unfinished")
	if err != nil {
		t.Fatal(err)
	}
	code, said = fit(context.Background())
	if want := "going on from " + model + ".unfinished, which has what was found with 1100 rows\n"; code != 0 || strings.Count(said, want) != 1 {
		t.Errorf("exit code %d, %s", code, said)
	}
	if _, err := os.Stat(model + ".unfinished"); err == nil {
		t.Error("what was kept is there beside the model")
	}
	// What is damaged is neither gone on from nor replaced nor removed.
	for _, damaged := range []string{"", "a file of somebody else's", strings.Replace(string(state), `"log_parameters":[`, `"log_parameters":[1`, 1)} {
		if damaged == string(state) {
			t.Fatalf("%s has no parameters", state)
		}
		if err := os.WriteFile(model+".unfinished", []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, said = fit(context.Background()); code != 2 || !strings.HasSuffix(said, ".unfinished: damaged, or not written by lossep; remove it to fit from the beginning, or give another -o\n") {
			t.Errorf("exit code %d, %s", code, said)
		}
		if left, err := os.ReadFile(model + ".unfinished"); err != nil || string(left) != damaged {
			t.Errorf("%q is there in place of %q, %v", left, damaged, err)
		}
	}
}
