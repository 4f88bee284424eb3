//go:build unix

package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestReadsRegularFilesAndLinks(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("twelve bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, link} {
		if text, err := Read(p, 12); err != nil || string(text) != "twelve bytes" {
			t.Errorf("%s: %q, %v", p, text, err)
		}
		if _, err := Read(p, 11); err == nil || !strings.Contains(err.Error(), "more than 11 bytes") {
			t.Errorf("%s, too long: %v", p, err)
		}
	}
	if _, err := Read(path+"x", 12); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
}

// What has no end is refused at once, also by way of a link, and also if it comes to
// stand there between the first look and the opening.
func TestRefusesWhatHasNoEnd(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, want := range map[string]string{
		pipe: "a pipe", link: "a device", "/dev/null": "a device", socket: "a socket", dir: "a directory",
	} {
		done := make(chan error, 1)
		go func() {
			_, err := Open(path)
			done <- err
		}()
		select {
		case err := <-done:
			var located *fs.PathError
			if !errors.As(err, &located) || located.Path != path || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", path, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: it is waited for", path)
		}
	}
}
