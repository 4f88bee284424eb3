package effects

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Part is a column of a family: its categories if Bins is 0, otherwise its numbers in so many
// quantile bins.
type Part struct {
	Column, Bins int
}

// Family is what rows are grouped by: one column, or a crossing of several, in the order of
// the columns. The family of no columns has all rows in one group.
//
// A family whose first part is Count groups rows by how many others are in their group of the
// other parts, in powers of two: combinations that are rare or new may have something in common.
type Family []Part

// Count is the first part of a family of numbers of rows.
var Count = Part{Column: -1}

// counts tells whether the family is one of numbers of rows.
func (f Family) counts() bool { return len(f) > 0 && f[0] == Count }

// Parts are those of the columns of the family.
func (f Family) Parts() []Part {
	if f.counts() {
		return f[1:]
	}
	return f
}

// CountClasses is the number of groups of such a family: none, 1, 2–3, 4–7, …
const CountClasses = 33

// NewFamily is the family of parts, in the order of their columns.
func NewFamily(parts ...Part) Family {
	f := slices.Clone(parts)
	slices.SortStableFunc(f, func(a, b Part) int { return a.Column - b.Column })
	return f
}

// MostParts is the largest number of columns of a crossing, and MostBins that of bins.
const (
	MostParts = 3
	MostBins  = 1 << 15
)

// Name is the family in the words of the kernel language, with columns called as given.
func (f Family) Name(columns []string) string {
	if len(f) == 0 {
		return "constant"
	}
	if f.counts() {
		inside := strings.TrimPrefix(f[1:].Name(columns), "effects")
		return "effects(count" + inside + ")"
	}
	parts := make([]string, len(f))
	for i, p := range f {
		parts[i] = columns[p.Column]
		if p.Bins > 0 {
			parts[i] += "/" + strconv.Itoa(p.Bins)
		}
	}
	return "effects(" + strings.Join(parts, ", ") + ")"
}

// columns are those of the parts.
func (f Family) columns() []int {
	all := make([]int, len(f))
	for i, p := range f {
		all[i] = p.Column
	}
	return all
}

// TooManyGroupsError is a family with more groups than can be afforded.
type TooManyGroupsError struct {
	Family      Family
	Cells, Most float64 // combinations of its columns' categories and bins, and the most there may be
}

func (e *TooManyGroupsError) Error() string {
	return fmt.Sprintf("effects of %d columns have %.3g combinations of categories and bins, more than %.3g", len(e.Family), e.Cells, e.Most)
}

// ErrFamily is the reason why a family is refused that is not one.
var ErrFamily = errors.New("effects: invalid family")

// MostCells is the largest number of combinations of categories and bins of a family. They
// take a bit and a half each while groups are numbered, whether they occur or not.
const MostCells = 1 << 28

// Axis is a column cut into cells: cell 0 is for what is missing or unknown, the others are
// for categories or, where there are cuts, for the numbers between them.
type Axis struct {
	Column int
	Cells  int
	Cuts   []float64 // ascending; nil for categories
}

// Cell is that of a number, or −1 for a category that the axis does not have.
func (a *Axis) Cell(x float64) int {
	if math.IsNaN(x) {
		return 0
	}
	if a.Cuts == nil {
		if x < 0 {
			return 0
		}
		if x >= float64(a.Cells-1) {
			return -1
		}
		return 1 + int(x)
	}
	return 1 + a.bin(x)
}

