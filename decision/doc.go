// Package decision says what actions are worth.
//
// A utility table gives the worth of every action under every outcome; costs are
// turned into one by FromCosts. The expected utility of an action is linear in the
// probability of the outcome, so everything a decision needs of a posterior is
// P(y = +1) at each point (Predictive), whatever method it came from. A Utility,
// tables on weighted points that stand for p(x), is also a factor of a model: that
// is how loss-calibrated inference learns what the decision needs.
package decision
