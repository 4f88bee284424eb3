package effects

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Rows are the rows that effects are learnt from, wherever they are, with what passes keep of each. They
// are cut into shards, and what is found in these is added up in their order.
type Rows interface {
	// Functions is how many functions terms depend on.
	Functions() int
	// Together is how many groups tasks that are done together may have, but for a single one.
	Together() int
	// Do does tasks that do not depend on each other, and hands over what each comes to, in their order. It
	// is valid during the call, and until the next tasks where there is one task only.
	Do(ctx context.Context, tasks []Task, use func(k int, found *Found)) error
}

// Task is what is done to rows.
type Task interface {
	// Do writes what the rows of shards come to over what was found before: what would be found of each, added up in their order.
	Do(shards []*Shard, found *Found) error
}

// Found is what tasks find. Each has some of it, and the others are empty.
type Found struct {
	Value float64
	Sums  []Sum        // of groups, one function after the other
	Rows  []uint32     // of groups
	Seen  []uint64     // cells that occur, as bits
	Parts [][2]float64 // sums and sums of squares

	sorting sorting // room for the next task
}

// Add takes another shard in.
func (f *Found) Add(o *Found) {
	f.Value += o.Value
	eachGroup(len(o.Sums), func(from, to int) { addSums(f.Sums[from:to], o.Sums[from:to]) })
	for g, n := range o.Rows {
		f.Rows[g] += n
	}
	for k, w := range o.Seen {
		f.Seen[k] |= w
	}
	for k, p := range o.Parts {
		floats.Add(f.Parts[k][:], p[:])
	}
}

// addSums adds those of other rows.
func addSums(sums, others []Sum) {
	for g, o := range others {
		sums[g].Slope += o.Slope
		sums[g].Curvature += o.Curvature
	}
}

// empty makes it nothing, in the memory that it has.
func (f *Found) empty() {
	*f = Found{Sums: f.Sums[:0], Rows: f.Rows[:0], Seen: f.Seen[:0], Parts: f.Parts[:0], sorting: f.sorting}
}

// InMemory are rows in the memory of this machine. It is not safe for use by several goroutines at a time.
type InMemory struct {
	// Offset and Spread are the mean and variance of the rest of the value at each row, of one function
	// after the other; nil stands for zero.
	Offset, Spread []float64

	terms     Terms
	functions int
	shards    []*Shard
	from      []int // of each shard
	found     Found
}

// NewInMemory are the rows of x with their terms, so many in each shard; 0 stands for all of them.
func NewInMemory(x *mat.Dense, terms Terms, size int) *InMemory {
	n, d := x.Dims()
	if terms.Len() != n {
		panic("effects: as many terms as rows")
	}
	m := &InMemory{terms: terms, functions: 1}
	if c, ok := terms.(Coupled); ok {
		m.functions = c.Functions()
	}
	if size == 0 {
		size = n
	}
	slope, curvature := make([]float64, m.functions*n), make([]float64, m.functions*n)
	for from := 0; from < n; from += size {
		to := min(from+size, n)
		part := x
		if to-from < n {
			part = x.Slice(from, to, 0, d).(*mat.Dense)
		}
		s := NewShard(from, to-from, func() (*mat.Dense, Terms, error) { return part, terms, nil })
		s.first = from
		s.Slope, s.Curvature = m.of(slope, from, to), m.of(curvature, from, to)
		m.shards, m.from = append(m.shards, s), append(m.from, from)
	}
	return m
}

// of are numbers of the functions at rows of a shard; nil stays nil.
func (m *InMemory) of(all []float64, from, to int) [][]float64 {
	if all == nil {
		return nil
	}
	parts, n := make([][]float64, m.functions), m.terms.Len()
	for c := range parts {
		parts[c] = all[c*n+from : c*n+to]
	}
	return parts
}

// Functions implements Rows.
func (m *InMemory) Functions() int { return m.functions }

// Together implements Rows: nothing is gained by it.
func (m *InMemory) Together() int { return 0 }

// Do implements Rows.
func (m *InMemory) Do(ctx context.Context, tasks []Task, use func(k int, found *Found)) error {
	m.beside()
	for k, task := range tasks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := task.Do(m.shards, &m.found); err != nil {
			return err
		}
		use(k, &m.found)
	}
	return nil
}

// beside gives shards their part of the offsets.
func (m *InMemory) beside() {
	for i, s := range m.shards {
		from := m.from[i]
		s.Offset, s.Spread = m.of(m.Offset, from, from+s.rows), m.of(m.Spread, from, from+s.rows)
	}
}

// at is the shard that a row is in, and which of its rows.
func (m *InMemory) at(row int) (*Shard, int) {
	k, found := slices.BinarySearch(m.from, row)
	if !found {
		k--
	}
	return m.shards[k], row - m.from[k]
}

// Sums are those of effects on all rows, of all functions row by row, in the room given, or new where
// that is nil.
func (m *InMemory) Sums(set Set, sums []Moment) ([]Moment, error) {
	if sums == nil {
		sums = make([]Moment, m.terms.Len()*m.functions)
	}
	_, err := ofAll(m.shards, func(s *Shard) (struct{}, error) {
		return struct{}{}, s.Sums(set, sums[s.from*m.functions:(s.from+s.rows)*m.functions])
	})
	return sums, err
}

// Without is Shard.Without of a row.
func (m *InMemory) Without(set Set, row, function int) Moment {
	s, i := m.at(row)
	return s.Without(set, i, function)
}
