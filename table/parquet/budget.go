package parquet

import (
	"errors"
	"slices"
	"sync"
)

// budget is how much memory the pages that are being read may take together. What was
// given back is used again.
type budget struct {
	most int64

	mutex sync.Mutex
	used  int64
	idle  int64 // of what was given back
	free  [][]byte
}

var errBudget = errors.New("more memory than may be used")

// padding is how many bytes behind a page may be looked at, for bits are unpacked many at a
// time.
const padding = 32

// count takes note of n bytes more, or fewer.
func (b *budget) count(n int64) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.add(n)
}

func (b *budget) add(n int64) error {
	if n > b.most-b.used {
		return errBudget
	}
	b.used += n
	if b.used+b.idle > b.most {
		b.free, b.idle = nil, 0
	}
	return nil
}

// take is memory of some size, with padding behind it. No page may take more than half of
// all there is.
func (b *budget) take(size int64) ([]byte, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if size < 0 || size > b.most/2 {
		return nil, errBudget
	}
	k := slices.IndexFunc(b.free, func(m []byte) bool { return int64(cap(m)) >= size+padding && int64(cap(m)) <= 4*size+leastBytes })
	if k < 0 {
		room := max(size+padding, min(leastBytes, 2*size))
		if err := b.add(room); err != nil {
			return nil, err
		}
		return make([]byte, size, room), nil
	}
	m := b.free[k]
	b.free = slices.Delete(b.free, k, k+1)
	b.idle -= int64(cap(m))
	if err := b.add(int64(cap(m))); err != nil {
		return nil, err
	}
	clear(m[size : size+padding])
	return m[:size], nil
}

// leastBytes is the room for pages that differ a little in size.
const leastBytes = 64 << 10

// give takes memory back.
func (b *budget) give(m []byte) {
	if cap(m) == 0 {
		return
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.used -= int64(cap(m))
	b.free = append(b.free, m)
	b.idle += int64(cap(m))
	const most = 64
	if len(b.free) > most {
		b.idle -= int64(cap(b.free[0]))
		b.free = slices.Delete(b.free, 0, 1)
	}
}
