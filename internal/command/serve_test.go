//go:build unix

package command

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func getJSON(t *testing.T, client *http.Client, url, token string) (status int, body map[string]any) {
	t.Helper()
	q, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	r, err := client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal(text, &body)
	return r.StatusCode, body
}

// Tokens are read from a file, and do not get into the log.
func TestServeTokens(t *testing.T) {
	dir := fitted(t)
	tokens := filepath.Join(dir, "tokens.txt")
	if err := os.WriteFile(tokens, []byte("# who may ask\nsesame # open\n\nother\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "m.lossep")
	p := serve(t, model, "second="+model, "--tokens", tokens, "--format", "json")
	for token, want := range map[string]int{"": 401, "sesame": 200, "other": 200, "open": 401, "#": 401} {
		if status, _ := getJSON(t, http.DefaultClient, "http://"+p.address+"/v1/models/second", token); status != want {
			t.Errorf("status %d with the token %q, want %d", status, token, want)
		}
	}
	// A bad file and an empty one leave the tokens; another one replaces them.
	status := func(token string) int {
		status, _ := getJSON(t, http.DefaultClient, "http://"+p.address+"/v1/models", token)
		return status
	}
	for k, text := range []string{"two words\n", "# nobody\n"} {
		if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p.signal(syscall.SIGHUP)
		p.until("word of tokens that are refused", func() bool { return strings.Count(p.said(), "tokens not reloaded") == k+1 })
		if a, b := status("sesame"), status("words"); a != 200 || b != 401 {
			t.Errorf("status %d and %d after the tokens %q", a, b, text)
		}
	}
	if err := os.WriteFile(tokens, []byte("other\nthird\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	p.until("the new tokens", func() bool { return status("third") == 200 })
	if a, b := status("sesame"), status("other"); a != 401 || b != 200 {
		t.Errorf("status %d with the old token, %d with the one that stays", a, b)
	}
	p.signal(syscall.SIGTERM)
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	said := p.said()
	for _, secret := range []string{"sesame", "two", "third"} {
		if strings.Contains(said, secret) {
			t.Errorf("%q is in the log: %s", secret, said)
		}
	}
	checkRequestLines(t, said)
}

// checkRequestLines checks that there are lines of requests in JSON, with the time that
// each took in seconds.
func checkRequestLines(t *testing.T, log string) {
	t.Helper()
	n := 0
	for line := range strings.Lines(log) {
		var entry struct {
			Msg      string
			Seconds  *float64
			Duration any
		}
		if json.Unmarshal([]byte(line), &entry) != nil || entry.Msg != "request" {
			continue
		}
		n++
		if entry.Seconds == nil || *entry.Seconds <= 0 || *entry.Seconds > patience.Seconds() || entry.Duration != nil {
			t.Errorf("line %s", line)
		}
	}
	if n == 0 {
		t.Errorf("no requests in %s", log)
	}
}

// On a loopback address without tokens, names that other sites can have are refused.
func TestServeForeignHost(t *testing.T) {
	p := serve(t, filepath.Join(fitted(t), "m.lossep"))
	for host, want := range map[string]int{"evil.example": 421, "localhost": 200} {
		q, err := http.NewRequest(http.MethodGet, "http://"+p.address+"/v1/models", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Host = host
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: status %d, want %d", host, r.StatusCode, want)
		}
	}
}

// HTTPS, with a certificate that is replaced while the server runs.
func TestServeTLS(t *testing.T) {
	dir := fitted(t)
	certificate, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, certificate, key, 1)
	p := serve(t, filepath.Join(dir, "m.lossep"), "--tls-cert", certificate, "--tls-key", key)
	if !strings.Contains(p.said(), "https://"+p.address) {
		t.Errorf("it says %s", p.said())
	}
	serial := func() int64 {
		conn, err := tls.Dial("tcp", p.address, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("certificate %d", got)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
	if status, body := getJSON(t, client, "https://"+p.address+"/v1/models", ""); status != 200 || body["models"] == nil {
		t.Errorf("%d %v", status, body)
	}
	client.CloseIdleConnections()
	writeCertificate(t, certificate, key, 2)
	p.signal(syscall.SIGHUP)
	p.until("the new certificate", func() bool { return serial() == 2 })
	if err := os.WriteFile(certificate, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	p.until("word of a certificate that is refused", func() bool { return strings.Contains(p.said(), "certificate not reloaded") })
	if got := serial(); got != 2 {
		t.Errorf("certificate %d", got)
	}
	p.signal(syscall.SIGTERM)
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// writeCertificate writes a new certificate for 127.0.0.1 and its key.
func writeCertificate(t *testing.T, certificate, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, form, form, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The demo serves the embedded data set with rows to try, which it can decide.
func TestServeDemo(t *testing.T) {
	p := serve(t, "--demo")
	status, m := getJSON(t, http.DefaultClient, "http://"+p.address+"/v1/models/breast_cancer", "")
	rows, _ := m["example_rows"].([]any)
	if status != 200 || len(rows) != 10 {
		t.Fatalf("%d, %d rows", status, len(rows))
	}
	text, err := json.Marshal(map[string]any{"rows": rows, "utility": m["utility"]})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Post("http://"+p.address+"/v1/models/breast_cancer/decide", "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var answer struct {
		Decisions []struct{ Action string }
		Ignored   []string
	}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || len(answer.Decisions) != 10 || answer.Ignored != nil {
		t.Fatalf("%v %+v", err, answer)
	}
	wrong := 0
	for i, d := range answer.Decisions {
		if (d.Action == "positive") != (rows[i].(map[string]any)["diagnosis"] == "malignant") {
			wrong++
		}
	}
	if wrong > 2 { // twenty biopsies cost as much as a missed cancer
		t.Errorf("%d of ten are wrong: %s", wrong, fmt.Sprint(answer))
	}
	p.signal(syscall.SIGTERM)
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
