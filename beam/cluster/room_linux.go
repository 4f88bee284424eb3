package cluster

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"github.com/lossep/lossep/internal/command"
)

// room is room for numbers in a file of this machine that nobody else sees: pages that are
// not looked at go to the disk when memory is short, and the driver's memory need not hold
// the table. Numbers are the same wherever they lie.
type room struct {
	sync.Mutex
	file   *os.File
	size   int64    // of the file
	mapped [][]byte // of the file, in its order
	rest   []byte   // of the last of them
}

// newRoom makes an empty one in the folder for temporary files.
func newRoom() (command.Room, error) {
	file, err := os.CreateTemp("", "lossep-rows-*")
	if err != nil {
		return nil, err
	}
	// Without a name it is gone with the process, however that ends.
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return &room{file: file}, nil
}

// roomStep is by how many bytes the file grows at least, once it is large.
const roomStep = 64 << 20

// Numbers implements table.Room.
func (r *room) Numbers(n int) ([]float64, error) {
	r.Lock()
	defer r.Unlock()
	if n == 0 {
		return nil, nil
	}
	if need := 8 * n; len(r.rest) < need {
		if err := r.grow(max(int64(need), min(r.size, roomStep))); err != nil {
			return nil, fmt.Errorf("%s: there is no room for the table: %w; free some, or name another folder in TMPDIR", os.TempDir(), err)
		}
	}
	numbers := unsafe.Slice((*float64)(unsafe.Pointer(&r.rest[0])), n)
	r.rest = r.rest[8*n:]
	return numbers, nil
}

// grow makes the file longer. Its blocks are had at once: a disk that turns out to be full
// when a page is written would end the process.
func (r *room) grow(bytes int64) error {
	page := int64(os.Getpagesize())
	bytes = (bytes + page - 1) / page * page
	err := syscall.Fallocate(int(r.file.Fd()), 0, r.size, bytes)
	if errors.Is(err, syscall.EOPNOTSUPP) { // by this file system
		err = r.fill(bytes)
	}
	if err != nil {
		return err
	}
	b, err := syscall.Mmap(int(r.file.Fd()), r.size, int(bytes), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	r.size += bytes
	r.mapped, r.rest = append(r.mapped, b), b
	return nil
}

// fill writes zeros at the end of the file.
func (r *room) fill(bytes int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < bytes; at += int64(len(zeros)) {
		if _, err := r.file.WriteAt(zeros[:min(int64(len(zeros)), bytes-at)], r.size+at); err != nil {
			return err
		}
	}
	return nil
}

// Close gives the room back. Numbers in it must not be used any more.
func (r *room) Close() error {
	r.Lock()
	defer r.Unlock()
	var err error
	for _, b := range r.mapped {
		err = errors.Join(err, syscall.Munmap(b))
	}
	r.mapped, r.rest = nil, nil
	return errors.Join(err, r.file.Close())
}
