package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/command"
	"github.com/lossep/lossep/internal/lock"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/table"
)

// Options of passes.
type Options struct {
	Folder string // that driver and workers share, for this fit alone
	Runner string // of Beam
	// Passed, if set, is called after every pass that was made.
	Passed func(Passed)
}

// Passed describes a pass.
type Passed struct {
	Name  string
	Took  time.Duration
	Bytes int // of the sums of all shards
}

// Driver makes the passes of a fit on a cluster: a command.Passes.
type Driver struct {
	opt      Options
	store    store
	training *lossep.Training
	shards   []Rows
	memory   int64
	lock     *os.File // of the folder, nil if it cannot be locked

	count   int // passes so far
	effects effectRows
}

// NewDriver makes the passes of a fit by a folder, where those that were finished before for
// the same rows are found again.
func NewDriver(ctx context.Context, f command.Fit, o Options) (*Driver, error) {
	d := &Driver{opt: o, store: store{o.Folder}, training: f.Training, memory: f.Memory}
	rows := 0
	for _, g := range f.Table.Groups() {
		rows += g.Rows
	}
	if rows != f.Training.Rows {
		return nil, &table.Error{File: f.Table.Name(), Msg: fmt.Sprintf("there are %d rows, and %d to be fitted to", rows, f.Training.Rows), Fix: "take out rows that count nothing, and leave files alone while they are fitted to"}
	}
	d.effects.driver = d
	d.shards = cut(f.Table, every(f.Training.ShardRows, rows))
	if err := d.begin(ctx); err != nil {
		_ = d.Close() // the first error is the one to tell
		return nil, err
	}
	return d, nil
}

// begin makes the folder ready for the fit.
func (d *Driver) begin(ctx context.Context) error {
	text, err := json.Marshal(d.training)
	if err != nil {
		return err
	}
	if err := d.takeFolder(ctx); err != nil {
		return err
	}
	if before, err := d.store.read(ctx, "training.json"); err == nil && string(before) != string(text) {
		d.store.discard(ctx) // of another fit
		_ = d.Close()
		if err := d.takeFolder(ctx); err != nil {
			return err
		}
	}
	return d.store.write(ctx, text, "training.json")
}

// takeFolder keeps other drivers out of the folder, and says in it who is at work there.
// Stores of objects have no locks.
func (d *Driver) takeFolder(ctx context.Context) error {
	if remote(d.opt.Folder) {
		return nil
	}
	if err := d.store.begin(); err != nil {
		return command.Usagef("--work: the folder cannot be made: %w", err)
	}
	held, err := lock.Folder(d.opt.Folder)
	if unreadable := new(os.PathError); errors.As(err, &unreadable) {
		return command.Usagef("--work: the folder cannot be opened: %w", err)
	}
	if err != nil {
		who, _ := d.store.read(ctx, "driver")
		if len(who) == 0 { // it is about to say so
			who = []byte("another driver")
		}
		return command.Usagef("--work: %s: %s is fitting by this folder; wait for its end, or give another folder", d.opt.Folder, who)
	}
	d.lock = held
	host, _ := os.Hostname() // the number alone may do
	return d.store.write(ctx, fmt.Appendf(nil, "process %d of %s", os.Getpid(), host), "driver")
}

// Close implements command.Passes.
func (d *Driver) Close() error {
	if d.lock == nil {
		return nil
	}
	lock := d.lock
	d.lock = nil
	return lock.Close()
}

// Watch has a function called with the name of every pass that is made from now on.
func (d *Driver) Watch(passed func(name string)) {
	before := d.opt.Passed
	d.opt.Passed = func(p Passed) {
		if before != nil {
			before(p)
		}
		passed(p.Name)
	}
}

// Finished implements command.Passes.
func (d *Driver) Finished() { d.store.discard(context.Background()) }

// Drive implements gp.Driver.
func (d *Driver) Drive(p *gp.Inducing, before gp.Engine) (gp.Engine, error) {
	e := &engine{driver: d, process: p}
	if before != nil {
		b := before.(*engine)
		e.sites, e.own, e.next = b.sites, b.own, b.next
	}
	return e, nil
}

