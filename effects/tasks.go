package effects

import (
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/internal/tasks"
)

// LookTask finds slopes and curvatures of all terms with these effects, and Σ E log t.
type LookTask struct{ Set Set }

// Do implements Task.
func (t LookTask) Do(shards []*Shard, found *Found) error {
	groups, err := ofAll(shards, func(s *Shard) ([]ids, error) { return s.hold(t.Set) })
	if err != nil {
		return err
	}
	terms, err := ofAll(shards, func(s *Shard) (terms Terms, err error) {
		_, terms, err = s.load()
		return terms, err
	})
	if err != nil {
		return err
	}
	all := blocksOf(shards)
	parts := make([]float64, len(all))
	k := len(shards[0].Slope)
	free := freedom(k)
	tasks.Each(len(all), func() func(int) {
		mean, variance, at := make([]float64, k*blockRows), make([]float64, k*blockRows), make([]float64, 4*k)
		m, v, d1, d2 := at[:k], at[k:2*k], at[2*k:3*k], at[3*k:]
		return func(task int) {
			b := all[task]
			s, from, n := b.Shard, b.from, b.to-b.from
			counter, _ := terms[b.of].(Counter)
			single, _ := terms[b.of].(Single)
			coupled, _ := terms[b.of].(Coupled)
			for c := range k {
				s.moments(t.Set, groups[b.of], mean[c*blockRows:][:n], variance[c*blockRows:][:n], c, from)
			}
			sum := 0.0
			for i := range n {
				count, row := 1.0, from+i
				if counter != nil {
					count = counter.Count(s.first + row)
				}
				if coupled == nil {
					l, d1, d2 := meanLog(single.Term(s.first+row), mean[i], variance[i])
					sum += count * l
					s.Slope[0][row], s.Curvature[0][row] = count*d1, -count*d2
					continue
				}
				for c := range k {
					m[c], v[c] = mean[c*blockRows+i], variance[c*blockRows+i]
				}
				sum += count * jointMeanLog(coupled.Joint(s.first+row), m, v, d1, d2)
				for c := range k {
					s.Slope[c][row], s.Curvature[c][row] = count*d1[c], -count*d2[c]/free
				}
			}
			parts[task] = sum
		}
	})
	room, sorting := found.Sums[:0], found.sorting
	most, sorted := t.Set.room(shards)
	if cap(room) > 2*most { // sums of candidates may have taken much more than those of effects
		room = nil
	}
	if !sorted {
		sorting.groups, sorting.rows = nil, nil
	}
	*found = Found{Sums: room, sorting: sorting}
	for i, b := range all {
		if i == 0 || b.of != all[i-1].of { // shard by shard
			n := numBlocks(b.rows)
			found.Value += floats.Sum(parts[i : i+n])
		}
	}
	return nil
}

// OccurTask finds the cells of a crossing that occur.
type OccurTask struct{ Of *Grouping }

// Do implements Task.
func (t OccurTask) Do(shards []*Shard, found *Found) error {
	of, err := groupedAll(shards, t.Of)
	if err != nil {
		return err
	}
	seen := ranks{words: found.Seen}
	seen.reset(t.Of.Groups())
	eachBlock(shards, func(b block) {
		var room [blockRows]uint32
		keys := room[:b.to-b.from]
		of[b.of].keys(keys, b.from)
		for _, k := range keys {
			seen.join(int(k))
		}
	})
	found.empty()
	found.Seen = seen.words
	return nil
}

// CountTask counts the rows of groups.
type CountTask struct{ Of *Grouping }

// Do implements Task.
func (t CountTask) Do(shards []*Shard, found *Found) error {
	groups, err := ofAll(shards, func(s *Shard) (ids, error) { return s.numbers(t.Of) })
	if err != nil {
		return err
	}
	found.empty()
	count, each := t.Of.Groups(), func(b block, add func(group uint32)) {
		var room [blockRows]uint32
		of := room[:b.to-b.from]
		groups[b.of].numbers(of, b.from)
		for _, g := range of {
			add(g)
		}
	}
	if count >= manyGroups { // cores hardly meet at one of them
		found.Rows = slices.Grow(found.Rows, count)[:count]
		clear(found.Rows)
		eachBlock(shards, func(b block) { each(b, func(g uint32) { atomic.AddUint32(&found.Rows[g], 1) }) })
		return nil
	}
	found.Rows = inParts(found.Rows, shards, count, func(rows []uint32, b block) { each(b, func(g uint32) { rows[g]++ }) }, func(rows, more []uint32) {
		for g, n := range more {
			rows[g] += n
		}
	})
	return nil
}

// ExplainTask finds sums and sums of squares of the means of the whole value, and then of every family, for each
// function.
type ExplainTask struct{ Set Set }

// Do implements Task.
func (t ExplainTask) Do(shards []*Shard, found *Found) error {
	groups, err := ofAll(shards, func(s *Shard) ([]ids, error) { return s.hold(t.Set) })
	if err != nil {
		return err
	}
	functions := len(shards[0].Slope)
	parts := make([][][][2]float64, len(shards))
	for i, s := range shards {
		parts[i] = make([][][2]float64, numBlocks(s.rows))
	}
	eachBlock(shards, func(b block) {
		s, n := b.Shard, b.to-b.from
		part := make([][2]float64, (len(t.Set)+1)*functions)
		total, own, none := make([]float64, n), make([]float64, n), make([]float64, n)
		add := func(at int, values []float64) {
			for _, v := range values {
				part[at][0] += v
				part[at][1] += v * v
			}
		}
		for c := range functions {
			clear(total)
			if s.Offset != nil {
				copy(total, s.Offset[c][b.from:])
			}
			for j, e := range t.Set {
				clear(own)
				groups[b.of][j].add(own, none, b.from, e.Of(c))
				add((j+1)*functions+c, own)
				floats.Add(total, own)
			}
			add(c, total)
		}
		parts[b.of][b.from/blockRows] = part
	})
	found.empty()
	for i, blocks := range parts {
		one := Found{Parts: blocks[0]}
		for _, part := range blocks[1:] {
			one.Add(&Found{Parts: part})
		}
		if i == 0 {
			found.Parts = one.Parts
		} else {
			found.Add(&one)
		}
	}
	return nil
}

// MomentsTask finds the mean and variance of the value at the rows of blocks that begin at these rows among those of all shards.
// Terms are on one function.
type MomentsTask struct {
	Set  Set
	From []int
}

// Do implements Task.
func (t MomentsTask) Do(shards []*Shard, found *Found) error {
	found.empty()
	found.Parts = make([][2]float64, len(t.From)*blockRows)
	for _, s := range shards {
		groups, err := s.hold(t.Set)
		if err != nil {
			return err
		}
		var mean, variance [blockRows]float64
		for b, first := range t.From {
			from, to := max(first, s.from), min(first+blockRows, s.from+s.rows)
			if from >= to {
				continue
			}
			s.moments(t.Set, groups, mean[:to-from], variance[:to-from], 0, from-s.from)
			for i := range to - from {
				found.Parts[b*blockRows+from-first+i] = [2]float64{mean[i], variance[i]}
			}
		}
	}
	return nil
}
