// Package sealed keeps JSON values in files with a checksum, so that what another program or a
// failing disk has changed is not taken for what was written. The checksum is on a line before the value.
package sealed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/lossep/lossep/internal/tasks"
)

// ErrDamaged says that a text is not what Marshal returned.
var ErrDamaged = errors.New("damaged, or not written by lossep")

// Marshal is the JSON text of a value and its checksum.
func Marshal(v any) ([]byte, error) {
	content, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return slices.Concat(digest(content), content), nil
}

// Unmarshal reads what Marshal wrote. Anything else is ErrDamaged.
func Unmarshal(text []byte, v any) error {
	at := bytes.IndexByte(text, '\n') + 1
	if sum, content := text[:at], text[at:]; !bytes.Equal(sum, digest(content)) || json.Unmarshal(content, v) != nil {
		return ErrDamaged
	}
	return nil
}

// piece is how many bytes have one checksum.
const piece = 1 << 18

// digest is the line before the content: its checksum, or that of the checksums of its pieces where there are several,
// which are found at the same time.
func digest(content []byte) []byte {
	if len(content) > piece {
		sums := make([]byte, (len(content)+piece-1)/piece*sha256.Size)
		tasks.For(len(sums)/sha256.Size, func(k int) {
			sum := sha256.Sum256(content[k*piece : min((k+1)*piece, len(content))])
			copy(sums[k*sha256.Size:], sum[:])
		})
		content = sums
	}
	sum := sha256.Sum256(content)
	return append(hex.AppendEncode([]byte(`sha256 `), sum[:]), '\n')
}
