package orthant

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The worth is that of the probabilities, and its derivatives are those of differences. A
// step of 1e-3 with five points leaves 1e-12 of the sixth derivative, and the equal steps
// of the integral, which move with the means, 1e-10/1e-3 in the first and its square in the
// second.
func TestWorth(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 16))
	for n := 2; n <= 6; n++ {
		for range 4 {
			mean, cov := drawNormals(rng, n, 1)
			for i := range n {
				for j := range i {
					cov.SetSym(i, j, 0.1*cov.At(i, j))
				}
			}
			u := make([]float64, n)
			for c := range u {
				u[c] = 3 * rng.Float64()
			}
			l := NewLargest(n)
			grad, hess := make([]float64, n), mat.NewSymDense(n, nil)
			s, ok := l.Worth(u, mean, cov, grad, hess)
			if !ok {
				t.Fatal("no worth")
			}
			p := make([]float64, n)
			l.Probabilities(p, mean, cov)
			if want := floats.Dot(u, p); math.Abs(s-want) > 1e-4 { // of a grid of one level
				t.Errorf("%d: worth %v, want %v", n, s, want)
			}
			value := func(at []float64) float64 {
				s, _ := NewLargest(n).Worth(u, at, cov, make([]float64, n), mat.NewSymDense(n, nil))
				return s
			}
			want := fd.Gradient(nil, value, mean, &fd.Settings{Formula: fd.Central, Step: 1e-3})
			if d := floats.Distance(grad, want, math.Inf(1)); d > 1e-6 {
				t.Errorf("%d: gradient off by %v: %v, want %v", n, d, grad, want)
			}
			var second mat.SymDense
			fd.Hessian(&second, value, mean, &fd.Settings{Formula: fd.Formula{Stencil: []fd.Point{{Loc: 0, Coeff: -1}, {Loc: 1, Coeff: 1}}, Derivative: 1, Step: 1e-3}, Step: 1e-3})
			for i := range n {
				for k := range n {
					if d := math.Abs(hess.At(i, k) - second.At(i, k)); d > 5e-3 { // of first order in the step
						t.Errorf("%d: Hessian at %d, %d is %v, want %v", n, i, k, hess.At(i, k), second.At(i, k))
					}
				}
			}
			// The Hessian is moreover the difference of gradients.
			moved, other := make([]float64, n), make([]float64, n)
			for i := range n {
				ahead, behind := append([]float64(nil), mean...), append([]float64(nil), mean...)
				ahead[i] += 1e-3
				behind[i] -= 1e-3
				l.Worth(u, ahead, cov, moved, mat.NewSymDense(n, nil))
				l.Worth(u, behind, cov, other, mat.NewSymDense(n, nil))
				for k := range n {
					if want := (moved[k] - other[k]) / 2e-3; math.Abs(hess.At(i, k)-want) > 1e-6 {
						t.Errorf("%d: Hessian at %d, %d is %v, want %v", n, i, k, hess.At(i, k), want)
					}
				}
			}
		}
	}
}
