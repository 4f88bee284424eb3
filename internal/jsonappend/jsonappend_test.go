package jsonappend

import (
	"encoding/json"
	"math"
	"math/rand/v2"
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
		if got := Float(nil, x); string(got) != string(want) {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
	want, _ := json.Marshal(numbers[:5])
	if got := Floats(nil, numbers[:5]); string(got) != string(want) {
		t.Errorf("a list is written %s, want %s", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("what is no number is written")
		}
	}()
	Float(nil, math.NaN())
}
