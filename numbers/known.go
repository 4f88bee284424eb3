package numbers

import (
	"math"
	"slices"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/table"
)

// knownNoise is normal noise whose standard deviation is given for every row, as standard errors of studies are. What is
// predicted is the outcome without it, which new rows are decided on; outcomes that were measured have it; see measured.
type knownNoise struct{}

// knownName is that of the noise in files.
const knownName = "known"

func (knownNoise) Name() string                 { return knownName }
func (knownNoise) Priors() []kernel.Prior       { return nil }
func (n knownNoise) With([]float64) Family      { return n }
func (knownNoise) Logs() []float64              { return nil }
func (knownNoise) Term(y float64) factor.Factor { return factor.Gaussian{Y: y} }
func (knownNoise) Largest() float64             { return 1 / leastKnown }
func (knownNoise) String() string               { return "normal noise of known standard deviations" }

func (knownNoise) Predict(mean, variance float64, t *Transform) Distribution {
	return newNormals([]Part{{1, mean, math.Sqrt(variance)}}, t, 0)
}

// leastKnown is the least variance of noise that is known, in that of the outcomes: less is rounding beside the process.
const leastKnown = 1e-12

// readKnown reads the standard deviations of noise from the column that the options name.
func (p *Problem) readKnown(t *table.Table) (err error) {
	if p.opt.Data.NoiseSD == "" {
		return nil
	}
	j, err := t.Column(p.opt.Data.NoiseSD)
	if err != nil {
		return err
	}
	if p.known, err = knownOf(t, j, p.Recipe.Missing); err != nil {
		return err
	}
	scale := p.knownShape().Transform.Scale
	for i, sd := range p.known {
		if !(sd/scale >= math.Sqrt(leastKnown)) {
			return t.CellPlace(i, j).Say("correct it, or leave the row out", "the standard deviation of noise %v is not more than a millionth of that of the outcomes, %.3g", sd, scale)
		}
	}
	return nil
}

// knownOf reads standard deviations of noise from a column.
func knownOf(t *table.Table, j int, missing []string) ([]float64, error) {
	all, err := t.Floats(t.ColumnName(j), missing...)
	if err != nil {
		return nil, err
	}
	for i, sd := range all {
		if !(sd >= 0 && sd <= math.MaxFloat32) {
			return nil, t.CellPlace(i, j).Say("give the standard deviation of the noise in every row", "%v is no standard deviation", sd)
		}
	}
	return all, nil
}

// knownShape is that of outcomes whose noise is known: they are not transformed, as its standard deviations would be as well.
func (p *Problem) knownShape() Shape {
	s := Shape{Transform: Transform{Name: "none"}, Noise: knownName}
	s.Transform.standardise(slices.Sorted(slices.Values(p.Values)))
	return s
}

// measured is the distribution of an outcome that was measured with noise of a known standard deviation, in place of that of
// the outcome without it.
func measured(d Distribution, known []float64, i int) Distribution {
	if known == nil {
		return d
	}
	if b, ok := d.(blend); ok {
		parts := slices.Clone(b.parts)
		for k := range parts {
			parts[k] = measured(parts[k], known, i)
		}
		return blend{parts, b.weights}
	}
	n := d.(normals)
	n.parts = slices.Clone(n.parts)
	for k, p := range n.parts {
		n.parts[k].SD = math.Hypot(p.SD, known[i]/n.transform.Scale)
	}
	return n
}

// allMeasured are the distributions of the outcomes of a table, with the noise that its rows say.
func (p *Problem) allMeasured(all []Distribution, test *table.Table) ([]Distribution, error) {
	if p.known == nil {
		return all, nil
	}
	j, err := test.Column(p.opt.Data.NoiseSD)
	if err != nil {
		return nil, err
	}
	known, err := knownOf(test, j, p.Recipe.Missing)
	for i := range known {
		all[i] = measured(all[i], known, i)
	}
	return all, err
}

// withKnown are terms with the noise that is known of them.
func (t *terms) withKnown(known []float64, scale float64) *terms {
	for _, sd := range known {
		t.known = append(t.known, sd/scale*sd/scale)
	}
	return t
}

// refuseKnown refuses what goes by outcomes of rows whose noise a model does not know.
func (m *Model) refuseKnown(what string) error {
	if m.shape.Noise == knownName {
		return inputf(what, "what standard deviation the noise of each outcome has is known to a fit and an audit alone; fit again, or audit the rows")
	}
	return nil
}
