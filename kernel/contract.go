package kernel

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// AddCrossGrad adds Σ_ij W_ij ∂k(x_i, z_j)/∂θ_k to dst[k] for the cases in the rows of x
// and the different cases in the rows of z, where θ are the log parameters. W has a row
// for each row of x.
func (k Kernel) AddCrossGrad(dst []float64, w, x, z *mat.Dense) {
	k.checkParams(dst)
	rows, cases := k.rawInputs(x), k.rawInputs(z)
	checkShape("weight matrix", w, rows.Rows, cases.Rows)
	from := w.RawMatrix()
	k.addParts(dst, rows.Rows, func(grad []float64, cut span, s *scratch) {
		k.term.addGrad(grad, casesIn(from, cut), pairs{x: casesIn(rows, cut), z: cases}, s)
	})
}

// AddDiagGrad adds Σ_i w_i ∂k(x_i, x_i)/∂θ_k to dst[k], the covariance of each row of x
// with itself; see [Kernel.Diag].
func (k Kernel) AddDiagGrad(dst, w []float64, x *mat.Dense) {
	k.checkParams(dst)
	rows := k.rawInputs(x)
	if len(w) != rows.Rows {
		panic(fmt.Sprintf("kernel: %d weights for %d cases", len(w), rows.Rows))
	}
	k.addParts(dst, rows.Rows, func(grad []float64, cut span, _ *scratch) {
		k.term.addVarianceGrad(grad, w[cut.from:cut.to], casesIn(rows, cut))
	})
}

// addParts finds the gradient of some of n rows after others on all processors and adds them in order.
func (k Kernel) addParts(dst []float64, n int, part func(grad []float64, cut span, s *scratch)) {
	params, parts := k.NumParams(), (n+crossRows-1)/crossRows
	partial := make([]float64, parts*params)
	overTasks(parts, func(t int, s *scratch) {
		part(partial[t*params:(t+1)*params], span{t * crossRows, min((t+1)*crossRows, n)}, s)
	})
	for t := range parts {
		floats.Add(dst, partial[t*params:(t+1)*params])
	}
}
