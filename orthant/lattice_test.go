package orthant

import (
	"math"
	"slices"
	"testing"
)

func TestPrimeFrom(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{-3: 2, 0: 2, 2: 2, 4: 5, 24: 29, 90: 97, 256: 257, 65522: 65537} {
		if got := primeFrom(n); got != want {
			t.Errorf("prime from %d is %d, want %d", n, got, want)
		}
	}
}

// TestLatticeIsFull: N being prime, every coordinate of the N points without
// shift takes each of the values 0/N … (N−1)/N once.
func TestLatticeIsFull(t *testing.T) {
	t.Parallel()
	const points, dim = 101, 20
	for _, alpha := range latticeGenerator(points, dim) {
		var seen []float64
		for i := range points {
			_, fraction := math.Modf(float64(i)*alpha + 1e-9)
			seen = append(seen, math.Floor(fraction*points))
		}
		slices.Sort(seen)
		for i, v := range seen {
			if v != float64(i) {
				t.Fatalf("generator %g misses %d/%d", alpha, i, points)
			}
		}
	}
}

// TestLatticeBeatsMonteCarlo integrates a smooth function of six variables
// with mean one and compares the error with that of as many random points.
func TestLatticeBeatsMonteCarlo(t *testing.T) {
	t.Parallel()
	const points, dim, shifts = 1021, 6, 32
	generator := latticeGenerator(points, dim)
	square := 0.0
	for s := range shifts {
		l := newLattice(generator, newStream(1, latticeStream, s))
		mean := 0.0
		for range points {
			f := 1.0
			for j, u := range l.next() {
				f *= 1 + 1.5*(u*u-1.0/3)/float64(j+1)
			}
			mean += f / points
		}
		square += (mean - 1) * (mean - 1) / shifts
	}
	variance := 1.0 // Π (1 + variance of a factor), Var u² = 4/45
	for j := range dim {
		variance *= 1 + 2.25*4/45/float64((j+1)*(j+1))
	}
	random := math.Sqrt((variance - 1) / points)
	if got := math.Sqrt(square); got > random/30 {
		t.Errorf("error %.2g, random points %.2g", got, random)
	}
}
