package decision

import (
	"fmt"
	"math"

	"github.com/lossep/lossep/factor"
)

// Logit is the outcome of logistic classification, P(y = 1 | f) = 1/(1 + exp(−f)).
func Logit() Outcome { return Outcome{factor.NewLogit(0), factor.NewLogit(1)} }

// Ordered is the outcome of grades: that f plus standard normal noise lies below the first cut
// point, between two of them, or above the last.
func Ordered(cuts []float64) Outcome {
	o := make(Outcome, len(cuts)+1)
	low := math.Inf(-1)
	for c, high := range cuts {
		o[c], low = factor.Ordered{Low: low, High: high}, high
	}
	o[len(cuts)] = factor.Ordered{Low: low, High: math.Inf(1)}
	return o
}

// RobustProbit is the outcome of probit classification when what is observed is the
// wrong one with probability noise: P(y = 1 | f) = noise + (1 − 2·noise)·Φ(f). It
// panics unless noise is in [0, ½).
//
// Its probabilities are those of the observation. Decisions about what is behind it
// take the outcome [Probit] with a posterior that was fitted to robust terms.
func RobustProbit(noise float64) Outcome {
	if !(noise >= 0 && noise < 0.5) {
		panic(fmt.Sprintf("decision: label noise of %v; it is at least 0 and below one half", noise))
	}
	return Outcome{factor.NewRobustProbit(0, noise), factor.NewRobustProbit(1, noise)}
}
