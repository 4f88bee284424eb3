// Package numbers fits outcomes that are numbers, and finds the action that costs least under what it
// predicts of them: how much to order, which price to quote.
//
// The outcome, transformed where the evidence asks for it, is a latent Gaussian process plus noise of
// a Family, whose hyperparameters are found with the kernel's. What is predicted of a case is a
// Distribution, under which package decision chooses.
package numbers
