package effects

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/lossep/lossep/internal/indices"
)

// Choice is how families are chosen.
type Choice struct {
	// Threshold is the least gain in evidence of a family that is taken, in nats, beside the
	// logarithm of the number of families that were tried with as many parts: the best of many is
	// large by chance.
	Threshold float64
	// Resolutions are the numbers of bins that are tried, ascending.
	Resolutions []int
	// Parts is the largest number of columns of a crossing.
	Parts int
	// Families is the most families of as many parts, and Groups the most effects of all.
	Families, Groups int
	// Except are columns that are not tried.
	Except []int
	// Passes and Tolerance, in nats per row, are those of a fit after each round.
	Passes    int
	Tolerance float64
	Trace     func(Progress)
	Tried     func(Candidate)
}

// Candidate is a family and what it would bring.
type Candidate struct {
	Family   Family
	Gain     float64
	Variance float64
	Groups   int
	grouping *Grouping // nil until it is needed
}

// DefaultChoice is that of automatic effects.
func DefaultChoice() Choice {
	return Choice{Threshold: 6, Resolutions: []int{16, 64, 256}, Parts: MostParts, Families: 32, Groups: 1 << 23, Passes: 12, Tolerance: 1e-5}
}

// Choose adds families one number of parts after the other: main effects, pairs, triples that
// extend pairs that were taken. Of each set of columns the resolution is taken that brings
// most; sets that bring less than the threshold are left out.
func (f *Fit) Choose(ctx context.Context, c Choice) error {
	defer func() { f.trial = nil }()
	named := len(f.members) // which stay, whatever they bring
	if _, err := f.Run(ctx, c.Passes, c.tolerance(f), c.Trace); err != nil {
		return err
	}
	for parts := 1; parts <= c.Parts; parts++ {
		best, tried, err := f.candidates(ctx, c, parts)
		if err != nil {
			return err
		}
		c := c
		c.Threshold += math.Log(float64(max(1, tried)))
		best = slices.DeleteFunc(best, func(b Candidate) bool { return b.Gain < c.Threshold })
		best = best[:min(len(best), c.Families)]
		if len(best) == 0 && parts > 1 {
			continue
		}
		if err := f.take(ctx, best, c); err != nil {
			return err
		}
		if _, err := f.Run(ctx, roughPasses, c.tolerance(f), c.Trace); err != nil {
			return err
		}
		if err := f.takeCounts(ctx, parts, c); err != nil {
			return err
		}
		if _, err := f.Run(ctx, c.Passes, c.tolerance(f), c.Trace); err != nil {
			return err
		}
		f.prune(named, c.Threshold)
	}
	return nil
}

// take adds candidates that still bring enough when those before them are there. What they bring is found
// with terms as they were last looked at.
func (f *Fit) take(ctx context.Context, best []Candidate, c Choice) error {
	var before *member
	for _, b := range best {
		if f.Effects().Groups()+b.Groups*f.functions > c.Groups {
			f.Dropped = append(f.Dropped, b)
			continue
		}
		if b.grouping == nil {
			var err error
			if b.grouping, err = f.grouping(ctx, b.Family); err != nil {
				return err
			}
		}
		m := f.newMember(b.grouping, b.Variance)
		sums, err := f.sum(ctx, before, m.Grouping)
		if err != nil {
			return err
		}
		before = nil
		gain, variance := Gain(sums, m.freedom())
		if gain < c.Threshold {
			continue
		}
		m.Variance = variance
		m.update(sums, true)
		f.members = append(f.members, m)
		before = m
	}
	return nil
}

// roughPasses are enough to tell what new families leave to numbers of rows.
const roughPasses = 4

// takeCounts adds families of numbers of rows of those just taken.
func (f *Fit) takeCounts(ctx context.Context, parts int, c Choice) error {
	var of []*Grouping
	for _, m := range f.members {
		if len(m.Family) == parts && !m.Family.counts() {
			of = append(of, m.Grouping)
		}
	}
	counts, err := f.counting(ctx, of)
	if err != nil {
		return err
	}
	all, err := f.gains(ctx, counts)
	if err != nil {
		return err
	}
	for _, one := range all {
		if c.Tried != nil {
			c.Tried(one)
		}
	}
	all = slices.DeleteFunc(all, func(b Candidate) bool { return b.Gain <= c.Threshold })
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(b.Gain, a.Gain) })
	return f.take(ctx, all, c)
}

