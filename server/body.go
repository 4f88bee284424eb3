package server

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/server/problem"
)

// buffers keep the memory of bodies and responses, which are large and short-lived.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// keptBuffer is how large a buffer may be that is kept for later.
const keptBuffer = 4 << 20

func newBuffer() *bytes.Buffer { return buffers.Get().(*bytes.Buffer) }

func freeBuffer(b *bytes.Buffer) {
	if b.Cap() <= keptBuffer {
		b.Reset()
		buffers.Put(b)
	}
}

// body is that of a request, and the request's share of the memory.
type body struct {
	*bytes.Buffer
	share share
}

// free ends the use of the body and of all that was made of it.
func (b *body) free() {
	freeBuffer(b.Buffer)
	b.Buffer = nil // readers of rows are kept, and with them the share
	b.share.Release()
}

// readBody reads the body of a request, which the caller frees when it is answered. It
// has at most so many bytes; its type must be one of those accepted, of which an empty
// one stands for none.
func (s *Server) readBody(x *exchange, most int64, accepted ...string) (*body, error) {
	r := x.request
	if err := checkType(r, accepted); err != nil {
		return nil, err
	}
	if r.ContentLength > most {
		x.drain()
		return nil, tooLarge(most).With("Connection", "close")
	}
	b := &body{newBuffer(), share{budget.Share{Budget: &s.memory}}}
	err := b.share.Take(requestBytes)
	if err == nil {
		_, err = b.ReadFrom(metered{http.MaxBytesReader(x.ResponseWriter, r.Body, most), &b.share})
	}
	if err == nil {
		return b, nil
	}
	b.free()
	var refused *problem.Problem
	var large *http.MaxBytesError
	var network net.Error
	switch {
	case errors.As(err, &refused):
		return nil, refused.With("Connection", "close")
	case errors.As(err, &large):
		x.drain()
		return nil, tooLarge(most)
	case errors.As(err, &network) && network.Timeout():
		return nil, problem.New(http.StatusRequestTimeout, "the body did not arrive in time").With("Connection", "close")
	}
	return nil, problem.New(http.StatusBadRequest, "the body could not be read to its end").With("Connection", "close")
}

// What is read of a body that is too large, and thrown away: many clients read nothing before
// they have sent everything, and a connection that is closed before that loses the answer.
const (
	drainedBytes = 64 << 20
	drainedTime  = 5 * time.Second
)

// drain reads the rest of a body, as far as it is bounded. Who asks first whether to send it
// gets the answer.
func (x *exchange) drain() {
	r := x.request
	if r.ContentLength > drainedBytes || r.Header.Get("Expect") != "" {
		return
	}
	if http.NewResponseController(x.ResponseWriter).SetReadDeadline(time.Now().Add(drainedTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, r.Body, drainedBytes)
}

func tooLarge(most int64) *problem.Problem {
	return problem.New(http.StatusRequestEntityTooLarge, "the body has more than %d bytes; send less, such as the rows in several requests", most)
}

// checkType refuses bodies that are not what is going to be read.
func checkType(r *http.Request, accepted []string) error {
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return problem.New(http.StatusUnsupportedMediaType, "the body has the encoding %q; send it as it is", problem.Cut(e)).With("Accept-Encoding", "identity")
	}
	given := r.Header.Get("Content-Type")
	if given != "" {
		var err error
		if given, _, err = mime.ParseMediaType(given); err != nil {
			given = "unknown"
		}
	}
	if slices.Contains(accepted, given) {
		return nil
	}
	return problem.New(http.StatusUnsupportedMediaType, "the body has the type %q; send it as %s", problem.Cut(given), accepted[0]).With("Accept", accepted[0])
}

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
