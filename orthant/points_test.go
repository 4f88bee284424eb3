package orthant

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/normal"
)

// Of two independent variables cut off below the means are known, and a third that leans on
// the first has half of its mean. Sixteen sets say how exact theirs are: five standard errors
// of Student's t with 15 degrees of freedom are passed once in six thousand times.
func TestPointsHaveTheMeans(t *testing.T) {
	cov := mat.NewSymDense(3, []float64{1, 0, 0.5, 0, 4, 0, 0.5, 0, 1})
	r, err := New(cov, []float64{0.7, -1, math.Inf(-1)})
	if err != nil {
		t.Fatal(err)
	}
	const sets = 16
	x, weights := r.Points(sets, 200, 3)
	rows, _ := x.Dims()
	points := rows / sets
	first := normal.Hazard(-0.7)
	for j, want := range []float64{first, 2 * normal.Hazard(0.5), first / 2} {
		each := make([]float64, sets)
		for s := range each {
			total := 0.0
			for k := s * points; k < (s+1)*points; k++ {
				if v := x.At(k, j); v < []float64{0.7, -1, math.Inf(-1)}[j] {
					t.Fatalf("variable %d is %v", j, v)
				}
				each[s] += weights[k] * x.At(k, j)
				total += weights[k]
			}
			if math.Abs(total-1) > 1e-12 {
				t.Errorf("the weights of set %d add up to %v", s, total)
			}
		}
		mean, sd := stat.MeanStdDev(each, nil)
		stderr := stat.StdErr(sd, sets)
		// As many draws have a standard error of 1/√3200 or so.
		if math.Abs(mean-want) > 5*stderr || stderr > 0.002 {
			t.Errorf("variable %d has mean %v ± %v, want %v", j, mean, stderr, want)
		}
	}
}
