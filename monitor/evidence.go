package monitor

import "math"

// evidence is an e-process against costs whose conditional mean is at most a limit: what a gambler has
// who starts with 1 and bets on higher costs, Π (1 + λ_i (c_i − limit_i)) for c_i ≥ 0, averaged over how
// much is staked. While the limit holds it is a supermartingale, and ever comes to 1/α with a probability
// of at most α, however often one looks (Ville 1939; Waudby-Smith and Ramdas 2024).
type evidence struct{ logs [len(stakes)]float64 }

// stakes are the λ, in units of the reference's mean cost.
var stakes = [...]float64{0.003, 0.01, 0.03, 0.1, 0.3}

// add takes in a cost that is not negative and the limit of its mean.
func (e *evidence) add(cost, limit, scale float64) {
	if !(limit > 0) || !(scale > 0) {
		return
	}
	for k, stake := range stakes {
		bet := min(stake/scale, 0.5/limit) // known before the cost is; at most half is lost
		e.logs[k] += math.Log1p(bet * (cost - limit))
	}
}

// value is what the gambler has.
func (e *evidence) value() (sum float64) {
	for _, x := range e.logs {
		sum += math.Exp(min(x, 700)) / float64(len(stakes))
	}
	return sum
}
