package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/lossep/lossep/safetensors"
)

// store is a folder that driver and workers share: on a disk, or in a store of objects.
type store struct{ folder string }

// remote tells whether a path is not one of this machine.
func remote(name string) bool { return strings.Contains(name, "://") }

func (s store) path(name ...string) string {
	if remote(s.folder) {
		return strings.TrimRight(s.folder, "/") + "/" + path.Join(name...)
	}
	return path.Join(append([]string{s.folder}, name...)...)
}

// with runs a function with the file system of the folder.
func (s store) with(ctx context.Context, do func(filesystem.Interface) error) error {
	fs, err := filesystem.New(ctx, s.folder)
	if err != nil {
		return err
	}
	return errors.Join(do(fs), fs.Close())
}

// read is the content of a file.
func (s store) read(ctx context.Context, name ...string) (content []byte, err error) {
	file := s.path(name...)
	if !remote(file) {
		content, err = os.ReadFile(file) // whose size is known beforehand
		return content, named(file, err)
	}
	err = s.with(ctx, func(fs filesystem.Interface) error {
		r, err := fs.OpenRead(ctx, file)
		if err != nil {
			return err
		}
		content, err = io.ReadAll(r)
		return errors.Join(err, r.Close())
	})
	return content, named(file, err)
}

// within is a folder of its own in the folder.
func (s store) within(name string) store { return store{s.path(name)} }

// begin makes the folder. Stores of objects have none.
func (s store) begin() error {
	if remote(s.folder) {
		return nil
	}
	return os.MkdirAll(s.folder, 0o755)
}

// write writes a file, all or nothing. A folder that was discarded is not made anew: workers of a job that
// has failed may write after its end.
func (s store) write(ctx context.Context, content []byte, name ...string) error {
	file := s.path(name...)
	if remote(file) { // objects are there when they are closed
		return named(file, s.with(ctx, func(fs filesystem.Interface) error {
			w, err := fs.OpenWrite(ctx, file)
			if err != nil {
				return err
			}
			_, err = w.Write(content)
			return errors.Join(err, w.Close())
		}))
	}
	if len(name) > 1 {
		_ = os.Mkdir(path.Dir(file), 0o755) // it may be there
	}
	// Two workers may be at the same shard, where one was thought dead.
	beside := fmt.Sprintf("%s.%x", file, rand.Uint64())
	err := put(beside, content)
	if err == nil {
		err = os.Rename(beside, file)
	}
	if err != nil {
		_ = os.Remove(beside) // the first error is the one to report
	}
	return named(file, err)
}

func put(file string, content []byte) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err = f.Write(content); err == nil {
		err = f.Sync() // what a disk has no room for may show only then
	}
	return errors.Join(err, f.Close())
}

// remove removes files as far as that can be done: they are of no use any more.
func (s store) remove(ctx context.Context, pattern ...string) {
	_ = s.with(ctx, func(fs filesystem.Interface) error {
		remover, ok := fs.(filesystem.Remover)
		if !ok {
			return nil
		}
		files, err := fs.List(ctx, s.path(pattern...))
		for _, file := range files {
			err = errors.Join(err, remover.Remove(ctx, file))
		}
		return err
	})
}

// discard removes the folder and what is in it, as far as that can be done. It loses its name first, so that
// workers that are still writing find it no more.
func (s store) discard(ctx context.Context) {
	if remote(s.folder) {
		s.remove(ctx, "*", "*")
		s.remove(ctx, "*")
		return
	}
	aside := fmt.Sprintf("%s.%x", s.folder, rand.Uint64())
	if os.Rename(s.folder, aside) == nil {
		_ = os.RemoveAll(aside)
	}
}

// readTensors reads a file of tensors.
func (s store) readTensors(ctx context.Context, name ...string) (*safetensors.File, error) {
	f, _, err := s.readSized(ctx, name...)
	return f, err
}

// readSized is readTensors, and how many bytes the file has.
func (s store) readSized(ctx context.Context, name ...string) (*safetensors.File, int, error) {
	content, err := s.read(ctx, name...)
	if err != nil {
		return nil, 0, err
	}
	f, err := safetensors.Read(bytes.NewReader(content), safetensors.Options{RequireChecksum: true})
	return f, len(content), named(s.path(name...), err)
}

// writeTensors writes a file of tensors.
func (s store) writeTensors(ctx context.Context, f *safetensors.File, name ...string) error {
	var b bytes.Buffer
	if err := safetensors.Write(&b, f); err != nil {
		return err
	}
	return s.write(ctx, b.Bytes(), name...)
}

// named gives an error the file it is about, if it does not name it.
func named(file string, err error) error {
	if err == nil || strings.Contains(err.Error(), file) {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}