// bin is the number of cuts that are not above x.
func (a *Axis) bin(x float64) int {
	lo, hi := 0, len(a.Cuts)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if a.Cuts[mid] <= x {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// cutRows is how many rows cuts are found from.
const cutRows = 200_000

// newAxis cuts a column of the rows of x. Bins hold about as many rows each, and values that
// are equal are never parted; where there are no more different values than bins, each has its
// own.
func newAxis(x *mat.Dense, p Part) *Axis {
	raw := x.RawMatrix()
	a := &Axis{Column: p.Column}
	if p.Bins == 0 {
		top := -1.0
		for i := range raw.Rows {
			if v := raw.Data[i*raw.Stride+p.Column]; v > top {
				top = v
			}
		}
		a.Cells = int(top) + 2
		return a
	}
	step := max(1, raw.Rows/cutRows)
	var some []float64
	for i := 0; i < raw.Rows; i += step {
		if v := raw.Data[i*raw.Stride+p.Column]; !math.IsNaN(v) {
			some = append(some, v)
		}
	}
	slices.Sort(some)
	a.Cuts = cuts(some, p.Bins)
	a.Cells = len(a.Cuts) + 2
	return a
}

// cuts are those of sorted numbers into bins. A cut lies half way between neighbours.
func cuts(sorted []float64, bins int) []float64 {
	all := []float64{}
	different := 0
	for i, v := range sorted {
		if i == 0 || v != sorted[i-1] {
			different++
		}
	}
	if different == 0 {
		return all
	}
	taken, left := 0, different // rows in bins so far; values not in one yet
	size := 0
	for i, v := range sorted {
		size++
		if i+1 == len(sorted) {
			break
		}
		next := sorted[i+1]
		if next == v {
			continue
		}
		left--
		open := bins - len(all) - 1 // bins after this one
		if open == 0 {
			break
		}
		share := float64(len(sorted)-taken) / float64(open+1)
		if left <= open || float64(size) >= share-0.5 {
			cut := v + (next-v)/2
			if !(cut > v) { // neighbours in float64
				cut = next
			}
			all = append(all, cut)
			taken, size = taken+size, 0
		}
	}
	return all
}

// Grouping is a family as learnt from rows: its axes, and numbers for the cells that occur.
type Grouping struct {
	Family Family
	Axes   []*Axis
	// Rows are the numbers of rows of the cells that occur, where these are what rows are grouped
	// by; otherwise it is nil.
	Rows []uint32
	seen ranks
}

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
	if g.Rows != nil {
		return CountClasses
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

// Table is the rows that effects are learnt from, with columns cut into cells once for all
// families. It is not safe for use by several goroutines at a time.
type Table struct {
	X     *mat.Dense
	Codes int // columns that are codes of categories, the last ones; the others are numbers
	axes  map[Part]*axisCells
}

// axisCells are an axis and the cells of all rows.
type axisCells struct {
	*Axis
	cells ids
}

// NewTable is a table of rows, which it keeps.
func NewTable(x *mat.Dense, codes int) *Table {
	return &Table{X: x, Codes: codes, axes: make(map[Part]*axisCells)}
}

// Len is the number of rows.
func (t *Table) Len() int { return t.X.RawMatrix().Rows }

// columns is the number of columns.
func (t *Table) columns() int { return t.X.RawMatrix().Cols }

// categorical tells whether a column has codes.
func (t *Table) categorical(column int) bool { return column >= t.columns()-t.Codes }

// check tells why a family is none of the table's.
func (t *Table) check(f Family) error {
	f = f.Parts()
	if len(f) > MostParts {
		return fmt.Errorf("%w: a crossing of %d columns, at most %d", ErrFamily, len(f), MostParts)
	}
	for i, p := range f {
		switch {
		case p.Column < 0 || p.Column >= t.columns():
			return fmt.Errorf("%w: column %d", ErrFamily, p.Column)
		case i > 0 && p.Column <= f[i-1].Column:
			return fmt.Errorf("%w: columns twice or out of order", ErrFamily)
		case t.categorical(p.Column) != (p.Bins == 0):
			return fmt.Errorf("%w: bins are for numbers, and numbers need them", ErrFamily)
		case p.Bins < 0 || p.Bins == 1 || p.Bins > MostBins:
			return fmt.Errorf("%w: %d bins", ErrFamily, p.Bins)
		}
	}
	return nil
}

// axis cuts a column.
func (t *Table) axis(p Part) *axisCells {
	if a, ok := t.axes[p]; ok {
		return a
	}
	a := &axisCells{Axis: newAxis(t.X, p)}
	a.cells = newIDs(t.Len(), a.Cells)
	raw := t.X.RawMatrix()
	blocks(t.Len(), func(from, to int) {
		for i := from; i < to; i++ {
			a.cells.set(i, a.Cell(raw.Data[i*raw.Stride+p.Column]))
		}
	})
	t.axes[p] = a
	return a
}

// crossing are the axes of a family with the cells of all rows.
type crossing []*axisCells

// axesOf are those of a family.
func (t *Table) axesOf(f Family) crossing {
	all := make(crossing, len(f))
	for i, p := range f {
		all[i] = t.axis(p)
	}
	return all
}

// count is the number of combinations of cells.
func (c crossing) count() float64 {
	n := 1.0
	for _, a := range c {
		n *= float64(a.Cells)
	}
	return n
}

// keys are the cells of rows.
func (c crossing) keys(keys []uint32, from int) {
	clear(keys)
	for _, a := range c {
		a.cells.cross(keys, from, uint32(a.Cells))
	}
}

// sum adds up slopes and curvatures by cell.
func (c crossing) sum(sums []Sum, slope, curvature []float64, from int) {
	var room [blockRows]uint32
	keys := room[:len(slope)]
	c.keys(keys, from)
	column[uint32](keys).sum(sums, slope, curvature, 0)
}

// ranked are rows sorted into the groups of a crossing that occur.
type ranked struct {
	crossing
	*ranks
}

// ids are the groups of rows from one on.
func (r ranked) ids(keys []uint32, from int) {
	r.keys(keys, from)
	for i, k := range keys {
		keys[i] = uint32(r.of(int(k)))
	}
}

func (r ranked) sum(sums []Sum, slope, curvature []float64, from int) {
	var room [blockRows]uint32
	keys := room[:len(slope)]
	r.ids(keys, from)
	column[uint32](keys).sum(sums, slope, curvature, 0)
}

// occurring numbers the groups of a family that occur, with ranks in the room of others.
func (t *Table) occurring(f Family, room ranks) (ranked, error) {
	axes := t.axesOf(f)
	cells := axes.count()
	if cells > MostCells {
		return ranked{}, &TooManyGroupsError{f, cells, MostCells}
	}
	seen := &room
	seen.reset(int(cells))
	var keys [blockRows]uint32
	for from := 0; from < t.Len(); from += blockRows {
		keys := keys[:min(blockRows, t.Len()-from)]
		axes.keys(keys, from)
		for _, k := range keys {
			seen.add(int(k))
		}
	}
	seen.number()
	return ranked{axes, seen}, nil
}

// group numbers the groups of a family that occur, and says which each row is in.
func (t *Table) group(f Family) (*Grouping, ids, error) {
	if err := t.check(f); err != nil {
		return nil, nil, err
	}
	if f.counts() {
		g, id, err := t.group(f[1:])
		if err != nil {
			return nil, nil, err
		}
		by := newCounted(g, id, t.Len())
		return by.grouping(f), by.ids(t.Len()), nil
	}
	r, err := t.occurring(f, ranks{})
	if err != nil {
		return nil, nil, err
	}
	g := &Grouping{Family: f, seen: *r.ranks}
	for _, a := range r.crossing {
		g.Axes = append(g.Axes, a.Axis)
	}
	id := newIDs(t.Len(), g.seen.count)
	blocks(t.Len(), func(from, to int) {
		var room [blockRows]uint32
		r.ids(room[:to-from], from)
		for i, k := range room[:to-from] {
			id.set(from+i, int(k))
		}
	})
	return g, id, nil
}

// counted are rows sorted by how many others are in their group of another family. A row does
// not count itself, so that one of a cell of its own is as one of a cell that is new.
type counted struct {
	of   *Grouping
	id   ids
	rows []uint32 // of each group
}

func newCounted(g *Grouping, id ids, rows int) counted {
	c := counted{g, id, make([]uint32, g.seen.count)}
	for i := range rows {
		c.rows[id.at(i)]++
	}
	return c
}

func (c counted) grouping(f Family) *Grouping {
	return &Grouping{Family: f, Axes: c.of.Axes, Rows: c.rows, seen: c.of.seen}
}

func (c counted) at(row int) int { return bits.Len32(c.rows[c.id.at(row)] - 1) }

func (c counted) ids(rows int) ids {
	class := newIDs(rows, CountClasses)
	blocks(rows, func(from, to int) {
		for i := from; i < to; i++ {
			class.set(i, c.at(i))
		}
	})
	return class
}

func (c counted) sum(sums []Sum, slope, curvature []float64, from int) {
	for i, g := range slope {
		s := &sums[c.at(from+i)]
		s.Slope += g
		s.Curvature += curvature[i]
	}
}