// counting groups rows by how many others are in their groups of other families.
func (f *Fit) counting(ctx context.Context, of []*Grouping) (counts []*Grouping, err error) {
	var tasks []Task
	for _, g := range of {
		tasks = append(tasks, CountTask{g})
	}
	err = f.rows.Do(ctx, tasks, func(k int, found *Found) {
		g := of[k]
		counts = append(counts, &Grouping{Family: append(Family{Count}, g.Family...), Axes: g.Axes, Rows: slices.Clone(found.Rows), seen: g.seen})
	})
	return counts, err
}

// prune takes out families that bring less than the threshold, but for the first.
func (f *Fit) prune(first int, threshold float64) {
	rest := slices.DeleteFunc(f.members[first:], func(m *member) bool { return m.Nats() < threshold })
	f.members = f.members[:first+len(rest)]
}

func (c Choice) tolerance(f *Fit) float64 { return c.Tolerance * float64(f.table.Len()) }

// trial is a set of columns and what families of it bring.
type trial struct {
	families []Family // that are still to be tried, the coarsest first
	top      Candidate
}

// candidates are the best families of so many parts, one for each set of columns, best first, and how many were tried.
func (f *Fit) candidates(ctx context.Context, c Choice, parts int) (best []Candidate, tried int, err error) {
	var trials []*trial
	f.table.cut(indices.Of(f.table.columns()), c.Resolutions)
	for _, set := range f.sets(parts) {
		families := slices.DeleteFunc(f.resolutions(set, c.Resolutions), f.has)
		if slices.ContainsFunc(set, func(column int) bool { return slices.Contains(c.Except, column) }) {
			families = nil
		}
		trials = append(trials, &trial{families: families})
	}
	for {
		var round []Family
		var of []*trial
		for _, t := range trials {
			next := len(t.families)
			if parts > 1 && t.top.Gain < leastPromise {
				next = min(next, 1)
			}
			for _, family := range t.families[:next] {
				round, of = append(round, family), append(of, t)
			}
			t.families = t.families[next:]
		}
		if len(round) == 0 {
			break
		}
		err := f.try(ctx, round, func(k int, one Candidate) {
			tried++
			if c.Tried != nil {
				c.Tried(one)
			}
			t := of[k]
			if one.Gain > t.top.Gain {
				t.top = one
			}
			if parts > 1 && t.top.Gain < leastPromise {
				t.families = nil // finer ones would bring little, too
			}
		})
		if err != nil {
			return nil, 0, err
		}
	}
	if parts == 1 {
		f.alone = nil
	}
	for _, t := range trials {
		if parts == 1 {
			f.alone = append(f.alone, t.top.Gain)
		}
		if t.top.Gain > c.Threshold {
			best = append(best, t.top)
		}
	}
	slices.SortStableFunc(best, func(a, b Candidate) int { return cmp.Compare(b.Gain, a.Gain) })
	return best, tried, nil
}

// most is the number of cells for each row up to which sums are by cell.
const most = 1.0

const (
	// leastPromise is what the coarsest bins of a crossing have to bring for finer ones to be tried.
	leastPromise = 1
	// mostCrossed is the most columns that are crossed with each other, those whose own effects
	// bring most.
	mostCrossed = 40
	// fewCategories is the most columns of categories of which all triples are tried: 56.
	fewCategories = 8
)

// has tells whether a family is in the fit.
func (f *Fit) has(family Family) bool {
	return slices.ContainsFunc(f.members, func(m *member) bool { return slices.Equal(m.Family, family) })
}

// try finds what families would bring. Those of too many combinations are passed over.
func (f *Fit) try(ctx context.Context, families []Family, use func(k int, one Candidate)) error {
	var together []*Grouping
	var at []int
	groups := 0
	flush := func() error {
		all, err := f.gains(ctx, together)
		for i, one := range all {
			use(at[i], one)
		}
		together, at, groups = nil, nil, 0
		return err
	}
	for k, family := range families {
		g, err := f.table.cells(family)
		var many *TooManyGroupsError
		if errors.As(err, &many) {
			continue
		} else if err != nil {
			return err
		}
		size := min(g.Groups(), f.table.Len())
		if groups > 0 && groups+size > f.rows.Together() {
			if err := flush(); err != nil {
				return err
			}
		}
		together, at, groups = append(together, g), append(at, k), groups+size
	}
	return flush()
}

