package orthant

import "fmt"

// InputError reports a problem that is not one: no variables, lengths that do
// not match, or a value that is not a number.
type InputError struct {
	Reason string
}

func (e *InputError) Error() string { return "orthant: " + e.Reason }

// NotPositiveDefiniteError reports a covariance without a Cholesky factor.
type NotPositiveDefiniteError struct {
	// Variable is the index at which the factorisation broke down and Pivot
	// its remaining variance given the Rank variables taken before it.
	Variable, Rank int
	Pivot          float64
}

func (e *NotPositiveDefiniteError) Error() string {
	return fmt.Sprintf("orthant: covariance is not positive definite: variable %d keeps variance %.3g given %d others; remove duplicated variables or add to the diagonal",
		e.Variable, e.Pivot, e.Rank)
}

// ConvergenceError reports that the tilting was not found: the region lies
// deeper in the tail than float64 can resolve, or its scale overflows.
type ConvergenceError struct {
	Dim int
	// Bound is the upper bound of log P reached, NaN on overflow.
	Bound float64
}

func (e *ConvergenceError) Error() string {
	return fmt.Sprintf("orthant: no tilting found in %d dimensions (bound of log P reached: %.3g); check the bounds, which lie too far in the tail of the covariance",
		e.Dim, e.Bound)
}

// AcceptanceError reports that rejection sampling is too slow to be useful.
type AcceptanceError struct {
	Dim int
	// Accepted of Proposals proposals were accepted before giving up.
	Accepted, Proposals int
}

// Rate returns the acceptance rate seen.
func (e *AcceptanceError) Rate() float64 { return float64(e.Accepted) / float64(e.Proposals) }

func (e *AcceptanceError) Error() string {
	return fmt.Sprintf("orthant: %d of %d proposals accepted in %d dimensions, a rate below %g: independent draws are out of reach, use a Markov chain (NUTS) instead",
		e.Accepted, e.Proposals, e.Dim, MinAcceptance)
}
