// Package infer turns a model into a posterior.
//
// A model is a standard Gaussian seen through linear views with a factor on each
// (Model). Expectation propagation (EP) replaces every factor by a Gaussian site;
// a utility is one more factor, and with it the same loop is Loss-EP. This package
// knows neither decisions nor Gaussian processes: it sees views and factors, and
// whatever can be written as those runs through it.
package infer
