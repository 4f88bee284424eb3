package orthant

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/normal"
)

// worthLevel is that of the sparse grid by which Worth averages. It does not vary, so that
// the derivatives are those of the value to the last digit.
const worthLevel = 2

// Worth is Σ_c u_c P(the c-th is the largest), and writes its gradient and its Hessian in
// the means. It reports false where cov is not regular in the differences, or a number is
// not finite.
//
// Given r, with F_c and p_c the distribution and the density of the c-th at t, h_c = p_c/F_c
// and G = Π F_c, the probabilities are ∫ G h_c, and what their derivatives are made of are
// probabilities that two or three of the normals meet at the largest value:
//
//	∂P_c/∂μ_i = −∫ G h_c h_i for i ≠ c, so that S = Σ u_c P_c has
//	∂S/∂μ_i = Σ_{j≠i} (u_i − u_j) ∫ G h_i h_j and, for i ≠ k,
//	∂²S/∂μ_i∂μ_k = (u_i − u_k) ∫ G h_i h_k z_k/σ_k − Σ_{j≠i,k} (u_i − u_j) ∫ G h_i h_j h_k,
//
// with z_k = (t − μ_k)/σ_k. Moving all means together changes nothing, so that the rows of
// the Hessian add up to zero, which gives its diagonal.
func (l *Largest) Worth(u, mean []float64, cov *mat.SymDense, grad []float64, hess *mat.SymDense) (s float64, ok bool) {
	if !l.divide(cov) || math.IsNaN(floats.Sum(mean)) || math.IsInf(floats.Norm(mean, 1), 0) {
		return math.NaN(), false
	}
	clear(grad)
	hess.Zero()
	if l.dims == 0 {
		s = l.worth(1, u, mean, grad, hess)
	} else {
		g := sparseGrid(l.dims, worthLevel)
		for i, w := range g.weights {
			node := g.nodes[i*l.dims : (i+1)*l.dims]
			for c := range l.at {
				l.at[c] = mean[c] + floats.Dot(l.spread.RawRowView(c), node)
			}
			s += l.worth(w, u, l.at, grad, hess)
		}
	}
	for i := range l.n {
		rest := 0.0
		for k := range l.n {
			if k != i {
				rest -= hess.At(i, k)
			}
		}
		hess.SetSym(i, i, rest)
	}
	return s, true
}

// Quick writes the probabilities by the sparse grid of Worth, in far less time than Probabilities takes for four normals or more that
// depend on each other strongly: for comparisons of many cases, not for what is stated. Of up to three they are those of
// Probabilities, one-dimensional integrals that take no longer. It is NaN where Probabilities is.
func (l *Largest) Quick(dst, mean []float64, cov *mat.SymDense) {
	if l.n <= 3 {
		l.Probabilities(dst, mean, cov)
		return
	}
	if !l.divide(cov) || math.IsNaN(floats.Sum(mean)) || math.IsInf(floats.Norm(mean, 1), 0) {
		for c := range dst {
			dst[c] = math.NaN()
		}
		return
	}
	clear(dst)
	g := sparseGrid(l.dims, worthLevel)
	for i, w := range g.weights {
		node := g.nodes[i*l.dims : (i+1)*l.dims]
		for c := range l.at {
			l.at[c] = mean[c] + floats.Dot(l.spread.RawRowView(c), node)
		}
		l.independent(l.sums[1], l.at)
		floats.AddScaled(dst, w, l.sums[1])
	}
}

// worth adds what independent normals with standard deviations d contribute, times w, to
// the gradient and to what is off the diagonal of the Hessian, and returns the value.
func (l *Largest) worth(w float64, u, mean, grad []float64, hess *mat.SymDense) (s float64) {
	from, to, step := l.reach(mean)
	raw := hess.RawSymmetric()
	slope := l.sums[0] // z/σ
	for k := range int((to-from)/step) + 1 {
		t := from + float64(k)*step
		g := w * step / math.Sqrt(2*math.Pi)
		sum, worth := 0.0, 0.0
		h := l.density
		for c, m := range mean {
			z := (t - m) / l.d[c]
			below := normal.CDF(z)
			h[c] = math.Exp(-0.5*z*z) / l.d[c] / math.Sqrt(2*math.Pi) / max(below, math.SmallestNonzeroFloat64)
			slope[c] = z / l.d[c]
			g *= below
			sum += h[c]
			worth += u[c] * h[c]
		}
		if g == 0 || math.IsInf(sum, 0) {
			continue
		}
		g *= math.Sqrt(2 * math.Pi)
		s += g * worth
		for i := range mean {
			grad[i] += g * h[i] * (u[i]*(sum-h[i]) - (worth - u[i]*h[i]))
			row := raw.Data[i*raw.Stride:]
			for k := i + 1; k < len(mean); k++ {
				// Both ways to write it, of which the mean is symmetric.
				others, rest := sum-h[i]-h[k], worth-u[i]*h[i]-u[k]*h[k]
				meet := 0.5*(u[i]-u[k])*(slope[k]-slope[i]) - (0.5*(u[i]+u[k])*others - rest)
				row[k] += g * h[i] * h[k] * meet
			}
		}
	}
	return s
}
