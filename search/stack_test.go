package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/compare"
)

// TestWeights: no others make the mixture give the rows left out a higher probability, with
// what is in favour of the first. Without anything to tell it has all the weight.
func TestWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const rows = 200
	counts := make([]float64, rows)
	trials := []*trial{{}, {}, {}}
	for i := range counts {
		counts[i] = 0.5 + rng.Float64()
		for k, t := range trials {
			x := 0.2 + 0.3*rng.Float64() // each is best on some of the rows
			if i%3 == k {
				x += 0.4
			}
			t.logs = append(t.logs, math.Log(x))
		}
	}
	// Four rows are in favour of the first for each bit of its mean log loss.
	bits := 0.0
	for i, n := range counts {
		bits -= n * trials[0].logs[i] / math.Ln2 / floats.Sum(counts)
	}
	objective := func(w []float64) float64 {
		sum := 4 * bits * math.Log(w[0])
		for i, n := range counts {
			q := 0.0
			for k, x := range w {
				q += x * math.Exp(trials[k].logs[i])
			}
			sum += n * math.Log(q)
		}
		return sum
	}
	got := weigh(trials, counts, 10)
	best := math.Inf(-1)
	for a := 1; a <= 200; a++ {
		for b := 0; a+b <= 200; b++ {
			w := []float64{float64(a) / 200, float64(b) / 200, float64(200-a-b) / 200}
			best = max(best, objective(w))
		}
	}
	if slices.Contains(got, 0) || objective(got) < best {
		t.Errorf("weights %v give %v, there are others with %v", got, objective(got), best)
	}
	if math.Abs(floats.Sum(got)-1) > 1e-12 {
		t.Errorf("weights %v", got)
	}
	if coin := favour(trials[0].logs, counts, 2); bits < 1 || coin != 4 {
		t.Errorf("%v rows are in favour of a loss of %v bits between two outcomes", coin, bits)
	}
	for k := range trials {
		trials[k].logs = trials[0].logs
	}
	if got := weigh(trials, counts, 2); got[0] < 1-1e-6 {
		t.Errorf("with nothing to tell trials apart the weights are %v", got)
	}
	if got := weigh([]*trial{{}, {}}, nil, 2); !slices.Equal(got, []float64{1, 0}) {
		t.Errorf("without rows the weights are %v", got)
	}
	certain := &trial{logs: make([]float64, rows)}
	if got := weigh([]*trial{certain, certain}, counts, 2); !slices.Equal(got, []float64{1, 0}) {
		t.Errorf("where the first is certain and right the weights are %v", got)
	}
	// What it cannot explain at all is not in its favour.
	wrong := &trial{logs: slices.Repeat([]float64{math.Inf(-1)}, rows)}
	if got := weigh([]*trial{wrong, certain}, counts, 2); got[1] < 0.95 {
		t.Errorf("where the first is certain and wrong the weights are %v", got)
	}
}

// TestWeightsOfRows: a row of weight 2 is as good as the row twice.
func TestWeightsOfRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	weighted, twice := []*trial{{}, {}}, []*trial{{}, {}}
	var counts, ones []float64
	for range 80 {
		n := float64(1 + rng.IntN(2))
		counts = append(counts, n)
		for k := range weighted {
			l := math.Log(0.3 + 0.5*rng.Float64())
			weighted[k].logs = append(weighted[k].logs, l)
			twice[k].logs = append(twice[k].logs, slices.Repeat([]float64{l}, int(n))...)
		}
		ones = append(ones, slices.Repeat([]float64{1}, int(n))...)
	}
	a, b := weigh(weighted, counts, 2), weigh(twice, ones, 2)
	if !floats.EqualApprox(a, b, 1e-9) || slices.Contains(a, 0) { // sums in another order
		t.Errorf("weights %v, with rows repeated %v", a, b)
	}
	problem := &refits{Problem: &Problem{Weights: []float64{2, 1, 3}}, folds: []compare.Split{{Test: []int{2, 0}}, {Test: []int{1}}}}
	if got := problem.counts(); !slices.Equal(got, []float64{3, 2, 1}) {
		t.Errorf("rows left out count %v", got)
	}
	problem.Weights = nil
	if got := problem.counts(); !slices.Equal(got, []float64{1, 1, 1}) {
		t.Errorf("rows without weights count %v", got)
	}
}

// The heaviest stays, whatever its weight, and so does what has two fifths; the rest is theirs.
func TestHeavy(t *testing.T) {
	for _, c := range []struct{ given, want []float64 }{
		{[]float64{0.1, 0.5, 0.4, 0}, []float64{0, 5. / 9, 4. / 9, 0}},
		{[]float64{0.2, 0.35, 0.3, 0.15}, []float64{0, 1, 0, 0}},
		{[]float64{1, 0}, []float64{1, 0}},
	} {
		if heavy(c.given); !floats.EqualApprox(c.given, c.want, 1e-15) {
			t.Errorf("%v, want %v", c.given, c.want)
		}
	}
}
