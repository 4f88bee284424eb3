package factor

// A label is 0 or 1: the place of what occurred among two outcomes. Terms have it as the sign
// that the latent value is multiplied with.

// sign is −1 for label 0 and +1 for label 1.
func sign(label int) float64 { return float64(2*label - 1) }

// NewProbit is the term of label 0 or 1.
func NewProbit(label int) Probit { return Probit{Y: sign(label)} }

// NewLogit is the term of label 0 or 1.
func NewLogit(label int) Logit { return Logit{Y: sign(label)} }

// NewRobustProbit is the term of label 0 or 1, which is wrong with probability noise.
func NewRobustProbit(label int, noise float64) RobustProbit {
	return RobustProbit{Y: sign(label), Noise: noise}
}
