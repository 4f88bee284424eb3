package effects

import (
	"math/bits"
	"slices"

	"github.com/lossep/lossep/internal/tasks"
)

// Moved is by how much the means of a family have moved, which slopes do not know yet.
type Moved struct {
	Of *Grouping
	By []float64 // of all groups, one function after the other
}

// SumTask adds up the slopes and curvatures of groups, once slopes know what has moved, if anything has.
type SumTask struct {
	Of    *Grouping
	After *Moved
}

// sorted are rows that are sorted into groups.
type sorted interface {
	// numbers are the groups of rows from one on.
	numbers(groups []uint32, from int)
	// sum adds up slopes and curvatures by group.
	sum(sums []Sum, slope, curvature []float64, from int)
}

// Do implements Task.
func (t SumTask) Do(shards []*Shard, found *Found) error {
	shift := func(block) {}
	if t.After != nil {
		moved, err := ofAll(shards, func(s *Shard) (ids, error) { return s.numbers(t.After.Of) })
		if err != nil {
			return err
		}
		size := t.After.Of.Groups()
		shift = func(b block) {
			for c := range b.Slope {
				moved[b.of].shift(b.Slope[c][b.from:b.to], b.Curvature[c][b.from:b.to], b.from, t.After.By[c*size:(c+1)*size])
			}
		}
	}
	rows, err := ofAll(shards, func(s *Shard) (sorted, error) {
		if id, ok := s.ids[t.Of]; ok {
			return id, nil
		}
		return s.grouped(t.Of)
	})
	if err != nil {
		return err
	}
	found.empty()
	groups, functions := t.Of.Groups(), len(shards[0].Slope)
	if groups >= manyGroups {
		found.Sums = slices.Grow(found.Sums, groups*functions)[:groups*functions]
		found.sorting.sum(found.Sums, groups, shards, rows, shift)
		return nil
	}
	found.Sums = inParts(found.Sums, shards, groups*functions, func(sums []Sum, b block) {
		shift(b)
		for c := range functions {
			rows[b.of].sum(sums[c*groups:(c+1)*groups], b.Slope[c][b.from:b.to], b.Curvature[c][b.from:b.to], b.from)
		}
	}, addSums)
	return nil
}

// mostParts is the most parts that the rows of a shard are cut into.
const mostParts = 16

// partGroups is the number of groups that one task adds up from all parts.
const partGroups = 128

// together is how many shards are gone over at once: more would take more memory.
const together = 16

// manyGroups is from how many groups on to add up sums of them for each part of a shard takes longer than to
// go over its rows.
const manyGroups = 1 << 14

// room is the most numbers that those of a family of the set are added up from, and whether rows are sorted for any.
func (set Set) room(shards []*Shard) (most int, sorted bool) {
	for _, e := range set {
		all := len(e.Moments)
		if e.Groups() >= manyGroups {
			sorted = true
		} else {
			all *= mostParts * min(together, len(shards))
		}
		most = max(most, all)
	}
	return most, sorted
}

// part is some blocks of a shard that are gone over by one task.
type part struct {
	block
	at int // its place among all parts
}

// partsOf cuts every shard into parts.
func partsOf(shards []*Shard) (all []part) {
	for of, s := range shards {
		n := numBlocks(s.rows)
		each := max(1, (n+mostParts-1)/mostParts) * blockRows
		for from := 0; from < s.rows; from += each {
			all = append(all, part{block{s, of, from, min(from+each, s.rows)}, len(all)})
		}
	}
	return all
}

// blocks hands over those of the part.
func (p part) blocks(do func(b block)) {
	for from := p.from; from < p.to; from += blockRows {
		do(block{p.Shard, p.of, from, min(from+blockRows, p.to)})
	}
}

