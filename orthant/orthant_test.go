package orthant

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestBadInput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cov   *mat.SymDense
		lower []float64
	}{
		"empty":          {&mat.SymDense{}, nil},
		"length":         {correlated(0.1), []float64{0}},
		"NaN covariance": {correlated(math.NaN()), []float64{0, 0}},
		"Inf covariance": {correlated(math.Inf(1)), []float64{0, 0}},
		"NaN bound":      {correlated(0.1), []float64{math.NaN(), 0}},
		"+Inf bound":     {correlated(0.1), []float64{0, math.Inf(1)}},
	} {
		_, err := New(c.cov, c.lower)
		var input *InputError
		if !errors.As(err, &input) {
			t.Errorf("%s: error %v, want an InputError", name, err)
		}
	}
}

func TestNotPositiveDefinite(t *testing.T) {
	t.Parallel()
	for _, rho := range []float64{1, -1, 1.5} {
		_, err := New(correlated(rho), []float64{0, 0})
		var singular *NotPositiveDefiniteError
		if !errors.As(err, &singular) {
			t.Fatalf("ρ = %g: error %v, want a NotPositiveDefiniteError", rho, err)
		}
		if singular.Rank != 1 {
			t.Errorf("ρ = %g: rank %d", rho, singular.Rank)
		}
	}
	_, err := New(mat.NewSymDense(1, []float64{-1}), []float64{0})
	var singular *NotPositiveDefiniteError
	if !errors.As(err, &singular) {
		t.Errorf("negative variance: error %v", err)
	}
}

// TestHardProblems must end with a tilting and a usable estimate.
func TestHardProblems(t *testing.T) {
	t.Parallel()
	repeated := func(n int) *mat.SymDense { // every input twice
		s := mat.NewSymDense(2*n, nil)
		one := probitGP(n, math.Exp(3), math.E, 8)
		for i := range 2 * n {
			for j := range i {
				s.SetSym(i, j, one.At(i%n, j%n))
				if i%n == j%n {
					s.SetSym(i, j, one.At(i%n, i%n)-1)
				}
			}
			s.SetSym(i, i, one.At(i%n, i%n))
		}
		return s
	}
	for name, cov := range map[string]*mat.SymDense{
		"huge variance":           probitGP(60, 1e6, math.E, 1),
		"huge variance, smooth":   probitGP(60, 1e6, 30, 1),
		"huge variance, rough":    probitGP(60, 1e6, 0.3, 1),
		"vanishing variance":      probitGP(60, 1e-12, 1, 1),
		"duplicated inputs":       repeated(30),
		"strongly anticorrelated": correlated(-1 + 1e-4),
		"strongly correlated":     correlated(1 - 1e-10),
	} {
		n := cov.SymmetricDim()
		for _, bound := range []float64{-20, -1, 0, 1, 20} {
			lower := make([]float64, n)
			for i := range lower {
				lower[i] = bound
			}
			r, err := New(cov, lower)
			if err != nil {
				t.Errorf("%s, bound %g: %v", name, bound, err)
				continue
			}
			p := r.LogProb(800, 1)
			if !(p.RelErr < 0.3) || !(p.Log <= 0) || p.Log > r.bound+1e-9 {
				t.Errorf("%s, bound %g: %+v with bound %g", name, bound, p, r.bound)
			}
		}
	}
}

// TestExtremeInput may end in an error but not in a panic or a NaN.
func TestExtremeInput(t *testing.T) {
	t.Parallel()
	solved := 0
	values := []float64{-1e308, -1e200, -1e10, -1e-300, 0, 1e-300, 1e5, 1e10, 1e200, 1e308, math.Inf(-1)}
	for _, scale := range []float64{1e-300, 1e-10, 1, 1e10, 1e300} {
		for _, a := range values {
			for _, b := range values {
				cov := mat.NewSymDense(2, []float64{scale, 0.5 * scale, 0.5 * scale, scale})
				r, err := New(cov, []float64{a, b})
				if err != nil {
					var failed *ConvergenceError
					if !errors.As(err, &failed) {
						t.Errorf("unexpected error %v", err)
					}
					continue
				}
				solved++
				p := r.LogProb(32, 1)
				if math.IsNaN(p.Log) || math.IsNaN(p.RelErr) || p.Log > 1e-9 {
					t.Errorf("variance %g, bounds %g, %g: %+v", scale, a, b, p)
				}
			}
		}
	}
	// Most bounds here are finite in units of their standard deviation or
	// far below: giving up on all would pass the loop above.
	if solved < 200 {
		t.Errorf("%d of 605 problems solved", solved)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{&InputError{Reason: "no variables"}, "orthant: no variables"},
		{&NotPositiveDefiniteError{Variable: 3, Rank: 2, Pivot: -1e-17}, "orthant: covariance is not positive definite: variable 3 keeps variance -1e-17 given 2 others; remove duplicated variables or add to the diagonal"},
		{&ConvergenceError{Dim: 4, Bound: -2e9}, "orthant: no tilting found in 4 dimensions (bound of log P reached: -2e+09); check the bounds, which lie too far in the tail of the covariance"},
		{&AcceptanceError{Dim: 9, Accepted: 1, Proposals: 128000}, "orthant: 1 of 128000 proposals accepted in 9 dimensions, a rate below 0.001: independent draws are out of reach, use a Markov chain (NUTS) instead"},
	} {
		if got := fmt.Sprint(c.err); got != c.want {
			t.Errorf("message %q, want %q", got, c.want)
		}
	}
}
