package gauss

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// valuesOf are values with a covariance that is nearly singular, and factors of very different precisions on them.
func valuesOf(rng *rand.Rand, n int) (*Values, []Scalar) {
	v, x, s := NewValues(n), make([]float64, n), make([]Scalar, n)
	for i := range x {
		x[i] = 3 * rng.NormFloat64()
		s[i] = Scalar{Tau: math.Exp(6*rng.NormFloat64() - 4)}
		s[i].Nu = s[i].Tau * rng.NormFloat64()
	}
	for i := range x {
		for j := range i + 1 {
			v.prior.SetSym(i, j, 4*math.Exp(-0.5*(x[i]-x[j])*(x[i]-x[j])))
		}
	}
	return v, s
}

// TestValuesAreViews: values have the moments, covariances and log partition of the Gaussian that a
// root of their covariance gives. The largest precision is 1e6 of that of the prior, and 150 of them make
// a condition of 1e9; with units in the last place of 2e-16 and means up to 3 the rounding of either is 6e-7.
func TestValuesAreViews(t *testing.T) {
	for _, n := range []int{1, 2, 30, 150} {
		v, s := valuesOf(rand.New(rand.NewPCG(uint64(n), 4)), n)
		root, err := NewRoot(v.Prior())
		if err != nil {
			t.Fatal(err)
		}
		for i := range n { // precise factors see what a root has added
			v.Prior().SetSym(i, i, v.Prior().At(i, i)+root.Jitter)
		}
		if !v.Condition(s) {
			t.Fatalf("%d values have no posterior", n)
		}
		views, g, natural := root.Views(), NewGaussian(n), NewNatural(n)
		var ws Workspace
		natural.SetPosterior(views, s, &ws)
		if err := g.Exchange(natural); err != nil {
			t.Fatal(err)
		}
		mean, variance := make([]float64, n), make([]float64, n)
		g.Marginals(views, mean, variance, &ws)
		covariance, got := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
		g.Cross(views, covariance, &ws)
		v.Covariance(got)
		const tolerance = 6e-7
		for i := range n {
			if math.Abs(v.mean[i]-mean[i]) > tolerance || math.Abs(v.variance[i]-variance[i]) > tolerance {
				t.Errorf("value %d of %d: N(%v, %v), want N(%v, %v)", i, n, v.mean[i], v.variance[i], mean[i], variance[i])
			}
			for j := range i {
				if math.Abs(got.At(i, j)-covariance.At(i, j)) > tolerance {
					t.Errorf("covariance of %d and %d of %d: %v, want %v", i, j, n, got.At(i, j), covariance.At(i, j))
				}
			}
		}
		if want := g.LogPartition(); math.Abs(v.LogPartition()-want) > tolerance*max(1, math.Abs(want)) {
			t.Errorf("log partition of %d values %v, want %v", n, v.LogPartition(), want)
		}
	}
}

// TestPriorSlope: the derivative of the log partition in the covariance is that by central differences.
func TestPriorSlope(t *testing.T) {
	const n, step = 6, 1e-5
	v, s := valuesOf(rand.New(rand.NewPCG(7, 4)), n)
	slope := mat.NewSymDense(n, nil)
	if !v.Condition(s) {
		t.Fatal("no posterior")
	}
	v.PriorSlope(slope)
	for i := range n {
		for j := range i + 1 {
			at := v.Prior().At(i, j)
			var ends [2]float64
			for e, sign := range []float64{-1, 1} {
				v.Prior().SetSym(i, j, at+sign*step)
				if !v.Condition(s) {
					t.Fatal("no posterior")
				}
				ends[e] = v.LogPartition()
			}
			v.Prior().SetSym(i, j, at)
			want := slope.At(i, j)
			if i != j {
				want *= 2 // both elements move
			}
			if got := (ends[1] - ends[0]) / (2 * step); math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("slope in element %d, %d: %v, by differences %v", i, j, want, got)
			}
		}
	}
}

// TestValuesWithout: without factors values have their prior, and with one that says nothing or takes
// something away they are left to others.
func TestValuesWithout(t *testing.T) {
	v, s := valuesOf(rand.New(rand.NewPCG(8, 4)), 5)
	if !v.Condition(make([]Scalar, 5)) || v.LogPartition() != 0 {
		t.Fatal("no prior")
	}
	got, slope := mat.NewSymDense(5, nil), mat.NewSymDense(5, nil)
	v.Covariance(got)
	v.PriorSlope(slope)
	if !mat.Equal(got, v.Prior()) || mat.Norm(slope, 1) != 0 {
		t.Error("without factors the covariance is not the prior's")
	}
	for _, tau := range []float64{0, -0.1, math.NaN()} {
		s[2].Tau = tau
		if v.Condition(s) {
			t.Errorf("a precision of %v is taken", tau)
		}
	}
}
