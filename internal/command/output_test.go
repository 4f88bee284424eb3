package command

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/kernel"
)

const cases = "a,b,class\n1,2,no\n2,1,yes\n3,5,no\n4,4,yes\n"

// fitted is a directory with a table and a model of it.
func fitted(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	if err := os.WriteFile(rows, []byte(cases), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	args := []string{"fit", rows, "--cost", "fn=5,fp=1", "--fixed", "-o", filepath.Join(dir, "m.lossep")}
	if code := run(context.Background(), args, nil, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	return dir
}

// full is a disk, or a pipe, that takes no more.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Output that cannot be written is a failure, not bad input, and leaves no temporary
// file behind.
func TestOutputFails(t *testing.T) {
	dir := fitted(t)
	spools := t.TempDir()
	t.Setenv("TMPDIR", spools)
	rows, model := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "m.lossep")
	for _, args := range [][]string{
		{"predict", model, rows},
		{"decide", model, rows},
		{"show", model},
		{"help"},
		{"fit", "--help"},
		{"--version"},
		{"fit", rows, "--cost", "fn=5,fp=1", "--fixed", "--no-save"},
	} {
		var errs bytes.Buffer
		if code := run(context.Background(), args, nil, full{}, &errs); code != 1 || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%s: exit code %d, %s", args[0], code, errs.String())
		}
	}
	for _, d := range []string{spools, dir} {
		left, err := filepath.Glob(filepath.Join(d, ".*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}

// An interrupted command fails, prints no row and leaves no file.
func TestFitInterrupted(t *testing.T) {
	dir := fitted(t)
	rows, model := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "m.lossep")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	other := filepath.Join(dir, "other")
	for _, args := range [][]string{
		{"fit", rows, "--cost", "fn=5,fp=1", "-o", other},
		{"decide", model, rows, "-o", other},
		{"predict", model, rows},
		{"decide", "--example"},
	} {
		var out, errs bytes.Buffer
		if code := run(ctx, args, nil, &out, &errs); code != 130 || out.Len() > 0 || !strings.Contains(errs.String(), "interrupted") {
			t.Errorf("%v: exit code %d, %s%s", args, code, out.String(), errs.String())
		}
		if anew := strings.HasSuffix(errs.String(), "nothing was written or kept; the same command begins anew\nlossep: interrupted\n"); anew != (args[0] == "fit") {
			t.Errorf("%v: %s", args, errs.String())
		}
		if _, err := os.Stat(other); err == nil {
			t.Errorf("%v left a file", args)
		}
	}
}

// What an earlier fit has kept is as it was where another is interrupted before it looks at it.
func TestKeptBeforeIsLeft(t *testing.T) {
	dir := fitted(t)
	kept := filepath.Join(dir, "other.unfinished")
	if err := os.WriteFile(kept, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	run(ctx, []string{"fit", filepath.Join(dir, "rows.csv"), "--cost", "fn=5,fp=1", "-o", filepath.Join(dir, "other")}, nil, &out, &errs)
	if !strings.HasSuffix(errs.String(), "nothing was written, and "+kept+" is as it was\nlossep: interrupted\n") {
		t.Error(errs.String())
	}
}

// What the user got wrong has exit code 2, what went wrong has 1.
func TestExitCodesOfFiles(t *testing.T) {
	dir := fitted(t)
	rows, model := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "m.lossep")
	bad := filepath.Join(dir, "bad.csv")
	if err := os.WriteFile(bad, []byte("a,b\n1,x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want int
		args []string
	}{
		{0, []string{"show", model}},
		{2, []string{"show", rows}},
		{2, []string{"fit", rows, "--cost", "fn=0,fp=1"}},
		{2, []string{"fit", bad, "--cost", "fn=1,fp=1"}},
		{2, []string{"fit", rows, "--cost", "fn=1,fp=1", "--kernel", "nothing"}},
		{2, []string{"predict", model, bad}},
		{2, []string{"decide", model, filepath.Join(dir, "nowhere.csv")}},
		{2, []string{"decide", model, rows, "-o", dir}},
		{2, []string{"fit", rows, "--cost", "fn=1,fp=1", "-o", filepath.Join(dir, "no", "where")}},
	} {
		var out, errs bytes.Buffer
		if code := run(context.Background(), c.args, nil, &out, &errs); code != c.want {
			t.Errorf("%v: exit code %d, want %d: %s", c.args, code, c.want, errs.String())
		}
		if c.want != 0 && out.Len() > 0 {
			t.Errorf("%v: printed %s", c.args, out.String())
		}
	}
}

// An error about what is written names the path that was given, and not the file that
// holds it until it is whole; a folder that is missing is named before any work.
func TestOutputIsNamed(t *testing.T) {
	dir := fitted(t)
	rows, model := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "m.lossep")
	path := filepath.Join(dir, "nosuch", "x")
	for _, args := range [][]string{
		{"predict", model, rows, "-o", path},
		{"fit", rows, "--cost", "fn=5,fp=1", "--fixed", "-o", path},
	} {
		var errs bytes.Buffer
		code := run(context.Background(), args, nil, new(bytes.Buffer), &errs)
		if want := "lossep: -o " + path + ": there is no folder " + filepath.Dir(path) + "; make it first, or give another path\n"; code != 2 || errs.String() != want {
			t.Errorf("%s: exit code %d, %s", args[0], code, errs.String())
		}
	}
	_, err := newSpool(path)
	if want := path + ": no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	s, err := newSpool(filepath.Join(dir, "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.abandon()
	if err := s.file.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.WriteString("1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(); err == nil || strings.Contains(err.Error(), "partial-") {
		t.Errorf("%v", err)
	}
}

// A kernel in a model file is the file's fault, and no flag's.
func TestKernelOfAFile(t *testing.T) {
	_, err := kernel.Parse(strings.Repeat("x", 100_000), 1)
	text := blame(&lossep.FileError{Path: "m.lossep", Msg: err.Error(), Err: err}, "").Error()
	if !strings.HasPrefix(text, "m.lossep: model file: kernel ") || len(text) > 1000 {
		t.Errorf("%.2000s", text)
	}
}

// What a process that was killed left of an output is removed when the same file is written again a day
// later, and nothing else is: neither what is new, nor what is of other files.
func TestPartialOutputs(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "out.csv")
	old := time.Now().Add(-2 * abandoned)
	for name, kept := range map[string]bool{".out.csv.partial-1": false, ".other.csv.partial-1": true, ".out.csv": true} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(folder, name), old, old); err != nil {
			t.Fatal(err)
		}
		if s, err := newSpool(path); err != nil || !strings.HasPrefix(filepath.Base(s.file.Name()), ".out.csv.partial-") {
			t.Error(s, err)
		}
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != kept {
			t.Errorf("%s: %v", name, err)
		}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 5 { // two that are kept, and three new ones
		t.Errorf("%v, %v", entries, err)
	}
}
