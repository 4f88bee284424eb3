package kernel

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/lanes"
)

// TestBasisRowByRow: the covariances of a row are the same bits alone and among others,
// from a basis and from Cross.
func TestBasisRowByRow(t *testing.T) {
	forLaws(t, func(t *testing.T, k Kernel) {
		const n = 70
		x, z := lawInputs(30, n), lawInputs(31, 45)
		var cross mat.Dense
		k.Cross(&cross, x, z)
		b := k.Basis(z)
		z.Zero() // it is a copy
		if b.Len() != 45 || b.Stride() != lanes.Padded(45) {
			t.Errorf("%d functions, %d numbers apart", b.Len(), b.Stride())
		}
		for _, size := range []int{1, 3, n} {
			for from := 0; from < n; from += size {
				to := min(from+size, n)
				values := make([]float64, (to-from)*b.Stride())
				b.At(values, x.Slice(from, to, 0, lawDim).(*mat.Dense).RawMatrix())
				for i := from; i < to; i++ {
					for j := range b.Len() {
						if got := values[(i-from)*b.Stride()+j]; got != cross.At(i, j) {
							t.Fatalf("row %d among %d: %v, Cross has %v", i, size, got, cross.At(i, j))
						}
					}
				}
			}
		}
	})
}

// TestFarAway: a case beyond all others, even so far that the square of the distance
// overflows, has no covariance with them; what is no number stays none.
func TestFarAway(t *testing.T) {
	z := lawInputs(32, 5)
	for _, text := range []string{"rbf", "matern12", "matern32", "matern52", "matern32(ard)"} {
		k := mustParse(t, text, lawDim)
		for far, want := range map[float64]float64{1e6: 0, 1e60: 0, 1e200: 0, math.Inf(-1): 0} {
			var cross mat.Dense
			k.Cross(&cross, mat.NewDense(1, lawDim, []float64{0, far, 0}), z)
			if got := cross.At(0, 2); got != want {
				t.Errorf("%s at %v: %v", text, far, got)
			}
		}
		var cross mat.Dense
		k.Cross(&cross, mat.NewDense(1, lawDim, []float64{0, math.NaN(), 0}), z)
		if got := cross.At(0, 2); !math.IsNaN(got) {
			t.Errorf("%s at NaN: %v", text, got)
		}
	}
}

func TestBasisMistakesPanic(t *testing.T) {
	b := RBF(1, 1).Basis(mat.NewDense(4, 2, nil))
	two, three := mat.NewDense(1, 2, nil), mat.NewDense(1, 3, nil)
	for name, mistake := range map[string]func(){
		"columns":       func() { b.At(make([]float64, b.Stride()), three.RawMatrix()) },
		"numbers":       func() { b.At(make([]float64, 4), two.RawMatrix()) },
		"Cross columns": func() { b.Cross(new(mat.Dense), three) },
		"Cross size":    func() { b.Cross(mat.NewDense(1, 3, nil), two) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if message, ok := recover().(string); !ok || !strings.HasPrefix(message, "kernel: ") {
					t.Errorf("recovered %v", message)
				}
			}()
			mistake()
		})
	}
}
