package gp

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/lossep/lossep/kernel"
)

const (
	// manyColumns is from how many columns on a search may miss some that matter; see
	// docs/kernels.md.
	manyColumns = 30
	// clearlyShort is by how much the logarithm of a length scale is below the median of its
	// term where a search has found the column.
	clearlyShort = 1.0
	// fartherAway is how many times the prior's length scales those of columns that do not
	// stand out are where the second search begins.
	fartherAway = 10
)

// again climbs from a second start, if there is reason for one, and returns the higher of the
// two ends.
func (o *objective) again(ctx context.Context, at *point, stop Stop, m memory, opt Options) (*point, Stop, memory, error) {
	start, err := o.secondStart(ctx, at.logs)
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
	other, why, err := o.search(opt.Tolerance, opt).climb(ctx, other, &learnt)
	if err != nil {
		return nil, 0, m, err
	}
	if other.value > at.value {
		return other, why, learnt, nil
	}
	return at, stop, m, nil
}

// secondStart is log parameters where the columns that a screening finds have length scales as
// if there were no others, and the others have long ones. It is nil where there is no reason
// to search from there: columns are few or have no length scales of their own, or all that the
// screening needs more than a straight line of have clearly short ones already, where a search
// has ended.
func (o *objective) secondStart(ctx context.Context, ended []float64) ([]float64, error) {
	rows := o.evidence.(*full)
	_, d := rows.x.Dims()
	short := o.shortColumns(ended)
	if d < manyColumns || short == nil {
		return nil, nil
	}
	found, missed := make(map[int]bool), false
	responses := rows.responses()
	s := newScreening(rows.x, len(responses))
	for _, r := range responses {
		features, err := s.choose(ctx, r)
		if err != nil {
			return nil, err
		}
		for _, f := range features {
			for _, column := range f.columns() {
				found[column] = true
				missed = missed || !f.linear() && !short[column]
			}
		}
	}
	if !missed {
		return nil, nil
	}
	start := slices.Clone(o.prior.mean)
	for i, p := range o.kernel.Describe() {
		family, _, _ := strings.Cut(p.Term, "#")
		switch {
		case !isOfColumn(p):
		case !found[p.Column]:
			start[i] += math.Log(fartherAway)
		case family != "additive": // which has a distance in each column; see newPrior
			start[i] += 0.5 * math.Log(float64(len(found))/float64(d))
		}
	}
	return start, nil
}

func isOfColumn(p kernel.Param) bool { return p.Kind == kernel.Lengthscale && p.Column >= 0 }

// shortColumns tells which columns have a length scale that is clearly below the median of those
// of its term, relative to the prior's. It is nil where columns have none of their own.
func (o *objective) shortColumns(logs []float64) []bool {
	terms := make(map[string][]float64)
	describe := o.kernel.Describe()
	for i, p := range describe {
		if isOfColumn(p) {
			terms[p.Term] = append(terms[p.Term], logs[i]-o.prior.mean[i])
		}
	}
	if len(terms) == 0 {
		return nil
	}
	for _, lengths := range terms {
		slices.Sort(lengths)
	}
	_, d := o.evidence.(*full).x.Dims()
	short := make([]bool, d)
	for i, p := range describe {
		if lengths := terms[p.Term]; isOfColumn(p) && logs[i]-o.prior.mean[i] < lengths[len(lengths)/2]-clearlyShort {
			short[p.Column] = true
		}
	}
	return short
}

// responses are what a screening explains: the slope of the term of each row at a standard
// normal value, which is where it wants the value to go; of several outcomes, which rows have
// each.
func (e *full) responses() [][]float64 {
	if e.outcomes == nil {
		slopes := make([]float64, len(e.terms))
		for i, t := range e.terms {
			_, slopes[i], _ = t.LogMean(0, 1)
		}
		return [][]float64{slopes}
	}
	all := make([][]float64, e.outcomes.Number)
	for c := range all {
		all[c] = make([]float64, e.rows())
	}
	for i, c := range e.outcomes.Of {
		all[c][i] = 1
	}
	return all
}
