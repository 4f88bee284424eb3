package lab

import (
	"errors"
	"fmt"
	"math"
	"slices"
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

// Limits of a request. They keep its answer quick enough to follow a hand.
const (
	MaxMeasurements = 40  // of a reactor
	MaxPoints       = 100 // of a classifier
	MaxActions      = 8
	MaxLine         = 401 // points of a grid on the line
	MaxPlane        = 61  // points on each axis of a grid in the plane
	MaxKernel       = 500 // characters of a kernel
)

// Numbers beyond these are not what anyone looks at, and their squares and ratios
// stay far from the ends of float64.
const (
	largest          = 1e6 // of a place on an axis
	smallestVariance = 1e-6
	largestVariance  = 1e9
	// widest is how many times the noise variance of a reactor its prior variance may
	// be. Methods take the longer the wider a state can be than what measurements tell.
	widest         = 1e6
	largestProcess = 1e4 // a process of more is all but a step between labels
	largestUtility = 1e9
)

// InputError says which part of a request is wrong and what it may be.
type InputError struct {
	Field string // as in the JSON form, such as "labels[3]", counted from 0
	Msg   string
}

func (e *InputError) Error() string { return e.Field + ": " + e.Msg }

func inputf(field, format string, args ...any) *InputError {
	return &InputError{Field: field, Msg: fmt.Sprintf(format, args...)}
}

// entry is the name of the i-th entry of a field.
func entry(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// checkPlace refuses what is not a place on an axis. It is false for a NaN too.
func checkPlace(field string, x float64) error {
	if math.Abs(x) <= largest {
		return nil
	}
	return inputf(field, "%v is not a number from %g to %g", x, -largest, largest)
}

// checkWidth refuses an interval that is empty, or too narrow for its places to be
// told apart.
func checkWidth(field string, from, to float64) error {
	if to-from >= 1e-9*max(1, math.Abs(from), math.Abs(to)) {
		return nil
	}
	return inputf(field, "it ends at %v and begins at %v; let it end well beyond where it begins", to, from)
}

func checkVariance(field string, v float64) error {
	if v >= smallestVariance && v <= largestVariance {
		return nil
	}
	return inputf(field, "%v is not a variance from %g to %g", v, smallestVariance, largestVariance)
}

// newTable is the utility of a request as a table.
func newTable(rows [][]float64, outcomes int) (decision.Table, error) {
	if len(rows) > MaxActions {
		return nil, inputf("utility", "there are %d actions; give at most %d rows", len(rows), MaxActions)
	}
	t, err := decision.NewTable(outcomes, rows)
	var wrong *decision.TableError
	if errors.As(err, &wrong) {
		field := "utility"
		if wrong.Action >= 0 {
			field = entry(field, wrong.Action)
		}
		if wrong.Outcome >= 0 {
			field = entry(field, wrong.Outcome)
		}
		return nil, &InputError{Field: field, Msg: wrong.Msg}
	}
	if err != nil {
		return nil, err
	}
	for _, row := range t {
		if most := slices.Max(row); most > largestUtility {
			return nil, inputf("utility", "an entry is %g; only ratios matter, so divide all by the same number until none is above %g", most, largestUtility)
		}
	}
	return t, nil
}
