package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// tokens are the hashes of those that are accepted; none means that none is asked for.
// Hashes have one length, so that comparing them takes the same time whatever is
// compared.
type tokens [][sha256.Size]byte

func newTokens(texts []string) tokens {
	var t tokens
	for _, text := range texts {
		t = append(t, sha256.Sum256([]byte(text)))
	}
	return t
}

// check refuses requests without a token that is known.
func (t tokens) check(r *http.Request) error {
	if len(t) == 0 {
		return nil
	}
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return refuse(http.StatusUnauthorized, "a token is missing; send it as Authorization: Bearer …").
			with("WWW-Authenticate", `Bearer realm="lossep"`)
	}
	hash := sha256.Sum256([]byte(strings.TrimSpace(text)))
	known := 0
	for i := range t {
		known |= subtle.ConstantTimeCompare(hash[:], t[i][:])
	}
	if known == 0 {
		return refuse(http.StatusUnauthorized, "the token is not known here").
			with("WWW-Authenticate", `Bearer realm="lossep", error="invalid_token"`)
	}
	return nil
}
