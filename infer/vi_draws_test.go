package infer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/normal"
)

// hopes is the utility Σ_j w_j (low + Φ(±f_j)), with the sign chosen by the action.
type hopes struct {
	low     float64
	weights []float64
}

func (h hopes) Select(actions []int, m, _ []float64) {
	for j := range actions {
		actions[j] = 0
		if m[j] > 0 {
			actions[j] = 1
		}
	}
}

func (h hopes) LogMean(actions []int, m, v, d1, d2 []float64) float64 {
	sum := 0.0
	for j, w := range h.weights {
		sign, s := float64(2*actions[j]-1), math.Sqrt(1+v[j])
		z := sign * m[j] / s
		sum += w * (h.low + normal.CDF(z))
		d1[j] = w * sign * normal.Density(z) / s
		d2[j] = -d1[j] * sign * z / s
	}
	for j := range d1 {
		d1[j] /= sum
		d2[j] /= sum
	}
	return math.Log(sum)
}

// hopeful is a random model without terms in dim dimensions, and q some Gaussian.
func hopeful(rng *rand.Rand, points, dim int) (*Model, *gauss.Gaussian) {
	normals := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	r := make([]float64, points)
	h := hopes{low: 0.05, weights: make([]float64, points)}
	for j := range r {
		r[j], h.weights[j] = rng.Float64(), rng.Float64()
	}
	m := &Model{
		Views: gauss.NewViews(mat.NewDense(1, dim, normals(dim)), nil, nil), Utility: h,
		Points: gauss.NewViews(mat.NewDense(points, dim, normals(points*dim)), normals(points), r),
	}
	root := mat.NewDense(dim, dim, normals(dim*dim))
	cov := mat.NewSymDense(dim, nil)
	cov.SymOuterK(0.3, root)
	for i := range dim {
		cov.SetSym(i, i, cov.At(i, i)+0.2)
	}
	q, err := gauss.FromMoments(normals(dim), cov)
	if err != nil {
		panic(err)
	}
	return m, q
}

// TestDrawnUtilityDerivatives: the site asked for is the exact derivative of the
// estimate in the moments of q: P = −2∂/∂Σ and H = ∂/∂μ + Pμ.
func TestDrawnUtilityDerivatives(t *testing.T) {
	const dim = 4
	rng := rand.New(rand.NewPCG(1, 1))
	m, q := hopeful(rng, 6, dim)
	for _, floor := range []float64{0, 0.1} {
		d := newDrawnUtility(m, 64, 7)
		d.floor = floor
		m.Utility.Select(d.actions, []float64{1, -1, 1, 1, -1, 1}, nil)
		cov := mat.NewSymDense(dim, nil)
		q.Covariance(cov)
		at := func(mean []float64, cov *mat.SymDense) float64 {
			g, err := gauss.FromMoments(mean, cov)
			if err != nil {
				t.Fatal(err)
			}
			d.visit(gauss.Gaussians{g}, new(gauss.Workspace))
			return stat.Mean(d.logs, nil)
		}
		d.evaluate(q, make([]gauss.Scalar, d.params()), new(gauss.Workspace))
		asked := gauss.NewNatural(dim)
		asked.CopyFrom(d.change) // from an empty site
		check := func(what string, got, want float64) {
			t.Helper()
			// Central differences with a step of 1e-5 are good to about 1e-9.
			if !(math.Abs(got-want) < 1e-8) {
				t.Errorf("floor %v: %s is %v, by differences %v", floor, what, got, want)
			}
		}
		const h = 1e-5
		for i := range dim {
			mean := append([]float64(nil), q.Mean()...)
			mean[i] += h
			up := at(mean, cov)
			mean[i] -= 2 * h
			slope := (up - at(mean, cov)) / (2 * h)
			for j, x := range q.Mean() {
				slope += asked.P.At(i, j) * x
			}
			check(fmt.Sprintf("H_%d", i), asked.H[i], slope)
			for j := range i + 1 {
				moved := mat.NewSymDense(dim, nil)
				moved.CopySym(cov)
				moved.SetSym(i, j, cov.At(i, j)+h)
				up := at(q.Mean(), moved)
				moved.SetSym(i, j, cov.At(i, j)-h)
				slope := (up - at(q.Mean(), moved)) / (2 * h)
				if i != j {
					slope /= 2 // two elements moved
				}
				check(fmt.Sprintf("P_%d%d", i, j), asked.P.At(i, j), -2*slope)
			}
		}
	}
}

// TestScrambledNormals: the draws are standard normal, and their error is honest.
func TestScrambledNormals(t *testing.T) {
	const dim = 3
	z := scrambledNormals(1024, dim, 1)
	for j := range dim {
		col := mat.Col(nil, j, z)
		if mean := stat.Mean(col, nil); math.Abs(mean) > 1e-14 {
			t.Errorf("mean of column %d is %v, and draws are mirrored", j, mean)
		}
		// The variance of 1024 independent draws would be good to 0.04.
		if v := stat.Variance(col, nil); math.Abs(v-1) > 0.02 {
			t.Errorf("variance of column %d is %v", j, v)
		}
		for k := range j {
			if c := stat.Correlation(col, mat.Col(nil, k, z), nil); math.Abs(c) > 0.03 {
				t.Errorf("correlation of columns %d and %d is %v", j, k, c)
			}
		}
	}
	if _, wide := scrambledNormals(16, 1100, 1).Dims(); wide != 1100 {
		t.Errorf("%d dimensions, want 1100", wide)
	}
	if !mat.Equal(z, scrambledNormals(1024, dim, 1)) || mat.Equal(z, scrambledNormals(1024, dim, 2)) {
		t.Error("the seed does not decide the draws")
	}
}

// TestStandardErrorOfDraws: over seeds the estimates spread as each says it does, and
// less than independent draws would.
func TestStandardErrorOfDraws(t *testing.T) {
	m, q := hopeful(rand.New(rand.NewPCG(2, 2)), 5, 6)
	const seeds = 200
	var means, squares, independent []float64
	for seed := range uint64(seeds) {
		d := newDrawnUtility(m, 256, seed)
		m.Utility.Select(d.actions, []float64{1, -1, 1, -1, 1}, nil)
		d.visit(gauss.Gaussians{q}, new(gauss.Workspace))
		se := d.standardError()
		means = append(means, stat.Mean(d.logs, nil))
		squares = append(squares, se*se)
		independent = append(independent, stat.Variance(d.logs, nil)/256)
	}
	ratio := stat.Variance(means, nil) / stat.Mean(squares, nil)
	t.Logf("variance of the estimates over the mean of their squared errors: %.3f; over that of independent draws: %.3f", ratio, stat.Variance(means, nil)/stat.Mean(independent, nil))
	// An F-like ratio with 199 and 1400 degrees of freedom: 4 standard deviations
	// are 0.43.
	if !(ratio > 0.57 && ratio < 1.43) {
		t.Errorf("ratio %v", ratio)
	}
	if !(stat.Variance(means, nil) < 0.5*stat.Mean(independent, nil)) {
		t.Error("the draws are no better than independent ones")
	}
}
