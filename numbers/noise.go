package numbers

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/indices"
)

// Noise that depends on columns. Where rows are left out, a residual over its standard deviation has the square S,
// and with the precision e^g times what it should be the density e^(g/2 − Se^g/2): as a function of g that of a
// Poisson count of one half whose mean is e^(g + log(S/2)). So effects of groups on g are found as those on
// outcomes are.

// precisions are the terms of squared residuals.
type precisions struct{ squares []float64 }

func (p precisions) Len() int { return len(p.squares) }
func (p precisions) Term(i int) factor.Factor {
	return shifted{factor.Poisson{Y: 0.5}, math.Log(p.squares[i] / 2)}
}

// Bounds of squares: one of an outcome that is met exactly says no more than a thousandth of a standard deviation,
// and one of an outlier no more than six of them.
const (
	leastSquare = 1e-6
	mostSquare  = 36
)

// noise finds groups whose noise is larger or smaller than that of all, nil where there are none, or where rows that they are
// not found from do not become more probable with them.
func (p *Problem) noise(ctx context.Context, m *Model, of *terms, left []gauss.Scalar) (effects.Set, error) {
	family, ok := m.family.(normalNoise)
	if !ok {
		return nil, nil
	}
	squares := make([]float64, p.Len())
	for i, c := range left {
		if !c.Proper() {
			return nil, nil
		}
		off := of.y[i] - c.Mean()
		squares[i] = max(leastSquare, min(mostSquare, off*off/(c.Variance()+family.variance)))
	}
	find := func(rows []int) (effects.Set, error) {
		x := gp.RowsOf(p.X, rows)
		fit := effects.NewFit(effects.NewTable(x, p.coding.Codes()), effects.NewInMemory(x, precisions{indices.Take(squares, rows)}, 0))
		if err := fit.Add(ctx, effects.Family{}, 1); err != nil { // of all rows
			return nil, err
		}
		choice := effects.DefaultChoice()
		choice.Parts = 2
		err := fit.Choose(ctx, choice)
		return fit.Effects(), err
	}
	order := rand.New(rand.NewPCG(p.opt.Seed, 6)).Perm(p.Len())
	half, err := find(order[:p.Len()/2])
	if err != nil || len(half) < 2 {
		return nil, err
	}
	gain := 0.0
	for _, i := range order[p.Len()/2:] {
		g := -math.Log(excess(half, p.X.RawRowView(i)))
		gain += g/2 - squares[i]*math.Expm1(g)/2
	}
	if gain < worthwhile {
		return nil, nil
	}
	return find(indices.Of(p.Len()))
}

// excess is how many times as large the variance of the noise of a row is expected to be as that of all.
func excess(set effects.Set, row []float64) float64 {
	if len(set) == 0 {
		return 1
	}
	g := set.At(row, 0)
	return math.Exp(max(-mostExcess, min(mostExcess, g.Variance/2-g.Mean)))
}

// mostExcess bounds the logarithm of excess.
const mostExcess = 8

// predictAt is the distribution of the outcome of a row whose latent value is N(mean, variance).
func (m *Model) predictAt(row []float64, mean, variance float64) Distribution {
	family := m.family
	if n, ok := family.(normalNoise); ok {
		family = normalNoise{n.variance * excess(m.spread, row)}
	}
	return family.Predict(mean, max(variance, 0), &m.shape.Transform)
}
