// Package corrected has posteriors that see past the Gaussian of expectation propagation. They
// need nothing but its sites: Posterior exchanges these again for the terms they stand for,
// given the value in question, and Evidence runs EP anew for every question.
package corrected
