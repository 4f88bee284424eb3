package gp

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/pass"
)

// Engine makes passes over all rows of a problem as a process sees them, wherever the rows
// are, and keeps their sites.
type Engine interface {
	pass.Engine
	// Slopes is Slopes for all shards: parts are added up in the order of the shards.
	Slopes(ctx context.Context, q gauss.Naturals, o pass.Options) (*pass.Sums, []float64, error)
	// Fork is an engine for the same process that starts from the sites as they are. The two
	// must not be used at the same time.
	Fork() Engine
	// Sites are those of all rows. They must not be changed.
	Sites(ctx context.Context) ([]gauss.Scalar, error)
	// Put puts sites in the place of all of them.
	Put(ctx context.Context, sites []gauss.Scalar) error
}

// Driver makes engines for the rows of a problem.
type Driver interface {
	// Drive is an engine for the rows as the process sees them. It goes on from the sites of
	// an engine for an earlier process, which is of no use any more; nil stands for empty ones.
	Drive(p *Inducing, before Engine) (Engine, error)
	// InGroups are the rows of such an engine, for a process without effects, in the groups of a family. They have its
	// sites.
	InGroups(e Engine, family *effects.Grouping) pass.InGroups
}

// InMemory are rows in the memory of this machine, with their views in the buffer and so many
// rows in a shard; see Inducing.Shards.
func InMemory(x *mat.Dense, terms Terms, buffer *ViewBuffer, size int) Driver {
	return &inMemory{x, terms, buffer, size}
}

type inMemory struct {
	x      *mat.Dense
	terms  Terms
	buffer *ViewBuffer
	size   int
}

// Drive implements Driver.
func (r *inMemory) Drive(p *Inducing, before Engine) (Engine, error) {
	var sites []gauss.Scalar
	if before != nil {
		sites = before.(*local).Local.Sites()
	}
	return NewEngine(p, p.Shards(r.x, r.terms, r.buffer, r.size), sites), nil
}

// InGroups implements Driver.
func (r *inMemory) InGroups(e Engine, family *effects.Grouping) pass.InGroups {
	return e.(*local).Local.InGroups(family.Of(r.x), family.Groups())
}

// NewEngine is an engine for rows in the memory of this machine, from the given sites for
// all of them, which it takes over; nil stands for empty ones.
func NewEngine(p *Inducing, shards []pass.Rows, sites []gauss.Scalar) Engine {
	return &local{pass.NewLocal(shards, sites), p}
}

// local is the engine of rows in memory.
type local struct {
	*pass.Local
	process *Inducing
}

// Slopes implements Engine.
func (l *local) Slopes(ctx context.Context, q gauss.Naturals, o pass.Options) (*pass.Sums, []float64, error) {
	grad := make([]float64, l.process.kernel.NumParams())
	functions, parts := l.Functions(), make([][]float64, l.Shards())
	sums, err := l.Each(ctx, func(k int, s pass.Rows, from, to int) (sums *pass.Sums, err error) {
		sums, parts[k], err = Slopes(q, s, l.Local.Sites()[from*functions:to*functions], o)
		return sums, err
	})
	if err != nil {
		return nil, nil, err
	}
	for _, part := range parts {
		floats.Add(grad, part)
	}
	return sums, grad, nil
}

// Fork implements Engine.
func (l *local) Fork() Engine { return &local{l.Local.Fork(), l.process} }

// Sites implements Engine.
func (l *local) Sites(context.Context) ([]gauss.Scalar, error) { return l.Local.Sites(), nil }

// Put implements Engine.
func (l *local) Put(_ context.Context, sites []gauss.Scalar) error {
	l.Local.Put(sites)
	return nil
}

// Grouped is an engine for rows that share effects of groups; see pass.Grouped.
type Grouped struct {
	*pass.Grouped
	driver Driver
	rows   Engine
	family *effects.Grouping
}

// Group is an engine for the rows of another, which the driver made for a process without effects, that share those of a
// family. For the rest see pass.NewGrouped.
func Group(d Driver, rows Engine, e *effects.Effect, told *pass.Arrow, by []float64) *Grouped {
	return &Grouped{pass.NewGrouped(d.InGroups(rows, e.Grouping), e.Variance, told, by), d, rows, e.Grouping}
}

// Slopes implements Engine: the search for a kernel has the effects independent of the process.
func (g *Grouped) Slopes(context.Context, gauss.Naturals, pass.Options) (*pass.Sums, []float64, error) {
	return nil, nil, &pass.EngineError{Err: errors.New("gp: there is no gradient beside effects that are eliminated")}
}

// Fork implements Engine.
func (g *Grouped) Fork() Engine {
	c := *g
	c.rows = g.rows.Fork()
	c.Grouped = g.Grouped.Fork(g.driver.InGroups(c.rows, g.family))
	return &c
}

// Sites implements Engine.
func (g *Grouped) Sites(ctx context.Context) ([]gauss.Scalar, error) { return g.rows.Sites(ctx) }

// Put implements Engine.
func (g *Grouped) Put(ctx context.Context, sites []gauss.Scalar) error {
	g.Forget()
	return g.rows.Put(ctx, sites)
}
