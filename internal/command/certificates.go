package command

import (
	"crypto/tls"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/lossep/lossep/internal/regular"
)

// certificates are the server's, from files that may be replaced while it runs.
type certificates struct {
	certificate, key string
	current          atomic.Pointer[tls.Certificate]
}

// newCertificates reads the files, or is nil if none are given.
func newCertificates(certificate, key string) (*certificates, error) {
	switch {
	case certificate == "" && key == "":
		return nil, nil
	case certificate == "":
		return nil, usagef("--tls-key: the certificate is missing; give it with --tls-cert")
	case key == "":
		return nil, usagef("--tls-cert: the private key is missing; give it with --tls-key")
	}
	c := &certificates{certificate: certificate, key: key}
	if err := c.read(); err != nil {
		return nil, usagef("--tls-cert: %w", err)
	}
	return c, nil
}

func (c *certificates) read() error {
	const most = 1 << 20 // bytes; a chain has a few thousand
	chain, err := regular.Read(c.certificate, most)
	if err != nil {
		return err
	}
	key, err := regular.Read(c.key, most)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return fmt.Errorf("%s and %s are no certificate chain and its private key, both in PEM: %s", c.certificate, c.key, strings.TrimPrefix(err.Error(), "tls: "))
	}
	c.current.Store(&pair)
	return nil
}

func (c *certificates) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}
