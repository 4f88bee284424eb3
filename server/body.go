package server

import (
	"bytes"
	"errors"
	"mime"
	"net"
	"net/http"
	"slices"
	"sync"
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

// readBody reads the body of a request, up to the limit, into a buffer that the caller
// frees. Its type must be one of those accepted, of which an empty one stands for none.
func (s *Server) readBody(x *exchange, accepted ...string) (*bytes.Buffer, error) {
	r := x.request
	if err := checkType(r, accepted); err != nil {
		return nil, err
	}
	if r.ContentLength > s.config.MaxBody {
		return nil, s.tooLarge().with("Connection", "close")
	}
	b := newBuffer()
	_, err := b.ReadFrom(http.MaxBytesReader(x.ResponseWriter, r.Body, s.config.MaxBody))
	if err == nil {
		return b, nil
	}
	freeBuffer(b)
	var large *http.MaxBytesError
	var network net.Error
	switch {
	case errors.As(err, &large):
		return nil, s.tooLarge()
	case errors.As(err, &network) && network.Timeout():
		return nil, refuse(http.StatusRequestTimeout, "the body did not arrive in time").with("Connection", "close")
	}
	return nil, refuse(http.StatusBadRequest, "the body could not be read to its end").with("Connection", "close")
}

func (s *Server) tooLarge() *Problem {
	return refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes; send the rows in several requests", s.config.MaxBody)
}

// checkType refuses bodies that are not what is going to be read.
func checkType(r *http.Request, accepted []string) error {
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return refuse(http.StatusUnsupportedMediaType, "the body has the encoding %q; send it as it is", e).with("Accept-Encoding", "identity")
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
	return refuse(http.StatusUnsupportedMediaType, "the body has the type %q; send it as %s", given, accepted[0]).with("Accept", accepted[0])
}
