// Package lanes holds the inner loops of prediction from many known cases: squared
// distances and dot products of one case with all of them, correlations that decay with
// the distance, squared lengths of rows times a triangle, and normal probabilities. On processors with
// AVX-512, AVX2 and FMA, or NEON, they run as vector code, and elsewhere as plain Go;
// LOSSEP_KERNEL chooses as for package level3.
//
// What is computed for one case never depends on the cases beside it: sums run over the
// same numbers in the same order whatever else is asked for in a call. Sums over columns
// and decays are moreover the same bits whichever code runs, because every step is one
// of IEEE 754's with a rounding of its own, and the fused multiply-add is among them.
//
// Distances are sums of squared differences. The expansion |x|² + |z|² − 2x·z as a
// matrix product takes half the arithmetic, but loses digits of near pairs, and the
// passes that find and repair them cost more than the product saves.
package lanes

import "github.com/lossep/lossep/level3"

// code is the loops in one instruction set.
type code struct {
	name string
	// The sums of one case with a strip: over (x_k − z_k)², over w_k (x_k − z_k)², and
	// over x_k z_k. The weights of the others are nil.
	distances, weighted, dots func(dst, x, w, strip []float64)

	gaussian, exponential, matern32, matern52 loop

	// columnSums writes the sums over columns of a probe with a strip of triples, columnSlopes
	// adds weights times what they are made of to the sums of every column; see Triples.
	columnSums   func(dst, probe []float64, apart int, amplitudes, strip []float64)
	columnSlopes func(sums, probe []float64, apart int, weights, strip []float64)

	// add adds src, and then offset, to dst, both of as many whole strips.
	add func(dst, src []float64, offset float64)

	// normals replaces z, a multiple of Octet numbers, by Φ(z) and writes N(z).
	normals func(z, density []float64)
	// blend adds four rows with weights to dst, a multiple of Octet numbers.
	blend func(dst []float64, weights *[4]float64, rows []float64)
	// outer adds scale·column·columnᵀ to rows of a that are a multiple of Octet long.
	outer func(a []float64, rows int, scale float64, column []float64)

	// rows is the number of rows of a tile, and of sums for each of them; a tile has
	// three times as many columns.
	rows int
	// squares multiplies rows of a, lda apart, by a panel of columns and adds the
	// squares to the sums.
	squares func(sums, a []float64, lda int, panel []float64)
}

// loop replaces s, a multiple of Width numbers, by a correlation.
type loop func(s []float64, amplitude, scale float64)

// selected is what runs.
var selected = choose()

func choose() *code {
	// That what is asked for cannot be had is reported by those who call level3.Use.
	impl, _ := level3.Selected()
	for _, c := range available() {
		if c.name == impl.Name() {
			return c
		}
	}
	return portable()
}

// available lists what this machine can run, fastest first. The last is plain Go.
func available() []*code { return append(detect(), portable()) }
