package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/report"
)

// An audit that is interrupted keeps the folds it has, says so, and the same command
// goes on to the same bytes as one without interruption.
func TestAuditGoesOn(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	text, err := os.ReadFile("../../example/" + example.Name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfterN(text, []byte("\n"), 52)
	if err := os.WriteFile(rows, bytes.Join(lines[:51], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	for kind, options := range map[string]string{
		"categories": "--target diagnosis --positive malignant --cost fn=20,fp=1 --references 0 --method ep --methods loss-ep",
		"numbers":    "--target mean_area --cost under=3,over=1 --features mean_radius,mean_texture --capacity action=20000 --kernel rbf",
	} {
		t.Run(kind, func(t *testing.T) { auditGoesOn(t, rows, options) })
	}
}

func auditGoesOn(t *testing.T, rows, options string) {
	args := func(out string) []string {
		return append(strings.Fields("audit "+options+" --folds 4"), rows, "--out", out)
	}
	dir := t.TempDir()
	whole, parts := filepath.Join(dir, "whole"), filepath.Join(dir, "parts")
	var out, errs bytes.Buffer
	if code := run(context.Background(), args(whole), nil, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			if names, _ := filepath.Glob(filepath.Join(parts, folderProgress, "part-*.json")); len(names) > 0 {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	errs.Reset()
	if code := run(ctx, args(parts), nil, &out, &errs); code != 130 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if !strings.Contains(errs.String(), "of 4 folds are kept in "+parts) {
		t.Errorf("standard error: %q", errs.String())
	}
	if _, err := os.Stat(filepath.Join(parts, "index.html")); err == nil {
		t.Error("there is a report of an unfinished audit")
	}
	if err := os.WriteFile(filepath.Join(parts, folderProgress, "part-9999.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	// What was found without one fold is no result without another.
	done, err := filepath.Glob(filepath.Join(parts, folderProgress, "part-000*.json"))
	if err != nil || len(done) == 0 || len(done) == 4 {
		t.Fatal(done, err)
	}
	part, err := os.ReadFile(done[0])
	if err != nil {
		t.Fatal(err)
	}
	for k := range 4 {
		other := filepath.Join(parts, folderProgress, fmt.Sprintf("part-%04d.json", k))
		if slices.Contains(done, other) {
			continue
		}
		changed := regexp.MustCompile(`"index":\d`).ReplaceAll(part, fmt.Appendf(nil, `"index":%d`, k))
		if err := os.WriteFile(other, changed, 0o600); err != nil || bytes.Equal(changed, part) {
			t.Fatal(k, err)
		}
		break
	}
	errs.Reset()
	if code := run(context.Background(), args(parts), nil, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	if said := errs.String(); !strings.Contains(said, "going on from") || !strings.Contains(said, "2 finished folds in "+parts+" are damaged and are made again") {
		t.Errorf("standard error: %q", said)
	}
	for _, name := range report.AuditFiles() {
		want, err := os.ReadFile(filepath.Join(whole, name))
		if os.IsNotExist(err) { // it is not of these outcomes, or nothing is distinguished
			if _, err := os.Stat(filepath.Join(parts, name)); err == nil {
				t.Errorf("%s is in parts alone", name)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(parts, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs (%v)", name, err)
		}
	}
}

// A folder that cannot take the report keeps what it had.
func TestResultFolderFails(t *testing.T) {
	f := &resultFolder{path: t.TempDir(), signature: "test", files: []string{"a", report.Results}}
	if err := f.open(); err != nil {
		t.Fatal(err)
	}
	if err := f.replace(func() (map[string][]byte, error) {
		return map[string][]byte{"a": []byte("old"), report.Results: []byte(`{"made_by": "test"}`)}, nil
	}, false); err != nil {
		t.Fatal(err)
	}
	// A folder where the temporary file has to go stands for a disk that is full.
	if err := os.Mkdir(filepath.Join(f.path, folderTemporary+report.Results), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.replace(func() (map[string][]byte, error) {
		return map[string][]byte{"a": []byte("new"), report.Results: []byte(`{}`)}, nil
	}, false); err == nil {
		t.Fatal("there is no error")
	}
	if b, err := os.ReadFile(filepath.Join(f.path, "a")); err != nil || string(b) != "old" {
		t.Errorf("a is %q (%v)", b, err)
	}
	if _, err := os.Stat(filepath.Join(f.path, folderTemporary+"a")); err == nil {
		t.Error("a temporary file is left")
	}
	f.close()
	if err := f.open(); err != nil {
		t.Errorf("the folder is not ours any more: %v", err)
	}
}

// A run goes on from the parts of its own program only. One that cannot be distinguished from
// others goes on from none.
func TestResumeKnowsTheProgram(t *testing.T) {
	f := &resultFolder{path: t.TempDir(), signature: "test"}
	resumed := func() int {
		t.Helper()
		parts, err := f.resume("settings")
		if err == nil {
			err = f.keep(len(parts), "a part")
		}
		if err != nil {
			t.Fatal(err)
		}
		return len(parts)
	}
	if first, second := resumed(), resumed(); first != 0 || second != 1 || f.replaced != 0 {
		t.Errorf("%d and %d parts of the same program, and %d of others", first, second, f.replaced)
	}
	defer func(before func() (string, error)) { executable = before }(executable)
	executable = func() (string, error) { return "", errors.New("nobody knows") }
	if first := resumed(); first != 0 || f.replaced != 2 {
		t.Errorf("%d parts of a program that is not known, and %d of others", first, f.replaced)
	}
	if second := resumed(); second != 0 {
		t.Errorf("%d parts of programs that are not known", second)
	}
}

// What an audit cannot be made of is said as what was given wrongly, by exit code 2.
func TestAuditOfWhatCannotBe(t *testing.T) {
	t.Chdir(t.TempDir())
	var scores strings.Builder
	scores.WriteString("p,y\n")
	for i := range 60 {
		fmt.Fprintf(&scores, "%v,%d\n", float64(1+i*7%60)/62, i*i%3%2)
	}
	write(t, "scores.csv", scores.String())
	for want, args := range map[string]string{
		"express them in a larger unit":  "audit scores.csv --probability p --target y --cost fn=1e200,fp=1e-200",
		"the table that is learned from": "audit scores.csv --target y --cost fn=5,fp=1 --test ./scores.csv",
	} {
		if code, text := try(strings.Fields(args)); code != 2 || !strings.Contains(text, want) {
			t.Errorf("%s: exit code %d, %s", args, code, text)
		}
	}
}
