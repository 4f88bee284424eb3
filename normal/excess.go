package normal

// The table is made and checked by TestCoefficients, which computes the excess
// in 320-bit arithmetic, interpolates it at Chebyshev points and expands the
// interpolant in powers of the distance to the centre of its range. The
// interpolation error stays below 3e-17 relative, a quarter of a unit in the
// last place.
const (
	// cells is the number of cells of width cellWidth that cover [0, tailStart).
	cells     = 16
	cellWidth = 0.5
	tailStart = cells * cellWidth
	// tailCentre is the middle of the tail polynomial's range of 1/t².
	tailCentre = 1 / (2 * tailStart * tailStart)
	// terms is the number of coefficients of every polynomial.
	terms = 12
)

// excess returns d(t) = N(t)/Φ(−t) − t for t ≥ 0. NaN gives NaN.
func excess(t float64) float64 {
	if t < tailStart {
		cell := int(t / cellWidth)
		return polynomial(&cellCoefficients[cell], t-(float64(cell)+0.5)*cellWidth)
	}
	// Beyond the cells t·d(t) = 1 − 2/t² + 10/t⁴ − … is a smooth function of
	// 1/t², which may underflow to zero harmlessly.
	return polynomial(&tailCoefficients, 1/(t*t)-tailCentre) / t
}

// polynomial returns Σ c[k] y^k. Estrin's grouping keeps the chain of
// dependent operations about a third as long as Horner's rule would.
func polynomial(c *[terms]float64, y float64) float64 {
	y2 := y * y
	y4 := y2 * y2
	low := (c[0] + c[1]*y) + (c[2]+c[3]*y)*y2
	middle := (c[4] + c[5]*y) + (c[6]+c[7]*y)*y2
	high := (c[8] + c[9]*y) + (c[10]+c[11]*y)*y2
	return low + (middle+high*y4)*y4
}
