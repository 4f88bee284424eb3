package cluster

import (
	"context"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/pass"
)

// inGroups are the rows of an engine that share the effects of a family.
type inGroups struct {
	*engine
	family *effects.Grouping
}

// InGroups implements gp.Driver.
func (d *Driver) InGroups(e gp.Engine, family *effects.Grouping) pass.InGroups {
	return &inGroups{e.(*engine), family}
}

// GatherGroups implements pass.InGroups.
func (g *inGroups) GatherGroups(ctx context.Context, by []float64) (*pass.Arrow, error) {
	e := &effects.Effect{Grouping: g.family}
	for _, mean := range by {
		e.Moments = append(e.Moments, effects.Moment{Mean: mean})
	}
	got, at, err := g.run(ctx, &job{Operation: gatherGroups, set: effects.Set{e}})
	if err != nil {
		return nil, err
	}
	g.next = at.Pass
	g.Keep()
	return got.Arrow, nil
}

// OverGroups implements pass.InGroups.
func (g *inGroups) OverGroups(ctx context.Context, q gauss.Naturals, given *gauss.Views, o pass.Options) (*pass.Sums, error) {
	return g.over(ctx, &job{Operation: overGroups, Options: o, q: q, set: g.given(given)})
}

// LookGroups implements pass.InGroups.
func (g *inGroups) LookGroups(ctx context.Context, q gauss.Naturals, given *gauss.Views, o pass.Options, see pass.See) (*pass.Sums, error) {
	return g.look(ctx, &job{Operation: lookGroups, Options: o, q: q, set: g.given(given)}, see)
}

// given is the family, whose effects are given v.
func (g *inGroups) given(views *gauss.Views) effects.Set {
	return effects.Set{{Grouping: g.family, Given: views}}
}

// grouped are the rows of a shard as the process without effects sees them, with their sites and the groups that they are in.
func (f *shardFn) grouped(ctx context.Context, p *piece) (rows pass.Rows, sites []gauss.Scalar, groups []int32, err error) {
	if sites, err = readSites(ctx, f.store, p.len(), f.job.Sites, p.Number); err == nil {
		groups, err = p.sorted.Groups(f.job.set[0].Grouping)
	}
	return p.part.Shard(f.job.process), sites, groups, err
}

func (f *shardFn) gatherGroups(ctx context.Context, p *piece) (*found, error) {
	rows, sites, groups, err := f.grouped(ctx, p)
	if err != nil {
		return nil, err
	}
	e := f.job.set[0]
	var by []float64
	for _, w := range e.Moments {
		by = append(by, w.Mean)
	}
	sums := pass.GatherGroups(rows, groups, e.Groups(), by, sites)
	return &found{Sums: sums}, writeSites(ctx, f.store, sites, f.Pass, p.Number)
}

func (f *shardFn) overGroups(ctx context.Context, p *piece) (*found, error) {
	rows, sites, groups, err := f.grouped(ctx, p)
	if err != nil {
		return nil, err
	}
	next := make([]gauss.Scalar, len(sites))
	sums, err := pass.OverGroups(f.job.q, pass.Share(rows, groups, f.job.set[0].Given), sites, next, f.job.Options)
	if err != nil {
		return nil, err
	}
	return &found{Sums: sums}, writeSites(ctx, f.store, next, f.Pass, p.Number)
}

func (f *shardFn) lookGroups(ctx context.Context, p *piece) (*found, error) {
	rows, sites, groups, err := f.grouped(ctx, p)
	if err != nil {
		return nil, err
	}
	none := func(int, int) effects.Moment { return effects.Moment{} } // a row's site has its part in the effect
	return f.see(ctx, p, pass.Share(rows, groups, f.job.set[0].Given), sites, none)
}
