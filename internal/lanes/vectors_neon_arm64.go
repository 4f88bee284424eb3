// Code generated from the code for AVX2 by command: go generate. DO NOT EDIT.

package lanes

// distancesNEON writes Σ_k (x_k − z_k)² for the 32 cases z of a strip with d ≥ 1 columns.
//
//go:noescape
func distancesNEON(d int, x *float64, strip *float64, dst *float64)

// weightedDistancesNEON writes Σ_k w_k (x_k − z_k)² for the 32 cases z of a strip with d ≥ 1 columns.
//
//go:noescape
func weightedDistancesNEON(d int, x *float64, w *float64, strip *float64, dst *float64)

// dotsNEON writes Σ_k x_k z_k for the 32 cases z of a strip with d ≥ 1 columns.
//
//go:noescape
func dotsNEON(d int, x *float64, strip *float64, dst *float64)

// gaussianNEON replaces every s, in so many vectors of 4, by
// amplitude·exp(−scale·s).
//
//go:noescape
func gaussianNEON(vectors int, amplitude float64, scale float64, s *float64)

// exponentialNEON replaces every s, in so many vectors of 4, by
// amplitude·exp(−r), r² = scale·s.
//
//go:noescape
func exponentialNEON(vectors int, amplitude float64, scale float64, s *float64)

// matern32NEON replaces every s, in so many vectors of 4, by
// amplitude·(1 + r)·exp(−r), r² = scale·s.
//
//go:noescape
func matern32NEON(vectors int, amplitude float64, scale float64, s *float64)

// matern52NEON replaces every s, in so many vectors of 4, by
// amplitude·(1 + r + r²/3)·exp(−r), r² = scale·s.
//
//go:noescape
func matern52NEON(vectors int, amplitude float64, scale float64, s *float64)

// columnSumsNEON writes Σ_k amplitude_k (1 + u_k) e^−u_k, u_k = |p_k − q_k|, for the 32 cases of a strip of
// triples with d ≥ 1 columns. The parts of the probe are apart from each other.
//
//go:noescape
func columnSumsNEON(d int, x *float64, apart int, amplitudes *float64, strip *float64, dst *float64)

// columnSlopesNEON adds w (1 + u_k) e^−u_k and w u_k² e^−u_k of the 32 cases of a strip of triples to
// eight sums each for every one of d ≥ 1 columns. The parts of the probe are apart from each other.
//
//go:noescape
func columnSlopesNEON(d int, x *float64, apart int, weights *float64, strip *float64, sums *float64)

// addNEON adds so many strips of 32 numbers, and then offset, to others.
//
//go:noescape
func addNEON(strips int, offset float64, src *float64, dst *float64)

// normalsNEON replaces every z, in so many vectors of 4, by Φ(z), and writes N(z).
//
//go:noescape
func normalsNEON(vectors int, z *float64, density *float64)

// blendNEON adds Σ_k weights_k rows_k of four rows, stride bytes apart, to so many vectors of 4.
//
//go:noescape
func blendNEON(vectors int, weights *float64, rows *float64, stride int, dst *float64)

// outerNEON adds scale·column·columnᵀ to so many rows of a, each of so many vectors of 4.
//
//go:noescape
func outerNEON(vectors int, rows int, scale float64, column *float64, a *float64)

// squaresNEON multiplies 4 rows of a, lda apart, by a panel of depth ≥ 1 and 12 columns
// and adds the squares of each row of the product to a vector of 4 sums.
//
//go:noescape
func squaresNEON(depth int, a *float64, lda int, panel *float64, sums *float64)
