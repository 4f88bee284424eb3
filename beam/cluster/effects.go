package cluster

import (
	"context"
	"slices"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/pass"
)

// written is what a pass has kept of every row: its name, and its checksum, as passes that begin with the same name
// need not be the same.
type written struct {
	Pass string `json:"pass"`
	Key  string `json:"key"`
}

// Effects implements search.Placed.
func (d *Driver) Effects() effects.Rows { return &d.effects }

// Made implements search.Placed.
func (d *Driver) Made() int { return d.count }

// GoOn implements search.Placed.
func (d *Driver) GoOn(made int) { d.count = made }

// effectRows are the rows as effects see them.
type effectRows struct {
	driver *Driver
	terms  written // the pass that wrote slopes and curvatures of terms
	rest   written // the pass that wrote the mean and variance of the process
}

// Functions implements effects.Rows.
func (r *effectRows) Functions() int { return r.driver.training.Functions() }

// together is how many groups are summed in one pass, of 24 bytes each.
const together = 1 << 20

// Together implements effects.Rows.
func (r *effectRows) Together() int { return together }

// Do implements effects.Rows.
func (r *effectRows) Do(ctx context.Context, tasks []effects.Task, use func(k int, found *effects.Found)) error {
	if len(tasks) == 0 {
		return nil
	}
	j := &job{Operation: learn, Rest: r.rest, Terms: r.terms, tasks: tasks}
	for _, task := range tasks {
		switch task := task.(type) { // of which there is one
		case effects.LookTask:
			j.set, j.Terms = task.Set, written{}
		case effects.ExplainTask:
			j.set = task.Set
		case effects.MomentsTask:
			j.set, j.Terms = task.Set, written{}
		}
	}
	got, at, err := r.driver.run(ctx, j)
	if err != nil {
		return err
	}
	if writesTerms(tasks) {
		if r.terms.Pass != "" {
			r.driver.store.remove(ctx, r.terms.Pass, "*.terms")
		}
		r.terms = at
	}
	for k := range got.effects {
		use(k, &got.effects[k])
	}
	return nil
}

// Rest implements search.Rest.
func (e *engine) Rest(ctx context.Context, q gauss.Gaussians) error {
	r := &e.driver.effects
	_, at, err := e.run(ctx, &job{Operation: rest, q: q.Naturals(), set: e.process.Effects()})
	if err != nil {
		return err
	}
	if r.rest.Pass != "" {
		r.driver.store.remove(ctx, r.rest.Pass, "*.rest")
	}
	r.rest = at
	return nil
}

var termNames = [2]string{"slope", "curvature"}

// sorted is a shard as effects see it, with what earlier passes have kept of its rows.
func (f *shardFn) sorted(ctx context.Context, r *Rows, part *lossep.Part) (*effects.Shard, error) {
	n, k := r.To-r.From, part.Functions()
	s := part.Effects(r.Number * f.training.ShardRows)
	read := func(from written, what string, names [2]string) (first, second [][]float64, err error) {
		if from.Pass == "" {
			return nil, nil, nil
		}
		file, err := f.store.readTensors(ctx, from.Pass, shardName(r.Number, what))
		if err != nil {
			return nil, nil, err
		}
		a, b, err := readPairs(file, n*k, names)
		if err != nil {
			return nil, nil, err
		}
		return slices.Collect(slices.Chunk(a, n)), slices.Collect(slices.Chunk(b, n)), nil
	}
	var err error
	if s.Offset, s.Spread, err = read(f.job.Rest, "rest", marginalNames); err != nil {
		return nil, err
	}
	if s.Slope, s.Curvature, err = read(f.job.Terms, "terms", termNames); s.Slope == nil && err == nil {
		s.Slope, s.Curvature = slices.Collect(slices.Chunk(make([]float64, n*k), n)), slices.Collect(slices.Chunk(make([]float64, n*k), n))
	}
	return s, err
}

// learn does the tasks of effects to a shard.
func (f *shardFn) learn(ctx context.Context, p *piece) (*found, error) {
	got, s := &found{effects: make([]effects.Found, len(f.job.tasks))}, p.sorted
	for k, task := range f.job.tasks {
		if err := task.Do([]*effects.Shard{s}, &got.effects[k]); err != nil {
			return nil, err
		}
	}
	if !writesTerms(f.job.tasks) {
		return got, nil
	}
	terms := pairs(termNames, slices.Concat(s.Slope...), slices.Concat(s.Curvature...))
	return got, f.store.writeTensors(ctx, terms, f.Pass, shardName(p.Number, "terms"))
}

// rest keeps the mean and variance of the process at every row, without the sums of effects there.
func (f *shardFn) rest(ctx context.Context, p *piece) (*found, error) {
	rows, sums, err := f.seen(p)
	if err != nil {
		return nil, err
	}
	k := len(f.job.q)
	q := gauss.NewGaussians(k, rows.Dim())
	n := gauss.NewNaturals(k, rows.Dim()) // which q takes, and the job is for other shards, too
	n.CopyFrom(f.job.q)
	if err := q.Exchange(n); err != nil {
		return nil, err
	}
	mean, variance := make([]float64, k*rows.Len()), make([]float64, k*rows.Len())
	pass.NewLocal([]pass.Rows{rows}, nil).Predict(q, mean, variance)
	effects.TakeOut(sums, k, mean, variance)
	return new(found), f.store.writeTensors(ctx, pairs(marginalNames, mean, variance), f.Pass, shardName(p.Number, "rest"))
}
