package recipe

import (
	"math"
	"slices"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/table"
)

// estimator estimates the statistics of a column.
type estimator struct {
	*table.Scan
	values []float64 // what quantities found, if it has been asked and its memory is not used yet
	spare  *spare    // of who estimates one column after another

	weights []float64 // how much each row counts, nil if all count one
	known   []float64 // the weights of values
	gaps    float64   // the weight of missing cells
}

// estimate fills in the statistics of a column whose kind is settled.
func (l *learner) estimate(c *Column, impute, standardize bool) {
	l.estimator.estimate(c, impute, standardize, l.options.bend(c.Name))
}

// bend is what was asked for a column.
func (o *Options) bend(name string) Bend {
	bend := o.Scaling
	if name == o.Score && name != "" {
		return probit
	}
	if b, ok := o.Bends[name]; ok {
		bend = b
	}
	if bend == "" {
		return AutoBend
	}
	return bend
}

// estimate does so for a column that may have been learned from other rows; bend is
// what is wanted.
func (s *estimator) estimate(c *Column, impute, standardize bool, bend Bend) {
	if c.Kind == Categorical && impute {
		c.FillCategory = s.commonest(c.Categories)
	}
	if !c.isQuantity() {
		return
	}
	if !impute && standardize && s.estimatePlain(c, bend) {
		return
	}
	f := newField(c, false, s.Markers)
	values := s.values
	if values == nil {
		values = s.quantities(&f)
	}
	if bend == probit {
		if len(values) > 0 {
			c.setScore(bounds(values))
		}
		return
	}
	missing := s.Missing
	if s.weights != nil {
		values, missing = copiesOf(values, s.known, s.gaps)
	}
	if len(values) == 0 {
		return // there is nothing to estimate from
	}
	if impute {
		c.Fill = median(values)
		// The model sees the filled column, so that is what is standardised.
		values = append(values, slices.Repeat([]float64{c.Fill}, missing)...)
	}
	if c.Kind == Date {
		for i, x := range values {
			values[i] = c.Dates.days(x)
		}
	}
	c.Mean, c.Scale, c.Scaling, c.Auto, c.Common = 0, 1, nil, false, false
	low, high := bounds(values)
	if c.Kind != Ordered {
		c.Low, c.High = low+0, high+0 // never −0
	}
	if !standardize {
		return
	}
	c.Common = c.Kind == Numeric && bend == Common
	if c.Kind == Numeric && bend != Straight && !c.Common {
		c.Auto = bend == AutoBend
		if c.Scaling = wantedScaling(values, bend, s.spare); c.Scaling != nil {
			c.Scaling.bend(values, values)
			low, high = bounds(values)
		}
	}
	largest := max(math.Abs(low), math.Abs(high))
	c.Mean, c.Scale = meanScaleWithin(largest, values)
	if c.Scale == 0 || !apart(low, high) {
		c.Scale = 1 // constant in these rows, if not in those the kind is from
	}
}

// estimatePlain does so for a column of nothing but numbers that is not bent, where they
// lie; it reports false if the column is another one.
func (s *estimator) estimatePlain(c *Column, bend Bend) bool {
	if c.Kind != Numeric || s.Numbers != s.Table.Len() || !s.Table.IsWhole() || s.weights != nil {
		return false
	}
	switch bend {
	case Straight, Common:
	case AutoBend:
		if chooseBend(sampled(s.Numbers, s.Cells.At, s.spare), s.spare) != Straight {
			return false
		}
	default:
		return false
	}
	c.Low, c.High, c.Scaling = s.Least+0, s.Most+0, nil // never −0
	c.Auto, c.Common = bend == AutoBend, bend == Common
	largest := max(math.Abs(s.Least), math.Abs(s.Most))
	c.Mean, c.Scale = meanScaleOf(s.Sum, largest, s.Cells.Segments()...)
	if c.Scale == 0 || !apart(s.Least, s.Most) {
		c.Scale = 1
	}
	return true
}

