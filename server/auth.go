package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/lossep/lossep/server/problem"
)

// tokens are the hashes of those that are accepted; none means that none is asked for.
// Hashes have one length, so that comparing them takes the same time whatever is
// compared.
type tokens struct {
	hashes *atomic.Pointer[[][sha256.Size]byte]
}

func newTokens(texts []string) tokens {
	t := tokens{new(atomic.Pointer[[][sha256.Size]byte])}
	t.replace(texts)
	return t
}

func (t tokens) replace(texts []string) {
	var hashes [][sha256.Size]byte
	for _, text := range texts {
		hashes = append(hashes, sha256.Sum256([]byte(text)))
	}
	t.hashes.Store(&hashes)
}

// wanted tells whether requests must have a token.
func (t tokens) wanted() bool { return len(*t.hashes.Load()) > 0 }

// SetTokens replaces the tokens of a server that was made with some; requests that come
// from then on need one of these. Whether tokens are asked for at all is settled by
// Config.
func (s *Server) SetTokens(texts []string) error {
	switch {
	case !s.tokens.wanted():
		return errors.New("the server was made without tokens")
	case len(texts) == 0:
		return errors.New("there are no tokens, and nobody could ask anything")
	case slices.Contains(texts, ""):
		return errors.New("a token is empty")
	}
	s.tokens.replace(texts)
	return nil
}

// check refuses requests without a token that is known.
func (t tokens) check(r *http.Request) error {
	hashes := *t.hashes.Load()
	if len(hashes) == 0 {
		return nil
	}
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return problem.New(http.StatusUnauthorized, "a token is missing; send it as Authorization: Bearer …").
			With("WWW-Authenticate", `Bearer realm="lossep"`)
	}
	hash := sha256.Sum256([]byte(strings.TrimSpace(text)))
	known := 0
	for i := range hashes {
		known |= subtle.ConstantTimeCompare(hash[:], hashes[i][:])
	}
	if known == 0 {
		return problem.New(http.StatusUnauthorized, "the token is not known here").
			With("WWW-Authenticate", `Bearer realm="lossep", error="invalid_token"`)
	}
	return nil
}

// A page of another site can have its own name lead to 127.0.0.1 (DNS rebinding), and
// is then of the same origin as a server on that address, as far as browsers can tell.
// What gives it away is the name in its requests. Where the address is a loopback one
// and no token is asked for, nobody but the machine is meant to ask, and names that
// others could have given it are refused.

type loopbackKey struct{}

// withLoopback notes in the context of requests whether they came over a listener that
// only this machine reaches.
func withLoopback(ctx context.Context, l net.Listener) context.Context {
	tcp, ok := l.Addr().(*net.TCPAddr)
	return context.WithValue(ctx, loopbackKey{}, ok && tcp.IP.IsLoopback())
}

func onLoopback(ctx context.Context) bool {
	loopback, _ := ctx.Value(loopbackKey{}).(bool)
	return loopback
}

// isLocalHost tells whether a Host is one that no other site can have: an IP address,
// localhost, or none, which browsers never send.
func isLocalHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if name == "" || strings.EqualFold(name, "localhost") {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}
