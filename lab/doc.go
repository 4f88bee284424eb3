// Package lab solves small problems by every method, with the exact answer beside it: the
// experiments of "Loss-calibrated expectation propagation for approximate Bayesian
// decision-making" (Morais and Pillow 2022, arXiv 2201.03128), and problems that people
// make up on the page.
//
//   - [Reactor] is the paper's decision in one dimension, solved by [Reactor.Solve].
//   - [ReactorRequest] and [Classifier], a Gaussian process on the line or in the plane, are
//     requests that can come from anywhere. Solve checks one, and answers with what each
//     method believes, what it does, and what that loses against the exact posterior.
//     Requests and answers have a JSON form; it holds finite numbers only, and null where
//     there is none. Limits keep an answer quick.
//   - [Figure1], [Figure2] and [Table1] are those of the paper. [Simulation] computes the
//     table: data sets drawn from the prior of a Gaussian process, decided on by every
//     method under several utilities and shifts, and judged by their regret under the exact
//     posterior. [Table1.Claims] sets what was measured beside what the paper says.
//
// Everything follows from a seed, and is the same on any number of cores; only that an exact
// answer which comes too late for the deadline of a request is left out.
package lab
