package effects

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
)

// Shard is some of the rows that effects are learnt from, with what passes keep of each: all of it by
// function.
type Shard struct {
	// Offset and Spread are the mean and variance of the rest of the value at each row; nil stands for zero.
	Offset, Spread [][]float64
	// Slope and Curvature are those of the terms, as they were last looked at.
	Slope, Curvature [][]float64

	rows  int
	first int // term of the first row
	from  int // its place among the rows of all shards
	load  func() (*mat.Dense, Terms, error)
	cells map[*Axis]ids     // until effects are looked at
	ids   map[*Grouping]ids // of families that there are effects of
}

// NewShard are so many rows from one on, which are loaded with their terms when they are first needed.
func NewShard(from, rows int, load func() (*mat.Dense, Terms, error)) *Shard {
	return &Shard{from: from, rows: rows, load: load, cells: make(map[*Axis]ids), ids: make(map[*Grouping]ids)}
}

// axis is the cells of an axis that rows are in.
func (s *Shard) axis(a *Axis) (ids, error) {
	if cells, ok := s.cells[a]; ok {
		return cells, nil
	}
	x, _, err := s.load()
	if err != nil {
		return nil, err
	}
	cells, raw := newIDs(s.rows, a.Cells), x.RawMatrix()
	strange := make([]bool, numBlocks(s.rows))
	blocks(s.rows, func(from, to int) {
		for i := from; i < to; i++ {
			cell := a.Cell(raw.Data[i*raw.Stride+a.Column])
			if cell < 0 {
				strange[from/blockRows], cell = true, 0
			}
			cells.set(i, cell)
		}
	})
	for _, one := range strange {
		if one {
			return nil, fmt.Errorf("%w: a row has a category that no training row had", ErrFamily)
		}
	}
	s.cells[a] = cells
	return cells, nil
}

// Groups are the groups of a family that rows are in, which were learnt from.
func (s *Shard) Groups(g *Grouping) ([]int32, error) {
	x, _, err := s.load()
	if err != nil {
		return nil, err
	}
	return g.Of(x), nil
}

// grouped are the rows sorted into groups, whose numbers are found where they are needed.
type grouped struct {
	*Grouping
	cells []ids // of the axes
}

// grouped sorts rows into groups.
func (s *Shard) grouped(g *Grouping) (grouped, error) {
	all := grouped{Grouping: g, cells: make([]ids, len(g.Axes))}
	for i, a := range g.Axes {
		var err error
		if all.cells[i], err = s.axis(a); err != nil {
			return all, err
		}
	}
	return all, nil
}

// groupedAll sorts those of several shards.
func groupedAll(shards []*Shard, g *Grouping) ([]grouped, error) {
	return ofAll(shards, func(s *Shard) (grouped, error) { return s.grouped(g) })
}

// keys are the cells of rows from one on.
func (r grouped) keys(keys []uint32, from int) {
	clear(keys)
	for i, a := range r.Axes {
		r.cells[i].cross(keys, from, uint32(a.Cells))
	}
}

// numbers are the groups of rows from one on. A row does not count itself.
func (r grouped) numbers(keys []uint32, from int) {
	r.keys(keys, from)
	if r.Whole() {
		return
	}
	for i, k := range keys {
		keys[i] = uint32(r.of(int(k), 1))
	}
}

func (r grouped) sum(sums []Sum, slope, curvature []float64, from int) {
	var room [blockRows]uint32
	keys := room[:len(slope)]
	r.numbers(keys, from)
	column[uint32](keys).sum(sums, slope, curvature, 0)
}

// numbers are the groups that rows are in, which are kept until effects are looked at that have others.
func (s *Shard) numbers(g *Grouping) (ids, error) {
	if ids, ok := s.ids[g]; ok {
		return ids, nil
	}
	of, err := s.grouped(g)
	if err != nil {
		return nil, err
	}
	groups := g.Groups()
	id, strange := newIDs(s.rows, groups), make([]bool, numBlocks(s.rows))
	blocks(s.rows, func(from, to int) {
		var room [blockRows]uint32
		of.numbers(room[:to-from], from)
		for i, k := range room[:to-from] {
			if int(k) >= groups {
				strange[from/blockRows], k = true, 0
			}
			id.set(from+i, int(k))
		}
	})
	for _, one := range strange {
		if one {
			return nil, fmt.Errorf("%w: a training row has none of the groups", ErrFamily)
		}
	}
	s.ids[g] = id
	return id, nil
}

// hold are the groups of all families. Others, and the cells that groups are made of, are let go.
func (s *Shard) hold(set Set) ([]ids, error) {
	all, of := make([]ids, len(set)), make(map[*Grouping]ids, len(set))
	for j, e := range set {
		var err error
		if all[j], err = s.numbers(e.Grouping); err != nil {
			return nil, err
		}
		of[e.Grouping] = all[j]
	}
	s.ids = of
	clear(s.cells)
	return all, nil
}

// moments writes the mean and variance of the values of a function at rows from one on.
func (s *Shard) moments(set Set, groups []ids, mean, variance []float64, function, from int) {
	clear(mean)
	clear(variance)
	if s.Offset != nil {
		copy(mean, s.Offset[function][from:])
	}
	if s.Spread != nil {
		copy(variance, s.Spread[function][from:])
	}
	for j, e := range set {
		groups[j].add(mean, variance, from, e.Of(function))
	}
}

// Sums writes those of effects on all rows, of all functions row by row.
func (s *Shard) Sums(set Set, sums []Moment) error {
	groups, err := s.hold(set)
	if err != nil {
		return err
	}
	functions := len(sums) / max(1, s.rows)
	tasks.Each(numBlocks(s.rows), func() func(int) {
		mean, variance := make([]float64, blockRows), make([]float64, blockRows)
		return func(task int) {
			from, to := task*blockRows, min((task+1)*blockRows, s.rows)
			mean, variance := mean[:to-from], variance[:to-from]
			for c := range functions {
				clear(mean)
				clear(variance)
				for j, e := range set {
					groups[j].add(mean, variance, from, e.Of(c))
				}
				for i := range mean {
					sums[(from+i)*functions+c] = Moment{mean[i], variance[i]}
				}
			}
		}
	})
	return nil
}

// Without is by how much the mean and variance of a function at a row change when the row itself is left out,
// with terms as they were last looked at: its slope g and curvature τ are taken from each of its effects, whose
// variance becomes c = V/(1 − τV) and whose mean falls by cg.
func (s *Shard) Without(set Set, row, function int) (change Moment) {
	slope, curvature := s.Slope[function][row], s.Curvature[function][row]
	for _, e := range set {
		v := e.Of(function)[s.ids[e.Grouping].at(row)].Variance
		rest := 1 - curvature*v
		if !(rest > leastRest) { // damping may leave a little more precision in the row than in the effect
			rest = leastRest
		}
		c := v / rest
		change.Mean -= c * slope
		change.Variance += c - v
	}
	return change
}

// leastRest is the least share of the precision of an effect that others than one row are taken
// to have given it.
const leastRest = 1e-6
