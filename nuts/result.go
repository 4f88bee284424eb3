package nuts

import (
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/internal/tasks"
)

// Result holds the draws of every chain and what is known about their quality.
type Result struct {
	Chains      []Chain
	Coordinates []Summary // one for each dimension of the target
	Warnings    []Warning // empty when every check was passed
}

// Chain is what one chain recorded after its warm-up. Slices have one entry
// per draw.
type Chain struct {
	Draws      [][]float64
	LogDensity []float64
	Energy     []float64 // Hamiltonian at the draw
	Accept     []float64 // average acceptance probability along the trajectory
	Depth      []int     // number of doublings of the trajectory
	Divergent  []bool    // the trajectory met a divergence

	Divergences int // how many draws are Divergent
	Saturations int // how many trajectories were cut off at MaxDepth

	MeanAccept float64
	StepSize   float64
	Gradients  int // evaluations of the density, warm-up included

	// EBFMI, the Bayesian fraction of missing information of the energy
	// (Betancourt 2016), compares the energy's change per draw with its
	// spread. Near 1 is good; below 0.3 a fresh momentum cannot carry the
	// chain across the energy levels, so the tails are poorly explored.
	EBFMI float64
}

func newChainRecord(draws, dim int) Chain {
	flat := make([]float64, draws*dim)
	c := Chain{
		Draws:      make([][]float64, draws),
		LogDensity: make([]float64, draws),
		Energy:     make([]float64, draws),
		Accept:     make([]float64, draws),
		Depth:      make([]int, draws),
		Divergent:  make([]bool, draws),
	}
	for i := range c.Draws {
		c.Draws[i] = flat[i*dim : (i+1)*dim : (i+1)*dim]
	}
	return c
}

// Map evaluates f at every draw: the way to a [Series] of anything derived.
// The slice that f gets must not be changed.
func (r *Result) Map(f func(x []float64) float64) Series {
	s := make(Series, len(r.Chains))
	for k, c := range r.Chains {
		s[k] = make([]float64, len(c.Draws))
		for i, x := range c.Draws {
			s[k][i] = f(x)
		}
	}
	return s
}

// Coordinate returns the draws of coordinate i.
func (r *Result) Coordinate(i int) Series {
	return r.Map(func(x []float64) float64 { return x[i] })
}

// energyBFMI is Σ(Eₙ − Eₙ₋₁)² / Σ(Eₙ − Ē)², and 0 when the energy stands still.
func energyBFMI(energy []float64) float64 {
	mean := stat.Mean(energy, nil)
	var change, spread float64
	for i, e := range energy {
		spread += (e - mean) * (e - mean)
		if i > 0 {
			change += (e - energy[i-1]) * (e - energy[i-1])
		}
	}
	if spread == 0 {
		return 0
	}
	return change / spread
}

// diagnose fills in everything that is computed from the draws.
func (r *Result) diagnose() {
	r.Coordinates = make([]Summary, len(r.Chains[0].Draws[0]))
	tasks.Each(len(r.Coordinates), func() func(int) {
		ws := newWorkspace(len(r.Chains), len(r.Chains[0].Draws))
		// Draws are finite by construction, so there is no error to meet.
		return func(i int) { r.Coordinates[i] = ws.summarize(r.Coordinate(i)) }
	})
	for k := range r.Chains {
		r.Chains[k].EBFMI = energyBFMI(r.Chains[k].Energy)
	}
	r.Warnings = r.warn()
}
