package search

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

const (
	// manyColumns is from how many columns on a search may miss some that matter; see
	// docs/research/kernels.md.
	manyColumns = 30
	// nearer and fartherAway are where the second search begins: length scales of columns that
	// stand out are so many times those of the prior if there were no others, and those of the
	// others so many times those of the prior.
	nearer      = 0.5
	fartherAway = 10
)

// secondClimb climbs from a second start, if there is reason for one, and returns the higher of the
// two ends.
func (o *objective) secondClimb(ctx context.Context, at *point, stop Stop, m memory, opt Options) (*point, Stop, memory, error) {
	start, err := o.secondStart(ctx, at)
	if start == nil || err != nil {
		return at, stop, m, err
	}
	opt.Start, opt.Restarts = start, 0
	other, learnt, err := o.begin(ctx, opt)
	var none *StartError
	if errors.As(err, &none) {
		return at, stop, m, nil
	}
	if err != nil {
		return nil, 0, m, err
	}
	other, why, err := o.ascent(opt.Tolerance, opt).climb(ctx, other, &learnt)
	if err != nil {
		return nil, 0, m, err
	}
	if other.value > at.value {
		return other, why, learnt, nil
	}
	return at, stop, m, nil
}

// secondStart is log parameters where the columns that a screening finds have short length
// scales, and the others long ones. It is nil where there is no reason to search from there:
// columns are few or have no length scales of their own, or no feature that was found still
// stands out in what the rows ask for when each is left out at the end of a search.
func (o *objective) secondStart(ctx context.Context, ended *point) ([]float64, error) {
	rows := o.evidence.(*full)
	_, d := rows.x.Dims()
	if d < manyColumns || !slices.ContainsFunc(o.kernel.Describe(), isOfColumn) {
		return nil, nil
	}
	at, err := ended.fitted.(*fullFit).onProcess(ctx)
	if err != nil {
		return nil, err
	}
	rows.tune(at.logs)
	m := rows.cases.Model(at.process)
	wanted := rows.cases.Fold(slopes(m, func(int) (mean, variance float64) { return 0, 1 }))
	cavities := at.ep.Cavities
	left := rows.cases.Fold(slopes(m, func(i int) (mean, variance float64) { return cavities[i].Mean(), cavities[i].Variance() }))
	found, missed := make(map[int]bool), false
	s := newScreening(rows.x, len(wanted))
	for c := range wanted {
		features, err := s.choose(ctx, wanted[c])
		if err != nil {
			return nil, err
		}
		centre(left[c])
		for _, f := range features {
			for _, column := range f.columns() {
				found[column] = true
			}
			v := s.values(f)
			missed = missed || s.gain(floats.Dot(left[c], v), floats.Dot(v, v), floats.Dot(left[c], left[c])) > s.bound
		}
	}
	if !missed {
		return nil, nil
	}
	start := slices.Clone(o.prior.mean)
	for i, p := range o.kernel.Describe() {
		switch {
		case !isOfColumn(p):
		case !found[p.Column]:
			start[i] += math.Log(fartherAway)
		case !p.Separate:
			start[i] += math.Log(nearer * math.Sqrt(float64(len(found))/float64(d)))
		}
	}
	return start, nil
}

func isOfColumn(p kernel.Param) bool { return p.Kind == kernel.Lengthscale && p.Column >= 0 }

// slopes is where the terms want the value of each view to go: their slope in its mean, for
// Gaussian values of the views.
func slopes(m *infer.Model, value func(view int) (mean, variance float64)) []float64 {
	slopes := make([]float64, len(m.Terms))
	for i, t := range m.Terms {
		if _, slope, _ := t.LogMean(value(i)); !math.IsNaN(slope) && !math.IsInf(slope, 0) {
			slopes[i] = slope
			if m.Counts != nil {
				slopes[i] *= m.Counts[i]
			}
		}
	}
	return slopes
}
