// Package regular opens files that have an end: regular ones, followed through links.
//
// A path can come to name a pipe that nobody writes to, or a device that never ends, and
// a program that opens it waits or reads for ever. Here neither happens: what is no
// regular file is refused without waiting.
package regular

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Open opens the regular file at path for reading. The error is a *fs.PathError.
func Open(path string) (*os.File, error) {
	// Asked before it is opened, for opening a device can have effects of its own.
	info, err := os.Stat(path)
	if err == nil {
		err = check(path, info)
	}
	if err != nil {
		return nil, err
	}
	// The path may name something else by now: a pipe is opened without waiting for
	// somebody to write to it, and what was opened is asked again.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = check(path, info)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

// Read reads the regular file at path, which must have at most so many bytes.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than %d bytes", most)}
	}
	return text, err
}

func check(path string, info fs.FileInfo) error {
	kind := "neither a regular file nor a link to one"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a directory and not a file"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe and not a regular file"
	case mode&fs.ModeDevice != 0:
		kind = "a device and not a regular file"
	case mode&fs.ModeSocket != 0:
		kind = "a socket and not a regular file"
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is %s", kind)}
}