// inParts adds up so many numbers: each part of a shard has numbers of its own, to which it adds those of one block after the
// other. Parts are added up in their order, and so are shards.
func inParts[T any](room []T, shards []*Shard, all int, add func(part []T, b block), sum func(sums, more []T)) []T {
	for first := 0; first < len(shards); first += together {
		parts := partsOf(shards[first:min(first+together, len(shards))])
		begin := min(first, 1) // after the sums of the shards before
		room = slices.Grow(room[:begin*all], len(parts)*all)[:(begin+len(parts))*all]
		own := room[begin*all:]
		tasks.For(len(parts), func(task int) {
			p := parts[task]
			p.of += first
			numbers := own[task*all : (task+1)*all]
			clear(numbers)
			p.blocks(func(b block) { add(numbers, b) })
		})
		tasks.For((all+partGroups-1)/partGroups, func(task int) {
			from, to := task*partGroups, min((task+1)*partGroups, all)
			for i := 0; i < len(parts); {
				of := own[i*all+from : i*all+to]
				next := i + 1
				for ; next < len(parts) && parts[next].of == parts[i].of; next++ {
					sum(of, own[next*all+from:next*all+to])
				}
				if begin+i > 0 {
					sum(room[from:to], of)
				}
				i = next
			}
		})
	}
	return room[:all]
}

// told is what a row says of its group.
type told struct {
	group uint32
	Sum
}

// sorting is room in which rows are sorted by ranges of groups.
type sorting struct {
	groups []uint32
	rows   []told
}

// mostRanges is the most ranges, and leastRange the fewest groups of one in bits.
const (
	mostRanges = 64
	leastRange = 10
)

// sum adds up slopes and curvatures of many groups. Rows are sorted by ranges of groups whose sums a cache
// holds, those of a range in their order, and every range is added up by itself, shard by shard.
func (o *sorting) sum(sums []Sum, groups int, shards []*Shard, rows []sorted, shift func(b block)) {
	wide := max(leastRange, bits.Len(uint(groups-1))-6) // bits
	ranges := (groups-1)>>wide + 1
	for first := 0; first < len(shards); first += together {
		parts := partsOf(shards[first:min(first+together, len(shards))])
		begin, n := make([]int, len(parts)), 0 // of a part among these rows
		for i, p := range parts {
			begin[i], n = n, n+p.to-p.from
		}
		o.groups, o.rows = slices.Grow(o.groups[:0], n)[:n], slices.Grow(o.rows[:0], n)[:n]
		counts := make([][mostRanges]int, len(parts)) // rows of a part in a range
		tasks.For(len(parts), func(task int) {
			p, at, count := parts[task], begin[task], &counts[task]
			p.of += first
			p.blocks(func(b block) {
				own := o.groups[at : at+b.to-b.from]
				at += len(own)
				shift(b)
				rows[b.of].numbers(own, b.from)
				for _, g := range own {
					count[g>>wide]++
				}
			})
		})
		next := make([][mostRanges]int, len(parts)) // where a part has its rows of a range
		at := 0
		for r := range ranges {
			for i := range parts {
				next[i][r], at = at, at+counts[i][r]
			}
		}
		for c := range shards[0].Slope {
			tasks.For(len(parts), func(task int) {
				p, next := parts[task], next[task]
				slope, curvature := p.Slope[c][p.from:p.to], p.Curvature[c][p.from:p.to]
				for i, g := range o.groups[begin[task] : begin[task]+len(slope)] {
					r := g >> wide
					o.rows[next[r]] = told{g, Sum{slope[i], curvature[i]}}
					next[r]++
				}
			})
			sums := sums[c*groups : (c+1)*groups]
			tasks.Each(ranges, func() func(int) {
				own := make([]Sum, 1<<wide)
				return func(r int) {
					low := r << wide
					total := sums[low:min(low+1<<wide, groups)]
					for i := 0; i < len(parts); {
						of := total
						if begin := first+i > 0; begin {
							of = own[:len(total)]
						}
						clear(of)
						from, last := next[i][r], i
						for i++; i < len(parts) && parts[i].of == parts[last].of; i++ {
							last = i
						}
						for _, row := range o.rows[from : next[last][r]+counts[last][r]] {
							s := &of[int(row.group)-low]
							s.Slope += row.Slope
							s.Curvature += row.Curvature
						}
						if &of[0] != &total[0] {
							addSums(total, of)
						}
					}
				}
			})
		}
	}
}