// engine makes passes for one process.
type engine struct {
	driver  *Driver
	process *gp.Inducing
	sites   string // the pass that wrote the current ones; empty for empty sites
	own     bool   // no other engine has need of them
	next    string // the last pass, if its sites were not kept yet
}

// Dim implements pass.Engine.
func (e *engine) Dim() int { return e.process.Dim() }

// Functions implements pass.Engine.
func (e *engine) Functions() int { return e.driver.training.Functions() }

// Keep implements pass.Engine.
func (e *engine) Keep() {
	e.drop()
	e.sites, e.own, e.next = e.next, true, ""
}

// Clear implements pass.Engine.
func (e *engine) Clear() {
	e.drop()
	e.sites, e.own = "", false
}

// drop removes the current sites if nobody has need of them.
func (e *engine) drop() {
	if e.own && e.sites != "" {
		e.driver.store.remove(context.Background(), e.sites, "*.sites")
	}
}

// Fork implements gp.Engine.
func (e *engine) Fork() gp.Engine {
	e.own = false
	return &engine{driver: e.driver, process: e.process, sites: e.sites}
}

// Gather implements pass.Engine.
func (e *engine) Gather(ctx context.Context) (gauss.Naturals, error) {
	got, _, err := e.run(ctx, &job{Operation: gather, set: e.process.Effects()})
	if err != nil {
		return nil, err
	}
	return got.Change, nil
}

// Pass implements pass.Engine. The sites of a pass that was not kept are removed; those
// from before it are still there.
func (e *engine) Pass(ctx context.Context, q gauss.Naturals, o pass.Options) (*pass.Sums, error) {
	return e.over(ctx, &job{Operation: over, Options: o, q: q, set: e.process.Effects()})
}

// over does a job that writes sites.
func (e *engine) over(ctx context.Context, j *job) (*pass.Sums, error) {
	if e.next != "" {
		e.driver.store.remove(ctx, e.next, "*.sites")
	}
	got, at, err := e.run(ctx, j)
	if err != nil {
		return nil, err
	}
	e.next = at.Pass
	return got.Sums, nil
}

// Look implements pass.Engine.
func (e *engine) Look(ctx context.Context, q gauss.Naturals, o pass.Options, see pass.See) (*pass.Sums, error) {
	j := &job{Operation: look, Options: o, q: q, set: e.process.Effects()}
	if e.process.Effects() != nil && see != nil { // whose part in a row is left out with it
		j.Terms = e.driver.effects.terms
	}
	return e.look(ctx, j, see)
}

// look does a job that looks at rows.
func (e *engine) look(ctx context.Context, j *job, see pass.See) (*pass.Sums, error) {
	j.See = see != nil
	got, at, err := e.run(ctx, j)
	if err != nil || see == nil {
		return got.sums(), err
	}
	d, k := e.driver, e.Functions()
	first := 0
	for _, r := range d.shards {
		f, err := d.store.readTensors(ctx, at.Pass, shardName(r.Number, "seen"))
		if err != nil {
			return nil, &pass.EngineError{Err: err}
		}
		n := r.To - r.From
		mean, variance, err := readPairs(f, n*k, marginalNames)
		if err != nil {
			return nil, &pass.EngineError{Err: err}
		}
		see(first, mean, variance)
		first += n
	}
	return got.sums(), nil
}

// Slopes implements gp.Engine.
func (e *engine) Slopes(ctx context.Context, q gauss.Naturals, o pass.Options) (*pass.Sums, []float64, error) {
	got, _, err := e.run(ctx, &job{Operation: slopes, Options: o, q: q, set: e.process.Effects()})
	if err != nil {
		return nil, nil, err
	}
	return got.Sums, got.gradient, nil
}

// Sites implements gp.Engine.
func (e *engine) Sites(ctx context.Context) ([]gauss.Scalar, error) {
	k := e.Functions()
	all := make([]gauss.Scalar, 0, e.driver.training.Rows*k)
	for _, r := range e.driver.shards {
		sites, err := readSites(ctx, e.driver.store, (r.To-r.From)*k, e.sites, r.Number)
		if err != nil {
			return nil, &pass.EngineError{Err: err}
		}
		all = append(all, sites...)
	}
	return all, nil
}

