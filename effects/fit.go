package effects

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
)

// Terms are the terms of rows. They are Single or Coupled.
type Terms interface {
	Len() int
}

// Single are terms on the value of one function each.
type Single interface {
	Terms
	// Term is that of row i. It is called by several goroutines at a time.
	Term(i int) factor.Factor
}

// Coupled are terms on the values of several functions each, of which only differences count; see
// factor.Differences.
type Coupled interface {
	Terms
	Functions() int
	Joint(i int) factor.Multi
}

// freedom is (C − 1)/C of C functions, or 1 of one. See the package.
func freedom(functions int) float64 {
	if functions == 1 {
		return 1
	}
	return float64(functions-1) / float64(functions)
}

// Counter are Terms that do not all count once.
type Counter interface {
	Count(i int) float64
}

// Effect is a family and what is known of its effects.
type Effect struct {
	*Grouping
	Variance float64 // σ², that of an effect of which nothing is known
	// Share is the variance of the effects' means over the rows that they were learnt from, as a share
	// of that of the means of the whole value.
	Share   float64
	Moments []Moment // of all groups, one function after the other
}

// Functions is how many functions there are effects on.
func (e *Effect) Functions() int { return len(e.Moments) / e.Groups() }

func (e *Effect) freedom() float64 { return freedom(e.Functions()) }

// Of are the effects on a function.
func (e *Effect) Of(function int) []Moment {
	return e.Moments[function*e.Groups() : (function+1)*e.Groups()]
}

// At is the effect on a function at a row. It reports false for a group that no row had.
func (e *Effect) At(row []float64, function int) (Moment, bool) {
	if g := e.Group(row); g >= 0 {
		return e.Of(function)[g], true
	}
	return Moment{0, e.Variance}, false
}

// Separates tells whether the family nearly determines the outcome: with a standard deviation of 3 and
// more half of the groups have probabilities below 0.02 or above 0.98.
func (e *Effect) Separates() bool { return e.Variance >= 9 }

// divergence is KL(q ‖ prior) of all effects.
func (e *Effect) divergence() (kl float64) {
	freedom := e.freedom()
	reduce(len(e.Moments), func(from, to int) (part float64) {
		for _, w := range e.Moments[from:to] {
			r := w.Variance / e.Variance
			part += w.Mean*w.Mean/e.Variance + freedom*(r-1-math.Log(r))
		}
		return part
	}, func(part float64) { kl += part / 2 })
	return kl
}

// Nats is the evidence that the family brings, with terms as they were seen last: Γ where
// B = m/V and H = 1/V − 1/σ².
func (e *Effect) Nats() (nats float64) {
	freedom := e.freedom()
	reduce(len(e.Moments), func(from, to int) (part float64) {
		for _, w := range e.Moments[from:to] {
			part += w.Mean*w.Mean/w.Variance + freedom*math.Log(w.Variance/e.Variance)
		}
		return part
	}, func(part float64) { nats += part / 2 })
	return nats
}

// member is a family of a fit.
type member struct {
	*Effect
	ids    ids
	told   []Sum     // what earlier rows told of each group without an effect, nil where these are all rows; see Continue
	moved  []float64 // by how much means have moved, which slopes do not know yet
	before Effect    // as it was before the last pass
	fresh  bool      // never updated
}

// Fit is effects that are being learnt.
type Fit struct {
	table     *Table
	terms     Terms
	functions int
	members   []*member
	// Offset and Spread are the mean and variance of the rest of the value at each row, of one function
	// after the other; nil stands for zero.
	Offset, Spread []float64
	// Held keeps the variances of families as they are.
	Held bool
	// Logs are the logarithms of the hyperparameters of terms that are Tuned; nil leaves those as they are.
	Logs []float64
	// Dropped are families that Choose would have taken, but for their number of groups.
	Dropped []Candidate

	slope, curvature []float64 // of all rows, one function after the other
	scratch          []Sum
	trial            ranks     // room for those of families that are tried
	alone            []float64 // what effects of each column bring by themselves, once they were tried
}

