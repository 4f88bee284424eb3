package lossep

import "github.com/lossep/lossep/decision"

// Likelihood says how probable the outcome is at a latent value f.
type Likelihood struct {
	// Name is "probit", P(y = 1) = Φ(f), which an empty name stands for; "logit",
	// 1/(1 + e⁻ᶠ); or "robust", probit with labels that are wrong now and then.
	Name string `json:"name"`
	// Noise is the probability ε, below one half, with which a label is wrong; of
	// "robust" only: P(y = 1) = ε + (1 − 2ε)Φ(f).
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

// outcome has the factor of each label. It is that of a new case, too, as it would be noted
// down: with the noise of the labels.
func (l Likelihood) outcome() decision.Outcome {
	switch l.Name {
	case "logit":
		return decision.Logit()
	case "robust":
		return decision.RobustProbit(l.Noise)
	}
	return decision.Probit()
}
