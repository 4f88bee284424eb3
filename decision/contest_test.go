package decision_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
)

// Two outcomes as a contest are the utility of two outcomes: with f = (f_1 − f_0)/√2, that
// is f_0 = −s/√2 and f_1 = s/√2. The same actions, value and derivatives.
func TestContestOfTwo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 16))
	const n = 5
	table := decision.Table{{1, 0.2}, {0.3, 2}}
	maps := make([]*mat.Dense, n)
	for j := range maps {
		maps[j] = mat.NewDense(2, 1, []float64{-math.Sqrt2 / 2, math.Sqrt2 / 2})
	}
	c, err := decision.NewContest(maps, nil, table)
	if err != nil {
		t.Fatal(err)
	}
	u, err := decision.NewUtility(decision.Probit(), n, nil, table)
	if err != nil {
		t.Fatal(err)
	}
	m, v := make([]float64, n), make([]float64, n)
	for j := range n {
		m[j], v[j] = 2*rng.NormFloat64(), 3*rng.Float64()
	}
	one, other := []int{-1, -1, -1, -1, -1}, []int{-1, -1, -1, -1, -1}
	c.Select(one, m, v)
	u.Select(other, m, v)
	d1, d2, e1, e2 := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	got, want := c.LogMean(one, m, v, d1, d2), u.LogMean(other, m, v, e1, e2)
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("log mean %v, want %v", got, want)
	}
	for j := range n {
		if one[j] != other[j] || math.Abs(d1[j]-e1[j]) > 1e-9 || math.Abs(d2[j]-e2[j]) > 1e-9 {
			t.Errorf("point %d: %d, %v, %v; want %d, %v, %v", j, one[j], d1[j], d2[j], other[j], e1[j], e2[j])
		}
	}
}

// The derivatives of three outcomes against differences, through maps that turn the views.
func TestContestOfThree(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 16))
	const n = 3
	maps := make([]*mat.Dense, n)
	for j := range maps {
		maps[j] = mat.NewDense(3, 2, nil)
		for i := range 3 {
			for k := range 2 {
				maps[j].Set(i, k, rng.NormFloat64())
			}
		}
	}
	c, err := decision.NewContest(maps, nil, decision.Table{{1, 0.2, 0}, {0.3, 2, 1}, {0, 0, 3}})
	if err != nil {
		t.Fatal(err)
	}
	m, v := make([]float64, 2*n), make([]float64, 4*n)
	for i := range m {
		m[i] = rng.NormFloat64()
	}
	for j := range n {
		copy(v[4*j:], []float64{0.8, 0.1, 0.1, 0.5})
	}
	actions := []int{0, 1, 2}
	d1, d2 := make([]float64, 2*n), make([]float64, 4*n)
	l := c.LogMean(actions, m, v, d1, d2)
	const h = 1e-3
	at := func(i, k int, di, dk float64) float64 { // Z relative to that here
		moved := append([]float64(nil), m...)
		moved[i] += di
		moved[k] += dk
		return math.Exp(c.LogMean(actions, moved, v, make([]float64, 2*n), make([]float64, 4*n)) - l)
	}
	for i := range m {
		if want := (at(i, i, h, 0) - at(i, i, -h, 0)) / (2 * h); math.Abs(d1[i]-want) > 1e-5 {
			t.Errorf("slope %d: %v, want %v", i, d1[i], want)
		}
		for k := range 2 {
			to := i - i%2 + k
			want := (at(i, to, h, h) - at(i, to, h, -h) - at(i, to, -h, h) + at(i, to, -h, -h)) / (4 * h * h)
			if math.Abs(d2[2*i+k]-want) > 1e-4 {
				t.Errorf("bend %d, %d: %v, want %v", i, to, d2[2*i+k], want)
			}
		}
	}
}

func TestBadContest(t *testing.T) {
	if _, err := decision.NewContest(nil, nil, decision.Table{{1, 0}, {0, 1}}); err == nil {
		t.Error("no points")
	}
	_, err := decision.NewContest([]*mat.Dense{mat.NewDense(3, 2, nil)}, nil, decision.Table{{1, 0}, {0, 1}})
	checkTableError(t, err, 0, -1, "3 outcomes and has 2")
}
