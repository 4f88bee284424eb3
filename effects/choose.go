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
}

// DefaultChoice is that of automatic effects.
func DefaultChoice() Choice {
	return Choice{Threshold: 6, Resolutions: []int{16, 64, 256}, Parts: MostParts, Families: 32, Groups: 1 << 23, Passes: 12, Tolerance: 1e-5}
}

// Choose adds families one number of parts after the other: main effects, pairs, triples that
// extend pairs that were taken. Of each set of columns the resolution is taken that brings
// most; sets that bring less than the threshold are left out.
func (f *Fit) Choose(ctx context.Context, c Choice) error {
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
			return nil
		}
		if err := f.take(best, c); err != nil {
			return err
		}
		if _, err := f.Run(ctx, roughPasses, c.tolerance(f), c.Trace); err != nil {
			return err
		}
		if err := f.takeCounts(parts, c); err != nil {
			return err
		}
		if _, err := f.Run(ctx, c.Passes, c.tolerance(f), c.Trace); err != nil {
			return err
		}
		f.prune(c.Threshold)
	}
	return nil
}

// take adds candidates that still bring enough when those before them are there. What they bring is found
// with terms as they were last looked at.
func (f *Fit) take(best []Candidate, c Choice) error {
	var before *member
	for _, b := range best {
		if f.Effects().Groups()+b.Groups*f.functions > c.Groups {
			f.Dropped = append(f.Dropped, b)
			continue
		}
		if of := f.counted(b.Family); of != nil {
			f.add(of.grouping(b.Family), of.ids(f.table.Len()), b.Variance)
		} else if err := f.Add(b.Family, b.Variance); err != nil {
			return err
		}
		m := f.members[len(f.members)-1]
		sums := f.sum(before, m.ids, m.Groups())
		before = nil
		gain, variance := Gain(sums, m.freedom())
		if gain < c.Threshold {
			f.members = f.members[:len(f.members)-1]
			continue
		}
		m.Variance = variance
		m.update(sums, true)
		before = m
	}
	return nil
}

// roughPasses are enough to tell what new families leave to numbers of rows.
const roughPasses = 4

// takeCounts adds families of numbers of rows of those just taken.
func (f *Fit) takeCounts(parts int, c Choice) error {
	var best []Candidate
	for _, m := range f.members {
		if len(m.Family) != parts || m.Family.counts() {
			continue
		}
		one, err := f.try(append(Family{Count}, m.Family...))
		if err != nil {
			return err
		}
		if c.Tried != nil {
			c.Tried(one)
		}
		if one.Gain > c.Threshold {
			best = append(best, one)
		}
	}
	slices.SortStableFunc(best, func(a, b Candidate) int { return cmp.Compare(b.Gain, a.Gain) })
	return f.take(best, c)
}

// prune takes out families that bring less than the threshold.
func (f *Fit) prune(threshold float64) {
	f.members = slices.DeleteFunc(f.members, func(m *member) bool {
		return len(m.Family) > 0 && m.Nats() < threshold
	})
}

func (c Choice) tolerance(f *Fit) float64 { return c.Tolerance * float64(f.table.Len()) }

// candidates are the best families of so many parts, one for each set of columns, best first, and how many were tried.
func (f *Fit) candidates(ctx context.Context, c Choice, parts int) (best []Candidate, tried int, err error) {
	for _, set := range f.sets(parts) {
		var top Candidate
		for _, family := range f.resolutions(set, c.Resolutions) {
			if err := ctx.Err(); err != nil {
				return nil, 0, err
			}
			if f.has(family) {
				continue
			}
			one, err := f.try(family)
			var many *TooManyGroupsError
			if errors.As(err, &many) {
				continue
			} else if err != nil {
				return nil, 0, err
			}
			tried++
			if c.Tried != nil {
				c.Tried(one)
			}
			if one.Gain > top.Gain {
				top = one
			}
			if parts > 1 && one.Gain < leastPromise && top.Gain < leastPromise {
				break // the coarsest comes first
			}
		}
		if parts == 1 {
			f.alone = append(f.alone, top.Gain)
		}
		if top.Gain > c.Threshold {
			best = append(best, top)
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
)

// has tells whether a family is in the fit.
func (f *Fit) has(family Family) bool {
	return slices.ContainsFunc(f.members, func(m *member) bool { return slices.Equal(m.Family, family) })
}

// counted are rows by how many others are in their group of a member, if the family is that.
func (f *Fit) counted(family Family) *counted {
	if !family.counts() {
		return nil
	}
	for _, m := range f.members {
		if slices.Equal(m.Family, family[1:]) {
			by := newCounted(m.Grouping, m.ids, f.table.Len())
			return &by
		}
	}
	return nil
}

// try finds what a family would bring.
func (f *Fit) try(family Family) (Candidate, error) {
	if err := f.table.check(family); err != nil {
		return Candidate{}, err
	}
	if by := f.counted(family); by != nil {
		gain, variance := Gain(f.sum(nil, by, CountClasses), freedom(f.functions))
		return Candidate{family, gain, variance, CountClasses}, nil
	}
	axes := f.table.axesOf(family)
	one := Candidate{Family: family}
	var sums []Sum
	if cells := axes.count(); cells <= most*float64(f.table.Len()) && cells <= MostCells/64 {
		// Cells that do not occur bring nothing.
		sums = f.sum(nil, axes, int(cells))
		for _, s := range sums[:int(cells)] {
			if s != (Sum{}) {
				one.Groups++
			}
		}
	} else {
		r, err := f.table.occurring(family, f.trial)
		if err != nil {
			return one, err
		}
		f.trial = *r.ranks
		one.Groups = r.ranks.count
		sums = f.sum(nil, r, one.Groups)
	}
	one.Gain, one.Variance = Gain(sums, freedom(f.functions))
	return one, nil
}

// sets are the sets of columns that families of so many parts are tried for: all columns, all
// pairs, and triples that have a pair that was taken.
func (f *Fit) sets(parts int) [][]int {
	d := f.table.columns()
	var all [][]int
	if parts == 1 {
		f.alone = nil
		for a := range d {
			all = append(all, []int{a})
		}
		return all
	}
	crossed := indices.Of(d)
	slices.SortStableFunc(crossed, func(a, b int) int { return cmp.Compare(f.alone[b], f.alone[a]) })
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
