package data

import (
	"fmt"
	"math"
)

// roles are what the options say about columns, by number.
type roles struct {
	target, id, weights int // −1 where there is none
	categorical         map[int]bool
	ordered             map[int]*OrderedSet
	dropped             map[int]string // with the reason
}

// roles finds the columns that options name.
func (o *Options) roles(t *Table) (*roles, error) {
	r := &roles{id: -1, weights: -1, categorical: make(map[int]bool), ordered: make(map[int]*OrderedSet), dropped: make(map[int]string)}
	var err error
	find := func(ref string, use func(j int)) {
		if ref == "" || err != nil {
			return
		}
		var j int
		if j, err = t.Column(ref); err == nil {
			use(j)
		}
	}
	find(o.Target, func(j int) { r.target = j })
	find(o.ID, func(j int) { r.id = j })
	find(o.Weights, func(j int) { r.weights = j })
	for _, ref := range o.Categorical {
		find(ref, func(j int) { r.categorical[j] = true })
	}
	for k := range o.Ordered {
		find(o.Ordered[k].Column, func(j int) { r.ordered[j] = &o.Ordered[k] })
	}
	for name := range o.Bends {
		find(name, func(int) {})
	}
	if len(o.Features) > 0 {
		for j := range t.columns {
			r.dropped[j] = "not among the features chosen"
		}
		for _, ref := range o.Features {
			find(ref, func(j int) { delete(r.dropped, j) })
		}
	}
	for _, ref := range o.Drop {
		find(ref, func(j int) { r.dropped[j] = "left out as asked" })
	}
	if err != nil {
		return nil, err
	}
	return r, r.check(t)
}

// check refuses roles that exclude each other.
func (r *roles) check(t *Table) error {
	clash := func(j int, text string) error {
		return &Error{File: t.file, Column: j + 1, ColumnName: t.columns[j], Msg: text, Fix: "give it one part only"}
	}
	if r.target == r.id || r.target == r.weights {
		return clash(r.target, "the outcome cannot name the rows or weigh them")
	}
	if r.id >= 0 && r.id == r.weights {
		return clash(r.id, "the column cannot name the rows and weigh them")
	}
	for j := range t.columns {
		if r.categorical[j] && r.ordered[j] != nil {
			return clash(j, "the column is declared both categorical and ordered")
		}
	}
	return nil
}

// settled is what becomes of a column that is no feature whatever it holds.
func (r *roles) settled(t *Table, j int) (Column, bool) {
	c := Column{Name: t.columns[j]}
	switch reason, drop := r.dropped[j]; {
	case j == r.target:
		c.Kind = Outcome
	case j == r.weights:
		c.Kind = Weights
	case j == r.id:
		c.Kind = Identity
	case drop:
		c.Kind, c.Reason = Dropped, reason
	default:
		return c, false
	}
	return c, true
}

// weights reads how much each row counts.
func (t *Table) weights(j int) ([]float64, error) {
	values, err := t.Floats(t.columns[j])
	if err != nil {
		return nil, err
	}
	sum := 0.0
	for i, w := range values {
		if !(w >= 0) || math.IsInf(w, 0) {
			at := t.cell(i, j)
			at.Msg, at.Fix = fmt.Sprintf("the weight %v is below zero", w), "give every row a weight of zero or more"
			return nil, at
		}
		sum += w
	}
	if sum == 0 {
		return nil, &Error{File: t.file, Column: j + 1, ColumnName: t.columns[j], Msg: "all weights are zero", Fix: "give weights above zero, or leave the column out"}
	}
	return values, nil
}
