// Package radix sorts many numbers.
package radix

import (
	"math"
	"slices"
)

// Many is from where on numbers are sorted by their bytes, the last ones first: a
// pass for each byte in place of one for every halving. Bytes that are the same in all of
// them, as the last ones of integers are, take none.
const Many = 1 << 12

// Key is a number as an integer of the same order.
func Key(x float64) uint64 {
	bits := math.Float64bits(x)
	return bits ^ (uint64(int64(bits)>>63) | 1<<63)
}

// Sort puts finite numbers in increasing order, in room that it makes larger if it has to.
func Sort(values []float64, room *[]float64) {
	n := len(values)
	if n < Many || n > math.MaxUint32 {
		slices.Sort(values)
		return
	}
	if cap(*room) < n {
		*room = make([]float64, n)
	}
	var counts [8][256]uint32
	for _, x := range values {
		k := Key(x)
		counts[0][k&0xFF]++
		counts[1][k>>8&0xFF]++
		counts[2][k>>16&0xFF]++
		counts[3][k>>24&0xFF]++
		counts[4][k>>32&0xFF]++
		counts[5][k>>40&0xFF]++
		counts[6][k>>48&0xFF]++
		counts[7][k>>56]++
	}
	from, to := values, (*room)[:n]
	for d := range counts {
		next, shift := &counts[d], 8*d
		if next[byte(Key(from[0])>>shift)] == uint32(n) {
			continue
		}
		sum := uint32(0)
		for k, c := range next { // where each byte begins
			next[k] = sum
			sum += c
		}
		for _, x := range from {
			k := byte(Key(x) >> shift)
			to[next[k]] = x
			next[k]++
		}
		from, to = to, from
	}
	if &from[0] != &values[0] {
		copy(values, from)
	}
}
