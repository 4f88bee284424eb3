package decision_test

import (
	"math"
	"testing"

	"github.com/lossep/lossep/decision"
)

// TestOutcomes: the probabilities of both outcomes at values and averages known by
// other means, and that they add to one.
func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		decision.Outcome
		m, v, p1 float64
	}{
		"sigmoid of log 3":     {decision.Logit(), math.Log(3), 0, 0.75},
		"sigmoid, even":        {decision.Logit(), 0, 40, 0.5},
		"sigmoid, far":         {decision.Logit(), -200, 4, math.Exp(-198)},
		"robust, even":         {decision.RobustProbit(0.1), 0, 3, 0.5},
		"robust, far":          {decision.RobustProbit(0.1), -200, 4, 0.1},
		"robust, one sd":       {decision.RobustProbit(0.1), 2, 3, 0.1 + 0.8*math.Erfc(-1/math.Sqrt2)/2},
		"robust without noise": {decision.RobustProbit(0), 2, 3, math.Erfc(-1/math.Sqrt2) / 2},
	} {
		p0, p1 := c.Probability(c.m, c.v)
		if math.Abs(p1-c.p1) > 1e-14*c.p1 || p0+p1 != 1 {
			t.Errorf("%s: probabilities %v and %v, want %v of the latter", name, p0, p1, c.p1)
		}
	}
}

func TestLabelNoise(t *testing.T) {
	for _, noise := range []float64{-0.1, 0.5, 1, math.NaN()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("label noise of %v: no panic", noise)
				}
			}()
			decision.RobustProbit(noise)
		}()
	}
}
