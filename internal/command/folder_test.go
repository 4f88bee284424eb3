//go:build unix

package command

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/lossep/lossep/report"
)

// entries are what is in a folder.
func entries(t *testing.T, path string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// smallDisk is a folder on a disk with room for so many bytes.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	path := t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", path).Run(); err != nil {
		t.Skipf("no small disk can be made here: %v", err)
	}
	t.Cleanup(func() {
		if err := exec.Command("umount", path).Run(); err != nil {
			t.Error(err)
		}
	})
	return path
}

// A disk that is full ends an audit with that word, and leaves a folder in which the same
// command goes on when there is room.
func TestAuditOnAFullDisk(t *testing.T) {
	disk := smallDisk(t, "256k")
	ballast, out := filepath.Join(disk, "ballast"), filepath.Join(disk, "out")
	args := strings.Fields("audit --example --folds 2 --methods ep --method ep --references 0 --out " + out)
	for _, room := range []int{0, 4 << 10, 8 << 10, 16 << 10} {
		if err := os.WriteFile(ballast, make([]byte, 256<<10), 0o600); err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		info, err := os.Stat(ballast)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(ballast, max(0, info.Size()-int64(room))); err != nil {
			t.Fatal(err)
		}
		var said, errs bytes.Buffer
		if code := run(t.Context(), args, nil, &said, &errs); code == 0 || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("with %d bytes of room: exit code %d\n%s", room, code, errs.String())
		}
		if _, err := os.Stat(filepath.Join(out, report.Results)); err == nil {
			t.Errorf("with %d bytes of room there are results", room)
		}
	}
	// The same folder on a disk with room.
	if err := exec.Command("mount", "-o", "remount,size=64m", disk).Run(); err != nil {
		t.Skip(err)
	}
	var said, errs bytes.Buffer
	if code := run(t.Context(), args, nil, &said, &errs); code != 0 {
		t.Errorf("with room again: exit code %d\n%s", code, errs.String())
	}
	for _, name := range entries(t, out) {
		if strings.HasPrefix(name, ".") {
			t.Errorf("%s is left", name)
		}
	}
}

// Of two runs that want one folder at the same time one has it, and the other is refused.
func TestOneRunAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "out")
	const runs = 12
	var all sync.WaitGroup
	var mu sync.Mutex
	var opened []*resultFolder
	for range runs {
		all.Go(func() {
			f := &resultFolder{path: path, signature: "test"}
			err := f.open()
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				opened = append(opened, f)
			} else if !strings.Contains(err.Error(), "another run") {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(opened) != 1 {
		t.Fatalf("%d runs have the folder", len(opened))
	}
	opened[0].close()
	f := &resultFolder{path: path, signature: "test"}
	if err := f.open(); err != nil {
		t.Error(err)
	}
	f.close()
}

// What runs that were killed at any point have left is no obstacle, and what others have
// put there is.
func TestWhatWasLeftInAFolder(t *testing.T) {
	for name, c := range map[string]struct {
		files  map[string]string
		usable bool
	}{
		"nothing":                        {nil, true},
		"a probe":                        {map[string]string{".lossep-123": ""}, true},
		"progress being made":            {map[string]string{".lossep-123/settings.json.part": "{"}, true},
		"results being written":          {map[string]string{".lossep-results.json": "{"}, true},
		"progress without settings":      {map[string]string{".progress/": ""}, true},
		"progress with empty settings":   {map[string]string{".progress/settings.json": ""}, true},
		"progress of ours":               {map[string]string{".progress/settings.json": `{"made_by":"test"}`, ".progress/part-0000.json": "1"}, true},
		"progress of another":            {map[string]string{".progress/settings.json": `{"made_by":"other"}`}, false},
		"another's folder of that name":  {map[string]string{".progress/notes.txt": "mine"}, false},
		"another's file beside progress": {map[string]string{".progress/": "", "notes.txt": "mine"}, false},
		"another's file":                 {map[string]string{"notes.txt": "mine"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := &resultFolder{path: t.TempDir(), signature: "test"}
			for file, text := range c.files {
				path := filepath.Join(f.path, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(file, "/") {
					if err := os.MkdirAll(path, 0o700); err != nil {
						t.Fatal(err)
					}
					continue
				}
				write(t, path, text)
			}
			before := entries(t, f.path)
			err := f.open()
			f.close()
			if (err == nil) != c.usable {
				t.Errorf("%v", err)
			}
			after := entries(t, f.path)
			if !c.usable && len(after) != len(before) {
				t.Errorf("%v became %v", before, after)
			}
			if c.usable && strings.Contains(strings.Join(after, " "), folderTemporary) {
				t.Errorf("%v are left", after)
			}
		})
	}
}
