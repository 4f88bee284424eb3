package effects

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/lossep/lossep/internal/finite"
)

// Fit is effects that are being learnt.
type Fit struct {
	table     *Table
	rows      Rows
	functions int
	members   []*member
	// Held keeps the variances of families as they are.
	Held bool
	// Stride is the most that an effect moves by in one go; 0 stands for any distance. A term such as −e^f is steeper than its
	// curvature says: Newton's step from far below its maximum is e times too long for each unit of the way, and the way back takes a pass a unit.
	Stride float64
	// Tuned are the terms, if they have hyperparameters that are found with the effects, and Logs the logarithms of these.
	Tuned Tuned
	Logs  []float64
	// Dropped are families that Choose would have taken, but for their number of groups.
	Dropped []Candidate

	looked Set       // effects that terms were last looked at with
	trial  []ranks   // room for those of families that are tried together
	alone  []float64 // what effects of each column bring by themselves, once they were tried
}

// NewFit is a fit without families. The table has the rows, too.
func NewFit(t *Table, rows Rows) *Fit { return &Fit{table: t, rows: rows, functions: rows.Functions()} }

// Effects are those learnt so far. The next pass changes them.
func (f *Fit) Effects() Set {
	all := make(Set, len(f.members))
	for i, m := range f.members {
		all[i] = m.Effect
	}
	return all
}

// Add adds a family, with a variance to begin with; 0 stands for a common one. Its effects are
// zero until the next pass.
func (f *Fit) Add(ctx context.Context, family Family, variance float64) error {
	g, err := f.grouping(ctx, family)
	if err != nil {
		return err
	}
	if variance == 0 {
		variance = firstVariance
	}
	f.members = append(f.members, f.newMember(g, variance))
	return nil
}

func (f *Fit) newMember(g *Grouping, variance float64) *member {
	n := g.Groups() * f.functions
	return &member{Effect: &Effect{Grouping: g, Variance: variance, Moments: make([]Moment, n)}, moved: make([]float64, n), fresh: true, stride: f.Stride}
}

// grouping is the groups of a family that occur.
func (f *Fit) grouping(ctx context.Context, family Family) (*Grouping, error) {
	if family.counts() {
		g, err := f.grouping(ctx, family[1:])
		if err != nil {
			return nil, err
		}
		counts, err := f.counting(ctx, []*Grouping{g})
		if err != nil {
			return nil, err
		}
		return counts[0], nil
	}
	cells, err := f.table.cells(family)
	if err != nil {
		return nil, err
	}
	g := &Grouping{Family: family, Axes: cells.Axes}
	err = f.do(ctx, OccurTask{cells}, func(found *Found) {
		g.seen.words = slices.Clone(found.Seen)
		g.seen.number()
	})
	return g, err
}

// do does a single task.
func (f *Fit) do(ctx context.Context, t Task, use func(found *Found)) error {
	return f.rows.Do(ctx, []Task{t}, func(_ int, found *Found) { use(found) })
}

// Put adds effects that were learnt from the same rows.
func (f *Fit) Put(set Set) {
	for _, e := range set {
		f.members = append(f.members, &member{Effect: e, moved: make([]float64, len(e.Moments))})
	}
}

// ErrNotFinite is that a term has no finite mean.
var ErrNotFinite = errors.New("effects: a term is not finite")

// Look looks at all terms with effects, offset and spread as they are, and returns Σ E log t.
func (f *Fit) Look(ctx context.Context) (value float64, err error) {
	f.looked = f.Effects()
	if err = f.do(ctx, LookTask{f.looked}, func(found *Found) { value = found.Value }); err != nil {
		return value, err
	}
	if !finite.All(value) {
		return value, ErrNotFinite
	}
	return value, nil
}

// Sums are those of the effects on all rows in memory, of all functions row by row, in the room given, or new
// where that is nil; of other rows there are none.
func (f *Fit) Sums(sums []Moment) ([]Moment, error) {
	if m, ok := f.rows.(*InMemory); ok {
		return m.Sums(f.Effects(), sums)
	}
	return nil, nil
}

// Without is Shard.Without of a row in memory. Whoever passes over other rows leaves effects out there; so does who
// passes over rows whose effects are known jointly with the smooth part.
func (f *Fit) Without(row, function int) Moment {
	if m, ok := f.rows.(*InMemory); ok && f.Effects().Joint() == nil {
		return m.Without(f.looked, row, function)
	}
	return Moment{}
}

