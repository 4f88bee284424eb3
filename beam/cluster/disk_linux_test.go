package cluster_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A disk that becomes full in the middle of a fit ends it with the file that did not fit,
// and there is no model.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1056k"); err != nil {
		t.Skipf("no small disk can be had: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	}()
	folder := tableOf(t, 16_500, 9_900)
	to := filepath.Join(t.TempDir(), "beam.lossep")
	work := filepath.Join(disk, "work")
	code, said := lossepBeam(t, fitArgs(folder, to, "--shard-rows", "11000", "--fixed", "--kernel", "rbf + constant", "--work", work)...)
	if code != 1 || !strings.Contains(said, work) || !strings.Contains(said, "no space left on device") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("there is a model")
	}
	half := 0
	_ = filepath.Walk(work, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && strings.Count(filepath.Base(path), ".") > 1 {
			half++
		}
		return nil
	})
	if half > 0 {
		t.Errorf("%d files are half written", half)
	}
}
