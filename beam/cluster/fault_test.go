package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lossep/lossep/beam/cluster"
	"github.com/lossep/lossep/internal/command"
)

// interrupted runs a fit by Beam until so many passes are finished, and ends it there as if
// the driver had died: nothing of what it does at its end is done, but for its files.
func interrupted(t *testing.T, passes int, args []string) (said string, left []string) {
	t.Helper()
	code, said := until(t, passes, args, func(string) {})
	if code == 0 {
		t.Fatal("it was not interrupted")
	}
	left, _ = filepath.Glob(filepath.Join(args[len(args)-1], "lossep.passes", "*"))
	return said, left
}

// A driver that dies between passes is followed by another, which ends with the same bits,
// and does not make again what was finished.
func TestDriverDies(t *testing.T) {
	folder := tableOf(t, 16_500, 9_900)
	one, beam := filepath.Join(t.TempDir(), "one.lossep"), filepath.Join(t.TempDir(), "beam.lossep")
	work := filepath.Join(t.TempDir(), "work")
	more := []string{"--shard-rows", "11000", "--fixed", "--kernel", "matern32 + constant"}
	code, said := lossep(t, fitArgs(folder, one, more...)...)
	must(t, code, said)
	args := fitArgs(folder, beam, append(more, "--work", work)...)
	for _, passes := range []int{1, 3} {
		_, left := interrupted(t, passes, args)
		if len(left) < 2 {
			t.Fatalf("after %d passes there are %v", passes, left)
		}
		if _, err := os.Stat(beam); err == nil {
			t.Fatal("there is a model")
		}
	}
	made := 0
	place := cluster.NewPlace()
	begin := place.Passes
	place.Passes = func(ctx context.Context, f command.Fit) (command.Passes, error) {
		p, err := begin(ctx, f)
		p.(*cluster.Driver).Watch(func(name string) {
			if made++; made == 1 && name <= "000004" {
				t.Errorf("%s was made again", name)
			}
		})
		return p, err
	}
	code, said = run(t, place, args...)
	must(t, code, said)
	if made == 0 || !bytes.Equal(content(t, one), content(t, beam)) {
		t.Errorf("another model after %d passes", made)
	}
}

