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

// write writes a file, all or nothing.
func (s store) write(ctx context.Context, content []byte, name ...string) error {
	file := s.path(name...)
	return named(file, s.with(ctx, func(fs filesystem.Interface) error {
		renamer, ok := fs.(filesystem.Renamer)
		if !ok || remote(s.folder) { // objects are there when they are closed
			return put(ctx, fs, file, content)
		}
		// Two workers may be at the same shard, where one was thought dead.
		beside := fmt.Sprintf("%s.%x", file, rand.Uint64())
		err := put(ctx, fs, beside, content)
		if err == nil {
			err = renamer.Rename(ctx, beside, file)
		}
		if err != nil {
			_ = os.Remove(beside) // the first error is the one to tell
		}
		return err
	}))
}

func put(ctx context.Context, fs filesystem.Interface, file string, content []byte) error {
	w, err := fs.OpenWrite(ctx, file)
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	if f, ok := w.(*os.File); ok && err == nil {
		err = f.Sync() // what a disk has no room for may show only then
	}
	return errors.Join(err, w.Close())
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

// removeFolder removes the folder itself, and the empty ones in it, if it is on a disk.
func (s store) removeFolder() {
	if remote(s.folder) {
		return
	}
	entries, _ := os.ReadDir(s.folder)
	for _, e := range entries {
		if e.IsDir() {
			_ = os.Remove(s.path(e.Name())) // none that holds anything
		}
	}
	_ = os.Remove(s.folder)
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
