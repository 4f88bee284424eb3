// Package factor says what a term of a model must answer.
//
// A term t(f) weighs the value f that a view reads. Every family of methods asks
// it one question, always with the first and second derivative in the place where
// it is asked:
//
//   - Log(f) = log t(f): the Laplace approximation, sampling, exact references;
//   - LogMean(m, v) = log E t(f) with f ~ N(m, v): expectation propagation,
//     prediction, expected utility;
//   - MeanLog(m, v) = E log t(f) with f ~ N(m, v): variational inference.
//
// A Factor answers for one view. A Utility answers for many views at once and has
// actions to choose; it is how a decision enters inference as one more term.
package factor

// Factor is a positive function t of one value.
//
// Each method returns the value and its first and second derivative in f or m. By
// Price's theorem the derivative of MeanLog in v is half its second derivative in
// m, so none needs more.
type Factor interface {
	// Log is log t(f).
	Log(f float64) (l, d1, d2 float64)
	// LogMean is log E t(f), f ~ N(m, v), v ≥ 0.
	LogMean(m, v float64) (l, d1, d2 float64)
	// MeanLog is E log t(f), f ~ N(m, v), v ≥ 0.
	MeanLog(m, v float64) (l, d1, d2 float64)
}

// Binary is a Factor that is the probability of one of two outcomes. Its complement
// is that of the other: the two add to one everywhere.
type Binary interface {
	Factor
	Complement() Factor
}

// Utility is a positive factor on many views at once, which depends on an action
// for each of them: U(a, f) = Σ_j u_j(a_j, f_j).
type Utility interface {
	// Select writes the action with the highest expected utility for each view
	// when its value is N(m_j, v_j). An action already in the slice is kept where
	// it is as good as any other, so that ties do not flip; −1 stands for no
	// action yet.
	Select(actions []int, m, v []float64)
	// LogMean is the logarithm of Z = E U(a, f), f_j ~ N(m_j, v_j). It writes
	// d1_j = ∂Z/∂m_j / Z and d2_j = ∂²Z/∂m_j² / Z; because U is a sum there are no
	// mixed second derivatives of Z.
	LogMean(actions []int, m, v, d1, d2 []float64) float64
}

// Joint is a Utility whose points have several views each, one after the other, such as the
// functions of several outcomes. Where it is given variances, v and d2, it has for each point
// the matrix of them, row by row.
type Joint interface {
	Utility
	// Views is the number of views of a point.
	Views() int
}

// ViewsOf is the number of views of each point of a utility.
func ViewsOf(u Utility) int {
	if j, ok := u.(Joint); ok {
		return j.Views()
	}
	return 1
}
