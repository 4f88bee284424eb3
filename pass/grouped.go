package pass

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
)

// Grouped is an Engine for rows in the memory of this machine that share effects of groups: the value of
// a row is a·v + w_g + e with w_g ~ N(0, σ²), independent, and its site is one of a·v + w_g. The effects are eliminated
// group by group (see Arrow), so that the posterior of v and all effects is one Gaussian: passes go over q(v),
// and given v the effects follow from the sites. The objective is that of all of them.
//
// A pass over N rows in G groups takes what one of Local takes, 2NM more and GM². All rows of a pass
// see the same q.
type Grouped struct {
	*Local
	groups   []int32 // of the rows
	count    int
	variance float64
	told     *Arrow // what others than these rows told, nil if there are none
	now      *Arrow // what that and the sites come to, nil where it is to be found
	next     *Arrow
}

// NewGrouped has the rows and sites of an engine without effects, whose rows have terms on one value. The groups
// of rows are numbers below count, and σ² is the variance. What others told of v and the effects may be nil; its
// Marginal is then beside the prior of v.
func NewGrouped(rows *Local, groups []int32, count int, variance float64, told *Arrow) *Grouped {
	return &Grouped{Local: rows, groups: groups, count: count, variance: variance, told: told}
}

// SetVariance sets σ².
func (g *Grouped) SetVariance(variance float64) { g.variance = variance }

// Given are the effects as views of v; see Arrow.
func (g *Grouped) Given() *gauss.Views { return g.arrow().Given(g.variance) }

// Fork implements Engine.
func (g *Grouped) Fork() *Grouped {
	return NewGrouped(g.Local.Fork(), g.groups, g.count, g.variance, g.told)
}

// Put puts sites in the place of the current ones. It copies them.
func (g *Grouped) Put(sites []gauss.Scalar) {
	g.Local.Put(sites)
	g.now = nil
}

// Clear implements Engine.
func (g *Grouped) Clear() {
	g.Local.Clear()
	g.now = nil
}

// Keep implements Engine.
func (g *Grouped) Keep() {
	g.Local.Keep()
	g.now, g.next = g.next, g.now
}

// Predict writes the means and variances of a·v + e.
func (g *Grouped) Predict(q gauss.Gaussians, mean, variance []float64) {
	g.seen = marginals{}
	g.Local.Predict(q, mean, variance)
}

// start is what others told.
func (g *Grouped) start(a *Arrow) *Arrow {
	if a == nil || g.told != nil {
		a = NewArrow(g.Dim(), g.count)
	}
	if g.told != nil {
		a.CopyFrom(g.told)
		return a
	}
	a.V.SetZero()
	a.Cross.Zero()
	clear(a.Groups)
	return a
}

// arrow is what the sites come to.
func (g *Grouped) arrow() *Arrow {
	if g.now == nil {
		g.now = g.start(nil)
		var ws gauss.Workspace
		g.Views(func(from int, views *gauss.Views) {
			to := from + views.Len()
			g.now.Times(views, g.sites[from:to], g.groups[from:to], &ws)
		})
	}
	return g.now
}

// Gather implements Engine. What others told is no part of it.
func (g *Grouped) Gather(ctx context.Context) (gauss.Naturals, error) {
	sum := gauss.Naturals{g.arrow().Marginal(g.variance)}
	if g.told != nil {
		sum[0].Times(g.told.Marginal(g.variance), -1)
	}
	return sum, ctx.Err()
}

