// Package kernel provides covariance functions with gradients, and a small
// language to write them in.
//
// A [Kernel] is an immutable expression: leaves such as [RBF], [Matern52] or
// [Linear], combined by [Sum] and [Product]. Cases are the rows of an N×d
// matrix. Every hyperparameter is positive and is exchanged with an optimiser
// as its logarithm θ; [Kernel.With] returns the same expression at another θ,
// so kernels can be shared between goroutines.
//
// Two questions are answered in bulk. [Kernel.Gram] and [Kernel.Cross] fill
// covariance matrices. [Kernel.WeightedGrad] contracts the derivative of the
// Gram matrix with given weights,
//
//	g_k = Σ_ij W_ij ∂K_ij/∂θ_k,
//
// which is what the gradient of an evidence needs, without ever holding the
// N×N derivative matrices. All of it runs over tiles of the pair matrix: a
// kernel only says what it is as a function of one case with others fixed, in
// vector code where the processor has it, and how to contract a rectangle of
// pairs; the tiles are spread over the processors, and the result does not
// depend on how many there are. A [Basis] keeps the fixed cases for many
// evaluations.
//
// Inputs must be finite and below 1e50 in magnitude. The last columns may be codes of
// categories, which count as the 0/1 columns they are short for; see [Columns].
//
// # The language
//
// [Parse] reads expressions such as
//
//	rbf(ard) + linear
//	matern52(variance=2.25, lengthscale=[0.5, 1.1]) * linear + white(variance=0.1)
//
// and [Kernel.String] prints what Parse reads back to the same kernel.
// Parameters left out are 1; ard gives every input column a parameter of its
// own, and so does a list.
//
//	rbf        variance · exp(−s/2)
//	matern12   variance · exp(−r)
//	matern32   variance · (1 + √3 r) exp(−√3 r)
//	matern52   variance · (1 + √5 r + 5/3 r²) exp(−√5 r)
//	additive   Σ_k variance_k · (1 + √3 r_k) exp(−√3 r_k)
//	linear     Σ_k variance_k x_k z_k
//	periodic   variance · exp(−2 Σ_k sin²(π (x_k − z_k)/period) / lengthscale²)
//	constant   variance
//	white      variance for a case and itself, 0 between different cases
//	score      variance x_1 z_1, of a score in the first column; see [ParseColumns]
//
// with s = Σ_k (x_k − z_k)²/lengthscale_k², r = √s and r_k = |x_k − z_k|/lengthscale_k. The linear kernel has no
// intercept: add constant for one. The white kernel compares cases, not
// values: two rows with the same inputs are different cases.
package kernel
