package server

import (
	"context"
	"net"
	"net/netip"
	"strings"
)

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
