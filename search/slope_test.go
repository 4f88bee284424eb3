package search

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTemper: the log odds of any two outcomes are multiplied by the power, also far out,
// and what is no number stays so.
func TestTemper(t *testing.T) {
	for _, p := range [][]float64{{0.3, 0.7}, {1e-100, 1}, {0.2, 0.5, 0.3}, {0.25, 0.25, 0.25, 0.25}} {
		for _, power := range []float64{0.5, 1, 1.3, 2} {
			q := append([]float64(nil), p...)
			Temper(q, power)
			sum := 0.0
			for c := range q {
				sum += q[c]
				want, got := power*(math.Log(p[c])-math.Log(p[0])), math.Log(q[c])-math.Log(q[0])
				if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
					t.Errorf("%v to the power %v: log odds %v of outcome %d to the first, want %v", p, power, got, c, want)
				}
			}
			if math.Abs(sum-1) > 1e-15 {
				t.Errorf("%v to the power %v adds up to %v", p, power, sum)
			}
		}
	}
	sure := []float64{0, 1}
	Temper(sure, 2)
	if sure[0] != 0 || sure[1] != 1 {
		t.Errorf("what is certain becomes %v", sure)
	}
	nothing := []float64{math.NaN(), 0.5}
	Temper(nothing, 2)
	if !math.IsNaN(nothing[0]) || !math.IsNaN(nothing[1]) {
		t.Errorf("no number becomes %v", nothing)
	}
}

// leftOutRows are rows of three outcomes that were predicted with the true probabilities to
// a power, and what occurred.
func leftOutRows(n int, power float64, seed uint64) (left [][]float64, outcomes []int, counts []float64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		p, sum := make([]float64, 3), 0.0
		for c := range p {
			p[c] = math.Exp(1.5 * rng.NormFloat64())
			sum += p[c]
		}
		u, y := sum*rng.Float64(), 0
		for y < 2 && u > p[y] {
			u -= p[y]
			y++
		}
		Temper(p, power)
		if power == 1 {
			for c := range p {
				p[c] /= sum
			}
		}
		left, outcomes, counts = append(left, p), append(outcomes, y), append(counts, 1)
	}
	return left, outcomes, counts
}

// TestCalibrationSlope: the power is the one that it says it is, by a search of all; with enough rows
// it undoes what was done to the truth; where there is nothing to undo it is none; and a row
// that counts twice is the row twice.
func TestCalibrationSlope(t *testing.T) {
	left, outcomes, counts := leftOutRows(400, 0.6, 1)
	value := func(b float64) (sum float64) {
		for i, p := range left {
			q := append([]float64(nil), p...)
			Temper(q, b)
			sum += math.Log(q[outcomes[i]])
		}
		return sum
	}
	const h = 1e-4
	variance := 0.0
	for i, p := range left {
		log := func(b float64) float64 {
			q := append([]float64(nil), p...)
			Temper(q, b)
			return math.Log(q[outcomes[i]])
		}
		slope := (log(1+h) - log(1-h)) / (2 * h)
		variance += slope * slope
	}
	best, at := math.Inf(-1), 0.0
	for b := LeastSlope; b <= MostSlope; b += 0.001 {
		if v := value(b) - math.Sqrt(variance)*standardErrors*math.Abs(b-1); v > best {
			best, at = v, b
		}
	}
	got := CalibrationSlope(left, outcomes, counts, nil)
	if math.Abs(got-at) > 0.0011 { // the step of the search
		t.Errorf("power %v, and the best of all is %v", got, at)
	}
	if got < 1.2 {
		t.Errorf("power %v where 1.67 would undo what was done: nothing was shown", got)
	}

	// With σ the standard deviation of the slope of a row, the power has a standard error of
	// 1/(σ√n), 0.01 or so, and what chance is allowed for takes twice that.
	for _, power := range []float64{0.5, 1.6} {
		left, outcomes, counts := leftOutRows(20000, power, 2)
		if got := CalibrationSlope(left, outcomes, counts, nil); math.Abs(got*power-1) > 0.08 {
			t.Errorf("power %v undoes %v", got, power)
		}
	}
	none := 0
	for seed := range uint64(40) {
		left, outcomes, counts := leftOutRows(300, 1, 3+seed)
		if CalibrationSlope(left, outcomes, counts, nil) == 0 {
			none++
		}
	}
	if none < 34 { // two standard errors are passed by chance in 5 of 100, so in 2 of 40
		t.Errorf("of 40 tables with nothing to undo %d were left as they are", none)
	}

	twice, same, ones := left, outcomes, counts
	for i := range left[:200] {
		counts[i] = 2
	}
	twice, same = append(twice, left[:200]...), append(same, outcomes[:200]...)
	ones = make([]float64, len(twice))
	units := make([]int, len(twice)) // a row and its copy are one
	for i := range ones {
		ones[i], units[i] = 1, 3*(i%len(left)) // with numbers of rows that are not left out between
	}
	if a, b := CalibrationSlope(left, outcomes, counts, nil), CalibrationSlope(twice, same, ones, units); math.Abs(a-b) > 1e-9 {
		t.Errorf("power %v with weights of 2, %v with the rows twice", a, b)
	}

	// What is left to chance does not depend on the unit that weights are in, and is more in
	// groups that are alike.
	tenfold := make([]float64, len(counts))
	for i, n := range counts {
		tenfold[i] = 10 * n
	}
	if a, b := CalibrationSlope(left, outcomes, counts, nil), CalibrationSlope(left, outcomes, tenfold, nil); math.Abs(a-b) > 1e-9 {
		t.Errorf("power %v, and %v with weights ten times as large", a, b)
	}
	if a, b := CalibrationSlope(twice, same, ones, units), CalibrationSlope(twice, same, ones, nil); !(a < b) {
		t.Errorf("power %v with copies that are one, %v with copies that count as new rows", a, b)
	}

	// All as predicted: as sharp as is allowed and no more.
	for i, p := range left {
		outcomes[i] = 0
		p[0], p[1], p[2] = 0.9, 0.06, 0.04
	}
	if got := CalibrationSlope(left, outcomes, counts, nil); !(got > 1 && got <= MostSlope) {
		t.Errorf("power %v where everything was as predicted", got)
	}
}
