package indices_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lossep/lossep/internal/indices"
)

// The order is that of one stable sort, with digests at both ends of what there is and with many that are equal.
func TestByDigest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 5000} {
		digests, second := make([]uint64, n), make([]int, n)
		for i := range digests {
			digests[i] = rng.Uint64()
			if rng.IntN(3) == 0 {
				digests[i] = []uint64{0, 1<<63 - 1, 1 << 63, 1<<64 - 1}[rng.IntN(4)]
			}
			second[i] = rng.IntN(3)
		}
		compare := func(i, j int) int { return cmp.Compare(second[i], second[j]) }
		want := indices.Of(n)
		slices.SortStableFunc(want, func(i, j int) int { return cmp.Or(cmp.Compare(digests[i], digests[j]), compare(i, j)) })
		if got := indices.ByDigest(digests, compare); !slices.Equal(got, want) {
			t.Errorf("%d numbers are in another order", n)
		}
	}
}
