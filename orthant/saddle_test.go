package orthant

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/normal"
)

// psi is Botev's ψ(z; μ) written out from its definition.
func psi(f *factor, z, mu []float64) float64 {
	sum := 0.0
	for k := range f.bounded {
		c := f.lower[k]/f.diag[k] - floats.Dot(f.row(k), z[:k])
		sum += 0.5*mu[k]*mu[k] - mu[k]*z[k] + normal.LogCDF(mu[k]-c)
	}
	return sum
}

func TestSaddlePoint(t *testing.T) {
	t.Parallel()
	const n = 12
	lower := make([]float64, n)
	for i := range lower {
		lower[i] = float64(i%5) - 1
	}
	r := mustNew(t, probitGP(n, math.Exp(3), math.E, 5), lower)

	// z* = μ + λ; the gradient of ψ must vanish there in z and in μ, and ψ
	// must be the bound.
	z := floats.AddTo(make([]float64, n), r.tilt, r.slope)
	if got := psi(&r.factor, z, r.tilt); math.Abs(got-r.bound) > 1e-10 {
		t.Errorf("ψ at the saddle point is %v, the bound %v", got, r.bound)
	}
	central := &fd.Settings{Formula: fd.Central}
	inZ := fd.Gradient(nil, func(z []float64) float64 { return psi(&r.factor, z, r.tilt) }, z, central)
	inMu := fd.Gradient(nil, func(mu []float64) float64 { return psi(&r.factor, z, mu) }, r.tilt, central)
	// A Newton decrement² of 1e-12 leaves a gradient of 1e-6 at most; the
	// differences are good to 1e-9.
	if g := floats.Norm(inZ, 2); g > 1e-6 {
		t.Errorf("|∂ψ/∂z| = %g", g)
	}
	if g := floats.Norm(inMu, 2); g > 1e-6 {
		t.Errorf("|∂ψ/∂μ| = %g", g)
	}
}

// TestWeightIsBoundMinusGaps checks the identity everything rests on, for the
// best tangents and for bad ones, and that no tangents give a lower bound.
func TestWeightIsBoundMinusGaps(t *testing.T) {
	t.Parallel()
	const n = 8
	best := mustNew(t, probitGP(n, math.Exp(3), math.E, 6), make([]float64, n))
	f := &best.factor
	tangents, err := saddle(f, floats.AddTo(make([]float64, n), best.tilt, best.slope))
	if err != nil {
		t.Fatal(err)
	}
	rng := newStream(2, sampleStream, 0)
	for trial := range 50 {
		r := &Region{factor: *f}
		moved := make([]float64, n)
		for k := range moved {
			moved[k] = tangents[k] + 0.05*float64(trial)*rng.NormFloat64()
		}
		r.setTilt(moved)
		// A value computed in a different order differs by rounding.
		if r.bound < best.bound-1e-9 {
			t.Errorf("bound %v beats the optimal %v", r.bound, best.bound)
		}
		z := make([]float64, n)
		sum := 0.0
		for k := range n {
			at := r.truncation(k, z)
			gap := r.gap(k, at, normal.LogCDF(-at))
			if gap < -1e-12 {
				t.Errorf("negative gap %g", gap)
			}
			sum += gap
			z[k] = r.tilt[k] + at + drawExcess(at, rng)
		}
		want := psi(f, z, r.tilt)
		if got := r.bound - sum; math.Abs(got-want) > 1e-10*(1+math.Abs(want)) {
			t.Errorf("log weight %v, want %v", got, want)
		}
	}
}
