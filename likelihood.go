package lossep

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/posterior"
)

// Likelihood says how probable the outcome is at a latent value f.
type Likelihood struct {
	// Name is "probit", P(y = 1) = Φ(f), which an empty name stands for; "logit",
	// 1/(1 + e⁻ᶠ); "robust", probit with labels that are wrong now and then; or "ordered", that of
	// outcomes that have an order.
	Name string `json:"name"`
	// Noise is the probability ε, below one half, with which a label is wrong; of
	// "robust" only: P(y = 1) = ε + (1 − 2ε)Φ(f). Of C outcomes it is any of the others alike: with P those of
	// probit they have ε/(C−1) + (1 − εC/(C−1))P(y).
	Noise float64 `json:"noise,omitempty"`
	// Cuts are the points between grades, of "ordered" only: P(y ≤ c) = Φ(Cuts[c] − f). A fit finds
	// them. As the kernel has a constant their mean is 0, so that two grades are probit.
	Cuts []float64 `json:"cuts,omitempty"`
}

func (l Likelihood) withDefaults() Likelihood {
	if l.Name == "" {
		l.Name = "probit"
	}
	return l
}

func (l Likelihood) check() error {
	if l.Name != ordered && l.Cuts != nil {
		return inputf("likelihood", "%s has no cut points; leave them out", l.Name)
	}
	switch l.Name {
	case ordered:
		last := math.Inf(-1)
		for _, c := range l.Cuts {
			if !(c > last && c < math.MaxFloat64) {
				return inputf("likelihood", "its cut points %v do not rise", l.Cuts)
			}
			last = c
		}
		if l.Cuts == nil || l.Noise != 0 {
			return inputf("likelihood", "%s follows from an outcome that has an order; leave it out", ordered)
		}
	case "probit", "logit":
		if l.Noise != 0 {
			return inputf("likelihood", "%s has no label noise; choose robust, or leave the noise out", l.Name)
		}
	case "robust":
		if !(l.Noise > 0 && l.Noise < 0.5) {
			return inputf("likelihood", "robust needs the label noise, the share of past outcomes that are recorded wrongly, and %v is not between 0 and 1/2; give it, such as 0.01", l.Noise)
		}
	default:
		return inputf("likelihood", "unknown likelihood %q; choose one of probit, logit, robust", l.Name)
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
	case ordered:
		return decision.Ordered(l.Cuts)
	}
	return decision.Probit()
}

// expected is the likelihood as posteriors take it.
func (l Likelihood) expected() posterior.Outcomes { return posterior.Outcomes(l.outcome()) }

// robustWants says what robust of so many outcomes takes.
func robustWants(outcomes int) string {
	return fmt.Sprintf("robust of %d outcomes is learned from inducing points, as many as rows if they are few; leave the option out", outcomes)
}

// ordered is the name of the likelihood of grades.
const ordered = "ordered"

// gradePriors are those of the logarithms of the distances between cut points: they leave every
// grade its share of the rows where a latent value of variance one is added to the noise. Half a
// row more is taken to have each.
func gradePriors(grades int, labels []int, weights []float64) []kernel.Prior {
	rows := slices.Repeat([]float64{0.5}, grades)
	for i, y := range labels {
		if weights == nil {
			rows[y]++
		} else {
			rows[y] += weights[i]
		}
	}
	priors := make([]kernel.Prior, 0, grades-2)
	below, last := 0.0, 0.0
	for y, n := range rows[:grades-1] {
		below += n
		z := math.Sqrt2 * normal.Quantile(below/floats.Sum(rows))
		if y > 0 {
			priors = append(priors, kernel.Prior{Mean: math.Log(z - last), SD: 1})
		}
		last = z
	}
	return priors
}

// tuned is the likelihood with cut points at these logarithms of distances; none leave it as it is.
func (l Likelihood) tuned(logs []float64) Likelihood {
	if len(logs) == 0 {
		return l
	}
	l.Cuts = make([]float64, len(logs)+1)
	for k, log := range logs {
		l.Cuts[k+1] = l.Cuts[k] + math.Exp(log)
	}
	floats.AddConst(-floats.Sum(l.Cuts)/float64(len(l.Cuts)), l.Cuts)
	return l
}
