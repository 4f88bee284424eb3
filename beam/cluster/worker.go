package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/command"
	"github.com/lossep/lossep/level3"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/table"
)

func init() {
	register.DoFn2x1[context.Context, string, error](&shardFn{})
}

// shardFn does a job to one shard after another.
type shardFn struct {
	Folder string // that all share
	Pass   string
	Memory int64 // in bytes; see memoryHere

	store    store
	job      *job
	key      string
	training *lossep.Training
	failed   error // before the first shard
}

// fastMatrices is the same on driver and workers of one kind, and so are their results.
var fastMatrices = sync.OnceValue(level3.Use)

// Setup reads what the pass begins with. What fails is reported with the first shard: engines
// say of Setup that it failed, but not always why.
func (f *shardFn) Setup(ctx context.Context) error {
	f.failed = f.begin(ctx)
	return nil
}

func (f *shardFn) begin(ctx context.Context) error {
	if err := fastMatrices(); err != nil {
		return err
	}
	f.store = store{f.Folder}
	text, err := f.store.read(ctx, "training.json")
	if err != nil {
		return err
	}
	if f.training, err = numbers.ReadTraining(text); err != nil {
		return named(f.store.path("training.json"), err)
	}
	if f.job, f.key, err = readJob(ctx, f.store, f.Pass); err != nil {
		return err
	}
	if f.job.z != nil {
		f.job.process, err = f.training.Process(f.job.Kernel, f.job.z)
	}
	return err
}

// ProcessElement does the job to a shard. What it writes depends on nothing but the job and
// the shard, so that it can be done again.
func (f *shardFn) ProcessElement(ctx context.Context, element string) error {
	var r Rows
	if err := json.Unmarshal([]byte(element), &r); err != nil {
		return err
	}
	err := f.failed
	if err == nil {
		err = f.shard(ctx, &r)
	}
	if err != nil {
		tell(ctx, store{f.Folder}, err, f.Pass, shardName(r.Number, "error"))
	}
	return err
}

func (f *shardFn) shard(ctx context.Context, r *Rows) error {
	if f.done(ctx, r) {
		return nil
	}
	part, err := f.part(ctx, r)
	if err != nil {
		return err
	}
	part.Tune(f.job.Tuned)
	sorted, err := f.sorted(ctx, r, part)
	if err != nil {
		return err
	}
	do, ok := operations[f.job.Operation]
	if !ok {
		return fmt.Errorf("%s: the operation %q is unknown; workers are of another version than the driver", f.store.path(f.Pass, "job"), f.job.Operation)
	}
	found, err := do(f, ctx, &piece{r, part, sorted})
	if err != nil {
		return err
	}
	file, err := found.file(f.key)
	if err != nil {
		return err
	}
	return f.store.writeTensors(ctx, file, f.Pass, shardName(r.Number, "sums"))
}

// piece is a shard: where its rows are, these as numbers, and as effects see them.
type piece struct {
	*Rows
	part   *lossep.Part
	sorted *effects.Shard
}

func (p *piece) len() int { return p.To - p.From }

// seen are the rows as the process sees them, with the sums of effects on them.
func (f *shardFn) seen(p *piece) (rows pass.Rows, sums []effects.Moment, err error) {
	process := f.job.process
	if len(f.job.set) > 0 {
		sums = make([]effects.Moment, p.len()*p.part.Functions())
		if err := p.sorted.Sums(f.job.set, sums); err != nil {
			return nil, nil, err
		}
		process = process.With(f.job.set).Trained(sums)
	}
	return p.part.Shard(process), sums, nil
}

// sited are the rows as the process sees them, and their sites.
func (f *shardFn) sited(ctx context.Context, p *piece) (pass.Rows, []gauss.Scalar, error) {
	rows, _, err := f.seen(p)
	if err != nil {
		return nil, nil, err
	}
	sites, err := readSites(ctx, f.store, rows.Len()*p.part.Functions(), f.job.Sites, p.Number)
	return rows, sites, err
}

// done tells whether the shard was finished by a worker before.
func (f *shardFn) done(ctx context.Context, r *Rows) bool {
	file, err := f.store.readTensors(ctx, f.Pass, shardName(r.Number, "sums"))
	if err != nil {
		return false
	}
	found, err := readFound(file, f.key)
	return err == nil && found != nil
}

