package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// checkOutput refuses a path that cannot be written, or that is one of the files read,
// before any work is done.
func checkOutput(flag, path string, inputs ...string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return usagef("%s %s: this is not a regular file; give the path of a file to write", flag, path)
		}
		for _, name := range inputs {
			if sameFile(path, name) {
				return usagef("%s %s: this is one of the files read, which would be lost; give another path", flag, path)
			}
		}
	}
	for _, name := range inputs {
		folder, err := os.Stat(name)
		if err != nil || !folder.IsDir() {
			continue
		}
		if parent, err := os.Stat(filepath.Dir(path)); err == nil && os.SameFile(parent, folder) {
			return usagef("%s %s: this is in the folder that is read, and would be taken for rows of it the next time; give another path", flag, path)
		}
	}
	probe, err := os.CreateTemp(filepath.Dir(path), ".lossep-*")
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("%s %s: there is no folder %s; make it first, or give another path", flag, path, filepath.Dir(path))
	}
	if err != nil {
		return named(flag+" "+path, err)
	}
	return discard(probe)
}

// sameFile tells whether two paths lead to the same file.
func sameFile(one, other string) bool {
	a, err := os.Stat(one)
	if err != nil {
		return false
	}
	b, err := os.Stat(other)
	return err == nil && os.SameFile(a, b)
}

// named is an error about a temporary file with the name of what it is to become: nobody
// has given the other.
func named(name string, err error) error {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &at):
		err = at.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

func discard(f *os.File) error {
	err := f.Close()
	if gone := os.Remove(f.Name()); err == nil {
		err = gone
	}
	return err
}

// spool holds rows of output in a temporary file until all of them are there: a bad
// row at the end of a long file then leaves no partial output, in memory that does not
// grow.
type spool struct {
	*bufio.Writer
	file *os.File
	path string // to be given the rows at the end; empty for standard output
	name string // for errors
}

func newSpool(path string) (*spool, error) {
	directory, name, prefix := os.TempDir(), "the folder for temporary files, "+os.TempDir(), ".lossep-"
	if path != "" {
		directory, name, prefix = filepath.Dir(path), path, partialOf(path)
		removePartial(directory, prefix, time.Now().Add(-abandoned))
	}
	f, err := os.CreateTemp(directory, prefix+"*")
	if err != nil {
		return nil, named(name, err)
	}
	return &spool{bufio.NewWriterSize(namedWriter{f, name}, 1<<16), f, path, name}, nil
}

// abandoned is after how long without a change what is left of an output is nobody's any more.
const abandoned = 24 * time.Hour

// partialOf begins the names of what is not finished of a file, which a process that is killed leaves.
func partialOf(path string) string {
	const most = 200 // bytes, of the 255 that a name may have
	base := filepath.Base(path)
	return "." + base[:min(len(base), most)] + ".partial-"
}

// removePartial removes what was left of outputs before a time. What cannot be removed does no harm.
func removePartial(directory, prefix string, before time.Time) {
	entries, _ := os.ReadDir(directory)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(directory, e.Name()))
		}
	}
}

// namedWriter writes to a temporary file.
type namedWriter struct {
	file *os.File
	name string
}

func (w namedWriter) Write(b []byte) (int, error) {
	n, err := w.file.Write(b)
	return n, named(w.name, err)
}

// abandon removes what is left of the temporary file.
func (s *spool) abandon() {
	if s.file != nil {
		_ = discard(s.file) // there is an error already, or nothing to lose
	}
}

// finish hands over the rows.
func (s *spool) finish(out io.Writer) error {
	if err := s.Flush(); err != nil {
		return err
	}
	if s.path == "" {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return named(s.name, err)
		}
		if _, err := io.Copy(out, s.file); err != nil {
			return fmt.Errorf("standard output: %w", err)
		}
		return nil
	}
	return named(s.name, s.place())
}

// place puts the file where it belongs.
func (s *spool) place() error {
	// Temporary files are private; what is asked for has the usual permissions, or those of
	// the file it replaces, which a link may lead to.
	path, mode := s.path, os.FileMode(0o644)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := s.file.Chmod(mode); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	if err := s.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(s.file.Name(), path); err != nil {
		return err
	}
	s.file = nil
	return nil
}
