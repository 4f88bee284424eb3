package lab

import (
	"context"
	"math"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/nuts"
)

// TruthCheck compares the truth with a second opinion: the probabilities of one data set
// by weighted points of the exact posterior, as everywhere, and by NUTS, which share no code
// beyond the model.
type TruthCheck struct {
	DataSet   int       `json:"dataset"`
	Input     []float64 `json:"input"`
	Exact     []float64 `json:"exact"`
	ExactErr  []float64 `json:"exact_stderr"`
	NUTS      []float64 `json:"nuts"`
	NUTSErr   []float64 `json:"nuts_stderr"`
	NUTSState string    `json:"nuts_status"`
	// Z are the differences in their standard errors, MaxZ the largest of them and
	// RMS their root mean square: about 1 when both are right. Neighbouring inputs
	// share their draws, so the Z are fewer than they look.
	Z    []float64 `json:"z"`
	MaxZ float64   `json:"max_z"`
	RMS  float64   `json:"rms_z"`
}

// Check checks the truth of a data set.
func (s Simulation) Check(ctx context.Context, index int) (*TruthCheck, error) {
	p, err := s.problem(index)
	if err != nil {
		return nil, err
	}
	c := &TruthCheck{DataSet: index}
	const step = 1.5
	last := reach + Shifts()[len(Shifts())-1]
	for x := -reach; x <= last; x += step {
		c.Input = append(c.Input, x)
	}
	views := p.process.At(column(c.Input))
	n := len(c.Input)
	c.Exact, c.ExactErr, c.NUTS, c.NUTSErr = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	sets, err := p.exact(c.Input, s.Truth/TruthSets, p.seed)
	if err != nil {
		return nil, err
	}
	chains, err := exact.NUTS{Options: nuts.Options{Seed: p.seed}}.Fit(ctx, p.model)
	if err != nil {
		return nil, err
	}
	c.NUTSState = chains.Status.String()
	decision.Probit().Probabilities(chains, views, c.NUTS, c.NUTSErr)
	for i := range c.Input {
		c.Exact[i], c.ExactErr[i] = meanAndError(sets.RawRowView(i))
		z := (c.NUTS[i] - c.Exact[i]) / math.Hypot(c.NUTSErr[i], c.ExactErr[i])
		c.Z = append(c.Z, z)
		c.MaxZ = max(c.MaxZ, math.Abs(z))
		c.RMS += z * z / float64(n)
	}
	c.RMS = math.Sqrt(c.RMS)
	return c, nil
}
