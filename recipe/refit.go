package recipe

import (
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/table"
)

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
	for i := range r.Columns {
		if r.Columns[i].Kind != Weights {
			continue
		}
		if weights, err = t.Weights(r.Columns[i].Name, r.Missing...); err != nil {
			return nil, err
		}
		if err = refitted.Target.weigh(t, b.source[i], y, weights); err != nil {
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
	case c.Scaling == nil:
		return Straight
	}
	return c.Scaling.Bend
}
