package nuts

import (
	"fmt"
	"math"
)

// Series holds one scalar for every draw, chain by chain. All chains have the
// same number of draws, at least four.
type Series [][]float64

// Estimate is a mean with what Monte Carlo sampling leaves uncertain in it.
type Estimate struct {
	Mean float64
	MCSE float64 // standard error of Mean, correlation of the draws included
	ESS  float64 // independent draws that would give the same MCSE
}

// Summary is everything the diagnostics of Vehtari et al. (2021) say about a
// series.
type Summary struct {
	Estimate
	SD float64

	RHat       float64 // the larger of the next two; 1 for chains that agree
	RHatBulk   float64 // rank-normalised split-R̂: do the chains agree in location?
	RHatFolded float64 // the same for |x − median|: do they agree in spread?
	BulkESS    float64 // of the rank-normalised draws
	TailESS    float64 // the smaller of those for the 5 % and 95 % quantiles

	Chains, Draws int // size of the series; Draws per chain

	// Constant: all values are equal. The mean is then exact, R̂ is 1 and the
	// effective sizes are the number of draws; whether the quantity really is
	// constant or the sampler stood still cannot be seen from the series.
	Constant bool
}

// SeriesError reports a value that is not finite.
type SeriesError struct {
	Chain, Draw int
	Value       float64
}

func (e *SeriesError) Error() string {
	return fmt.Sprintf("nuts: series has the value %g at chain %d, draw %d; only finite series can be summarised", e.Value, e.Chain, e.Draw)
}

// Estimate returns the mean of the series with its standard error. It costs
// about a quarter of Summarize. The only error is *SeriesError.
func (s Series) Estimate() (Estimate, error) {
	if err := s.check(); err != nil {
		return Estimate{}, err
	}
	ws := newWorkspace(len(s), len(s[0]))
	ws.load(s)
	estimate, _ := ws.estimate()
	return estimate, nil
}

// Summarize returns the mean and all diagnostics of the series. The only error
// is *SeriesError.
func (s Series) Summarize() (Summary, error) {
	if err := s.check(); err != nil {
		return Summary{}, err
	}
	return newWorkspace(len(s), len(s[0])).summarize(s), nil
}

func (s Series) check() error {
	if len(s) == 0 || len(s[0]) < minDraws {
		panic(fmt.Sprintf("nuts: a series needs at least one chain of %d draws", minDraws))
	}
	for k, chain := range s {
		if len(chain) != len(s[0]) {
			panic("nuts: chains of a series differ in length")
		}
		for i, v := range chain {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return &SeriesError{Chain: k, Draw: i, Value: v}
			}
		}
	}
	return nil
}