// What is wrong with files is said of the file, and no model is left behind, nor decisions.
func TestFaultsNameTheFile(t *testing.T) {
	damage := func(path string, at int) {
		b := content(t, path)
		for i := range 200 {
			b[at+i] ^= 0x5a
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	good := tableOf(t, 13_200, 14_300)
	model := filepath.Join(t.TempDir(), "model.lossep")
	code, said := lossep(t, fitArgs(good, model, "--fixed", "--kernel", "rbf + constant")...)
	must(t, code, said)
	for name, fault := range map[string]struct {
		do   func(folder string)
		want string
	}{
		"a corrupt row group": {func(folder string) { damage(filepath.Join(folder, "01.parquet"), 3000) }, "01.parquet"},
		"a file cut short": {func(folder string) {
			path := filepath.Join(folder, "00.parquet")
			if err := os.Truncate(path, 2000); err != nil {
				t.Fatal(err)
			}
		}, "00.parquet"},
		"another schema": {func(folder string) {
			other := filepath.Join(folder, "02.parquet")
			if err := os.WriteFile(other, content(t, decidedParquet(t, model, good)), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "02.parquet"},
		"no file": {func(folder string) {
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
		}, "table"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := tableOf(t, 13_200, 14_300)
			fault.do(folder)
			to := filepath.Join(t.TempDir(), "beam.lossep")
			code, said := lossepBeam(t, fitArgs(folder, to, "--fixed", "--kernel", "rbf + constant")...)
			if code != 2 || !strings.Contains(said, fault.want) {
				t.Errorf("fit: exit code %d: %s", code, said)
			}
			decided := filepath.Join(t.TempDir(), "decided")
			code, said = lossepBeam(t, "decide", model, folder, "-o", decided)
			if code != 2 || !strings.Contains(said, fault.want) {
				t.Errorf("decide: exit code %d: %s", code, said)
			}
			for _, path := range []string{to, decided} {
				if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			}
		})
	}
}

// decidedParquet is a Parquet file of other columns.
func decidedParquet(t *testing.T, model, folder string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.parquet")
	code, said := lossep(t, "decide", model, folder, "-o", path)
	must(t, code, said)
	return path
}

// Files that change, go or are damaged between passes end a fit with their name; what was
// finished stays for the next try, and there is no model.
func TestFilesChangeBetweenPasses(t *testing.T) {
	for name, fault := range map[string]struct {
		change func(path string) error
		want   string
	}{
		"gone":  {os.Remove, "01.parquet"},
		"short": {func(path string) error { return os.Truncate(path, 1000) }, "01.parquet"},
		"other": {func(path string) error {
			return os.WriteFile(path, content(t, filepath.Join(filepath.Dir(path), "02.parquet")), 0o644)
		}, "the 11000 rows from here on are not those"}, // of which shard, is left to chance
	} {
		t.Run(name, func(t *testing.T) {
			folder := tableOf(t, 13_200, 14_300, 14_300)
			to := filepath.Join(t.TempDir(), "beam.lossep")
			place := watched(func(made int) {
				if made != 2 {
					return
				}
				if err := fault.change(filepath.Join(folder, "01.parquet")); err != nil {
					t.Error(err)
				}
			})
			code, said := run(t, place, fitArgs(folder, to, "--shard-rows", "11000", "--fixed", "--kernel", "rbf + constant")...)
			if code != 2 || !strings.Contains(said, fault.want) {
				t.Errorf("exit code %d: %s", code, said)
			}
			if _, err := os.Stat(to); err == nil {
				t.Error("there is a model")
			}
		})
	}
}

// watched is the place of a command that calls a function after every pass, with how many
// there have been.
func watched(passed func(made int)) *command.Place {
	place := cluster.NewPlace()
	begin := place.Passes
	place.Passes = func(ctx context.Context, f command.Fit) (command.Passes, error) {
		p, err := begin(ctx, f)
		if d, ok := p.(*cluster.Driver); ok {
			made := 0
			d.Watch(func(string) {
				made++
				passed(made)
			})
		}
		return p, err
	}
	return place
}

// Files are read in the first pass and not again while they stay as they are; what was kept
// of them and is damaged is read again.
func TestFilesAreReadOnce(t *testing.T) {
	folder := tableOf(t, 16_500, 9_900)
	one, beam := filepath.Join(t.TempDir(), "one.lossep"), filepath.Join(t.TempDir(), "beam.lossep")
	more := []string{"--shard-rows", "11000", "--fixed", "--kernel", "rbf + constant"}
	code, said := lossep(t, fitArgs(folder, one, more...)...)
	must(t, code, said)
	path := filepath.Join(folder, "01.parquet")
	good := content(t, path)
	set := func(b []byte, changed time.Time) {
		if err := errors.Join(os.WriteFile(path, b, 0o644), os.Chtimes(path, changed, changed)); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	code, said = run(t, watched(func(made int) {
		switch made {
		case 1: // another content, which nobody can see without reading it
			set(make([]byte, len(good)), info.ModTime())
		case 2:
			parts, _ := filepath.Glob(filepath.Join(beam+".passes", "parts", "000002.*"))
			if len(parts) != 1 {
				t.Fatal(parts)
			}
			b := content(t, parts[0])
			b[len(b)-1] ^= 1
			if err := os.WriteFile(parts[0], b, 0o644); err != nil {
				t.Error(err)
			}
			set(good, info.ModTime())
		}
	}), fitArgs(folder, beam, more...)...)
	must(t, code, said)
	if !bytes.Equal(content(t, one), content(t, beam)) {
		t.Error("another model")
	}
}

// Two drivers do not get at each other's files: the second says who is at work. What else is in the folder stays.
func TestOneDriverAtATime(t *testing.T) {
	folder, to := tableOf(t, 16_500, 9_900), t.TempDir()
	other := filepath.Join(to, "work", "other.csv")
	if err := errors.Join(os.Mkdir(filepath.Dir(other), 0o755), os.WriteFile(other, []byte("a\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	args := func(model string) []string {
		return fitArgs(folder, filepath.Join(to, model), "--shard-rows", "11000", "--fixed", "--kernel", "rbf + constant", "--work", filepath.Join(to, "work"))
	}
	code, said := run(t, watched(func(made int) {
		if made != 1 {
			return
		}
		code, said := lossepBeam(t, args("second.lossep")...)
		if code != 2 || !strings.Contains(said, "--work") || !strings.Contains(said, fmt.Sprintf("process %d of ", os.Getpid())) {
			t.Errorf("the second driver: exit code %d: %s", code, said)
		}
	}), args("first.lossep")...)
	must(t, code, said)
	code, said = lossepBeam(t, args("second.lossep")...)
	must(t, code, said)
	if !bytes.Equal(content(t, filepath.Join(to, "first.lossep")), content(t, filepath.Join(to, "second.lossep"))) {
		t.Error("another model")
	}
	if left, _ := filepath.Glob(filepath.Join(to, "work", "*")); len(left) != 1 || left[0] != other {
		t.Errorf("the folder has %v", left)
	}
}