// NewFit is a fit without families.
func NewFit(t *Table, terms Terms) *Fit {
	if terms.Len() != t.Len() {
		panic("effects: as many terms as rows")
	}
	f := &Fit{table: t, terms: terms, functions: 1}
	if c, ok := terms.(Coupled); ok {
		f.functions = c.Functions()
	}
	f.slope, f.curvature = make([]float64, f.functions*t.Len()), make([]float64, f.functions*t.Len())
	return f
}

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
func (f *Fit) Add(family Family, variance float64) error {
	g, ids, err := f.table.group(family)
	if err != nil {
		return err
	}
	f.add(g, ids, variance)
	return nil
}

func (f *Fit) add(g *Grouping, ids ids, variance float64) {
	if variance == 0 {
		variance = firstVariance
	}
	n := g.Groups() * f.functions
	f.members = append(f.members, &member{Effect: &Effect{Grouping: g, Variance: variance, Moments: make([]Moment, n)}, ids: ids, moved: make([]float64, n), fresh: true})
}

// Put adds effects that were learnt from the same rows.
func (f *Fit) Put(set Set) error {
	for _, e := range set {
		m := &member{Effect: e, ids: newIDs(f.table.Len(), e.Groups()), moved: make([]float64, len(e.Moments))}
		for i := range f.table.Len() {
			g := e.group(f.table.X.RawRowView(i), 1)
			if g < 0 {
				return fmt.Errorf("%w: a training row has none of the groups", ErrFamily)
			}
			m.ids.set(i, g)
		}
		f.members = append(f.members, m)
	}
	return nil
}

// ErrNotFinite is that a term has no finite mean.
var ErrNotFinite = errors.New("effects: a term is not finite")

// Moments writes the mean and variance of the values of a function at rows from one on.
func (f *Fit) Moments(mean, variance []float64, function, from int) {
	clear(mean)
	clear(variance)
	at := function*f.table.Len() + from
	if f.Offset != nil {
		copy(mean, f.Offset[at:])
	}
	if f.Spread != nil {
		copy(variance, f.Spread[at:])
	}
	for _, m := range f.members {
		m.ids.add(mean, variance, from, m.Of(function))
	}
}

// Sums are those of the effects on all rows, of all functions row by row, in the room given, or new where
// that is nil.
func (f *Fit) Sums(sums []Moment) []Moment {
	n := f.table.Len()
	if sums == nil {
		sums = make([]Moment, n*f.functions)
	}
	tasks.Each(numBlocks(n), func() func(int) {
		mean, variance := make([]float64, blockRows), make([]float64, blockRows)
		return func(task int) {
			from, to := task*blockRows, min((task+1)*blockRows, n)
			mean, variance := mean[:to-from], variance[:to-from]
			for c := range f.functions {
				clear(mean)
				clear(variance)
				for _, m := range f.members {
					m.ids.add(mean, variance, from, m.Of(c))
				}
				for i := range mean {
					sums[(from+i)*f.functions+c] = Moment{mean[i], variance[i]}
				}
			}
		}
	})
	return sums
}

// look finds slopes and curvatures of all terms at the present effects, and returns Σ E log t.
func (f *Fit) look() (float64, error) {
	n := f.table.Len()
	parts := make([]float64, numBlocks(n))
	counter, _ := f.terms.(Counter)
	single, _ := f.terms.(Single)
	coupled, _ := f.terms.(Coupled)
	free := freedom(f.functions)
	tasks.Each(len(parts), func() func(int) {
		k := f.functions
		mean, variance, at := make([]float64, k*blockRows), make([]float64, k*blockRows), make([]float64, 4*k)
		m, v, d1, d2 := at[:k], at[k:2*k], at[2*k:3*k], at[3*k:]
		return func(task int) {
			from, to := task*blockRows, min((task+1)*blockRows, n)
			for c := range k {
				f.Moments(mean[c*blockRows:][:to-from], variance[c*blockRows:][:to-from], c, from)
			}
			sum := 0.0
			for i := range to - from {
				count := 1.0
				if counter != nil {
					count = counter.Count(from + i)
				}
				if coupled == nil {
					l, d1, d2 := meanLog(single.Term(from+i), mean[i], variance[i])
					sum += count * l
					f.slope[from+i], f.curvature[from+i] = count*d1, -count*d2
					continue
				}
				for c := range k {
					m[c], v[c] = mean[c*blockRows+i], variance[c*blockRows+i]
				}
				sum += count * jointMeanLog(coupled.Joint(from+i), m, v, d1, d2)
				for c := range k {
					f.slope[c*n+from+i], f.curvature[c*n+from+i] = count*d1[c], -count*d2[c]/free
				}
			}
			parts[task] = sum
		}
	})
	value := 0.0
	for _, p := range parts {
		value += p
	}
	if !finite.All(value) {
		return value, ErrNotFinite
	}
	return value, nil
}

