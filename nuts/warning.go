package nuts

import (
	"fmt"
)

// Limits beyond which a result is doubtful, after Vehtari et al. (2021) for
// R̂ and effective sample sizes and after Stan for the energy.
const (
	MaxRHat        = 1.01
	MinESSPerChain = 100.0 // both bulk and tail
	MinEBFMI       = 0.3
)

// WarningKind is the reason for a [Warning].
type WarningKind int

const (
	// HighRHat: chains, or halves of chains, disagree. Index is a coordinate.
	HighRHat WarningKind = iota
	// LowBulkESS: too few effective draws for means. Index is a coordinate.
	LowBulkESS
	// LowTailESS: too few effective draws for 5 % and 95 % quantiles. Index is a coordinate.
	LowTailESS
	// StuckCoordinate: all draws of a coordinate are equal. Index is a coordinate.
	StuckCoordinate
	// DivergentTransitions: the integrator failed where the density curves
	// sharply, so that region may be missing. Value is a fraction of all
	// draws, Count their number, Index the chain with most.
	DivergentTransitions
	// DepthSaturated: trajectories were cut off at MaxDepth, a loss of speed
	// rather than of truth. Value, Count and Index as for divergences.
	DepthSaturated
	// LowEBFMI: heavy tails are explored too slowly. Index is a chain.
	LowEBFMI
)

// scope is what the Count and Index of a warning refer to.
type scope int

const (
	ofCoordinates scope = iota
	ofDraws
	ofChains
)

var warningTexts = [...]struct {
	scope        scope
	what, remedy string
}{
	HighRHat:             {ofCoordinates, "R̂ too high", "run longer, or look for several modes"},
	LowBulkESS:           {ofCoordinates, "bulk effective sample size too small", "run longer"},
	LowTailESS:           {ofCoordinates, "tail effective sample size too small", "run longer"},
	StuckCoordinate:      {ofCoordinates, "all draws are equal", "check the density and its gradient"},
	DivergentTransitions: {ofDraws, "divergent transitions", "raise TargetAccept or reparametrise"},
	DepthSaturated:       {ofDraws, "trajectories cut off at the maximum depth", "raise MaxDepth or reparametrise"},
	LowEBFMI:             {ofChains, "energy explored too slowly (E-BFMI)", "run longer or reparametrise"},
}

// String names the kind in words.
func (k WarningKind) String() string {
	if k < 0 || int(k) >= len(warningTexts) {
		return fmt.Sprintf("WarningKind(%d)", int(k))
	}
	return warningTexts[k].what
}

// Warning is one reason to doubt a result.
type Warning struct {
	Kind  WarningKind
	Count int     // how many coordinates, chains or draws are affected
	Index int     // the coordinate or chain, from 0, where it is worst; −1 for a series
	Value float64 // the worst value found
	Limit float64 // the value beyond which it is reported
}

// String says what is wrong, how badly, and what to do.
func (w Warning) String() string {
	text := warningTexts[w.Kind]
	var where string
	switch {
	case w.Index < 0:
		where = fmt.Sprintf("%.4g (limit %.4g)", w.Value, w.Limit)
	case text.scope == ofDraws:
		where = fmt.Sprintf("%d draws (%.3g %%), most in chain %d", w.Count, 100*w.Value, w.Index)
	case text.scope == ofChains:
		where = fmt.Sprintf("chains affected: %d, worst %.4g in chain %d (limit %.4g)", w.Count, w.Value, w.Index, w.Limit)
	default:
		where = fmt.Sprintf("coordinates affected: %d, worst %.4g at %d (limit %.4g)", w.Count, w.Value, w.Index, w.Limit)
	}
	return fmt.Sprintf("%s: %s; %s", text.what, where, text.remedy)
}

// warningList gathers warnings, one per kind with the worst case in front.
type warningList []Warning

// add counts one more case of a kind; worse says which of two values is.
func (l *warningList) add(kind WarningKind, index int, value, limit float64, worse func(a, b float64) bool) {
	for i := range *l {
		if w := &(*l)[i]; w.Kind == kind {
			w.Count++
			if worse(value, w.Value) {
				w.Value, w.Index = value, index
			}
			return
		}
	}
	*l = append(*l, Warning{Kind: kind, Count: 1, Index: index, Value: value, Limit: limit})
}

func greater(a, b float64) bool { return a > b }
func less(a, b float64) bool    { return a < b }

// addSummary checks one series against the limits.
func (l *warningList) addSummary(index int, s Summary) {
	if s.RHat > MaxRHat {
		l.add(HighRHat, index, s.RHat, MaxRHat, greater)
	}
	minESS := MinESSPerChain * float64(s.Chains)
	if s.BulkESS < minESS {
		l.add(LowBulkESS, index, s.BulkESS, minESS, less)
	}
	if s.TailESS < minESS {
		l.add(LowTailESS, index, s.TailESS, minESS, less)
	}
}

// Warnings applies the checks of a [Result]'s coordinates to one series.
func (s Summary) Warnings() []Warning {
	var l warningList
	l.addSummary(-1, s)
	return l
}

func (r *Result) warn() []Warning {
	var l warningList
	for i, s := range r.Coordinates {
		if s.Constant {
			l.add(StuckCoordinate, i, s.Mean, s.Mean, greater)
		}
		l.addSummary(i, s)
	}
	l.addDraws(DivergentTransitions, r.Chains, func(c Chain) int { return c.Divergences })
	l.addDraws(DepthSaturated, r.Chains, func(c Chain) int { return c.Saturations })
	for k, c := range r.Chains {
		if c.EBFMI < MinEBFMI {
			l.add(LowEBFMI, k, c.EBFMI, MinEBFMI, less)
		}
	}
	return l
}

// addDraws warns of a kind that is counted in draws and tolerated in none.
func (l *warningList) addDraws(kind WarningKind, chains []Chain, count func(Chain) int) {
	total, draws, worst := 0, 0, 0
	for k, c := range chains {
		n := count(c)
		total += n
		draws += len(c.Draws)
		if n > count(chains[worst]) {
			worst = k
		}
	}
	if total > 0 {
		*l = append(*l, Warning{Kind: kind, Count: total, Index: worst, Value: float64(total) / float64(draws)})
	}
}
