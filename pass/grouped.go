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

// InGroups are rows in groups, wherever they are, and their sites. Those of a group share an effect: the value of
// a row is a·v + w_g + e, with one term each, and its site is one of a·v + w_g.
type InGroups interface {
	// Dim is the dimension of v.
	Dim() int
	// GatherGroups is what the sites come to, which are on a·v + w_g less what is given for the group of each until
	// then; nil stands for zeros.
	GatherGroups(ctx context.Context, by []float64) (*Arrow, error)
	// OverGroups is OverGroups for all shards, and LookGroups is Look for them as Sharing, several at the same time; see
	// Engine.
	OverGroups(ctx context.Context, q gauss.Naturals, given *gauss.Views, o Options) (*Sums, error)
	LookGroups(ctx context.Context, q gauss.Naturals, given *gauss.Views, o Options, see See) (*Sums, error)
	// Keep and Clear are those of Engine.
	Keep()
	Clear()
}

// Grouped is an Engine for rows in groups, whose effects are w_g ~ N(0, σ²), independent. These are eliminated
// group by group (see Arrow), so that the posterior of v and all effects is one Gaussian: passes go over q(v),
// and given v the effects follow from the sites. The objective is that of all of them.
//
// A pass over N rows in G groups takes what one without takes, 2NM more and GM². All rows of a pass
// see the same q.
type Grouped struct {
	rows     InGroups
	variance float64
	told     *Arrow    // what others than these rows told, nil if there are none
	by       []float64 // of GatherGroups, until that has been called
	now      *Arrow    // what that and the sites come to, nil where it is to be found
	next     *Arrow    // nil where the last pass was not proper
}

// NewGrouped goes over rows in groups with the variance σ². What others told of v and the effects may be nil; its
// Marginal is then beside the prior of v. The sites are on a·v + w_g less what is given for each group; nil
// stands for zeros.
func NewGrouped(rows InGroups, variance float64, told *Arrow, by []float64) *Grouped {
	return &Grouped{rows: rows, variance: variance, told: told, by: by}
}

// Fork is an engine for the same rows with other sites, which are the same so far.
func (g *Grouped) Fork(rows InGroups) *Grouped {
	c := *g
	c.rows, c.next = rows, nil
	return &c
}

// SetVariance sets σ².
func (g *Grouped) SetVariance(variance float64) { g.variance = variance }

// Given are the effects as views of v, once sites were gathered; see Arrow.
func (g *Grouped) Given() *gauss.Views { return g.now.Given(g.variance) }

// Forget has the sites gathered anew: they were replaced.
func (g *Grouped) Forget() { g.now, g.by = nil, nil }

// Dim implements Engine.
func (g *Grouped) Dim() int { return g.rows.Dim() }

// Functions implements Engine.
func (g *Grouped) Functions() int { return 1 }

// Clear implements Engine.
func (g *Grouped) Clear() {
	g.rows.Clear()
	g.Forget()
}

// Keep implements Engine.
func (g *Grouped) Keep() {
	if g.next == nil { // sites stay
		return
	}
	g.rows.Keep()
	g.now, g.next = g.next, nil
}

// with is what sites come to together with what others told.
func (g *Grouped) with(sites *Arrow) *Arrow {
	if g.told == nil {
		return sites
	}
	all := g.told.Power(1)
	all.Times(sites, 1)
	return all
}

// gather finds what the sites come to, if that is not known.
func (g *Grouped) gather(ctx context.Context) error {
	if g.now != nil {
		return nil
	}
	sites, err := g.rows.GatherGroups(ctx, g.by)
	if err != nil {
		return err
	}
	g.now, g.by = g.with(sites), nil
	return nil
}

// Gather implements Engine. What others told is no part of it.
func (g *Grouped) Gather(ctx context.Context) (gauss.Naturals, error) {
	if err := g.gather(ctx); err != nil {
		return nil, err
	}
	sum := gauss.Naturals{g.now.Marginal(g.variance)}
	if g.told != nil {
		sum[0].Times(g.told.Marginal(g.variance), -1)
	}
	return sum, nil
}

// Pass implements Engine.
func (g *Grouped) Pass(ctx context.Context, q gauss.Naturals, o Options) (*Sums, error) {
	if err := g.gather(ctx); err != nil {
		return nil, err
	}
	given := g.Given()
	sums, err := g.rows.OverGroups(ctx, q, given, o)
	if err != nil {
		return nil, err
	}
	g.next = g.with(sums.Arrow)
	change := gauss.NewNaturals(1, g.Dim())
	if g.next.proper(g.variance) {
		change[0].CopyFrom(g.next.Marginal(g.variance))
		change[0].Times(g.now.Marginal(g.variance), -1)
	} else { // what terms that are not log-concave can ask for
		g.next = nil
		sums.skip()
	}
	sums.Change, sums.Arrow = change, nil
	return sums, g.value(q, given, o, sums)
}

// Look implements Engine.
func (g *Grouped) Look(ctx context.Context, q gauss.Naturals, o Options, see See) (*Sums, error) {
	if err := g.gather(ctx); err != nil {
		return nil, err
	}
	given := g.Given()
	sums, err := g.rows.LookGroups(ctx, q, given, o, see)
	if err != nil {
		return nil, err
	}
	return sums, g.value(q, given, o, sums)
}