// Explain finds the Share of every family, in all functions together.
func (f *Fit) Explain() {
	n, columns := f.table.Len(), (len(f.members)+1)*f.functions
	// The whole value first, then families, for each function: sums and sums of squares of each.
	parts := make([][][2]float64, numBlocks(n))
	blocks(n, func(from, to int) {
		part := make([][2]float64, columns)
		total, own, none := make([]float64, to-from), make([]float64, to-from), make([]float64, to-from)
		add := func(at int, values []float64) {
			for _, v := range values {
				part[at][0] += v
				part[at][1] += v * v
			}
		}
		for c := range f.functions {
			clear(total)
			if f.Offset != nil {
				copy(total, f.Offset[c*n+from:])
			}
			for j, m := range f.members {
				clear(own)
				m.ids.add(own, none, from, m.Of(c))
				add((j+1)*f.functions+c, own)
				floats.Add(total, own)
			}
			add(c, total)
		}
		parts[from/blockRows] = part
	})
	variance := func(family int) (total float64) {
		for at := family * f.functions; at < (family+1)*f.functions; at++ {
			sum, squares := 0.0, 0.0
			for _, part := range parts {
				sum += part[at][0]
				squares += part[at][1]
			}
			total += max(0, squares/float64(n)-sum/float64(n)*(sum/float64(n)))
		}
		return total
	}
	whole := variance(0)
	for j, m := range f.members {
		if m.Share = 0; whole > 0 {
			m.Share = variance(j+1) / whole
		}
	}
}

// Look looks at all terms with effects, offset and spread as they are: what Without leaves out.
func (f *Fit) Look() error {
	_, err := f.look()
	return err
}

// shardsOf is into how many shards rows are cut for sums of so many groups: each has sums of
// its own, which are added up. With few groups there are many, with many as few as keep the
// sums smaller than what is summed.
func shardsOf(rows, groups int) int {
	return max(1, min(16, numBlocks(rows), max(2, 2*rows/max(1, groups))))
}

// summed are rows sorted into groups.
type summed interface {
	sum(sums []Sum, slope, curvature []float64, from int)
}

// sum takes what the effects of a family have moved by out of the slopes, if one is given, and
// sums slopes and curvatures of the groups of the next, one function after the other. The sums are valid
// until the next call.
func (f *Fit) sum(before *member, groups summed, count int) []Sum {
	n, all := f.table.Len(), count*f.functions
	shards := shardsOf(n, count)
	f.scratch = slices.Grow(f.scratch[:0], shards*all)[:shards*all]
	each := (numBlocks(n) + shards - 1) / shards
	tasks.For(shards, func(s int) {
		sums := f.scratch[s*all : (s+1)*all]
		clear(sums)
		for b := s * each; b < min((s+1)*each, numBlocks(n)); b++ {
			from, to := b*blockRows, min((b+1)*blockRows, n)
			for c := range f.functions {
				slope, curvature := f.slope[c*n+from:c*n+to], f.curvature[c*n+from:c*n+to]
				if before != nil {
					size := before.Groups()
					before.ids.shift(slope, curvature, from, before.moved[c*size:(c+1)*size])
				}
				groups.sum(sums[c*count:(c+1)*count], slope, curvature, from)
			}
		}
	})
	total := f.scratch[:all]
	eachGroup(all, func(from, to int) {
		for s := 1; s < shards; s++ {
			other := f.scratch[s*all : (s+1)*all]
			for g := from; g < to; g++ {
				total[g].Slope += other[g].Slope
				total[g].Curvature += other[g].Curvature
			}
		}
	})
	return total
}

