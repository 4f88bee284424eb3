package effects

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/radix"
)

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

// newAxes cuts a column of the rows of x into each of these numbers of bins. Bins hold about as many rows each, and
// values that are equal are never parted; where there are no more different values than bins, each has its
// own. No bins stand for categories.
func newAxes(x *mat.Dense, column int, bins []int) []*Axis {
	axes := make([]*Axis, len(bins))
	var sorted []float64
	for i, n := range bins {
		if n == 0 {
			axes[i] = &Axis{Column: column, Cells: categories(x, column) + 1}
			continue
		}
		if sorted == nil {
			sorted = sortedColumn(x, column)
		}
		cuts := cuts(sorted, n)
		axes[i] = &Axis{Column: column, Cuts: cuts, Cells: len(cuts) + 2}
	}
	return axes
}

// categories is how many a column of codes has.
func categories(x *mat.Dense, column int) int {
	raw, top := x.RawMatrix(), -1.0
	for i := range raw.Rows {
		if v := raw.Data[i*raw.Stride+column]; v > top {
			top = v
		}
	}
	return int(top) + 1
}

// sortedColumn is a column without what is missing, of some of the rows where they are many.
func sortedColumn(x *mat.Dense, column int) []float64 {
	raw := x.RawMatrix()
	step := max(1, raw.Rows/cutRows)
	some := make([]float64, 0, (raw.Rows+step-1)/step)
	for i := 0; i < raw.Rows; i += step {
		if v := raw.Data[i*raw.Stride+column]; !math.IsNaN(v) {
			some = append(some, v)
		}
	}
	var room []float64
	radix.Sort(some, &room)
	return some
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
