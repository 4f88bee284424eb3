// Package explore solves small problems by every method side by side: what a person
// who moves a threshold, a cost or a point wants to see at once.
//
// A [Reactor] is the paper's decision in one dimension and a [Classifier] a Gaussian
// process on the line or in the plane. Each is a request that can come from anywhere:
// Solve checks it, and answers with what each method believes, what it does, and what
// that loses against the exact posterior. Requests and answers have a JSON form; it
// holds finite numbers only, and null where there is none.
//
// Nothing is inferred here that packages reactor, gp and infer do not infer. What is
// added is the view: densities and probabilities on a grid, the thresholds at which a
// method changes its mind, and limits that keep an answer quick. The same request has
// the same answer on any number of cores; only that an exact answer which comes too late for
// the deadline of the context is left out.
package explore
