package effects

import (
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"
)

// Grouping is a family as learnt from rows: its axes, and numbers for the cells that occur.
type Grouping struct {
	Family Family
	Axes   []*Axis
	// Rows are the numbers of rows of the cells that occur, where these are what rows are grouped
	// by; otherwise it is nil.
	Rows []uint32
	seen ranks // of the cells that occur; without words every cell is a group
}

// Cells groups rows by the cells of axes, whether these occur or not.
func Cells(f Family, axes []*Axis) *Grouping { return &Grouping{Family: f, Axes: axes} }

// Whole tells whether every cell is a group.
func (g *Grouping) Whole() bool { return g.seen.words == nil }

// ranks number the members of a set of small numbers in their order.
type ranks struct {
	words  []uint64
	before []uint32 // members in earlier words
	count  int
}

// reset makes it the empty set of numbers below size, in the memory that it has.
func (r *ranks) reset(size int) {
	r.words = slices.Grow(r.words[:0], (size+63)/64)[:(size+63)/64]
	clear(r.words)
}

func (r *ranks) add(k int) { r.words[k>>6] |= 1 << (k & 63) }

// join is add for several goroutines at a time.
func (r *ranks) join(k int) {
	w, bit := &r.words[k>>6], uint64(1)<<(k&63)
	if atomic.LoadUint64(w)&bit == 0 {
		atomic.OrUint64(w, bit)
	}
}

// number counts the members.
func (r *ranks) number() {
	r.before = slices.Grow(r.before[:0], len(r.words))[:len(r.words)]
	r.count = 0
	for i, w := range r.words {
		r.before[i] = uint32(r.count)
		r.count += bits.OnesCount64(w)
	}
}

// of is the rank of a member, or −1.
func (r *ranks) of(k int) int {
	w := r.words[k>>6]
	if w>>(k&63)&1 == 0 {
		return -1
	}
	return int(r.before[k>>6]) + bits.OnesCount64(w&(1<<(k&63)-1))
}

// Groups is the number of groups.
func (g *Grouping) Groups() int {
	switch {
	case g.Rows != nil:
		return CountClasses
	case g.Whole():
		return int(cellsOf(g.Axes))
	}
	return g.seen.count
}

// Group is that of a row, or −1 for one that no row had that was learnt from.
func (g *Grouping) Group(row []float64) int { return g.group(row, 0) }

// group is Group where so many of the rows that were learnt from are the row itself.
func (g *Grouping) group(row []float64, itself uint32) int {
	key := g.key(row)
	if key < 0 {
		if g.Rows != nil {
			return 0
		}
		return -1
	}
	return g.of(key, itself)
}

// of is the group of a cell, or −1.
func (g *Grouping) of(key int, itself uint32) int {
	if g.Whole() {
		return key
	}
	at := g.seen.of(key)
	if g.Rows == nil {
		return at
	}
	if at < 0 {
		return 0
	}
	return bits.Len32(g.Rows[at] - min(itself, g.Rows[at]))
}

// Keys are the cells that occur, ascending: the group of Keys()[i] is i. A cell is that of the
// first axis times the cells of the second plus that of the second, and so on.
func (g *Grouping) Keys() []int {
	keys := make([]int, 0, g.seen.count)
	for i, w := range g.seen.words {
		for ; w != 0; w &= w - 1 {
			keys = append(keys, i<<6+bits.TrailingZeros64(w))
		}
	}
	return keys
}

// Cells is the number of all cells, whether they occur or not.
func (g *Grouping) Cells() int { return int(cellsOf(g.Axes)) }

// cellsOf is the number of combinations of the cells of axes.
func cellsOf(axes []*Axis) float64 {
	cells := 1.0
	for _, a := range axes {
		cells *= float64(a.Cells)
	}
	return cells
}

// NewGrouping is the grouping with axes and cells that occur, as Keys returns them, and numbers of rows
// of these where the family is one of them.
func NewGrouping(f Family, axes []*Axis, keys []int, rows []uint32) (*Grouping, error) {
	parts := f.Parts()
	if len(axes) != len(parts) || f.counts() != (rows != nil) || rows != nil && len(rows) != len(keys) {
		return nil, fmt.Errorf("%w: %d axes for %d columns", ErrFamily, len(axes), len(parts))
	}
	for i, a := range axes {
		if a.Column != parts[i].Column || a.Cells < 1 || a.Cuts != nil && a.Cells != len(a.Cuts)+2 || !slices.IsSorted(a.Cuts) {
			return nil, fmt.Errorf("%w: axis %d", ErrFamily, i)
		}
	}
	cells := cellsOf(axes)
	if cells > MostCells {
		return nil, &TooManyGroupsError{f, cells, MostCells}
	}
	g := &Grouping{Family: f, Axes: axes, Rows: rows}
	g.seen.reset(int(cells))
	for i, k := range keys {
		if k < 0 || float64(k) >= cells || i > 0 && k <= keys[i-1] {
			return nil, fmt.Errorf("%w: cell %d", ErrFamily, k)
		}
		g.seen.add(k)
	}
	g.seen.number()
	return g, nil
}

// Of are the groups of rows that it was learnt from.
func (g *Grouping) Of(x *mat.Dense) []int32 {
	n, _ := x.Dims()
	groups := make([]int32, n)
	for i := range groups {
		groups[i] = int32(g.group(x.RawRowView(i), 1))
	}
	return groups
}

// Places are where groups of another grouping of the family are among those of this one.
func (g *Grouping) Places(of *Grouping) []int {
	places := of.Keys()
	for i, key := range places {
		places[i] = g.seen.of(key)
	}
	return places
}
