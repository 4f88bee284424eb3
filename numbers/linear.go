package numbers

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/recipe"
)

// design are encoded rows with an intercept, and a column for each category of a code.
func design(c *recipe.Coding, x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	width := 1 + c.Numbers()
	for k := range c.Codes() {
		width += c.Size(k)
	}
	z := mat.NewDense(n, width, nil)
	for i := range n {
		row, at := x.RawRowView(i), 1+c.Numbers()
		z.Set(i, 0, 1)
		for j := range d {
			if k := j - c.Numbers(); k < 0 {
				z.Set(i, 1+j, row[j])
			} else {
				if code := int(row[j]); code >= 0 {
					z.Set(i, at+code, 1)
				}
				at += c.Size(k)
			}
		}
	}
	return z
}

// linearQuantile is the plane below which the share q of the outcomes lies, for every x: by
// reweighted least squares, where a residual r has the weight of its slope over |r|.
func linearQuantile(z *mat.Dense, y, counts []float64, q float64) *mat.VecDense {
	n, d := z.Dims()
	scale := robustScale(slices.Sorted(slices.Values(y)))
	line := mat.NewVecDense(d, nil)
	residual := slices.Clone(y)
	for round := range 80 {
		small := scale * math.Max(1e-6, math.Pow(0.8, float64(round)))
		gram, right := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
		for i := range n {
			w := q
			if residual[i] < 0 {
				w = 1 - q
			}
			if w /= math.Max(math.Abs(residual[i]), small); counts != nil {
				w *= counts[i]
			}
			row := z.RowView(i)
			gram.SymRankOne(gram, w, row)
			right.AddScaledVec(right, w*y[i], row)
		}
		for k := range d { // one-hot columns add up to the intercept
			gram.SetSym(k, k, gram.At(k, k)*(1+1e-9)+1e-9*float64(n)/scale)
		}
		var c mat.Cholesky
		if !c.Factorize(gram) || c.SolveVecTo(line, right) != nil {
			break
		}
		for i := range n {
			residual[i] = y[i] - mat.Dot(z.RowView(i), line)
		}
	}
	return line
}