// Pass implements Engine.
func (g *Grouped) Pass(ctx context.Context, q gauss.Naturals, o Options) (*Sums, error) {
	now, given := g.arrow(), g.Given()
	g.next = g.start(g.next)
	sums, err := g.Each(ctx, func(s Rows, from, to int) (*Sums, error) {
		w, err := newWork(q, g.rows(s, given, from, to), o)
		if err != nil {
			return nil, err
		}
		defer w.leave()
		sums := NewSums(1, g.Dim())
		sites, next, groups := g.sites[from:to], g.Local.next[from:to], g.groups[from:to]
		w.each(func(i, j int, views *gauss.Views) {
			w.project(views, sites[i:j], i, sums)
			for k, step := range w.stepsOf(0, j-i) {
				next[i+k] = sites[i+k].Times(step.Power(o.damping()))
			}
			g.next.Times(views, next[i:j], groups[i:j], &w.ws)
		})
		return sums, nil
	})
	if err != nil {
		return nil, err
	}
	if !g.next.proper(g.variance) { // what terms that are not log-concave can ask for
		sums.Skipped, sums.Residual = len(g.sites), max(sums.Residual, 1)
		copy(g.Local.next, g.sites)
		g.next.CopyFrom(now)
	}
	sums.Change[0].CopyFrom(g.next.Marginal(g.variance))
	sums.Change[0].Times(now.Marginal(g.variance), -1)
	return sums, g.value(q, now, given, o, sums)
}

// Look implements Engine.
func (g *Grouped) Look(ctx context.Context, q gauss.Naturals, o Options, see See) (*Sums, error) {
	given := g.Given()
	sums, err := g.Each(ctx, func(s Rows, from, to int) (*Sums, error) {
		var shifted See
		if see != nil {
			shifted = func(i int, mean, variance []float64) { see(from+i, mean, variance) }
		}
		return look(q, g.rows(s, given, from, to), g.sites[from:to], o, shifted, nil, false)
	})
	if err != nil {
		return nil, err
	}
	return sums, g.value(q, g.arrow(), given, o, sums)
}

// value adds what the effects have in the objective: for propagation their part in the log partition, otherwise
// that of the divergence from the prior, of which Laplace's approximation has no variances.
func (g *Grouped) value(q gauss.Naturals, now *Arrow, given *gauss.Views, o Options, sums *Sums) error {
	if _, ok := o.rule().(infer.Propagation); ok {
		sums.Value += now.LogPartition(g.variance)
		return nil
	}
	own := gauss.NewGaussian(g.Dim())
	natural := gauss.NewNatural(g.Dim())
	natural.CopyFrom(q[0])
	if err := own.Exchange(natural); err != nil {
		return err
	}
	mean, variance := make([]float64, g.count), make([]float64, g.count)
	own.Predict(given, mean, variance, new(gauss.Workspace))
	for k := range g.count {
		part := math.Log(given.Residual(k)/g.variance) - mean[k]*mean[k]/g.variance
		if _, ok := o.rule().(infer.Variational); ok {
			part -= variance[k]/g.variance - 1
		}
		sums.Value += part / 2
	}
	return nil
}

// rows are those of a shard with the effects that they share.
func (g *Grouped) rows(s Rows, given *gauss.Views, from, to int) Rows {
	return &sharing{Single: s.(Single), given: given, groups: g.groups[from:to]}
}

// sharing are rows whose sites are on a·v and an effect, which is given v.
type sharing struct {
	Single
	given  *gauss.Views
	groups []int32
	room   []float64
}

// Count implements Counter.
func (s *sharing) Count(i int) float64 {
	if c, ok := s.Single.(Counter); ok {
		return c.Count(i)
	}
	return 1
}

// sites are views of what the sites of rows from one on are on.
func (s *sharing) sites(views *gauss.Views, from int) *gauss.Views {
	n, m := views.Len(), views.Dim()
	s.room = slices.Grow(s.room[:0], n*m)[:n*m]
	b, r := make([]float64, n), make([]float64, n)
	for i := range n {
		g := int(s.groups[from+i])
		floats.AddTo(s.room[i*m:(i+1)*m], views.Row(i), s.given.Row(g))
		b[i], r[i] = s.given.Offset(g), s.given.Residual(g)
	}
	return gauss.NewViews(mat.NewDense(n, m, s.room), b, r)
}
