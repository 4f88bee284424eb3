// Package exact has references for methods of inference: the exact posterior of a model, by
// enumeration (Mixture), quadrature (Grid), independent draws (Sampler) or evenly spread
// points (Lattice), and Markov chains for models that have none of these (NUTS).
package exact
