package search

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// What is dealt, and what the source gives next, is what all in a random order would give.
func TestDeal(t *testing.T) {
	for _, n := range []int{1, 2, 16, 100, 1000} {
		for _, k := range []int{0, 1, 2, n / 9, n / 8, n} {
			k = min(k, n)
			one, other := rand.New(rand.NewPCG(1, uint64(n))), rand.New(rand.NewPCG(1, uint64(n)))
			if got, want := deal(one, n, k), other.Perm(n)[:k]; !slices.Equal(got, want) || one.Uint64() != other.Uint64() {
				t.Errorf("%d of %d: %v for %v", k, n, got, want)
			}
		}
	}
}

// BenchmarkDeal deals a sample of millions of rows.
func BenchmarkDeal(b *testing.B) {
	for b.Loop() {
		deal(rand.New(rand.NewPCG(1, 1)), 2_900_000, SearchRows)
	}
}