// value adds what the effects have in the objective: for propagation their part in the log partition, otherwise
// that of the divergence from the prior, of which Laplace's approximation has no variances.
func (g *Grouped) value(q gauss.Naturals, given *gauss.Views, o Options, sums *Sums) error {
	if _, ok := o.rule().(infer.Propagation); ok {
		sums.Value += g.now.LogPartition(g.variance)
		return nil
	}
	own := gauss.NewGaussian(g.Dim())
	natural := gauss.NewNatural(g.Dim())
	natural.CopyFrom(q[0])
	if err := own.Exchange(natural); err != nil {
		return err
	}
	mean, variance := make([]float64, given.Len()), make([]float64, given.Len())
	own.Predict(given, mean, variance, new(gauss.Workspace))
	for k := range mean {
		part := math.Log(given.Residual(k)/g.variance) - mean[k]*mean[k]/g.variance
		if _, ok := o.rule().(infer.Variational); ok {
			part -= variance[k]/g.variance - 1
		}
		sums.Value += part / 2
	}
	return nil
}

// GatherGroups is what the sites of a shard come to, whose rows are in some of so many groups. Sites of a·v are moved to
// a·v + w, with what is given of each w, unless that is nil.
func GatherGroups(rows Rows, groups []int32, count int, by []float64, sites []gauss.Scalar) *Sums {
	if by != nil {
		for i, g := range groups {
			sites[i].Nu += sites[i].Tau * by[g]
		}
	}
	sums := newGroupSums(rows.Dim(), count)
	var ws gauss.Workspace
	size := BlockRows(rows.Len(), rows.Dim())
	for from := 0; from < rows.Len(); from += size {
		to := min(from+size, rows.Len())
		sums.Arrow.TimesScalars(rows.Views(from, to), sites[from:to], groups[from:to], &ws)
	}
	return sums
}

// OverGroups goes once over the rows of a shard that share effects. It writes the new sites to next.
func OverGroups(q gauss.Naturals, rows *Sharing, sites, next []gauss.Scalar, o Options) (*Sums, error) {
	w, err := newWork(q, rows, o)
	if err != nil {
		return nil, err
	}
	defer w.leave()
	sums := newGroupSums(rows.Dim(), rows.given.Len())
	w.each(func(i, j int, views *gauss.Views) {
		w.project(views, sites[i:j], i, sums)
		for k, step := range w.stepsOf(0, j-i) {
			next[i+k] = sites[i+k].Times(step.Power(o.damping()))
		}
		sums.Arrow.TimesScalars(views, next[i:j], rows.groups[i:j], &w.ws)
	})
	return sums, nil
}

// Sharing are rows of a shard whose sites are on a·v and an effect, which is given v. With them Look looks at both.
type Sharing struct {
	Single
	given  *gauss.Views
	groups []int32
	room   []float64
}

// Share are rows in groups, with effects that are given v.
func Share(rows Rows, groups []int32, given *gauss.Views) *Sharing {
	return &Sharing{Single: rows.(Single), given: given, groups: groups}
}

// Count implements Counter.
func (s *Sharing) Count(i int) float64 {
	if c, ok := s.Single.(Counter); ok {
		return c.Count(i)
	}
	return 1
}

// sites are views of what the sites of rows from one on are on.
func (s *Sharing) sites(views *gauss.Views, from int) *gauss.Views {
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

// localGroups are rows in the memory of this machine.
type localGroups struct {
	*Local
	groups []int32 // of the rows
	count  int
}

// InGroups are the rows in groups, which are numbers below count.
func (l *Local) InGroups(groups []int32, count int) InGroups { return &localGroups{l, groups, count} }

// GatherGroups implements InGroups.
func (l *localGroups) GatherGroups(ctx context.Context, by []float64) (*Arrow, error) {
	sums, err := l.Each(ctx, func(_ int, s Rows, from, to int) (*Sums, error) {
		return GatherGroups(s, l.groups[from:to], l.count, by, l.sites[from:to]), nil
	})
	if err != nil {
		return nil, err
	}
	return sums.Arrow, nil
}

// OverGroups implements InGroups.
func (l *localGroups) OverGroups(ctx context.Context, q gauss.Naturals, given *gauss.Views, o Options) (*Sums, error) {
	return l.Each(ctx, func(_ int, s Rows, from, to int) (*Sums, error) {
		return OverGroups(q, Share(s, l.groups[from:to], given), l.sites[from:to], l.next[from:to], o)
	})
}

// LookGroups implements InGroups.
func (l *localGroups) LookGroups(ctx context.Context, q gauss.Naturals, given *gauss.Views, o Options, see See) (*Sums, error) {
	return l.Each(ctx, func(_ int, s Rows, from, to int) (*Sums, error) {
		var shifted See
		if see != nil {
			shifted = func(i int, mean, variance []float64) { see(from+i, mean, variance) }
		}
		return Look(q, Share(s, l.groups[from:to], given), l.sites[from:to], o, shifted)
	})
}
