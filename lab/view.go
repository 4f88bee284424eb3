package lab

import (
	"errors"
	"strings"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/finite"
)

// Range is an interval in which one action is taken.
type Range struct {
	Action int     `json:"action"`
	From   float64 `json:"from"`
	To     float64 `json:"to"`
}

// Regret is what the actions of a method lose against the best ones, both judged by
// the exact posterior. It has the meaning of decision.Regret.
type Regret struct {
	// Utility, Best and Worst are the expected utilities of the actions taken, of the
	// best and of the worst.
	Utility float64 `json:"utility"`
	Best    float64 `json:"best"`
	Worst   float64 `json:"worst"`
	// Absolute is Best − Utility, and Normalised that as a share of Best − Worst.
	Absolute   float64 `json:"absolute"`
	Normalised float64 `json:"normalised"`
	// StdErr and NormalisedStdErr are the standard errors of the two that the draws of
	// the exact posterior leave; 0 when it is not known by draws.
	StdErr           float64 `json:"stderr"`
	NormalisedStdErr float64 `json:"normalised_stderr"`
}

// LeftOut names a method that has no answer to a problem, and says why.
type LeftOut struct {
	Method string `json:"method"`
	Reason string `json:"reason"`
}

// needs is the probability of outcome 1 beyond which action 1 is best, nil unless
// there are two actions and each is best somewhere.
func needs(t decision.Table) *float64 {
	if p, _, ok := (decision.Stakes{Table: t}).Threshold(); ok {
		return &p
	}
	return nil
}

// byProbability divides [0, 1] by the best action.
func byProbability(t decision.Table) []Range {
	var ranges []Range
	for _, r := range (decision.Stakes{Table: t}).Ranges() {
		ranges = append(ranges, Range(r))
	}
	return ranges
}

func newRegret(r decision.Regret) *Regret {
	return &Regret{Utility: r.Utility, Best: r.Best, Worst: r.Worst, Absolute: r.Absolute, Normalised: r.Normalised}
}

// errNotFinite says that a method ended with something that JSON cannot hold.
var errNotFinite = errors.New("its answer is not a finite number; bring the numbers of the problem closer together")

// reason is why a method has no answer, for someone who knows no packages.
func reason(err error) string {
	text := err.Error()
	for _, name := range []string{"infer: ", "orthant: "} {
		text = strings.ReplaceAll(text, name, "")
	}
	return text
}

func finiteOrNil(x *float64) *float64 {
	if x == nil || !finite.All(*x) {
		return nil
	}
	return x
}
