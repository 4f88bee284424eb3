package gp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// jointMoments collects what a joint predictor says.
func jointMoments(j *gp.Joint, x *mat.Dense) (mean, variance []float64, cov *mat.Dense) {
	n, _ := x.Dims()
	mean, variance = make([]float64, n), make([]float64, n)
	rows := make([][]float64, n)
	j.Moments(x, func(first int, m, v []float64, c *mat.Dense) {
		copy(mean[first:], m)
		copy(variance[first:], v)
		for i := range m {
			rows[first+i] = append([]float64(nil), c.RawRowView(i)...)
		}
	})
	cov = mat.NewDense(n, len(rows[0]), nil)
	for i, r := range rows {
		cov.SetRow(i, r)
	}
	return mean, variance, cov
}

// Covariances are those of the posterior seen by its views, aΣaᵀ, with precisions of either
// sign.
func TestJointPredictor(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const n, d = 70, 3
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for k := range d {
			x.Set(i, k, rng.NormFloat64())
		}
	}
	p, err := gp.New(kernel.Matern32(2, 1.5), x)
	if err != nil {
		t.Fatal(err)
	}
	for _, lowest := range []float64{0, -0.02} {
		sites := make([]gauss.Scalar, n)
		for i := range sites {
			sites[i] = gauss.Scalar{Nu: rng.NormFloat64(), Tau: lowest + rng.Float64()*0.5}
		}
		nat := gauss.NewNatural(p.Views().Dim())
		nat.SetStandard()
		nat.TimesScalars(p.Views(), sites, new(gauss.Workspace))
		q := gauss.NewGaussian(nat.Dim())
		if err := q.Exchange(nat); err != nil {
			t.Fatal(err)
		}
		joint, ok := p.Joint(sites)
		if !ok {
			t.Fatal("no joint predictor")
		}
		z := newInputs(rng, p, 150)
		mean, variance, cov := jointMoments(joint, z)

		views, ws := p.At(z), new(gauss.Workspace)
		wantMean, wantVariance := make([]float64, 150), make([]float64, 150)
		infer.Gaussian{Gaussian: q}.Moments(views, wantMean, wantVariance)
		here, there, want := mat.NewDense(150, n, nil), mat.NewDense(n, n, nil), mat.NewDense(150, n, nil)
		q.Whiten(here, views, ws)
		q.Whiten(there, p.Views(), ws)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, here.RawMatrix(), there.RawMatrix(), 0, want.RawMatrix())
		for i := range 150 {
			near(t, "mean", mean[i], wantMean[i], 1e-10)
			near(t, "variance", variance[i], wantVariance[i], 1e-10)
			for k := range n {
				// K is nearly singular only where inputs nearly coincide, which these do not.
				if math.Abs(cov.At(i, k)-want.At(i, k)) > 1e-10 {
					t.Fatalf("covariance %d, %d is %v, want %v", i, k, cov.At(i, k), want.At(i, k))
				}
			}
		}
		// The same bits of a row alone, and among others in another place.
		for _, i := range []int{0, 63, 64, 149} {
			alone := mat.NewDense(1, d, nil)
			alone.SetRow(0, z.RawRowView(i))
			m, v, c := jointMoments(joint, alone)
			if m[0] != mean[i] || v[0] != variance[i] {
				t.Errorf("row %d alone has other moments", i)
			}
			for k := range n {
				if c.At(0, k) != cov.At(i, k) {
					t.Fatalf("row %d alone has another covariance with value %d", i, k)
				}
			}
		}
	}
}
