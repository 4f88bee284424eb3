package infer

import "fmt"

// Status says how a run ended. Every result carries one.
type Status struct {
	Converged bool
	// Sweeps is the number of sweeps, or iterations, taken in all.
	Sweeps int
	// Residual is how far the result is from a fixed point: the largest change
	// that a full step would still make to a site, to a mean (in standard
	// deviations) or to a variance (relative).
	Residual float64
	// Damping is the damping in force at the end; it is smaller than what was
	// asked for when steps had to be shortened.
	Damping float64
	// DoubleLoop is the number of outer iterations of the double loop, 0 when the
	// ordinary iteration converged by itself.
	DoubleLoop int
	// ActionRounds is how many times the actions of a utility were chosen anew
	// after the sites had settled.
	ActionRounds int
	// ActionsHeld says that the actions of a utility did not come to rest: they
	// alternate for ever, or what they lead to has no fixed point. The run then
	// holds the actions of the highest evidence, that is, expected utility, among
	// those it was led through and settled under.
	ActionsHeld bool
	// Floor is what a utility that touches zero was raised by, so that Loss-VI could take
	// its logarithm; 0 where it was left as it is.
	Floor float64
	// Reason says in words why the run did not converge; empty when it did.
	Reason string
}

func (s Status) String() string {
	if s.Converged && s.ActionsHeld {
		return fmt.Sprintf("converged in %s with the actions held, which do not converge by themselves", sweeps(s.Sweeps))
	}
	if s.Converged {
		return "converged in " + sweeps(s.Sweeps)
	}
	return fmt.Sprintf("not converged after %s (residual %.2g): %s", sweeps(s.Sweeps), s.Residual, s.Reason)
}

func sweeps(n int) string {
	if n == 1 {
		return "1 sweep"
	}
	return fmt.Sprintf("%d sweeps", n)
}

const sweepLimit = "the limit on sweeps is reached; raise it"

// ImproperError says that no proper Gaussian could be returned.
type ImproperError struct {
	Of     string // what is not a proper Gaussian
	Status Status
}

func (e *ImproperError) Error() string {
	return fmt.Sprintf("infer: %s is not a proper Gaussian after %s; check the data for values far outside the prior, or start from other sites", e.Of, sweeps(e.Status.Sweeps))
}

// UnsupportedError says that a method does not apply to a model.
type UnsupportedError struct {
	Method string // such as "Exact"
	Reason string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("infer: %s does not apply: %s", e.Method, e.Reason)
}
