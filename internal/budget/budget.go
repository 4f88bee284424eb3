// Package budget bounds the memory that the requests of a process take together. What is
// counted is an estimate of the large parts, made before they are allocated, and not an
// account of every byte.
package budget

import (
	"context"
	"errors"
	"sync"
)

// Why there is no memory.
var (
	// ErrTooLarge says that one request alone asks for more than there is.
	ErrTooLarge = errors.New("more memory than there is for requests")
	// ErrBusy says that others have taken it, and may give it back.
	ErrBusy = errors.New("too many requests, or too large ones, are under way")
)

// Small is up to how many bytes a request is small.
const Small = 64 << 10

// Budget is the memory of all requests under way together.
type Budget struct {
	// Total is how many bytes there are, of which Reserved are for small requests alone:
	// large ones that do not end keep no small one from being answered.
	Total, Reserved int64

	mu    sync.Mutex
	taken int64
	freed chan struct{} // closed when somebody who waits may try again
}

// Taken is how many bytes are taken.
func (b *Budget) Taken() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken
}

// Share is one request's part of a budget. Nil is a share of a budget without bounds. It is not
// for concurrent use.
type Share struct {
	Budget *Budget
	taken  int64
}

// Taken is how many bytes the share has.
func (s *Share) Taken() int64 { return s.taken }

// Take asks for more bytes; the error is ErrTooLarge or ErrBusy.
func (s *Share) Take(n int64) error {
	if s == nil {
		return nil
	}
	b := s.Budget
	b.mu.Lock()
	defer b.mu.Unlock()
	room := b.Total
	if n > Small-s.taken {
		room -= b.Reserved
	}
	switch {
	case n > room-s.taken:
		return ErrTooLarge
	case n > room-b.taken:
		return ErrBusy
	}
	b.taken += n
	s.taken += n
	return nil
}

// Wait takes more bytes once others have given them back. Before it waits, spare may free some
// and says whether it did. Who waits must hold nothing that those need who are waited for.
func (s *Share) Wait(ctx context.Context, n int64, spare func() bool) error {
	for {
		freed := s.Budget.watch()
		if err := s.Take(n); err != ErrBusy {
			return err
		}
		if spare() {
			continue
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Split gives n bytes of the share to another, which has them even if the share has fewer.
func (s *Share) Split(n int64) *Share {
	b := s.Budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken += max(0, n-s.taken)
	s.taken = max(0, s.taken-n)
	return &Share{Budget: b, taken: n}
}

// Release gives everything back.
func (s *Share) Release() {
	s.Budget.mu.Lock()
	s.Budget.taken -= s.taken
	s.taken = 0
	s.Budget.mu.Unlock()
	s.Budget.Wake()
}

// Wake has those who wait try again.
func (b *Budget) Wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}

// watch is closed when it may be worth trying again.
func (b *Budget) watch() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.freed == nil {
		b.freed = make(chan struct{})
	}
	return b.freed
}
