// Package sealed keeps JSON values in files with a checksum, so that what another program or a
// failing disk has changed is not taken for what was written.
package sealed

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
)

// ErrDamaged says that a text is not what Marshal returned.
var ErrDamaged = errors.New("damaged, or not written by lossep")

type envelope struct {
	SHA256  string          `json:"sha256"` // of the bytes of the content
	Content json.RawMessage `json:"content"`
}

// Marshal is the JSON text of a value and its checksum.
func Marshal(v any) ([]byte, error) {
	content, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(envelope{digest(content), content})
}

// Unmarshal reads what Marshal wrote. Anything else is ErrDamaged.
func Unmarshal(text []byte, v any) error {
	var e envelope
	if json.Unmarshal(text, &e) != nil || e.SHA256 != digest(e.Content) || json.Unmarshal(e.Content, v) != nil {
		return ErrDamaged
	}
	return nil
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
