package lab

import (
	"context"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
)

// Figure1 has the numbers of the paper's Figure 1: a state measured through clutter,
// and what each method believes and does. The paper does not give its data; these
// reproduce what its caption says: only Loss-EP takes the right action.
type Figure1 struct {
	Data      []float64      `json:"data"`
	Threshold float64        `json:"threshold"`
	Utility   decision.Table `json:"utility"`
	// State is where the densities are given.
	State  []float64     `json:"-"`
	Curves []MethodCurve `json:"curves"`
}

// MethodCurve is what one method says of the reactor.
type MethodCurve struct {
	*ReactorAnswer
	Density []float64 `json:"-"`
	// Exceeds is the probability of a state above the threshold.
	Exceeds float64 `json:"exceeds"`
}

// NewFigure1 computes Figure 1.
func NewFigure1(ctx context.Context) (*Figure1, error) {
	p := NewReactor(-1.1, -2.6, -4, 5.7, -1.1)
	p.Threshold = 2.2
	p.Utility = decision.Table{{1, 0.01}, {0.9, 1}}
	r := &Figure1{Data: p.Data, Threshold: p.Threshold, Utility: p.Utility, State: axis(-12, 12, 481)}
	m, err := p.Model()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"exact", "vi", "loss-vi", "ep", "loss-ep"} {
		a, err := p.Solve(ctx, name)
		if err != nil {
			return nil, err
		}
		c := MethodCurve{ReactorAnswer: a, Density: make([]float64, len(r.State))}
		phi := m.Views.Slice(0, 1) // every measurement is of the state itself
		infer.Density(a.Posterior, phi, r.State, c.Density)
		var above, stderr [1]float64
		decision.Exceeds(p.Threshold).Probabilities(a.Posterior, phi, above[:], stderr[:])
		c.Exceeds = above[0]
		r.Curves = append(r.Curves, c)
	}
	return r, nil
}