// gains are what groupings that rows do not have yet would bring.
func (f *Fit) gains(ctx context.Context, groupings []*Grouping) ([]Candidate, error) {
	if err := f.occurring(ctx, groupings); err != nil {
		return nil, err
	}
	var tasks []Task
	for _, g := range groupings {
		tasks = append(tasks, SumTask{Of: g})
	}
	var all []Candidate
	err := f.rows.Do(ctx, tasks, func(k int, found *Found) {
		g := groupings[k]
		one := Candidate{Family: g.Family, Groups: g.Groups()}
		if one.Gain, one.Variance = Gain(found.Sums, freedom(f.functions)); g.Whole() {
			one.Groups = occupied(found.Sums[:g.Groups()]) // cells that do not occur bring nothing
		}
		if g.Rows != nil {
			one.grouping = g
		}
		all = append(all, one)
	})
	return all, err
}

// occupied is how many sums are of rows.
func occupied(sums []Sum) (n int) {
	reduce(len(sums), func(from, to int) (n int) {
		for _, s := range sums[from:to] {
			if s != (Sum{}) {
				n++
			}
		}
		return n
	}, func(part int) { n += part })
	return n
}

// occurring numbers the cells that occur where sums by all cells would be too many.
func (f *Fit) occurring(ctx context.Context, groupings []*Grouping) error {
	var tasks []Task
	var many []*Grouping
	for _, g := range groupings {
		if cells := float64(g.Groups()); g.Whole() && (cells > most*float64(f.table.Len()) || cells > MostCells/64) {
			tasks, many = append(tasks, OccurTask{Cells(g.Family, g.Axes)}), append(many, g)
		}
	}
	for len(f.trial) < len(many) {
		f.trial = append(f.trial, ranks{})
	}
	return f.rows.Do(ctx, tasks, func(k int, found *Found) {
		r := &f.trial[k]
		r.words = append(r.words[:0], found.Seen...)
		r.number()
		many[k].seen = *r
	})
}

// sets are the sets of columns that families of so many parts are tried for: all columns, all
// pairs, and triples that have a pair that was taken, or of few columns of categories: a smooth part beside them may
// have told of their pairs already.
func (f *Fit) sets(parts int) [][]int {
	d := f.table.columns()
	var all [][]int
	if parts == 1 {
		for a := range d {
			all = append(all, []int{a})
		}
		return all
	}
	crossed := indices.Of(d)
	slices.SortStableFunc(crossed, func(a, b int) int { return cmp.Compare(f.alone[b], f.alone[a]) })
	categories := slices.DeleteFunc(slices.Clone(crossed), func(c int) bool { return !f.table.categorical(c) })
	categories = categories[:min(len(categories), fewCategories)]
	slices.Sort(categories)
	crossed = crossed[:min(d, mostCrossed)]
	slices.Sort(crossed)
	if parts == 2 {
		for i, a := range crossed {
			for _, b := range crossed[i+1:] {
				all = append(all, []int{a, b})
			}
		}
		return all
	}
	for i, a := range categories {
		for j, b := range categories[i+1:] {
			for _, c := range categories[i+j+2:] {
				all = append(all, []int{a, b, c})
			}
		}
	}
	for _, m := range f.members {
		if len(m.Family) != parts-1 || m.Family.counts() {
			continue
		}
		for _, c := range crossed {
			set := append(m.Family.columns(), c)
			slices.Sort(set)
			if len(slices.Compact(slices.Clone(set))) == parts {
				all = append(all, set)
			}
		}
	}
	slices.SortFunc(all, slices.Compare)
	return slices.CompactFunc(all, slices.Equal)
}

// resolutions are the families of a set of columns, with numbers in as many bins as are to be
// tried.
func (f *Fit) resolutions(set []int, bins []int) []Family {
	all := []Family{{}}
	for _, c := range set {
		var next []Family
		for _, family := range all {
			if f.table.categorical(c) {
				next = append(next, append(slices.Clone(family), Part{c, 0}))
				continue
			}
			before := -1
			for _, b := range bins {
				if cells := f.table.axis(Part{c, b}).Cells; cells != before {
					next = append(next, append(slices.Clone(family), Part{c, b}))
					before = cells
				}
			}
		}
		all = next
	}
	return all
}
