package effects

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/internal/tasks"
)

// LookTask finds slopes and curvatures of all terms with these effects, and Σ E log t.
type LookTask struct{ Set Set }

// Do implements Task.
func (t LookTask) Do(s *Shard, found *Found) error {
	groups, err := s.hold(t.Set)
	if err != nil {
		return err
	}
	_, terms, err := s.load()
	if err != nil {
		return err
	}
	parts := make([]float64, numBlocks(s.rows))
	counter, _ := terms.(Counter)
	single, _ := terms.(Single)
	coupled, _ := terms.(Coupled)
	k := len(s.Slope)
	free := freedom(k)
	tasks.Each(len(parts), func() func(int) {
		mean, variance, at := make([]float64, k*blockRows), make([]float64, k*blockRows), make([]float64, 4*k)
		m, v, d1, d2 := at[:k], at[k:2*k], at[2*k:3*k], at[3*k:]
		return func(task int) {
			from, to := task*blockRows, min((task+1)*blockRows, s.rows)
			for c := range k {
				s.moments(t.Set, groups, mean[c*blockRows:][:to-from], variance[c*blockRows:][:to-from], c, from)
			}
			sum := 0.0
			for i := range to - from {
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
	room := found.Sums[:0]
	if cap(room) > 2*t.Set.room(s.rows, k) { // sums of candidates may have taken much more than those of effects
		room = nil
	}
	*found = Found{Value: floats.Sum(parts), Sums: room}
	return nil
}

// room is the most sums that those of a family of the set are added up from.
func (set Set) room(rows, functions int) (most int) {
	for _, e := range set {
		groups := e.Grouping.Groups()
		most = max(most, shardsOf(rows, groups)*groups*functions)
	}
	return most
}

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

// summed are rows sorted into groups.
type summed interface {
	sum(sums []Sum, slope, curvature []float64, from int)
}

// shardsOf is into how many parts rows are cut for sums of so many groups: each has sums of
// its own, which are added up. With few groups there are many, with many as few as keep the
// sums to four for each row.
func shardsOf(rows, groups int) int {
	return max(1, min(16, numBlocks(rows), max(4, 4*rows/max(1, groups))))
}

// Do implements Task.
func (t SumTask) Do(s *Shard, found *Found) (err error) {
	var shift ids
	if t.After != nil {
		if shift, err = s.numbers(t.After.Of); err != nil {
			return err
		}
	}
	var groups summed
	if id, ok := s.ids[t.Of]; ok {
		groups = id
	} else if groups, err = s.grouped(t.Of); err != nil {
		return err
	}
	count := t.Of.Groups()
	all, parts := count*len(s.Slope), shardsOf(s.rows, count)
	scratch := slices.Grow(found.Sums[:0], parts*all)[:parts*all]
	each := (numBlocks(s.rows) + parts - 1) / parts
	tasks.For(parts, func(p int) {
		sums := scratch[p*all : (p+1)*all]
		clear(sums)
		for b := p * each; b < min((p+1)*each, numBlocks(s.rows)); b++ {
			from, to := b*blockRows, min((b+1)*blockRows, s.rows)
			for c := range s.Slope {
				slope, curvature := s.Slope[c][from:to], s.Curvature[c][from:to]
				if shift != nil {
					size := t.After.Of.Groups()
					shift.shift(slope, curvature, from, t.After.By[c*size:(c+1)*size])
				}
				groups.sum(sums[c*count:(c+1)*count], slope, curvature, from)
			}
		}
	})
	found.empty()
	found.Sums = scratch[:all]
	eachGroup(all, func(from, to int) {
		for p := 1; p < parts; p++ {
			addSums(found.Sums[from:to], scratch[p*all+from:p*all+to])
		}
	})
	return nil
}

// OccurTask finds the cells of a crossing that occur.
type OccurTask struct{ Of *Grouping }

// Do implements Task.
func (t OccurTask) Do(s *Shard, found *Found) error {
	of, err := s.grouped(t.Of)
	if err != nil {
		return err
	}
	seen := ranks{words: found.Seen}
	seen.reset(t.Of.Groups())
	var keys [blockRows]uint32
	for from := 0; from < s.rows; from += blockRows {
		keys := keys[:min(blockRows, s.rows-from)]
		of.keys(keys, from)
		for _, k := range keys {
			seen.add(int(k))
		}
	}
	found.empty()
	found.Seen = seen.words
	return nil
}

// CountTask counts the rows of groups.
type CountTask struct{ Of *Grouping }

// Do implements Task.
func (t CountTask) Do(s *Shard, found *Found) error {
	groups, err := s.numbers(t.Of)
	if err != nil {
		return err
	}
	found.empty()
	found.Rows = slices.Grow(found.Rows, t.Of.Groups())[:t.Of.Groups()]
	clear(found.Rows)
	for i := range s.rows {
		found.Rows[groups.at(i)]++
	}
	return nil
}

// ExplainTask finds sums and sums of squares of the means of the whole value, and then of every family, for each
// function.
type ExplainTask struct{ Set Set }

// Do implements Task.
func (t ExplainTask) Do(s *Shard, found *Found) error {
	groups, err := s.hold(t.Set)
	if err != nil {
		return err
	}
	functions := len(s.Slope)
	parts := make([][][2]float64, numBlocks(s.rows))
	blocks(s.rows, func(from, to int) {
		part := make([][2]float64, (len(t.Set)+1)*functions)
		total, own, none := make([]float64, to-from), make([]float64, to-from), make([]float64, to-from)
		add := func(at int, values []float64) {
			for _, v := range values {
				part[at][0] += v
				part[at][1] += v * v
			}
		}
		for c := range functions {
			clear(total)
			if s.Offset != nil {
				copy(total, s.Offset[c][from:])
			}
			for j, e := range t.Set {
				clear(own)
				groups[j].add(own, none, from, e.Of(c))
				add((j+1)*functions+c, own)
				floats.Add(total, own)
			}
			add(c, total)
		}
		parts[from/blockRows] = part
	})
	found.empty()
	found.Parts = parts[0]
	for _, part := range parts[1:] {
		found.Add(&Found{Parts: part})
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
func (t MomentsTask) Do(s *Shard, found *Found) error {
	groups, err := s.hold(t.Set)
	if err != nil {
		return err
	}
	found.empty()
	found.Parts = make([][2]float64, len(t.From)*blockRows)
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
	return nil
}
