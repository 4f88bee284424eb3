package server

import (
	"io"
	"net/http"

	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/server/problem"
)

// The memory of all requests under way together is their bodies as far as they have
// arrived, the rows read from them, and the answers.
const (
	// requestBytes is what a request takes besides its body, rows and answer.
	requestBytes = 16 << 10
	// smallPart is which part of the memory is for small requests.
	smallPart = 8
)

// share is one request's part of the memory. Nil is without bounds.
type share struct{ budget.Share }

// Take asks for more bytes. What one request alone could never get is too large; what
// others have taken may be free later.
func (s *share) Take(n int64) error {
	if s == nil {
		return nil
	}
	switch s.Share.Take(n) {
	case budget.ErrTooLarge:
		return problem.New(http.StatusRequestEntityTooLarge, "the rows need more memory than the server has for requests; send them in several requests")
	case budget.ErrBusy:
		return problem.Busy(budget.ErrBusy.Error())
	}
	return nil
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
