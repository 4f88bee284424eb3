package orthant

import (
	"encoding/binary"
	"math/rand/v2"
)

// What a random stream is for: the same seed must not give the same numbers
// to the draws and to the shifts of lattices.
const (
	sampleStream uint64 = iota
	latticeStream
	pointStream
)

// newStream returns the random stream of one block of one purpose. ChaCha8
// keeps streams whose keys differ in one bit as unrelated as any others.
func newStream(seed, purpose uint64, block int) *rand.Rand {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], purpose)
	binary.LittleEndian.PutUint64(key[16:], uint64(block))
	return rand.New(rand.NewChaCha8(key))
}
