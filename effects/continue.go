package effects

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/lossep/lossep/internal/finite"
)

// Continue is a fit of further rows to effects. What the rows before told of a group stays as a Gaussian:
// the slope B = m/V and the curvature H = 1/V − 1/σ² of its effect, to which those of the further rows
// are added. Groups that no row had are added, too. What the rows before told counts to the power fade,
// from 0 to 1.
func Continue(t *Table, rows Rows, known Set, fade float64) (*Fit, error) {
	f := NewFit(t, rows)
	for _, e := range known {
		m, err := t.extend(e, fade)
		if err != nil {
			return nil, err
		}
		f.members = append(f.members, m)
	}
	return f, nil
}

// Forget are the effects without the rows of the fit, whose terms were looked at, to first order: their
// slopes g and curvatures τ are taken out, so that a variance becomes c = V/(1 − V·Στ) and a mean falls
// by c·Σg.
func (f *Fit) Forget(ctx context.Context) (Set, error) {
	all := f.Effects()
	for i, m := range f.members {
		c := *m.Effect
		c.Moments = slices.Clone(m.Moments)
		sums, err := f.sum(ctx, nil, m.Grouping)
		if err != nil {
			return nil, err
		}
		for g, s := range sums {
			w := &c.Moments[g]
			rest := max(1-s.Curvature*w.Variance, w.Variance/c.Variance)
			w.Variance = min(c.Variance, w.Variance/rest)
			w.Mean -= w.Variance * s.Slope
		}
		all[i] = &c
	}
	return all, nil
}

// extend is a family with the groups of the rows of a table as well.
func (t *Table) extend(e *Effect, fade float64) (*member, error) {
	old := e.Keys()
	all := slices.Clone(old)
	keys := make([]int, t.Len())
	for i := range keys {
		if keys[i] = e.key(t.X.RawRowView(i)); keys[i] < 0 {
			return nil, fmt.Errorf("%w: a row has a category that no training row had", ErrFamily)
		}
		all = append(all, keys[i])
	}
	slices.Sort(all)
	all = slices.Compact(all)
	rows := e.Rows
	if rows != nil {
		rows = make([]uint32, len(all))
	}
	g, err := NewGrouping(e.Family, e.Axes, all, rows)
	if err != nil {
		return nil, err
	}
	n := g.Groups() * e.Functions()
	m := &member{Effect: &Effect{Grouping: g, Variance: e.Variance, Moments: make([]Moment, n)}}
	m.Walks = t.within(e)
	m.told, m.moved = make([]Sum, n), make([]float64, n)
	for i, w := range e.Moments {
		at := i // of a class of numbers, of which there are always as many
		if rows == nil {
			at = i/len(old)*g.Groups() + g.seen.of(old[i%len(old)])
		}
		m.told[at] = Sum{Slope: fade * w.Mean / w.Variance, Curvature: fade * max(0, 1/w.Variance-1/e.Variance)}
	}
	for at, s := range m.told {
		v := 1 / (1/e.Variance + s.Curvature)
		m.Moments[at] = Moment{v * s.Slope, v}
	}
	if rows != nil {
		for i, k := range old {
			rows[g.seen.of(k)] = e.Rows[i]
		}
		for _, k := range keys {
			rows[g.seen.of(k)]++
		}
	}
	return m, nil
}

// key is the cell of a row, or −1 where it has a category that the axes do not have.
func (g *Grouping) key(row []float64) int {
	key := 0
	for _, a := range g.Axes {
		c := a.Cell(row[a.Column])
		if c < 0 {
			return -1
		}
		key = key*a.Cells + c
	}
	return key
}

// Learnt is a family and what is known of its effects, to be kept.
type Learnt struct {
	Family   Family  `json:"family"`
	Variance float64 `json:"variance"`
	Moments  []byte  `json:"moments"`         // in the order of the groups, mean and variance of each
	Fresh    bool    `json:"fresh,omitempty"` // nothing is yet
}

// Learnt are the effects learnt so far.
func (f *Fit) Learnt() (all []Learnt) {
	for _, m := range f.members {
		moments := make([]byte, 0, 16*len(m.Moments))
		for _, w := range m.Moments {
			moments = binary.LittleEndian.AppendUint64(moments, math.Float64bits(w.Mean))
			moments = binary.LittleEndian.AppendUint64(moments, math.Float64bits(w.Variance))
		}
		all = append(all, Learnt{m.Family, m.Variance, moments, m.fresh})
	}
	return all
}

// Restore adds effects that were learnt from the same rows.
func (f *Fit) Restore(ctx context.Context, all []Learnt) error {
	for _, one := range all {
		if err := f.Add(ctx, one.Family, one.Variance); err != nil {
			return err
		}
		m := f.members[len(f.members)-1]
		if n, err := binary.Decode(one.Moments, binary.LittleEndian, m.Moments); err != nil || n != len(one.Moments) {
			return fmt.Errorf("%w: what was kept is not of these rows", ErrFamily)
		}
		if m.fresh = one.Fresh; !m.proper() {
			return fmt.Errorf("%w: what was kept has no finite moments", ErrFamily)
		}
	}
	return nil
}

// proper tells whether variances are positive, and all moments finite; of a fresh family there are none yet.
func (m *member) proper() bool {
	return m.Variance > 0 && finite.All(m.Variance) && !slices.ContainsFunc(m.Moments, func(w Moment) bool {
		return !finite.All(w.Mean, w.Variance) || !(w.Variance > 0) && !(m.fresh && w == Moment{})
	})
}
