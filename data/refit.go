package data

import "github.com/lossep/lossep/internal/tasks"

// Refit keeps what the recipe settled about the columns (their kinds,
// categories and which are dropped) and estimates means, scales, fill values and, where
// they were chosen by the values, bends anew from the rows of t. Cross-validation needs it: the folds of a table then
// have the same features, while no statistic of a fold's test rows leaks into
// its training rows.
func (r *Recipe) Refit(t *Table) (*Recipe, error) {
	b, err := r.bind(t.file, t.headerLine(), t.columns, t.header)
	if err != nil {
		return nil, err
	}
	y, err := r.Labels(t)
	if err != nil {
		return nil, err
	}
	refitted := *r
	refitted.Rows = t.Len()
	refitted.Target.count(y)
	var weights []float64
	if r.Weighted() {
		for i := range r.Columns {
			if r.Columns[i].Kind != Weights {
				continue
			}
			if weights, err = t.Weights(r.Columns[i].Name, r.Missing...); err != nil {
				return nil, err
			}
			if refitted.Target.Share, err = weightShare(t, b.source[i], &refitted.Target, y, weights); err != nil {
				return nil, err
			}
		}
	}
	refitted.Columns = make([]Column, len(r.Columns))
	m := newMarkers(r.Missing)
	tasks.Each(len(r.Columns), func() func(int) {
		memory := new(spare)
		return func(i int) {
			c := r.Columns[i]
			if c.isFeature() {
				s := scan(t, b.source[i], m.ofColumn(c.Name, r.Missing))
				s.spare, s.weights = memory, weights
				// Without a single value there is nothing to estimate from: the
				// statistics of the wider table stay. Cells that do not fit their
				// column are reported, with their place, when they are encoded.
				if s.present() > 0 {
					s.estimate(&c, r.Impute, r.Standardize, c.bend())
				}
			}
			refitted.Columns[i] = c
		}
	})
	if err := refitted.Validate(); err != nil {
		return nil, &Error{File: t.file, Msg: err.Error(), Fix: "give rows of both outcomes", Err: err}
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
