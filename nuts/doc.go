// Package nuts draws from any differentiable log density with the No-U-Turn
// sampler and says how far the draws can be trusted.
//
// The idea: give the position q a fictitious momentum p ~ N(0, M) and follow
// the Hamiltonian H(q, p) = −log π(q) + ½ pᵀM⁻¹p with a leapfrog integrator,
// doubling the trajectory forward or backward in time until it starts to turn
// back on itself, then pick one of its points with probability proportional to
// exp(−H) (Hoffman and Gelman 2014; multinomial form of Betancourt 2017). The
// step size is tuned by dual averaging and M⁻¹, which is diagonal, by the posterior
// variances seen in growing windows of the warm-up, which follow Stan's schedule.
//
// [Sample] runs several seeded chains at once; the bytes it returns depend on
// the seed alone, never on the number of processors. A [Result] carries its own
// [Warning] values: a caller that shows them hides nothing.
//
// Whatever is computed from draws is a [Series] (chains × draws of one scalar).
// [Series.Estimate] gives its mean with a Monte Carlo standard error and
// [Series.Summarize] adds rank-normalised split-R̂ and the bulk and tail
// effective sample sizes of Vehtari, Gelman, Simpson, Carpenter and Bürkner
// (2021), so that probabilities, expected utilities and regrets get the same
// scrutiny as the coordinates themselves.
package nuts

// Target is an unnormalised log density with its gradient.
//
// A Target is used by one goroutine at a time, so it may keep scratch space;
// [Sample] asks its factory for one Target per chain.
type Target interface {
	// Dim is the number of coordinates; it must not change.
	Dim() int

	// LogDensity returns log π(x) up to a constant and writes ∇log π(x) into
	// grad, which has length Dim and arbitrary contents on entry. It must not
	// modify or keep x or grad. Outside the support it returns −Inf; a
	// non-finite value or gradient ends the trajectory there as a divergence.
	LogDensity(x, grad []float64) float64
}
