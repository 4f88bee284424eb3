package nuts

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// density makes a Target of a function; tests share no scratch through it.
type density struct {
	dim int
	log func(x, grad []float64) float64
}

func (d density) Dim() int                             { return d.dim }
func (d density) LogDensity(x, grad []float64) float64 { return d.log(x, grad) }

func always(t Target) func() Target { return func() Target { return t } }

func standardNormal(dim int) Target {
	return density{dim, func(x, grad []float64) float64 {
		var sum float64
		for i, v := range x {
			grad[i] = -v
			sum += v * v
		}
		return -sum / 2
	}}
}

// gaussian is N(mean, precision⁻¹).
type gaussian struct {
	mean      []float64
	precision *mat.SymDense
	centered  []float64
}

func newGaussian(mean []float64, precision *mat.SymDense) *gaussian {
	return &gaussian{mean, precision, make([]float64, len(mean))}
}

func (g *gaussian) Dim() int { return len(g.mean) }

func (g *gaussian) LogDensity(x, grad []float64) float64 {
	floats.SubTo(g.centered, g.mean, x)
	vector := func(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }
	blas64.Symv(1, g.precision.RawSymmetric(), vector(g.centered), 0, vector(grad))
	return -floats.Dot(grad, g.centered) / 2
}

// logistic has independent standard logistic coordinates: log-concave, not
// Gaussian, and with an exact inverse distribution function.
func logistic(dim int) Target {
	return density{dim, func(x, grad []float64) float64 {
		var sum float64
		for i, v := range x {
			t := math.Tanh(v / 2)
			grad[i] = -t
			sum += -math.Abs(v) - 2*math.Log1p(math.Exp(-math.Abs(v)))
		}
		return sum
	}}
}

// funnel is Neal's: v ~ N(0, 3²), x_i ~ N(0, eᵛ). No step size suits both its
// neck and its mouth.
func funnel(dim int) Target {
	return density{dim, func(x, grad []float64) float64 {
		v, sum := x[0], 0.0
		for i := 1; i < dim; i++ {
			grad[i] = -x[i] * math.Exp(-v)
			sum += x[i] * x[i]
		}
		n := float64(dim - 1)
		grad[0] = -v/9 - n/2 + sum*math.Exp(-v)/2
		return -v*v/18 - n*v/2 - sum*math.Exp(-v)/2
	}}
}

// testChain is a chain with fixed step size and metric at the given point.
func testChain(t Target, x []float64, stepSize float64, m *metric, seed uint64) *chain {
	c := &chain{
		target: t, rng: rand.New(rand.NewPCG(seed, 0)), metric: m,
		stepSize: stepSize, maxDepth: 10, pool: statePool{dim: t.Dim()},
	}
	c.current = c.pool.get()
	copy(c.current.position, x)
	if !c.evaluate() {
		panic("test chain starts outside the support")
	}
	return c
}

// diagonal is the matrix with this diagonal.
func diagonal(entries []float64) *mat.SymDense {
	out := mat.NewSymDense(len(entries), nil)
	for i, v := range entries {
		out.SetSym(i, i, v)
	}
	return out
}
