package radix_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lossep/lossep/internal/radix"
)

// Numbers are sorted as the library sorts them.
func TestSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for name, value := range map[string]func() float64{
		"normal":   rng.NormFloat64,
		"integers": func() float64 { return float64(rng.IntN(1000) - 500) },
		"any": func() float64 {
			for {
				if x := math.Float64frombits(rng.Uint64()); !math.IsNaN(x) && !math.IsInf(x, 0) {
					return x
				}
			}
		},
		"one": func() float64 { return 3 },
	} {
		var room []float64
		for _, n := range []int{0, 1, 100, radix.Many, 30_000} {
			values := make([]float64, n)
			for i := range values {
				values[i] = value()
			}
			want := slices.Sorted(slices.Values(values))
			radix.Sort(values, &room)
			if !slices.Equal(values, want) {
				t.Errorf("%d values, %s: not in order", n, name)
			}
		}
	}
}