// damping is how much of the precision that the data gave an effect before stays in a pass.
// Where outcomes are rare the curvature of a term depends on the variance at which it is seen:
// without damping the two of them swing.
const damping = 0.3

// update finds a better variance, unless it is held, and the best effects of a family from the
// sums of its groups.
func (m *member) update(sums []Sum, held bool) {
	eachGroup(len(sums), func(from, to int) {
		for g := from; g < to; g++ {
			s, w := &sums[g], m.Moments[g]
			s.Curvature = max(s.Curvature, 0) // a term that is not log-concave may bend the other way
			var told Sum
			if m.told != nil {
				told = m.told[g]
			}
			if !m.fresh {
				s.Curvature += damping * (max(0, 1/w.Variance-1/m.Variance-told.Curvature) - s.Curvature)
			}
			s.Slope += s.Curvature*w.Mean + told.Slope // what it would be without the effect
			s.Curvature += told.Curvature
		}
	})
	m.fresh = false
	if !held {
		m.Variance = slopesOf(sums, m.Variance, m.freedom()).step(m.Variance)
	}
	eachGroup(len(sums), func(from, to int) {
		for g := from; g < to; g++ {
			s, w := sums[g], &m.Moments[g]
			v := m.Variance / (1 + s.Curvature*m.Variance)
			mean := v * s.Slope
			m.moved[g] = mean - w.Mean
			*w = Moment{mean, v}
		}
	})
	if m.Functions() > 1 {
		m.centre()
	}
}

// centre keeps what all functions have in common at zero, where the prior is largest and on which no term
// depends, and shortens the step. Every function moves as if the others stood still, which along some
// directions is up to twice too far by curvatures of single functions. Slopes are shifted by the whole
// step, so that the families of a sweep together go that part of the way.
func (m *member) centre() {
	functions, groups := m.Functions(), m.Groups()
	part := min(1, coupledStep/m.freedom())
	eachGroup(groups, func(from, to int) {
		for g := from; g < to; g++ {
			common := 0.0
			for c := range functions {
				common += m.moved[c*groups+g] / float64(functions)
			}
			for c := range functions {
				w, moved := &m.Moments[c*groups+g], &m.moved[c*groups+g]
				w.Mean -= *moved
				*moved -= common
				w.Mean += part * *moved
			}
		}
	})
}

// coupledStep is the part of a step by curvatures of single functions that is taken; see pass.
const coupledStep = 2.0 / 3

// sweep updates one family after another, with terms as they were last looked at.
func (f *Fit) sweep() {
	var before *member
	for _, m := range f.members {
		m.before.Variance = m.Variance
		m.before.Moments = append(m.before.Moments[:0], m.Moments...)
		m.update(f.sum(before, m.ids, m.Groups()), f.Held)
		before = m
	}
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
func (f *Fit) start() error {
	for _, m := range f.members {
		if !m.fresh {
			continue
		}
		if _, err := f.look(); err != nil {
			return err
		}
		break
	}
	var before *member
	for _, m := range f.members {
		if m.fresh {
			m.update(f.sum(before, m.ids, m.Groups()), f.Held)
			before = m
		}
	}
	return nil
}

// Run makes passes until the bound rises by less than so much in one, or there were so many.
// A pass after which the bound is lower is made shorter. It returns the bound.
func (f *Fit) Run(ctx context.Context, passes int, tolerance float64, trace func(Progress)) (float64, error) {
	if err := f.start(); err != nil {
		return 0, err
	}
	last, shorter := math.Inf(-1), 0
	for pass := 1; ; pass++ {
		if err := ctx.Err(); err != nil {
			return last, err
		}
		if shorter == 0 && tunes(pass) {
			f.tune()
		}
		value, err := f.look()
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
		f.sweep()
	}
}

// mostShorter is how often a pass is made shorter.
const mostShorter = 6
