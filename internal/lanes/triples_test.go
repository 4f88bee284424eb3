package lanes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// Sums over columns and their contractions are those of the formula, pair by pair, and the
// same bits in every code.
func TestTriples(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{1, 31, 32, 33, 100} {
		for _, d := range []int{1, 2, 7, 41} {
			const rows = 5
			x, z, w := random(rng, rows, d), random(rng, n, d), random(rng, rows, n)
			scale, amplitudes := make([]float64, d), make([]float64, d)
			for k := range d {
				scale[k], amplitudes[k] = math.Exp(3*rng.NormFloat64()), math.Exp(rng.NormFloat64())
			}
			for k := range d { // a pair of equals, and numbers as far out as they may be
				x.Data[k] = z.Data[k]
				scale[k] = min(scale[k], Reach/10)
			}
			z.Data[(n-1)*z.Stride], x.Data[x.Stride] = Reach/scale[0], -Reach/scale[0]
			var first []float64
			forEach(t, func(t *testing.T) {
				triples := NewTriples(z, scale, make([]float64, TriplesSize(n, d)))
				probes := NewProbes(x, scale, make([]float64, ProbesSize(rows, d)))
				dst := random(rng, rows, Padded(n))
				triples.Matern32(dst, probes, amplitudes)
				values, slopes := make([]float64, d), make([]float64, d)
				triples.Slopes(values, slopes, w, probes, make([]float64, SlopesSize(d)))

				var all []float64
				wantValues, wantSlopes, sizes := make([]float64, d), make([]float64, d), make([]float64, d)
				for i := range rows {
					for j := range n {
						want, size := 0.0, 0.0
						for k := range d {
							p, q := scale[k]*at(x, i, k), scale[k]*at(z, j, k)
							u := math.Abs(p - q)
							value := (1 + u) * math.Exp(-u)
							want += amplitudes[k] * value
							size += amplitudes[k]
							wantValues[k] += at(w, i, j) * value
							wantSlopes[k] += at(w, i, j) * u * u * math.Exp(-u)
							sizes[k] += math.Abs(at(w, i, j))
						}
						all = append(all, at(dst, i, j))
						// Exponentials are right to a unit in the last place, their reciprocals and
						// the product round once more, and so does each of the columns' sums.
						if math.Abs(at(dst, i, j)-want) > float64(d+8)*0x1p-52*size {
							t.Fatalf("%d cases of %d columns: %v, want %v", n, d, at(dst, i, j), want)
						}
					}
				}
				for k := range d {
					if tolerance := 20 * 0x1p-52 * sizes[k]; math.Abs(values[k]-wantValues[k]) > tolerance || math.Abs(slopes[k]-wantSlopes[k]) > tolerance {
						t.Fatalf("%d cases of %d columns: %v and %v, want %v and %v", n, d, values[k], slopes[k], wantValues[k], wantSlopes[k])
					}
				}
				all = slices.Concat(all, values, slopes)
				if first == nil {
					first = all
				} else if !slices.Equal(first, all) {
					t.Errorf("%d cases of %d columns: not the same bits in every code", n, d)
				}
			})
		}
	}
}

// A probe as far out as can be is as far from every case as matters, one with itself is never
// correlated by more than one, and what is no number stays none, in its own row.
func TestTriplesAtTheEnds(t *testing.T) {
	z := blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: []float64{-Reach, 0.3, Reach}}
	x := blas64.General{Rows: 7, Cols: 1, Stride: 1, Data: []float64{math.MaxFloat64, -math.MaxFloat64, math.Inf(1), 1e9, math.NaN(), mostReach, Reach}}
	w := blas64.General{Rows: 4, Cols: 3, Stride: 3, Data: slices.Repeat([]float64{1}, 12)}
	forEach(t, func(t *testing.T) {
		triples := NewTriples(z, []float64{1}, make([]float64, TriplesSize(3, 1)))
		dst := blas64.General{Rows: 7, Cols: Width, Stride: Width, Data: make([]float64, 7*Width)}
		triples.Matern32(dst, NewProbes(x, []float64{1}, make([]float64, ProbesSize(7, 1))), []float64{1})
		for i := range 7 {
			for j := range 3 {
				got := at(dst, i, j)
				switch {
				case i == 4:
					if !math.IsNaN(got) {
						t.Errorf("of NaN: %v", got)
					}
				case i == 6 && j == 2:
					if got > 1 || got < 1-0x1p-52 {
						t.Errorf("of equals: %v", got)
					}
				case !(got >= 0 && got < 2e-33):
					t.Errorf("of %v and %v: %v", x.Data[i], z.Data[j], got)
				}
			}
		}
		values, slopes := make([]float64, 1), make([]float64, 1)
		x.Rows = 4
		triples.Slopes(values, slopes, w, NewProbes(x, []float64{1}, make([]float64, ProbesSize(4, 1))), make([]float64, SlopesSize(1)))
		if !(values[0] >= 0 && values[0] < 1e-32 && slopes[0] >= 0 && slopes[0] < 1e-30) {
			t.Errorf("sums of far pairs: %v and %v", values, slopes)
		}
		x.Rows = 7
	})
	// Of equals everywhere within reach.
	rng := rand.New(rand.NewPCG(11, 12))
	for range 1000 {
		v := [3 * Width]float64{Reach * (2*rng.Float64() - 1)}
		expand(v[:], Reach)
		if one := v[Width] * v[2*Width]; one > 1 || one < 1-0x1p-52 {
			t.Fatalf("e^%v times e^−%v is %v", v[0], v[0], one)
		}
	}
}
