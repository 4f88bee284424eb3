package server

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/lossep/lossep/server/problem"
)

// withHost asks over a connection to the address, for something else by its name.
func withHost(t *testing.T, address, method, path, host string) (status int, contentType, body string) {
	t.Helper()
	q, err := http.NewRequest(method, "http://"+address+path, strings.NewReader(`{"rows":[`+goodRow+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	q.Host = host
	q.Header.Set("Content-Type", "application/json")
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, r.Header.Get("Content-Type"), string(text)
}

// A page of another site whose name was made to lead to a loopback address is refused
// by that name, unless a token is asked for.
func TestForeignHosts(t *testing.T) {
	address, _ := running(t, newServer(t))
	guarded, _ := running(t, newServer(t, func(c *Config) { c.Tokens = []string{"sesame"} }))
	for host, want := range map[string]int{
		"evil.example": 421, "evil.example:8080": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "1.2.3": 421,
		"localhost": 200, "LOCALHOST:8080": 200, "127.0.0.1": 200, "127.0.0.1:1": 200, "[::1]:8080": 200, "[::1]": 200, "192.0.2.7:80": 200,
	} {
		for _, ask := range [][2]string{{"POST", "/v1/models/loans/decide"}, {"GET", "/"}, {"GET", "/metrics"}} {
			status, contentType, body := withHost(t, address, ask[0], ask[1], host)
			if status != want {
				t.Errorf("%s %s of %q: %d %s, want %d", ask[0], ask[1], host, status, body, want)
			}
			var p problem.Problem
			if want == 421 && (contentType != "application/problem+json" || json.Unmarshal([]byte(body), &p) != nil || !strings.Contains(p.Detail, "localhost")) {
				t.Errorf("%s %s of %q: %s %s", ask[0], ask[1], host, contentType, body)
			}
		}
		if status, _, _ := withHost(t, guarded, "GET", "/v2/health/ready", host); status != 200 {
			t.Errorf("with tokens, %q: %d", host, status)
		}
	}
	if status, _, body := withHost(t, address, "GET", "/v2", "evil.example"); status != 421 || !strings.HasPrefix(body, `{"error":`) {
		t.Errorf("the inference protocol: %d %s", status, body)
	}
}

// Listeners that others reach as well have names.
func TestLoopbackListeners(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1:0": true, "127.9.9.9:0": true, "0.0.0.0:0": false, ":0": false} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err) // not every system has all of 127/8
			continue
		}
		if got := onLoopback(withLoopback(context.Background(), outspoken{Listener: l})); got != want {
			t.Errorf("%s: %v", address, got)
		}
		_ = l.Close()
	}
	if onLoopback(context.Background()) {
		t.Error("a handler without a listener is on loopback")
	}
}
