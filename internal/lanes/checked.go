//go:build amd64 || arm64

package lanes

// The functions below give vector code, which is handed addresses, slices to check.

func oneStrip(f func(d int, x, strip, dst *float64)) func(dst, x, w, strip []float64) {
	return func(dst, x, _, strip []float64) {
		_, _ = dst[Width-1], strip[len(x)*Width-1]
		f(len(x), &x[0], &strip[0], &dst[0])
	}
}

func oneWeightedStrip(f func(d int, x, w, strip, dst *float64)) func(dst, x, w, strip []float64) {
	return func(dst, x, w, strip []float64) {
		_, _, _ = dst[Width-1], w[len(x)-1], strip[len(x)*Width-1]
		f(len(x), &x[0], &w[0], &strip[0], &dst[0])
	}
}

func inVectors(lanes int, f func(vectors int, amplitude, scale float64, s *float64)) loop {
	return func(s []float64, amplitude, scale float64) {
		if len(s) >= lanes {
			f(len(s)/lanes, amplitude, scale, &s[0])
		}
	}
}

func probed(f func(d int, x *float64, apart int, amplitudes, strip, dst *float64)) func(dst, probe []float64, apart int, amplitudes, strip []float64) {
	return func(dst, probe []float64, apart int, amplitudes, strip []float64) {
		d := len(amplitudes)
		_, _, _ = dst[Width-1], probe[2*apart+d-1], strip[3*d*Width-1]
		f(d, &probe[0], apart, &amplitudes[0], &strip[0], &dst[0])
	}
}

func contracted(f func(d int, x *float64, apart int, weights, strip, sums *float64)) func(sums, probe []float64, apart int, weights, strip []float64) {
	return func(sums, probe []float64, apart int, weights, strip []float64) {
		d := len(sums) / slopeSums
		_, _, _ = weights[Width-1], probe[2*apart+d-1], strip[3*d*Width-1]
		f(d, &probe[0], apart, &weights[0], &strip[0], &sums[0])
	}
}

func inStrips(f func(strips int, offset float64, src, dst *float64)) func(dst, src []float64, offset float64) {
	return func(dst, src []float64, offset float64) {
		if len(dst) >= Width {
			_ = src[len(dst)-1]
			f(len(dst)/Width, offset, &src[0], &dst[0])
		}
	}
}

func pairsOfVectors(lanes int, f func(vectors int, z, density *float64)) func(z, density []float64) {
	return func(z, density []float64) {
		if len(z) >= lanes {
			_ = density[len(z)-1]
			f(len(z)/lanes, &z[0], &density[0])
		}
	}
}

func fourRows(lanes int, f func(vectors int, weights, rows *float64, stride int, dst *float64)) func(dst []float64, weights *[4]float64, rows []float64) {
	return func(dst []float64, weights *[4]float64, rows []float64) {
		if len(dst) >= lanes {
			_ = rows[4*len(dst)-1]
			f(len(dst)/lanes, &weights[0], &rows[0], 8*len(dst), &dst[0])
		}
	}
}

func square(lanes int, f func(vectors, rows int, scale float64, column, a *float64)) func(a []float64, rows int, scale float64, column []float64) {
	return func(a []float64, rows int, scale float64, column []float64) {
		_, _ = a[rows*len(column)-1], column[rows-1]
		f(len(column)/lanes, rows, scale, &column[0], &a[0])
	}
}

func oneTile(lanes int, f func(depth int, a *float64, lda int, panel, sums *float64)) func(sums, a []float64, lda int, panel []float64) {
	return func(sums, a []float64, lda int, panel []float64) {
		depth := len(panel) / (tileVectors * lanes)
		_, _ = sums[lanes*lanes-1], a[(lanes-1)*lda+depth-1]
		f(depth, &a[0], lda, &panel[0], &sums[0])
	}
}
