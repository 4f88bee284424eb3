package command

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/lossep/lossep/internal/lock"
	"github.com/lossep/lossep/internal/sealed"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/report"
)

// resultFolder is a folder that belongs to one command. It holds the files of one
// finished run, and those parts of an unfinished one that are done. Only one run at a time
// has it open.
type resultFolder struct {
	path      string
	signature string   // what results.json and the progress say they were made by
	files     []string // all that a run may write, that of report.Results among them

	lock     *os.File // the folder itself, while it is open
	replaced int      // parts of another run, for which resume had no use
}

// Names in the folder. Progress is there only while a run is unfinished, and is made
// under another name, so that it is there with its settings or not at all. What begins
// with folderTemporary was left by a run that was killed.
const (
	folderProgress  = ".progress"
	folderSettings  = "settings.json"
	folderTemporary = ".lossep-"
)

// open makes sure of a folder that is empty or of this command, can be written, and is
// open to no other run. It is closed with close.
func (f *resultFolder) open() (err error) {
	if err := os.MkdirAll(f.path, 0o755); errors.Is(err, syscall.ENOTDIR) {
		var at *os.PathError
		errors.As(err, &at) // it, or what it would be in
		return usagef("--out: %s is a file, and --out names a folder; give another name", at.Path)
	} else if err != nil {
		return usagef("--out: the folder cannot be made: %w", err)
	}
	if f.lock, err = lock.Folder(f.path); err != nil {
		return usagef("--out: %s: %w", f.path, err)
	}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return usagef("--out: %w", err)
	}
	var left []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), folderTemporary) {
			left = append(left, e.Name())
		}
	}
	if len(entries) > len(left) && !f.ours(entries) {
		return usagef("--out: %s is not empty and was not written by this command; give another folder", f.path)
	}
	for _, name := range left {
		_ = os.RemoveAll(filepath.Join(f.path, name)) // nobody else has the folder open
	}
	probe, err := os.CreateTemp(f.path, folderTemporary+"*")
	if err != nil {
		return usagef("--out: the folder cannot be written: %w", named(f.path, err))
	}
	return discard(probe)
}

// close lets others open the folder.
func (f *resultFolder) close() {
	if f.lock != nil {
		_ = f.lock.Close() // nothing was written to the folder itself
	}
}

// ours looks for the signature of a finished or an unfinished run, or for the beginning
// of one: progress without settings, and nothing else.
func (f *resultFolder) ours(entries []os.DirEntry) bool {
	for _, name := range []string{report.Results, filepath.Join(folderProgress, folderSettings)} {
		var found struct {
			MadeBy string `json:"made_by"`
		}
		b, err := os.ReadFile(filepath.Join(f.path, name))
		if err == nil && json.Unmarshal(b, &found) == nil && found.MadeBy == f.signature {
			return true
		}
	}
	for _, e := range entries {
		if e.Name() != folderProgress && !strings.HasPrefix(e.Name(), folderTemporary) {
			return false
		}
	}
	inside, err := os.ReadDir(filepath.Join(f.path, folderProgress))
	if err != nil {
		return false
	}
	for _, e := range inside {
		if info, err := e.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
			return false
		}
	}
	return true
}

// resume returns the parts that an unfinished run with the same settings left, and
// makes room for those to come.
func (f *resultFolder) resume(settings any) ([][]byte, error) {
	folder := filepath.Join(f.path, folderProgress)
	// A program that cannot be distinguished from others shares its parts with none.
	program, unknown := fingerprint()
	now, err := json.Marshal(struct {
		MadeBy   string            `json:"made_by"`
		Program  string            `json:"program"`
		Versions map[string]string `json:"versions"`
		Settings any               `json:"settings"`
	}{f.signature, program, versions(), settings})
	if err != nil {
		return nil, err
	}
	before, err := os.ReadFile(filepath.Join(folder, folderSettings))
	if unknown == nil && err == nil && bytes.Equal(before, now) {
		return f.parts()
	}
	others, err := f.parts()
	if err != nil {
		return nil, err
	}
	f.replaced = len(others)
	fresh, err := os.MkdirTemp(f.path, folderTemporary+"*")
	if err != nil {
		return nil, err
	}
	err = writeWhole(filepath.Join(fresh, folderSettings), now)
	if err == nil {
		err = os.Chmod(fresh, 0o755)
	}
	if err == nil {
		err = os.RemoveAll(folder)
	}
	if err == nil {
		err = os.Rename(fresh, folder)
	}
	if err != nil {
		_ = os.RemoveAll(fresh) // the first error is the one to tell
	}
	return nil, err
}

func (f *resultFolder) parts() (parts [][]byte, err error) {
	folder := os.DirFS(f.path)
	names, err := fs.Glob(folder, folderProgress+"/part-*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		// What cannot be read is computed again.
		if b, err := fs.ReadFile(folder, name); err == nil {
			parts = append(parts, b)
		}
	}
	return parts, nil
}

// keep saves a part of the run that is done.
func (f *resultFolder) keep(index int, part any) error {
	b, err := sealed.Marshal(part)
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(f.path, folderProgress, fmt.Sprintf("part-%04d.json", index)), b)
}