// Explain finds the Share of every family, in all functions together.
func (f *Fit) Explain(ctx context.Context) error {
	n := float64(f.table.Len())
	return f.do(ctx, ExplainTask{f.Effects()}, func(found *Found) {
		variance := func(family int) (total float64) {
			for _, p := range found.Parts[family*f.functions : (family+1)*f.functions] {
				total += max(0, p[1]/n-p[0]/n*(p[0]/n))
			}
			return total
		}
		whole := variance(0)
		for j, m := range f.members {
			if m.Share = 0; whole > 0 {
				m.Share = variance(j+1) / whole
			}
		}
	})
}

// sum takes what the effects of a family have moved by out of the slopes, if one is given, and
// sums slopes and curvatures of the groups of the next, one function after the other. The sums are valid
// until the next task.
func (f *Fit) sum(ctx context.Context, before *member, groups *Grouping) (sums []Sum, err error) {
	t := SumTask{Of: groups}
	if before != nil {
		t.After = &Moved{before.Grouping, before.moved}
	}
	err = f.do(ctx, t, func(found *Found) { sums = found.Sums })
	return sums, err
}

// sweep updates one family after another, with terms as they were last looked at.
func (f *Fit) sweep(ctx context.Context) error {
	var before *member
	for _, m := range f.members {
		sums, err := f.sum(ctx, before, m.Grouping)
		if err != nil {
			return err
		}
		m.update(sums, f.Held)
		before = m
	}
	return nil
}

// retreat goes back half of the way that a sweep went.
func (f *Fit) retreat() {
	for _, m := range f.members {
		m.Variance = math.Sqrt(m.Variance * m.before.Variance)
		eachGroup(len(m.Moments), func(from, to int) {
			for g := from; g < to; g++ {
				w, b := &m.Moments[g], m.before.Moments[g]
				*w = Moment{(w.Mean + b.Mean) / 2, math.Sqrt(w.Variance * b.Variance)}
			}
		})
	}
}

// bound is the variational bound where the terms' part of it is value.
func (f *Fit) bound(value float64) float64 {
	for _, m := range f.members {
		for g, s := range m.told {
			w := m.Moments[g]
			value += s.Slope*w.Mean - 0.5*s.Curvature*(w.Mean*w.Mean+w.Variance)
		}
	}
	return value - f.Effects().Divergence()
}

// Progress is where a fit has come to.
type Progress struct {
	Pass     int
	Families int
	Groups   int
	Bound    float64 // before the pass
}

// start makes families that have not been updated certain enough to look at their terms: with
// the precision that the terms have now, and no effect.
func (f *Fit) start(ctx context.Context) error {
	for _, m := range f.members {
		if !m.fresh {
			continue
		}
		if _, err := f.Look(ctx); err != nil {
			return err
		}
		break
	}
	var before *member
	for _, m := range f.members {
		if !m.fresh {
			continue
		}
		sums, err := f.sum(ctx, before, m.Grouping)
		if err != nil {
			return err
		}
		m.update(sums, f.Held)
		before = m
	}
	return nil
}

// Run makes passes until the bound rises by less than so much in one, or there were so many.
// A pass after which the bound is lower is made shorter. It returns the bound.
func (f *Fit) Run(ctx context.Context, passes int, tolerance float64, trace func(Progress)) (float64, error) {
	if err := f.start(ctx); err != nil {
		return 0, err
	}
	last, shorter := math.Inf(-1), 0
	for pass := 1; ; pass++ {
		if err := ctx.Err(); err != nil {
			return last, err
		}
		if shorter == 0 && tunes(pass) {
			if err := f.tune(ctx); err != nil {
				return last, err
			}
		}
		value, err := f.Look(ctx)
		if err != nil {
			return last, err
		}
		bound := f.bound(value)
		if trace != nil {
			trace(Progress{pass, len(f.members), f.Effects().Groups(), bound})
		}
		if bound < last && shorter < mostShorter {
			shorter++
			f.retreat()
			continue
		}
		if pass > passes || bound-last < tolerance {
			return bound, nil
		}
		last, shorter = bound, 0
		if err := f.sweep(ctx); err != nil {
			return last, err
		}
	}
}

// mostShorter is how often a pass is made shorter.
const mostShorter = 6
