package server

import "testing"

// Tokens can be replaced, by some.
func TestSetTokens(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Tokens = []string{"old", "both"} })
	check := func(want map[string]int) {
		t.Helper()
		for token, status := range want {
			if got := ask(s, "GET", "/v1/models", "", "Authorization: Bearer "+token).Code; got != status {
				t.Errorf("status %d with the token %q, want %d", got, token, status)
			}
		}
	}
	check(map[string]int{"old": 200, "both": 200, "new": 401})
	for _, bad := range [][]string{nil, {"new", ""}} {
		if err := s.SetTokens(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	check(map[string]int{"old": 200, "both": 200, "new": 401})
	if err := s.SetTokens([]string{"both", "new"}); err != nil {
		t.Error(err)
	}
	check(map[string]int{"old": 401, "both": 200, "new": 200})

	if err := newServer(t).SetTokens([]string{"new"}); err == nil {
		t.Error("a server that everybody may ask takes tokens")
	}
}
