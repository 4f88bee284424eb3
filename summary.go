package lossep

import (
	"fmt"
	"math"

	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// Version is the version of this package, which model files name.
const Version = "0.1.0"

// Provenance is where a model comes from. It names no machine, file or time, so that
// the same rows and options give the same model file.
type Provenance struct {
	Version  string `json:"version"` // of this package
	Seed     uint64 `json:"seed"`
	Rows     int    `json:"rows"`     // n
	Features int    `json:"features"` // d
}

// Summary is what a fit found.
type Summary struct {
	// LogEvidence is that of EP for the kernel, whatever the method.
	LogEvidence float64 `json:"log_evidence"`
	// Objective is the method's own, where that is another.
	Objective *Objective `json:"objective,omitempty"`
	// LeaveOneOut is nil when a posterior without one of the rows does not exist.
	LeaveOneOut *LeaveOneOut `json:"leave_one_out,omitempty"`
	// Search is how the hyperparameters were found, nil if they were fixed.
	Search *Search `json:"search,omitempty"`
	Status Status  `json:"status"`
	// Zero is the cost, or the utility, that counts as no utility at all to calibrated
	// methods: a ceiling of costs, or the negative of a shift of utilities.
	Zero float64 `json:"zero"`
	// Jitter is what had to be added to the diagonal of the kernel's matrix.
	Jitter float64 `json:"jitter"`
	// Inducing is nil for the full process.
	Inducing *Inducing `json:"inducing,omitempty"`
	// Candidates are the kernels that were tried by AutoKernel. Those with a weight make up
	// the posterior, and what else is said about a kernel is said about the heaviest.
	Candidates []Candidate `json:"candidates,omitempty"`
	// Effects are the families of effects that are added to the process.
	Effects []Effects `json:"effects,omitempty"`
	// Sharpness is the power that the probabilities of their mixture are raised to, by what
	// occurred to rows that were left out; 0 stands for 1.
	Sharpness float64 `json:"sharpness,omitempty"`
	// Updates is what became of the model since, nil if nothing.
	Updates *Updates `json:"updates,omitempty"`
}

// Search is how the search for hyperparameters ended.
type Search = search.Record

// Candidate is a kernel that was tried.
type Candidate = search.Tried

// Objective is what a method maximises.
type Objective struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Status is how a fit ended.
type Status struct {
	Converged bool     `json:"converged"`
	Sweeps    int      `json:"sweeps"` // of the method, after the kernel was found
	Residual  float64  `json:"residual"`
	Text      string   `json:"text"` // in words
	Notes     []string `json:"notes,omitempty"`
}

func newStatus(s infer.Status) Status {
	return Status{Converged: s.Converged, Sweeps: s.Sweeps, Residual: s.Residual, Text: s.String()}
}

// LeaveOneOut is what every training row would have been predicted and decided
// without it and those that belong to it: its group, or its copies (but not with inducing
// points). The posterior without a row is q with that row's site taken out, for
// every method (Vehtari, Mononen, Tolvanen, Sivula and Winther 2016); the kernel is not
// found anew.
type LeaveOneOut struct {
	// Method is whose predictions these are: those of EP where the method itself,
	// Corrected, has none without a row.
	Method Method `json:"method"`
	// LogPredictive is the sum of the log probabilities of the labels, by the rows'
	// CaseWeights if they have any.
	LogPredictive float64 `json:"log_predictive"`
	// Value is what the decisions cost, or bring, per row.
	Value float64 `json:"value"`
	// Constant is what the best action that is the same for all rows costs, or brings.
	Constant float64 `json:"constant"`
	// ConstantAction is that action.
	ConstantAction int `json:"constant_action"`
	// Error is the standard error of the difference between Value and Constant, over pairs of the same row; 0 if it is not known.
	Error float64 `json:"difference_error,omitempty"`
}

// Inducing is how a process was seen from fewer points than there are training rows. Share, Lost and Bound are of the rows of a
// fit, and 0 after Update with its kernel.
type Inducing struct {
	Points int `json:"points"`
	// Share is the part of the variance of the training rows that the points leave.
	Share float64 `json:"share_left,omitzero"`
	// Lost is about how far the bound is below what more points could make it, in nats per
	// row.
	Lost float64 `json:"lost_per_row,omitzero"`
	// Bound is a lower bound on the log evidence of the process without inducing points,
	// of which Summary.LogEvidence is an approximation that may be above it.
	Bound float64 `json:"bound,omitzero"`
	// Power is that of power expectation propagation; 1 is EP itself.
	Power float64 `json:"power"`
}

// Updates is what became of a model since it was fitted.
type Updates struct {
	Added     int `json:"added"`
	Repeated  int `json:"repeated,omitempty"` // of those: equal rows that the model had, by features and outcome
	Forgotten int `json:"forgotten,omitempty"`
	// Faded says that rows count less the older they are, so that there are weights of them.
	Faded bool `json:"faded,omitempty"`
	// Refitted says that the kernel was searched for again.
	Refitted bool `json:"refitted,omitempty"`
}

// String says what was done.
func (s *Updates) String() string {
	text := fmt.Sprintf("updated     %s added", table.Plural(s.Added, "row"))
	if s.Repeated > 0 {
		text += fmt.Sprintf(" (%d of them equal to rows that the model already had, which count again)", s.Repeated)
	}
	if s.Forgotten > 0 {
		text += fmt.Sprintf(", %d forgotten", s.Forgotten)
	}
	if s.Faded {
		text += ", older rows count less"
	}
	if s.Refitted {
		return text + " since the fit; the kernel was searched for again, and columns are scaled as in the fit"
	}
	return text + " since the fit; the kernel, and what was tuned or calibrated with it, are those of the fit"
}

// Effects is a family of effects, and EffectsPart one of its columns.
type (
	Effects     = modelfile.Effects
	EffectsPart = modelfile.EffectsPart
)

// Left is the share in percent, to two digits.
func (s *Inducing) Left() string { return percent(s.Share) }

// percent is a share to two digits.
func percent(share float64) string {
	if share >= 0.995 {
		return fmt.Sprintf("%.0f %%", 100*share)
	}
	return fmt.Sprintf("%.2g %%", 100*share)
}

// check refuses what no fit could have found.
func (s *Inducing) check(rows int) error {
	if s.Points < 1 || s.Points > rows || !(s.Share >= 0 && s.Share <= 1+1e-9) || !(s.Lost >= 0) || math.IsNaN(s.Bound) || !(s.Power >= leastPower && s.Power <= 1) {
		return fmt.Errorf("its summary has %d inducing points for %d rows, a share left of %v, a loss of %v, a bound of %v and a power of %v",
			s.Points, rows, s.Share, s.Lost, s.Bound, s.Power)
	}
	return nil
}

// mixes tells whether the file of a model with this summary has several parts.
func (s *Summary) mixes() bool { return s.Inducing == nil && len(s.Candidates) > 0 }

// parts is how many these are.
func (s *Summary) parts() (n int) {
	for _, c := range s.Candidates {
		if c.Weight != 0 {
			n++
		}
	}
	return n
}

// CandidateLines say which kernels were tried and what each is worth.
func CandidateLines(all []search.Tried) []string {
	var lines []string
	for _, c := range all {
		weight := "weight 0"
		if c.Weight > 0 {
			weight = fmt.Sprintf("weight %.2f", c.Weight)
		}
		out := ""
		if c.LogPredictive != 0 {
			out = fmt.Sprintf("CV log score %.4f/row, ", c.LogPredictive)
		}
		of := ""
		if c.Search != nil && c.Search.Rows > 0 {
			of = fmt.Sprintf(" of %d rows", c.Search.Rows)
		}
		lines = append(lines, fmt.Sprintf("            %-12s %s (%slog evidence%s %.3f)", weight, c.Name, out, of, c.LogEvidence))
	}
	return lines
}

// checkCandidates refuses what no fit could have found.
func (s *Summary) checkCandidates() error {
	if len(s.Candidates) == 0 {
		return nil
	}
	if most := len(search.Candidates) + len(besideEffects); len(s.Candidates) > most {
		return fmt.Errorf("it was mixed of %d kernels, and at most %d are tried", len(s.Candidates), most)
	}
	sum := 0.0
	for _, c := range s.Candidates {
		if !(c.Weight >= 0 && c.Weight <= 1) || math.IsNaN(c.LogPredictive) {
			return fmt.Errorf("a kernel that was tried has the weight %v and the log predictive %v", c.Weight, c.LogPredictive)
		}
		if c.Search != nil && c.Search.Evaluations < 0 {
			return fmt.Errorf("a kernel that was tried was found in %d evaluations", c.Search.Evaluations)
		}
		sum += c.Weight
	}
	if !(math.Abs(sum-1) < 1e-9) {
		return fmt.Errorf("the weights of its kernels add up to %v", sum)
	}
	return nil
}

// sharpnessLine says what was done to probabilities.
func (s *Summary) sharpnessLine() string {
	what := "underconfident"
	if s.Sharpness < 1 {
		what = "overconfident"
	}
	return fmt.Sprintf("calibration slope  %.3g: the posterior is %s on left-out rows, so log odds are multiplied by this (included in probabilities and decisions)", s.Sharpness, what)
}

// checkSharpness refuses what no fit could have found.
func (s *Summary) checkSharpness() error {
	if s.Sharpness != 0 && !(s.Sharpness >= search.LeastSlope && s.Sharpness <= search.MostSlope && (s.mixes() || s.Inducing != nil)) {
		return fmt.Errorf("its probabilities are raised to the power %v", s.Sharpness)
	}
	return nil
}
