package infer

import (
	"slices"

	"github.com/lossep/lossep/gauss"
)

// Result is what every method returns, by itself or as a part of what it returns: the
// contract that predictions, decisions and reports are written against.
type Result struct {
	// Posterior answers questions about v. A Result can be asked itself.
	Posterior
	// Q is the Gaussian of a method that ends with one, nil for others. Posterior is Q,
	// or refines it.
	Q *gauss.Gaussian
	// LogEvidence is the logarithm of the integral of all factors, or what the method
	// has in its place, as Method.Objective says; NaN where it has nothing.
	LogEvidence float64
	// Sites are the Gaussian stand-ins of the factors. They make Q, and can start a
	// later run of this or of another method. Where there is no Q they are empty.
	Sites Sites
	// Tilted is q̄, the approximation of the posterior times the utility that EP finds
	// beside Q; without a utility it is Q. Nil for other methods.
	Tilted *gauss.Gaussian
	Status Status
}

// Calibration is what Q has beside the sites of the terms: the utility's site, where Q
// carries it as that of Loss-VI does; nil where it does not.
func (r *Result) Calibration() *gauss.Natural {
	if r.Tilted != nil {
		return nil // which carries it instead
	}
	return r.Sites.Utility
}

// gaussian is the result of a method that ends with one Gaussian.
func gaussian(q *gauss.Gaussian, logEvidence float64, sites Sites, s Status) Result {
	return Result{Posterior: Gaussian{q}, Q: q, LogEvidence: logEvidence, Sites: sites, Status: s}
}

// Sites are the Gaussian stand-ins of a model's factors.
type Sites struct {
	Terms   []gauss.Scalar // on s_i = a_i·v
	Utility *gauss.Natural // nil without a utility
	Actions []int          // the action taken at each point of the utility
}

func (s *Sites) clone() Sites {
	c := Sites{Terms: slices.Clone(s.Terms), Actions: slices.Clone(s.Actions)}
	if s.Utility != nil {
		c.Utility = gauss.NewNatural(s.Utility.Dim())
		c.Utility.CopyFrom(s.Utility)
	}
	return c
}
