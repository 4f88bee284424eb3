package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lossep/lossep/internal/tasks"
)

// messages is a transport of JSON-RPC messages, one on a line. Unlike that of the SDK it answers a line that is no
// message with an error and goes on, and says that the input ended when all that was asked is answered.
type messages struct {
	in  io.Reader
	out io.Writer

	lines    chan []byte // of the input; nil for one that is too long
	lost     error       // why the input ended, when lines is closed
	answered chan struct{}
	closed   chan struct{}
	broken   error // why nothing more is answered, when closed is
	close    sync.Once

	mu    sync.Mutex // of out and asked
	asked map[jsonrpc.ID]bool
}

// Connect implements mcp.Transport.
func (m *messages) Connect(context.Context) (mcp.Connection, error) {
	m.lines, m.answered, m.closed = make(chan []byte), make(chan struct{}, 1), make(chan struct{})
	m.asked = make(map[jsonrpc.ID]bool)
	go func() {
		defer close(m.lines)
		m.lost = tasks.Try(m.split)
	}()
	return m, nil
}

// SessionID implements mcp.Connection.
func (m *messages) SessionID() string { return "" }

// Close implements mcp.Connection. Input and output are closed by others.
func (m *messages) Close() error {
	m.stop(io.EOF)
	return nil
}

func (m *messages) stop(why error) {
	m.close.Do(func() {
		m.broken = why
		close(m.closed)
	})
}

// split hands over the lines of the input that are not empty, and returns why there are no more.
func (m *messages) split() error {
	in := bufio.NewReaderSize(m.in, 1<<16)
	for {
		line, err := bounding(in)
		if line == nil || len(bytes.TrimSpace(line)) > 0 {
			select {
			case m.lines <- line:
			case <-m.closed:
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// bounding is the next line, nil if it is longer than a request may be.
func bounding(in *bufio.Reader) ([]byte, error) {
	line, size := []byte{}, 0
	for {
		part, err := in.ReadSlice('\n')
		if size += len(part); size <= mostAsked {
			line = append(line, part...)
		} else {
			line = nil
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// Read implements mcp.Connection.
func (m *messages) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-m.closed:
			return nil, m.broken
		case line, more := <-m.lines:
			if !more {
				return nil, m.end(ctx)
			}
			message, id, wrong := m.message(line)
			if wrong == nil {
				return message, nil
			}
			if err := m.refuse(id, wrong); err != nil {
				return nil, err
			}
		}
	}
}

// end waits until all that was asked is answered.
func (m *messages) end(ctx context.Context) error {
	for {
		m.mu.Lock()
		waiting := len(m.asked)
		m.mu.Unlock()
		if waiting == 0 {
			return m.lost
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-m.closed:
			return m.broken
		case <-m.answered:
		}
	}
}

// message is that of a line. Where it is none, the error says why, and the id is that of the request, if it has one.
func (m *messages) message(line []byte) (message jsonrpc.Message, id json.RawMessage, wrong *jsonrpc.Error) {
	invalid := func(code int64, format string, args ...any) (jsonrpc.Message, json.RawMessage, *jsonrpc.Error) {
		return nil, id, &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
	}
	var members map[string]json.RawMessage
	switch {
	case line == nil:
		return invalid(jsonrpc.CodeInvalidRequest, "a request may have %d bytes, and this one has more", mostAsked)
	case !utf8.Valid(line):
		return invalid(jsonrpc.CodeParseError, "the line is not UTF-8")
	case !json.Valid(line):
		return invalid(jsonrpc.CodeParseError, "the line is not JSON; give a message on each")
	case json.Unmarshal(line, &members) != nil || members == nil:
		return invalid(jsonrpc.CodeInvalidRequest, "a message is an object; several on a line are not supported")
	}
	given := members["id"]
	if len(given) > 0 && (given[0] == '"' || given[0] == '-' || given[0] >= '0' && given[0] <= '9') {
		id = given
	} else if len(given) > 0 {
		return invalid(jsonrpc.CodeInvalidRequest, "an id is a text or a number")
	}
	message, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return invalid(jsonrpc.CodeInvalidRequest, "%v", err)
	}
	if r, is := message.(*jsonrpc.Request); is && r.IsCall() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.asked[r.ID] {
			return invalid(jsonrpc.CodeInvalidRequest, "the id is that of a request that is not answered yet")
		}
		m.asked[r.ID] = true
	}
	return message, id, nil
}

// refuse answers what is no message.
func (m *messages) refuse(id json.RawMessage, wrong *jsonrpc.Error) error {
	text, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"` // null if it is not known
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, wrong})
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err = m.out.Write(append(text, '\n'))
	return err
}

// Write implements mcp.Connection.
func (m *messages) Write(ctx context.Context, message jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err = m.out.Write(append(text, '\n'))
	if r, is := message.(*jsonrpc.Response); is {
		delete(m.asked, r.ID)
		select {
		case m.answered <- struct{}{}:
		default: // it is known already
		}
	}
	if err != nil {
		m.stop(err)
	}
	return err
}
