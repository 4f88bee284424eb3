package recipe

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/table"
)

// Copies numbers encoded rows by what is in them, those with the same entries alike, if rows
// that come again are the same cases again; it is nil if none come again, or if that is by chance.
//
// Where columns have few different values, different cases have the same entries, and then more
// still differ in one column only. So rows are taken for copies where fewer of the different ones
// have a twin, one that differs from them in a single column, than come again.
func (r *Recipe) Copies(x *mat.Dense) []int {
	sums, parts := r.Digests(x), r.Parts()
	numbers := make([]int, len(sums))
	seen := make(map[uint64]int, len(sums))
	var first, times []int // of every different row
	for i, s := range sums {
		n, again := seen[s]
		if !again {
			n = len(first)
			seen[s] = n
			first, times = append(first, i), append(times, 0)
		}
		numbers[i] = n
		times[n]++
	}
	repeated := 0
	for _, n := range times {
		if n > 1 {
			repeated++
		}
	}
	if repeated == 0 {
		return nil
	}
	twins := make([]bool, len(first))
	paired := 0
	for j := range parts {
		clear(seen)
		begin := parts[j].begin()
		for n, i := range first {
			rest := sums[i] - parts[j].digest(begin, x.RawRowView(i))
			other, met := seen[rest]
			if !met {
				seen[rest] = n
				continue
			}
			for _, k := range [2]int{n, other} {
				if !twins[k] {
					twins[k] = true
					paired++
				}
			}
		}
		if paired >= repeated {
			return nil
		}
	}
	return numbers
}

// again tells which rows of a table are copies of earlier ones in all columns.
func again(t *table.Table) []bool {
	sums := make([]uint64, t.Len())
	for j := range t.Columns() {
		if t.Cells(j).Unread() {
			continue
		}
		salt := mixed(uint64(j) + 1)
		for i, part := range t.Stretches(j) {
			for k, x := range part {
				if x == 0 {
					x = 0 // one zero of two
				}
				sums[i+k] += mixed(math.Float64bits(x) ^ salt)
			}
		}
	}
	all, seen := make([]bool, len(sums)), make(map[uint64]bool, len(sums))
	for i, sum := range sums {
		all[i], seen[sum] = seen[sum], true
	}
	return all
}

// Digests are numbers for what encoded rows hold, the same for rows with the same entries in
// whatever order the columns are, and as good as different for others. A row's is a sum
// over columns.
func (r *Recipe) Digests(x *mat.Dense) []uint64 {
	rows, _ := x.Dims()
	sums := make([]uint64, rows)
	for _, p := range r.Parts() {
		begin := p.begin()
		for i := range sums {
			sums[i] += p.digest(begin, x.RawRowView(i))
		}
	}
	return sums
}

// DigestsWithout are those of rows without a column.
func (r *Recipe) DigestsWithout(x *mat.Dense, column string) []uint64 {
	sums := r.Digests(x)
	for _, p := range r.Parts() {
		if p.Column != column {
			continue
		}
		begin := p.begin()
		for i := range sums {
			sums[i] -= p.digest(begin, x.RawRowView(i))
		}
	}
	return sums
}

// RoundedDigests are those of entries as far as they mean anything: the same where rounding, or
// another unit of a column that is standardised, has changed them in the last digits, and whatever
// columns and categories are called. What they are called counts only where nothing else tells
// them apart.
func (r *Recipe) RoundedDigests(x *mat.Dense) []uint64 {
	rows, _ := x.Dims()
	coding := r.Coding()
	numbers := coding.Numbers()
	sums, columns := make([]uint64, rows), r.byName()
	addRounded(sums, slices.DeleteFunc(slices.Clone(columns), func(k int) bool { return k >= numbers }), func(k int) func(i int) uint64 {
		return func(i int) uint64 { return math.Float64bits(cut(x.At(i, k)) + 0) } // which makes one zero of two
	})
	// A category is known by the numbers of the rows that have it.
	known := slices.Clone(sums)
	addRounded(sums, slices.DeleteFunc(columns, func(k int) bool { return k < numbers }), func(k int) func(i int) uint64 {
		of := categoryDigests(x, k, coding.Size(k-numbers), known)
		return func(i int) uint64 { return of[1+int(x.At(i, k))] }
	})
	return sums
}

// addRounded adds what the entries of columns are to the digests of rows.
func addRounded(sums []uint64, columns []int, of func(column int) (entry func(i int) uint64)) {
	const rows = 4096 // of a task
	entries, parts := make([]uint64, len(sums)), make([]uint64, (len(sums)+rows-1)/rows)
	met := make(map[uint64]uint64)
	for _, k := range columns {
		entry := of(k)
		tasks.For(len(parts), func(task int) {
			parts[task] = 0
			for i := task * rows; i < min((task+1)*rows, len(sums)); i++ {
				entries[i] = mixed(entry(i))
				parts[task] += mixed(entries[i])
			}
		})
		begin := uint64(0)
		for _, part := range parts { // in any order of rows
			begin += part
		}
		met[begin]++
		salt := mixed(begin + met[begin])
		tasks.For(len(parts), func(task int) {
			for i := task * rows; i < min((task+1)*rows, len(sums)); i++ {
				sums[i] += mixed(entries[i] ^ salt)
			}
		})
	}
}

// byName are the columns of encoded rows in the order of the names of those of the table.
func (r *Recipe) byName() (at []int) {
	parts := r.Parts()
	slices.SortStableFunc(parts, func(a, b Part) int { return strings.Compare(a.Column, b.Column) })
	for _, p := range parts {
		at = append(at, p.At...)
	}
	return at
}

// categoryDigests are those of the codes in a column, of which so many stand for a category and −1 for none, by the
// digests of the rows that have each, and by their order where these are the same.
func categoryDigests(x *mat.Dense, column, codes int, rows []uint64) []uint64 {
	n := max(1, min(64, len(rows)/(8*(codes+1)))) // sums of parts take less memory than what is summed
	parts, each := make([][]uint64, n), (len(rows)+n-1)/n
	tasks.For(n, func(task int) {
		of := make([]uint64, codes+1)
		for i := task * each; i < min((task+1)*each, len(rows)); i++ {
			of[1+int(x.At(i, column))] += mixed(rows[i])
		}
		parts[task] = of
	})
	of := parts[0]
	for _, part := range parts[1:] {
		for k, d := range part {
			of[k] += d
		}
	}
	met := make(map[uint64]uint64)
	for k, d := range of {
		of[k] = d + met[d]
		met[d]++
	}
	return of
}

// cut is a number in millionths, beginning away from all numbers that people write.
func cut(v float64) float64 {
	const finest, begin = 1 << 20, 0.3819660112501051
	return math.Floor(v*finest + begin)
}

// begin is where the digests of a column begin: its name's.
func (p *Part) begin() (h uint64) {
	for k := range len(p.Column) {
		h = mixed(h + uint64(p.Column[k]))
	}
	return h
}

// digest is that of a row's entries in the column, which begins so.
func (p *Part) digest(begin uint64, row []float64) uint64 {
	h := begin
	for _, at := range p.At {
		h = mixed(h + math.Float64bits(row[at]+0)) // which makes one zero of two
	}
	return h
}

// mixed is the step of SplitMix64.
func mixed(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
