package lanes

import "math"

// portable is the loops in plain Go, with the roundings of the vector code in the sums
// over columns and in the decays.
func portable() *code {
	return &code{
		name: "gonum", // as package level3 calls what has no vector code
		distances: func(dst, x, _, strip []float64) {
			clear(dst)
			for k, v := range x {
				for j, z := range strip[k*Width : (k+1)*Width] {
					dst[j] = math.FMA(v-z, v-z, dst[j])
				}
			}
		},
		weighted: func(dst, x, w, strip []float64) {
			clear(dst)
			for k, v := range x {
				for j, z := range strip[k*Width : (k+1)*Width] {
					dst[j] = math.FMA(w[k]*(v-z), v-z, dst[j])
				}
			}
		},
		dots: func(dst, x, _, strip []float64) {
			clear(dst)
			for k, v := range x {
				for j, z := range strip[k*Width : (k+1)*Width] {
					dst[j] = math.FMA(v, z, dst[j])
				}
			}
		},
		gaussian: Gaussian.plain, exponential: Exponential.plain, matern32: Matern32.plain, matern52: Matern52.plain,
		columnSums: plainColumnSums, columnSlopes: plainColumnSlopes,
		add: plainAdd, normals: plainNormals, blend: plainBlend, outer: plainOuter,
		rows: portableRows, squares: portableSquares,
	}
}

// portableRows is the number of rows of a tile in plain Go.
const portableRows = 4

func portableSquares(sums, a []float64, lda int, panel []float64) {
	const width = tileVectors * portableRows
	depth := len(panel) / width
	for r := range portableRows {
		row := a[r*lda : r*lda+depth]
		for c := 0; c < width; c += 4 {
			var p0, p1, p2, p3 float64
			for k, v := range row {
				column := panel[k*width+c : k*width+c+4]
				p0 += v * column[0]
				p1 += v * column[1]
				p2 += v * column[2]
				p3 += v * column[3]
			}
			sums[r*portableRows] += p0 * p0
			sums[r*portableRows+1] += p1 * p1
			sums[r*portableRows+2] += p2 * p2
			sums[r*portableRows+3] += p3 * p3
		}
	}
}
