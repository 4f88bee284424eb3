package gauss

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Blocks of views are so many in a row that belong together, such as the functions of all
// outcomes at one point: what a factor makes of them depends on how they vary together.

// PredictBlocks writes the means of what the views read, and the covariances within every
// block of so many views, row by row. With blocks of one it is Predict.
func (g *Gaussian) PredictBlocks(views *Views, size int, mean, cov []float64, ws *Workspace) {
	if size == 1 {
		g.Predict(views, mean, cov, ws)
		return
	}
	sameLength(views, len(mean))
	sameLength(views, len(cov)/size)
	g.whiten(views, ws)
	for i := range mean {
		row, first := ws.rows.RawRowView(i), i-i%size
		mean[i] = views.b[i] + floats.Dot(row, g.white)
		for j := first; j < first+size; j++ {
			c := floats.Dot(row, ws.rows.RawRowView(j))
			if i == j {
				c += views.r[i]
			}
			cov[i*size+j-first] = c
		}
	}
}

// TiltBlocks is Tilt for a factor whose log-mean has the Hessian Aᵀdiag(D)A − (Aᵀd1)(Aᵀd1)ᵀ
// with a symmetric block D of the given size in place of numbers: d2 holds the blocks, row
// by row. In the directions in which a block is diagonal, D = QΛQᵀ, the views QᵀA have
// numbers again.
func (g *Gaussian) TiltBlocks(dst *Natural, views *Views, size int, d1, d2 []float64, ws *Workspace) error {
	if size == 1 {
		return g.Tilt(dst, views, d1, d2, ws)
	}
	sameLength(views, len(d2)/size)
	n, m := views.a.Dims()
	g.whiten(views, ws)
	slope, bend := make([]float64, n), make([]float64, n)
	block, rows := mat.NewSymDense(size, nil), mat.NewDense(size, m, nil)
	var eigen mat.EigenSym
	var turn mat.Dense
	for first := 0; first < n; first += size {
		for i := range size {
			for j := i; j < size; j++ {
				block.SetSym(i, j, d2[(first+i)*size+j])
			}
		}
		if !eigen.Factorize(block, true) {
			return ErrImproper
		}
		eigen.VectorsTo(&turn)
		eigen.Values(bend[first : first+size])
		white := ws.rows.Slice(first, first+size, 0, m).(*mat.Dense)
		rows.Mul(turn.T(), white)
		white.Copy(rows)
		for i := range size {
			for j := range size {
				slope[first+i] += turn.At(j, i) * d1[first+j]
			}
		}
	}
	// The rows of the workspace are now those of other views, which have no known zeros.
	turned := &Views{a: views.a, b: views.b, r: views.r, lead: make([]int, n)}
	ws.held = heldViews{g, g.version, turned}
	defer ws.Forget()
	return g.Tilt(dst, turned, slope, bend, ws)
}
