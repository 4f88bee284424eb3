// Package infer turns a model into a posterior.
//
// A model is a standard Gaussian seen through linear views with a factor on each
// (Model). Expectation propagation (EP) replaces every factor by a Gaussian site;
// a utility is one more factor, and with it the same loop is Loss-EP. This package
// knows neither decisions nor Gaussian processes: it sees views and factors, and
// whatever can be written as those runs through it.
//
// Every method returns a Result; package methods has the table of all of them. By what a term
// is replaced is a Rule. Files are named for the method they belong to: ep_sweep.go has the
// paper's Algorithm 1, ep_utility.go the site of the utility, ep_settle.go what decides when a
// run has come to rest, and ep_doubleloop.go what is done when it does not.
package infer