// part is the rows of a shard as numbers: from the first pass on they lie in the folder that
// all share, and files are read again only where they are others than they were then.
func (f *shardFn) part(ctx context.Context, r *Rows) (*lossep.Part, error) {
	state, err := stateOf(ctx, r.Files)
	if err != nil {
		return nil, err
	}
	name := []string{partsFolder, shardName(r.Number, fmt.Sprintf("part-%x", sha256.Sum256([]byte(state))))}
	if kept, err := f.store.read(ctx, name...); err == nil {
		if part, err := f.training.PartOf(r.Number, kept); err == nil {
			return part, nil
		}
	}
	part, err := f.read(ctx, r)
	if err != nil {
		return nil, err
	}
	return part, f.store.write(ctx, part.Bytes(), name...)
}

// memoryHere is what a worker may use: as much as was said, or where nothing was what is usual
// on its own machine, which need not be like the driver's.
func memoryHere(given int64) int64 {
	if given > 0 {
		return given
	}
	return command.UsualMemory()
}

// partsFolder is where the parts are.
const partsFolder = "parts"

// read reads the rows of a shard from the files of the table.
func (f *shardFn) read(ctx context.Context, r *Rows) (*lossep.Part, error) {
	data, open, err := openFiles(ctx, r.Table, r.Files, memoryHere(f.Memory)/4)
	if err != nil {
		return nil, err
	}
	defer open.Close() // nothing was written
	source, err := f.training.Recipe.Part(data, r.From, r.To)
	if err != nil {
		return nil, err
	}
	rows, err := table.ReadSource(ctx, source, table.Format{Decimal: f.training.Recipe.Decimal}, nil)
	if err != nil {
		return nil, err
	}
	return f.training.Part(r.Number, rows)
}

// operations are those on a shard, as a job names them.
var operations = map[operation]func(f *shardFn, ctx context.Context, p *piece) (*found, error){
	gather: (*shardFn).gather, over: (*shardFn).over, look: (*shardFn).look, slopes: (*shardFn).slopes,
	learn: (*shardFn).learn, rest: (*shardFn).rest,
	gatherGroups: (*shardFn).gatherGroups, overGroups: (*shardFn).overGroups, lookGroups: (*shardFn).lookGroups,
}

func (f *shardFn) gather(ctx context.Context, p *piece) (*found, error) {
	rows, sites, err := f.sited(ctx, p)
	if err != nil {
		return nil, err
	}
	return &found{Sums: &pass.Sums{Change: pass.Gather(rows, sites)}}, nil
}

func (f *shardFn) over(ctx context.Context, p *piece) (*found, error) {
	rows, sites, err := f.sited(ctx, p)
	if err != nil {
		return nil, err
	}
	next := make([]gauss.Scalar, len(sites))
	sums, err := pass.Over(f.job.q, rows, sites, next, f.job.Options)
	if err != nil {
		return nil, err
	}
	return &found{Sums: sums}, writeSites(ctx, f.store, next, f.Pass, p.Number)
}

func (f *shardFn) look(ctx context.Context, p *piece) (*found, error) {
	rows, sites, err := f.sited(ctx, p)
	if err != nil {
		return nil, err
	}
	return f.see(ctx, p, rows, sites, func(i, c int) effects.Moment { return p.sorted.Without(f.job.set, i, c) })
}

// see looks at rows, and keeps what is known of each without it where that is wanted; effects that are independent of
// the process change it further.
func (f *shardFn) see(ctx context.Context, p *piece, rows pass.Rows, sites []gauss.Scalar, without func(i, c int) effects.Moment) (*found, error) {
	var see pass.See
	var mean, variance []float64
	if f.job.See {
		k := pass.Functions(rows)
		see = func(i int, m, v []float64) {
			for j := range m {
				change := without(i+j/k, j%k)
				mean, variance = append(mean, m[j]+change.Mean), append(variance, v[j]+change.Variance)
			}
		}
	}
	sums, err := pass.Look(f.job.q, rows, sites, f.job.Options, see)
	if err != nil || !f.job.See {
		return &found{Sums: sums}, err
	}
	return &found{Sums: sums}, f.store.writeTensors(ctx, pairs(marginalNames, mean, variance), f.Pass, shardName(p.Number, "seen"))
}

func (f *shardFn) slopes(ctx context.Context, p *piece) (*found, error) {
	rows, sites, err := f.sited(ctx, p)
	if err != nil {
		return nil, err
	}
	sums, gradient, err := gp.Slopes(f.job.q, rows, sites, f.job.Options)
	return &found{Sums: sums, gradient: gradient}, err
}
