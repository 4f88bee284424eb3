// Package paper repeats the experiments of "Loss-calibrated expectation propagation
// for approximate Bayesian decision-making" (Morais and Pillow 2022, arXiv
// 2201.03128) and adds the decisions that go beyond it.
//
// It computes numbers and neither prints nor draws. NewReactor and NewTwoPoints are
// the paper's two figures. Simulation is its table: data sets drawn from the prior
// of a Gaussian process, decided on by every method under several utilities and
// shifts, and judged by their regret under the exact posterior. Claims goes through
// what the paper says of its results and sets what was measured beside it.
//
// Everything follows from a seed. A data set has its own stream of random numbers,
// fixed by the seed and its index, so that results are the same bytes whatever the
// number of cores and whichever data sets were computed in an earlier run.
package paper
