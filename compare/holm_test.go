package compare

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Holm's procedure as he states it: go through the sorted p and stop at the first
// that exceeds level/(m−j). The adjusted p must lead to the same claims at any level.
func TestHolmStepDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 64), func(i int) float64 { return float64(i) / 64 }), 0, 10).Draw(t, "p")
		level := float64(rapid.IntRange(1, 63).Draw(t, "level")) / 64
		adjusted := Holm(p)
		sorted := slices.Clone(p)
		slices.Sort(sorted)
		claimed := -1.0 // the largest p claimed
		for j, v := range sorted {
			if v*float64(len(p)-j) > level {
				break
			}
			claimed = v
		}
		for i, v := range p {
			// Sixty-fourths times small integers are exact, so ≤ is decided without rounding.
			if (adjusted[i] <= level) != (v <= claimed) {
				t.Fatalf("p %v adjusted %v: claim of %v at level %v differs", p, adjusted, v, level)
			}
			if adjusted[i] < v || adjusted[i] > 1 {
				t.Fatalf("p %v became %v", v, adjusted[i])
			}
		}
	})
}

func TestHolmRefuses(t *testing.T) {
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("p = %v was taken", bad)
				}
			}()
			Holm([]float64{0.5, bad})
		}()
	}
}

func ExampleHolm() {
	// R: p.adjust(c(0.01, 0.02, 0.03, 0.04), "holm").
	fmt.Printf("%.2f\n", Holm([]float64{0.01, 0.02, 0.03, 0.04}))
	// Output: [0.04 0.06 0.06 0.06]
}
