package lossep

import (
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
)

// Likelihood says how probable the outcome is at a latent value f.
type Likelihood struct {
	// Name is "probit", P(y = +1) = Φ(f), which an empty name stands for; "logit",
	// 1/(1 + e⁻ᶠ); or "robust", probit with labels that are wrong now and then.
	Name string `json:"name"`
	// Noise is the probability ε, below one half, with which a label is wrong; of
	// "robust" only: P(y = +1) = ε + (1 − 2ε)Φ(f).
	Noise float64 `json:"noise,omitempty"`
}

func (l Likelihood) withDefaults() Likelihood {
	if l.Name == "" {
		l.Name = "probit"
	}
	return l
}

func (l Likelihood) check() error {
	switch l.Name {
	case "probit", "logit":
		if l.Noise != 0 {
			return inputf("likelihood", "%s has no label noise; choose robust, or leave the noise out", l.Name)
		}
	case "robust":
		if !(l.Noise > 0 && l.Noise < 0.5) {
			return inputf("likelihood", "the label noise %v of robust is not between 0 and 1/2; give the share of wrong labels, such as 0.01", l.Noise)
		}
	default:
		return inputf("likelihood", "%q is unknown; choose one of probit, logit, robust", l.Name)
	}
	return nil
}

// term is the factor of a label ±1.
func (l Likelihood) term(y float64) factor.Factor {
	switch l.Name {
	case "logit":
		return factor.Logit{Y: y}
	case "robust":
		return factor.RobustProbit{Y: y, Noise: l.Noise}
	}
	return factor.Probit{Y: y}
}

// terms are the factors of labels ±1.
func (l Likelihood) terms(labels []int) []factor.Factor {
	terms := make([]factor.Factor, len(labels))
	for i, y := range labels {
		terms[i] = l.term(float64(y))
	}
	return terms
}

// outcome is that of a new case, as it would be noted down: with the noise of the
// labels.
func (l Likelihood) outcome() decision.Outcome {
	return decision.Outcome{l.term(-1), l.term(+1)}
}
