package server

import (
	"io"
	"net/http"
	"sync/atomic"

	"github.com/lossep/lossep/server/problem"
)

// budget bounds the memory of all requests under way together: their bodies as far as
// they have arrived, the rows read from them, and the answers. It is an estimate of the
// large parts, not an account of every byte.
type budget struct {
	total int64
	taken atomic.Int64
}

const (
	// requestBytes is what a request takes besides its body, rows and answer.
	requestBytes = 16 << 10
	// A request is small up to smallBytes, and an eighth of a budget is for small ones:
	// clients who begin large bodies, and do not end them, keep no decision from being made.
	smallBytes = 64 << 10
	smallPart  = 8
)

// share is one request's part of a budget. Nil is a share of a budget without bounds.
type share struct {
	budget *budget
	taken  int64
}

// Take asks for more bytes. What one request alone could never get is too large; what
// others have taken may be free later.
func (s *share) Take(n int64) error {
	if s == nil {
		return nil
	}
	room := s.budget.total
	if s.taken+n > smallBytes {
		room -= room / smallPart
	}
	switch {
	case s.taken+n > room:
		return problem.New(http.StatusRequestEntityTooLarge, "the rows need more memory than the server has for requests; send them in several requests")
	case s.budget.taken.Add(n) > room:
		s.budget.taken.Add(-n)
		return problem.Busy("too many requests, or too large ones, are under way")
	}
	s.taken += n
	return nil
}

// release gives everything back.
func (s *share) release() {
	s.budget.taken.Add(-s.taken)
	s.taken = 0
}

// metered is a reader that takes what it reads from a share. A client that is slow, or
// that announces more than it sends, takes no more than it has sent.
type metered struct {
	io.Reader
	share *share
}

func (m metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if refused := m.share.Take(int64(n)); refused != nil {
		return n, refused
	}
	return n, err
}
