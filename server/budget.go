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

// requestBytes is what a request takes besides its body, rows and answer.
const requestBytes = 16 << 10

// share is one request's part of a budget. Nil is a share of a budget without bounds.
type share struct {
	budget *budget
	taken  int64
}

// Take asks for more bytes. What one request alone could never get is too large; what
// others have taken may be free later.
func (s *share) Take(n int64) error {
	switch {
	case s == nil:
		return nil
	case s.taken+n > s.budget.total:
		return problem.New(http.StatusRequestEntityTooLarge, "the rows need more memory than the server has for requests; send them in several requests")
	case s.budget.taken.Add(n) > s.budget.total:
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
