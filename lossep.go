// Package lossep makes Bayesian decisions when mistakes do not cost the same.
//
// The packages below it hold the method, from the ground up: normal and level3
// (numbers and matrices), gauss (Gaussians seen through linear views), factor (the
// terms of a model), infer (expectation propagation, its calibration to a utility,
// and everything to compare it with), kernel and gp (Gaussian processes), decision
// (what actions are worth) and reactor (the paper's one-dimensional decision).
package lossep
