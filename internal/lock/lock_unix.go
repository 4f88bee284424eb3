//go:build unix

// Package lock keeps two processes from writing to one folder.
package lock

import (
	"errors"
	"os"
	"syscall"
)

// Folder keeps other runs out of a folder until the file it returns is closed, which
// the system does for a process that is killed. Where the file system knows no locks, as
// some that lie on other machines, nobody is kept out.
func Folder(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		_ = f.Close() // nothing was written
		return nil, errors.New("another run is writing to this folder; wait for its end, or give another folder")
	}
	return f, nil
}