// commonest is the most frequent of the categories, the first in their order
// among equals.
func (s *estimator) commonest(categories []string) string {
	weight := make(map[string]float64)
	if s.weights == nil {
		for category, n := range s.Categories() {
			weight[category] = float64(n)
		}
	} else {
		for i := range s.Table.Len() {
			if cell := s.Table.At(i, s.Column); !s.IsMissing(cell) {
				weight[table.Key(table.BytesOf(s.Cells.Text(cell)), s.Table.Decimal())] += s.weights[i]
			}
		}
	}
	best := categories[0]
	for _, category := range categories {
		if weight[category] > weight[best] {
			best = category
		}
	}
	return best
}

// Quantities are the numbers of the cells of a column that are not missing, in the order of the rows.
func Quantities(s *table.Scan, c *Column) []float64 {
	f := newField(c, false, s.Markers)
	return (&estimator{Scan: s}).quantities(&f)
}

// quantities are the numbers of the cells that are not missing, in the order of the
// rows, in memory that the next column may get.
func (s *estimator) quantities(f *field) []float64 {
	values := s.spare.room(s.Present())
	s.known, s.gaps = s.known[:0], 0
	if (f.column.Kind == Numeric || f.column.Kind == Outcome) && s.Numbers == s.Table.Len() && s.Table.IsWhole() && s.weights == nil {
		for _, segment := range s.Cells.Segments() { // nothing but numbers
			values = append(values, segment...)
		}
		return values
	}
	words := make([]reading, len(s.Counts))
	for k, n := range s.Counts {
		if n > 0 {
			words[k] = f.text(s.Word(uint32(k)), s.Table.Decimal())
		}
	}
	for i := range s.Table.Len() {
		x := s.Table.At(i, s.Column)
		v := reading{}
		if table.IsText(x) {
			v = words[table.TextCode(x)]
		} else {
			v = f.number(x)
		}
		switch {
		case v.state == known:
			values = append(values, v.x)
			if s.weights != nil {
				s.known = append(s.known, s.weights[i])
			}
		case v.state == gap && s.weights != nil:
			s.gaps += s.weights[i]
		}
	}
	return values
}

// Refit keeps what the recipe settled about the columns (their kinds,
// categories and which are dropped) and estimates means, scales, fill values and, where
// they were chosen by the values, bends anew from the rows of t. Cross-validation needs it: the folds of a table then
// have the same features, while no statistic of a fold's test rows leaks into
// its training rows.
func (r *Recipe) Refit(t *table.Table) (*Recipe, error) {
	b, err := r.bind(t.Name(), t.HeaderLine(), t.Columns(), t.HasHeader())
	if err != nil {
		return nil, err
	}
	refitted := *r
	refitted.Rows = t.Len()
	var y []int
	if !r.Target.Number {
		if y, err = r.Labels(t); err != nil {
			return nil, err
		}
		refitted.Target.count(y)
	}
	var weights []float64
	if r.Weighted() {
		if weights, err = t.Weights(r.NameOf(Weights), r.Missing...); err == nil {
			err = refitted.Target.weigh(t, b.only(Weights), y, weights)
		}
		if err != nil {
			return nil, err
		}
	}
	refitted.Columns = make([]Column, len(r.Columns))
	m := table.NewMarkers(r.Missing)
	tasks.Each(len(r.Columns), func() func(int) {
		memory := new(spare)
		return func(i int) {
			c := r.Columns[i]
			if c.IsFeature() {
				s := estimator{Scan: table.NewScan(t, b.source[i], m.OfColumn(c.Name, r.Missing)), spare: memory, weights: weights}
				// Without a single value there is nothing to estimate from: the
				// statistics of the wider table stay. Cells that do not fit their
				// column are reported, with their place, when they are encoded.
				if s.Present() > 0 {
					s.estimate(&c, r.Impute, r.Standardize, c.bend())
				}
			}
			refitted.Columns[i] = c
		}
	})
	refitted.shareScale()
	if err := refitted.Validate(); err != nil {
		return nil, &table.Error{File: t.Name(), Msg: err.Error(), Fix: "give rows of both outcomes", Err: err}
	}
	return &refitted, nil
}

// bend is what was asked for the column.
func (c *Column) bend() Bend {
	switch {
	case c.Auto:
		return AutoBend
	case c.Common:
		return Common
	case c.Scaling == nil:
		return Straight
	}
	return c.Scaling.Bend
}