// writeWhole writes a file that is there as a whole or not at all, also after the machine
// has lost its power.
func writeWhole(path string, content []byte) error {
	temporary := path + ".part"
	err := writeSynced(temporary, content)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		_ = os.Remove(temporary) // the first error is the one to tell
	}
	return err
}

// writeSynced writes a file to where it stays. What a disk has no room for may show only
// then.
func writeSynced(path string, content []byte) error {
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return errors.Join(err, w.Sync(), w.Close())
}

// replace makes the folder hold the given files and none of an earlier run. All are
// written beside the old ones before the first takes its place. Parts of an unfinished
// run go too, unless that was about something else.
func (f *resultFolder) replace(made func() (map[string][]byte, error), keepParts bool) error {
	files, err := made()
	if err != nil {
		return err
	}
	temporary := func(name string) string { return filepath.Join(f.path, folderTemporary+name) }
	for name, content := range files {
		if err := writeSynced(temporary(name), content); err != nil {
			for name := range files {
				_ = os.Remove(temporary(name)) // the first error is the one to tell
			}
			return err
		}
	}
	for _, name := range f.files {
		path := filepath.Join(f.path, name)
		var err error
		if _, ok := files[name]; ok {
			err = os.Rename(temporary(name), path)
		} else if err = os.Remove(path); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	if keepParts {
		return nil
	}
	return os.RemoveAll(filepath.Join(f.path, folderProgress))
}

// executable is the program's file, which a test may take away.
var executable = os.Executable

// fingerprint tells one build of the program from another, so that a run never goes on
// from parts that other code computed.
func fingerprint() (string, error) {
	path, err := executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	const size = 1 << 20 // of a part
	parts := make([][sha256.Size]byte, (info.Size()+size-1)/size)
	errs := make([]error, len(parts))
	tasks.Each(len(parts), func() func(int) {
		buffer := make([]byte, size)
		return func(k int) {
			n, err := file.ReadAt(buffer, int64(k)*size)
			if err != nil && err != io.EOF {
				errs[k] = err
			}
			parts[k] = sha256.Sum256(buffer[:n])
		}
	})
	sum := sha256.New()
	for _, part := range parts {
		sum.Write(part[:])
	}
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(errs...)
}

// versions are those of what computed the results.
func versions() map[string]string {
	v := map[string]string{"go": runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v["lossep"] = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v["revision"] = s.Value
		}
	}
	for _, d := range info.Deps {
		if d.Path == "gonum.org/v1/gonum" || d.Path == "gonum.org/v1/plot" {
			v[d.Path] = d.Version
		}
	}
	return v
}

// writeReport writes the text of a report, and then where the page is.
func writeReport(w io.Writer, where, folder string, text func(io.Writer) error) error {
	if err := text(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, where, strings.TrimRight(folder, "/")+"/index.html")
	return err
}

// unfinished is a run of many parts, each of which is kept as soon as it is done.
type unfinished[T any] struct {
	folder   *resultFolder
	settings any    // what the parts depend on
	what     string // the parts are called
	total    int
	index    func(*T) int
	fits     func(*T) bool // whether a part that was read is one of this run
}

// finish computes the parts from where an earlier run stopped, by a function that is
// given those known and calls finished with every other.
func (u unfinished[T]) finish(ctx context.Context, errs io.Writer, run func(ctx context.Context, known []*T, finished func(*T) error) ([]*T, error)) ([]*T, error) {
	texts, err := u.folder.resume(u.settings)
	if err != nil {
		return nil, err
	}
	var known []*T
	for _, text := range texts {
		// What cannot be read is computed again.
		if part := new(T); sealed.Unmarshal(text, part) == nil && u.fits(part) {
			known = append(known, part)
		}
	}
	done := len(known)
	if lost := len(texts) - done; lost > 0 {
		fmt.Fprintf(errs, "%d finished %s in %s are damaged and are made again\n", lost, u.what, u.folder.path)
	}
	if u.folder.replaced > 0 {
		fmt.Fprintf(errs, "%d finished %s in %s were of other options, rows or another version, and are not gone on from\n", u.folder.replaced, u.what, u.folder.path)
	}
	if done > 0 {
		fmt.Fprintf(errs, "going on from %d finished %s\n", done, u.what)
	}
	bar := newProgressBar(u.what, u.total, done, errs)
	parts, err := run(ctx, known, func(part *T) error {
		if err := u.folder.keep(u.index(part), part); err != nil {
			return err
		}
		done++
		bar.add()
		return nil
	})
	bar.clear()
	if err != nil && done == 0 && ctx.Err() != nil {
		fmt.Fprintf(errs, "none of %d %s was finished; the same command begins anew\n", u.total, u.what)
	}
	if err != nil && done > 0 && ctx.Err() != nil {
		fmt.Fprintf(errs, "%d of %d %s are kept in %s; the same command goes on from them\n", done, u.total, u.what, u.folder.path)
	}
	return parts, err
}
