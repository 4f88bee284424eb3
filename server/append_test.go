package server

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/lossep/lossep/internal/finite"
)

// Numbers are written as encoding/json writes them.
func TestAppendFloat(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e-6, 9.99e-7, 1e-9, 1e-10, 1e-100, 1e20, 1e21, 123456789e13, math.MaxFloat64, 5e-324, 1.0 / 3}
	for range 10000 {
		if x := math.Float64frombits(rng.Uint64()); finite.All(x) {
			numbers = append(numbers, x)
		}
	}
	for _, x := range numbers {
		want, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendFloat(nil, x); string(got) != string(want) {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
	want, _ := json.Marshal(numbers[:5])
	if got := appendFloats(nil, numbers[:5]); string(got) != string(want) {
		t.Errorf("a list is written %s, want %s", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("what is no number is written")
		}
	}()
	appendFloat(nil, math.NaN())
}

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
		got, err := parseNumber([]byte(text))
		if math.Float64bits(got) != math.Float64bits(want) || (err != nil) != (wantErr != nil) {
			t.Fatalf("%s is read as %v (%v), want %v (%v)", text, got, err, want, wantErr)
		}
	}
}
