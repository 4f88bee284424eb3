package effects

import (
	"cmp"
	"math"

	"github.com/lossep/lossep/internal/tasks"
)

// ids are the groups of rows in a column of the narrowest numbers that hold them: what a pass
// reads of a family. Its methods are the inner loops, once for each width.
type ids interface {
	set(row, id int)
	at(row int) int
	// numbers are the groups of rows from one on.
	numbers(groups []uint32, from int)
	// cross makes keys those of a crossing with one more axis.
	cross(keys []uint32, from int, cells uint32)
	// add adds to the moments of rows those of their groups.
	add(mean, variance []float64, from int, effects []Moment)
	// shift takes what rows' groups have moved by out of their slopes.
	shift(slope, curvature []float64, from int, moved []float64)
	// sum adds up slopes and curvatures by group.
	sum(sums []Sum, slope, curvature []float64, from int)
}

// number is the width of a column.
type number interface{ uint8 | uint16 | uint32 }

type column[T number] []T

func newIDs(rows, groups int) ids {
	switch {
	case groups <= math.MaxUint8+1:
		return make(column[uint8], rows)
	case groups <= math.MaxUint16+1:
		return make(column[uint16], rows)
	}
	return make(column[uint32], rows)
}

func (c column[T]) set(row, id int) { c[row] = T(id) }

func (c column[T]) at(row int) int { return int(c[row]) }

func (c column[T]) numbers(groups []uint32, from int) {
	for i, id := range c[from : from+len(groups)] {
		groups[i] = uint32(id)
	}
}

func (c column[T]) cross(keys []uint32, from int, cells uint32) {
	for i, id := range c[from : from+len(keys)] {
		keys[i] = keys[i]*cells + uint32(id)
	}
}

func (c column[T]) add(mean, variance []float64, from int, effects []Moment) {
	variance = variance[:len(mean)]
	for i, id := range c[from : from+len(mean)] {
		w := effects[id]
		mean[i] += w.Mean
		variance[i] += w.Variance
	}
}

func (c column[T]) shift(slope, curvature []float64, from int, moved []float64) {
	curvature = curvature[:len(slope)]
	for i, id := range c[from : from+len(slope)] {
		slope[i] -= curvature[i] * moved[id]
	}
}

func (c column[T]) sum(sums []Sum, slope, curvature []float64, from int) {
	curvature = curvature[:len(slope)]
	for i, id := range c[from : from+len(slope)] {
		s := &sums[id]
		s.Slope += slope[i]
		s.Curvature += curvature[i]
	}
}

// blockRows is the number of rows that are gone over together: what there is of them stays in
// the cache of a core.
const blockRows = 2048

func numBlocks(rows int) int { return (rows + blockRows - 1) / blockRows }

// blocks hands over all rows.
func blocks(rows int, do func(from, to int)) {
	tasks.For(numBlocks(rows), func(task int) { do(task*blockRows, min((task+1)*blockRows, rows)) })
}

// block is some rows of one of several shards.
type block struct {
	*Shard
	of       int // which shard
	from, to int
}

// blocksOf are those of shards, in their order.
func blocksOf(shards []*Shard) (all []block) {
	for of, s := range shards {
		for from := 0; from < s.rows; from += blockRows {
			all = append(all, block{s, of, from, min(from+blockRows, s.rows)})
		}
	}
	return all
}

// ofAll is what is found of each of several shards, in their order.
func ofAll[T any](shards []*Shard, find func(s *Shard) (T, error)) ([]T, error) {
	all, errs := make([]T, len(shards)), make([]error, len(shards))
	tasks.For(len(shards), func(i int) { all[i], errs[i] = find(shards[i]) })
	return all, cmp.Or(errs...)
}

// eachBlock hands over all of them.
func eachBlock(shards []*Shard, do func(b block)) {
	all := blocksOf(shards)
	tasks.For(len(all), func(task int) { do(all[task]) })
}
