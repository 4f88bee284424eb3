package rows

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// Numbers are read as strconv reads them, to the bit.
func TestParseNumber(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	texts := []string{"0", "-0", "0.0", "-0.0", "1", "9007199254740993", "999999999999999", "0.000000000000001", "123456789012345.6", "1e5", "1E-7", "1e400", "-1e400", "1e-400", "0.1", "3.14159265358979"}
	for range 100_000 {
		x := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(20)-10))
		texts = append(texts, strconv.FormatFloat(x, 'f', rng.IntN(12), 64), strconv.FormatFloat(x, 'g', -1, 64))
	}
	for _, text := range texts {
		want, wantErr := strconv.ParseFloat(text, 64)
		got, err := ParseNumber([]byte(text))
		if math.Float64bits(got) != math.Float64bits(want) || (err != nil) != (wantErr != nil) {
			t.Fatalf("%s is read as %v (%v), want %v (%v)", text, got, err, want, wantErr)
		}
	}
}
