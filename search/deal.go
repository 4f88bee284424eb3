package search

import "math/rand/v2"

// deal are the first k of rng.Perm(n). Of many numbers these alone are followed back through the exchanges that
// shuffle all: that stays within a cache, and millions of numbers that change places do not.
func deal(rng *rand.Rand, n, k int) []int {
	if k > n/8 {
		return rng.Perm(n)[:k]
	}
	with := make([]uint32, n) // the place, not above its own, that each was exchanged with, from the last one on
	rng.Shuffle(n, func(i, j int) { with[i] = uint32(j) })
	taken, by := make([]uint64, (n+63)/64), make(map[uint32]int, k) // places, and which of the first k came from there
	for i := range k {
		taken[i/64] |= 1 << (i % 64)
		by[uint32(i)] = i
	}
	for i, j := range with {
		i := uint32(i)
		switch {
		case i == j || taken[j/64]>>(j%64)&1 == 0:
		case int(i) < k:
			by[i], by[j] = by[j], by[i]
		default:
			taken[i/64] |= 1 << (i % 64)
			taken[j/64] &^= 1 << (j % 64)
			by[i] = by[j]
			delete(by, j)
		}
	}
	dealt := make([]int, k)
	for place, which := range by {
		dealt[which] = int(place)
	}
	return dealt
}
