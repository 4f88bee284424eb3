package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lossep/lossep/report"
)

// A run that is interrupted keeps what it has, says so, and the same command goes on
// to the same bytes as a run without interruption.
func TestPaperGoesOn(t *testing.T) {
	args := func(out string) []string {
		return strings.Fields("paper --only table1 --datasets 4 --points 20 --out " + out)
	}
	whole, parts := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "parts")
	var out, errs bytes.Buffer
	if code := run(context.Background(), args(whole), nil, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		first := filepath.Join(parts, folderProgress, "part-*.json")
		for {
			if names, _ := filepath.Glob(first); len(names) > 0 {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	errs.Reset()
	if code := run(ctx, args(parts), nil, &out, &errs); code != 130 || !strings.Contains(errs.String(), "the same command goes on") {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if _, err := os.Stat(filepath.Join(parts, "index.html")); err == nil {
		t.Error("an interrupted run has a report")
	}
	errs.Reset()
	if code := run(context.Background(), args(parts), nil, &out, &errs); code != 0 || !strings.Contains(errs.String(), "going on from") {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, name := range []string{"index.html", "table1.csv", report.Results} {
		a, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(parts, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs", name)
		}
	}
}

// A folder that may not be written is refused. The superuser may write any.
func TestPaperUnwritable(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Create(filepath.Join(folder, "probe")); err == nil {
		f.Close()
		t.Skip("this user may write anywhere")
	}
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"paper", "--out", folder}, nil, &out, &errs); code != 2 || out.Len() > 0 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
