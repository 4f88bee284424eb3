package lab

import (
	"math"
)

// ReactorRequest is a state measured through clutter, and a decision that depends on whether
// it exceeds a threshold: see Reactor. What is left out has the value that
// NewReactor gives it.
type ReactorRequest struct {
	Data            []float64 `json:"data"`                       // measurements, 1 to MaxMeasurements
	PriorMean       *float64  `json:"prior_mean,omitempty"`       // of the state; 0
	PriorVariance   *float64  `json:"prior_variance,omitempty"`   // 100
	ClutterWeight   *float64  `json:"clutter_weight,omitempty"`   // the probability that a measurement is clutter; 0.5
	ClutterVariance *float64  `json:"clutter_variance,omitempty"` // 10
	NoiseVariance   *float64  `json:"noise_variance,omitempty"`   // of a measurement that is not clutter; 1
	// Utility has a row for each action, 2 to MaxActions, and in it what the action is
	// worth when the state is below and above the threshold.
	Utility   [][]float64 `json:"utility"`
	Threshold float64     `json:"threshold"`
	// Domain is the interval of states, and of thresholds, to look at. Nil stands for
	// one that has the data, the threshold and nearly all of the posterior in it.
	Domain []float64 `json:"domain,omitempty"`
}

// ReactorView is what every method says of a reactor.
type ReactorView struct {
	Domain    [2]float64 `json:"domain"`
	Threshold float64    `json:"threshold"`
	Phi       []float64  `json:"phi"` // equally spaced states, from one end of the domain to the other
	// Needs is the probability of a state above the threshold beyond which action 1 is
	// best; nil unless there are two actions and each is best somewhere.
	Needs *float64 `json:"needs"`
	// ByProbability divides the probabilities of a state above the threshold by the
	// best action.
	ByProbability []Range `json:"by_probability"`
	// Answers are those of the paper's methods, in the order of the table of methods
	// (exact, ep, loss-ep, vi, loss-vi), without those LeftOut.
	Answers []ReactorMethodView `json:"answers"`
	LeftOut []LeftOut           `json:"left_out"`
}

// ReactorMethodView is what one method says of a reactor.
type ReactorMethodView struct {
	ReactorAnswer
	// ProbabilityAbove is P(state > threshold), and ProbabilityBelow the rest, of which one
	// minus the first may have no digits left.
	ProbabilityAbove float64   `json:"probability_above"`
	ProbabilityBelow float64   `json:"probability_below"`
	Density          []float64 `json:"density"` // of the state, at each Phi
	// Agrees says that the action is that of the exact posterior, and Regret what it
	// loses against that. Nil where there is no exact answer.
	Agrees *bool   `json:"agrees"`
	Regret *Regret `json:"regret"`
	// Ranges are the actions that the method takes when the threshold moves over the
	// domain, in order. They meet where it changes its mind. Around thresholds where
	// it failed there is a gap.
	Ranges []Range `json:"ranges"`
	// Sweep says how the ranges of a method that is calibrated to the threshold were
	// found; nil for the others, whose posterior does not depend on it.
	Sweep *Sweep `json:"sweep,omitempty"`
}

// Sweep is how a calibrated method was followed over the thresholds of a domain: it
// was run at equally spaced ones, and at more between two neighbours that differ, or of
// which one has held its actions. A range that lies wholly between two neighbours is not
// seen.
type Sweep struct {
	Runs    int     `json:"runs"`    // in all
	Spacing float64 `json:"spacing"` // of the equally spaced thresholds
	// Precision is how closely the thresholds are known at which the action changes.
	Precision float64 `json:"precision"`
	// Unsettled counts the runs that did not converge, whose action is taken as it is.
	Unsettled int `json:"unsettled"`
	// Held counts the runs whose actions did not come to rest by themselves: see
	// infer.Status.
	Held int `json:"held"`
	// Failures are the runs that ended with nothing.
	Failures []SweepFailure `json:"failures"`
}

// SweepFailure is a threshold at which a method has no answer.
type SweepFailure struct {
	Threshold float64 `json:"threshold"`
	Reason    string  `json:"reason"`
}

// phiPoints is the number of states at which densities are given.
const phiPoints = 401

// problem is the request with everything filled in.
func (r ReactorRequest) problem() (Reactor, error) {
	p := NewReactor(r.Data...)
	p.Threshold = r.Threshold
	for _, c := range []struct {
		given *float64
		value *float64
	}{
		{r.PriorMean, &p.PriorMean},
		{r.PriorVariance, &p.PriorVariance},
		{r.ClutterWeight, &p.ClutterWeight},
		{r.ClutterVariance, &p.ClutterVariance},
		{r.NoiseVariance, &p.NoiseVariance},
	} {
		if c.given != nil {
			*c.value = *c.given
		}
	}
	if err := checkProblem(p); err != nil {
		return p, err
	}
	if err := r.checkDomain(); err != nil {
		return p, err
	}
	var err error
	p.Utility, err = newTable(r.Utility, 2)
	return p, err
}

func checkProblem(p Reactor) error {
	switch n := len(p.Data); {
	case n == 0:
		return inputf("data", "there are no measurements; give at least one")
	case n > MaxMeasurements:
		return inputf("data", "there are %d measurements; give at most %d", n, MaxMeasurements)
	}
	for i, y := range p.Data {
		if err := checkPlace(entry("data", i), y); err != nil {
			return err
		}
	}
	if err := checkPlace("prior_mean", p.PriorMean); err != nil {
		return err
	}
	if err := checkVariance("prior_variance", p.PriorVariance); err != nil {
		return err
	}
	if err := checkVariance("clutter_variance", p.ClutterVariance); err != nil {
		return err
	}
	if err := checkVariance("noise_variance", p.NoiseVariance); err != nil {
		return err
	}
	if p.PriorVariance > widest*p.NoiseVariance {
		return inputf("prior_variance", "%v is more than %g times the noise variance, %v; bring them closer together", p.PriorVariance, widest, p.NoiseVariance)
	}
	if !(p.ClutterWeight >= 0 && p.ClutterWeight < 1) {
		return inputf("clutter_weight", "%v is not a probability below 1", p.ClutterWeight)
	}
	return checkPlace("threshold", p.Threshold)
}

func (r ReactorRequest) checkDomain() error {
	if r.Domain == nil {
		return nil
	}
	if len(r.Domain) != 2 {
		return inputf("domain", "wants two numbers, where it begins and where it ends, and has %d", len(r.Domain))
	}
	for i, x := range r.Domain {
		if err := checkPlace(entry("domain", i), x); err != nil {
			return err
		}
	}
	return checkWidth("domain", r.Domain[0], r.Domain[1])
}

// domain is the interval asked for, or one that holds the data, the threshold and all
// but a hundredth of the exact posterior on either side. Where that is not known
// three standard deviations of the prior stand in.
func (r ReactorRequest) domain(p Reactor, s *ReactorPosterior) [2]float64 {
	if r.Domain != nil {
		return [2]float64(r.Domain)
	}
	const tail = 1e-2
	var from, to float64
	if s != nil {
		from, to = s.Threshold(1-tail), s.Threshold(tail)
	} else {
		reach := 3 * math.Sqrt(p.PriorVariance)
		from, to = p.PriorMean-reach, p.PriorMean+reach
	}
	for _, x := range append([]float64{p.Threshold}, p.Data...) {
		from, to = min(from, x), max(to, x)
	}
	from, to = outward(from, to)
	return [2]float64{from, to}
}
