// Package decision says what actions are worth.
//
// Stakes are what every action costs, or brings, under every outcome in one case; a Spec
// is how people write them down for all cases. What is expected of an action is linear
// in the probabilities of the outcomes, so everything a decision needs of a posterior is
// these probabilities (Predictive), whatever method they came from. A Utility, tables on
// weighted points that stand for p(x), is also a factor of a model: that is how
// loss-calibrated inference learns what the decision needs.
package decision
