package decision_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
)

// The utility of functions that are independent of each other is what the probabilities of the
// outcomes make of the table, and its derivatives are those of that; where they may be noted down wrongly those of what is noted down.
func TestApart(t *testing.T) {
	for _, noise := range []float64{0, 0.2} {
		apart(t, noise)
	}
}

func apart(t *testing.T, noise float64) {
	rng := rand.New(rand.NewPCG(1, 41))
	const points, outcomes = 4, 3
	table := decision.Table{{1, 0.2, 0}, {0.3, 1, 0.1}, {0.6, 0.6, 0.6}}
	u, err := decision.NewApart(points, outcomes, nil, table.Mislabelled(noise))
	if err != nil {
		t.Fatal(err)
	}
	n := points * outcomes
	m, v, d1, d2 := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range m {
		m[i], v[i] = 2*rng.NormFloat64(), 3*rng.Float64()
	}
	actions := []int{-1, -1, -1, -1}
	u.Select(actions, m, v)
	mean := func(m []float64) (z float64) {
		for j, a := range actions {
			own, wide, p := make([]float64, outcomes), make([]float64, outcomes), make([]float64, outcomes)
			for c := range outcomes {
				own[c], wide[c] = m[c*points+j], v[c*points+j]
			}
			factor.OutcomeProbabilities(p, own, wide)
			for c := range p {
				p[c] = (1-noise)*p[c] + noise/(outcomes-1)*(1-p[c])
			}
			best := 0.0
			for b, row := range table {
				worth := 0.0
				for c := range p {
					worth += row[c] * p[c]
				}
				if best = max(best, worth); b == a {
					z += worth / points
				}
			}
			worth := 0.0
			for c := range p {
				worth += table[a][c] * p[c]
			}
			if worth < best-1e-12 {
				t.Errorf("point %d: action %d is worth %v, the best %v", j, a, worth, best)
			}
		}
		return z
	}
	z := mean(m)
	if got := u.LogMean(actions, m, v, d1, d2); math.Abs(got-math.Log(z)) > 1e-8 {
		t.Errorf("log of the expected utility %v, want %v", got, math.Log(z))
	}
	for i := range m {
		const h = 1e-3
		at := m[i]
		m[i] = at + h
		up := mean(m)
		m[i] = at - h
		down := mean(m)
		m[i] = at
		// Differences of values that are right to 1e-11, of functions whose fourth derivatives are
		// about one.
		if got := (up - down) / (2 * h) / z; math.Abs(got-d1[i]) > 1e-6 {
			t.Errorf("value %d: slope %v, by differences %v", i, d1[i], got)
		}
		if got := (up - 2*z + down) / (h * h) / z; math.Abs(got-d2[i]) > 1e-4 {
			t.Errorf("value %d: curvature %v, by differences %v", i, d2[i], got)
		}
	}
}