// Put implements gp.Engine.
func (e *engine) Put(ctx context.Context, sites []gauss.Scalar) error {
	d := e.driver
	d.count++
	name := fmt.Sprintf("%06d-put", d.count)
	for _, r := range d.shards {
		n := (r.To - r.From) * e.Functions()
		if err := writeSites(ctx, d.store, sites[:n], name, r.Number); err != nil {
			return &pass.EngineError{Err: err}
		}
		sites = sites[n:]
	}
	e.drop()
	e.sites, e.own = name, true
	return nil
}

func (r *found) sums() *pass.Sums {
	if r == nil {
		return nil
	}
	return r.Sums
}

// run does a job to the rows as the process sees them.
func (e *engine) run(ctx context.Context, j *job) (*found, written, error) {
	j.Kernel, j.Sites, j.z = e.process.Kernel().String(), e.sites, e.process.Points()
	return e.driver.run(ctx, j)
}

// run does a job to all shards, unless that was done before, and adds up what they come to.
func (d *Driver) run(ctx context.Context, j *job) (*found, written, error) {
	d.count++
	name := fmt.Sprintf("%06d-%s", d.count, j.Operation)
	j.Program, j.Tuned = programVersion(), d.training.Tuned()
	content, key, err := j.encode()
	if err != nil {
		return nil, written{}, err
	}
	at := written{name, key}
	if f, err := d.store.readTensors(ctx, name, "total"); err == nil {
		if got, err := readFound(f, key); err == nil && got != nil {
			return got, at, nil
		}
	}
	start := time.Now()
	got, bytes, err := d.compute(ctx, name, key, content)
	if err != nil {
		if ctx.Err() != nil {
			return nil, at, ctx.Err()
		}
		return nil, at, &pass.EngineError{Err: err}
	}
	if d.opt.Passed != nil {
		d.opt.Passed(Passed{name, time.Since(start), bytes})
	}
	return got, at, nil
}

// mostTries is how often a pass is tried when it is the engine that fails: a job server that
// does not answer in time, for example.
const mostTries = 3

// compute has workers do a job to all shards and adds up their sums, of so many bytes.
func (d *Driver) compute(ctx context.Context, name, key string, job []byte) (total *found, size int, err error) {
	d.store.remove(ctx, name, "*.error")
	if err := d.store.write(ctx, job, name, "job"); err != nil {
		return nil, 0, err
	}
	for tries := 1; ; tries++ {
		failure := runPipeline(ctx, d.opt.Runner, &shardFn{Folder: d.opt.Folder, Pass: name, Memory: d.memory}, d.shards)
		if failure == nil {
			break
		}
		if err := told(ctx, d.store, d.shards, name); err != nil {
			return nil, 0, err
		}
		// Shards that were finished are not gone over again.
		if tries == mostTries || ctx.Err() != nil {
			return nil, 0, fmt.Errorf("%s: %w", d.opt.Runner, failure)
		}
	}
	for _, r := range d.shards {
		f, bytes, err := d.store.readSized(ctx, name, shardName(r.Number, "sums"))
		if err != nil {
			return nil, 0, fmt.Errorf("%w; a worker has written it: is another driver at work in %s, and has removed it?", err, d.opt.Folder)
		}
		part, err := readFound(f, key)
		if err != nil {
			return nil, 0, err
		}
		if part == nil {
			return nil, 0, fmt.Errorf("%s is of another pass; is another driver at work in %s?", d.store.path(name, shardName(r.Number, "sums")), d.opt.Folder)
		}
		size += bytes
		if total == nil {
			if total = part; part.Sums == nil {
				continue
			}
			total = &found{Sums: part.None(), gradient: make([]float64, len(part.gradient))}
		}
		total.add(part)
	}
	all, err := total.file(key)
	if err == nil {
		err = d.store.writeTensors(ctx, all, name, "total")
	}
	if err != nil {
		return nil, 0, err
	}
	d.store.remove(ctx, name, "*.sums")
	d.store.remove(ctx, name, "job")
	return total, size, nil
}
