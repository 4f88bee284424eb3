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
	if f.job.Operation == learn {
		return nil
	}
	if f.job.process, err = f.training.Process(f.job.Kernel, f.job.z); err == nil {
		f.job.process = f.job.process.With(f.job.set)
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
	var found *found
	if f.job.Operation == learn {
		found, err = f.learn(ctx, r, sorted)
	} else {
		found, err = f.pass(ctx, r, part, sorted)
	}
	if err != nil {
		return err
	}
	file, err := found.file(f.key)
	if err != nil {
		return err
	}
	return f.store.writeTensors(ctx, file, f.Pass, shardName(r.Number, "sums"))
}

// pass makes a pass over a shard as the process sees it, with the sums of effects on its rows.
func (f *shardFn) pass(ctx context.Context, r *Rows, part *lossep.Part, sorted *effects.Shard) (*found, error) {
	process := f.job.process
	var sums []effects.Moment
	if len(f.job.set) > 0 {
		sums = make([]effects.Moment, (r.To-r.From)*part.Functions())
		if err := sorted.Sums(f.job.set, sums); err != nil {
			return nil, err
		}
		process = process.Trained(sums)
	}
	rows := part.Shard(process)
	if f.job.Operation == rest {
		return new(found), f.rest(ctx, r, rows, sums)
	}
	sites, err := readSites(ctx, f.store, rows.Len()*part.Functions(), f.job.Sites, r.Number)
	if err != nil {
		return nil, err
	}
	return f.do(ctx, r, rows, sites, sorted)
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

// do is the operation itself.
func (f *shardFn) do(ctx context.Context, r *Rows, rows pass.Rows, sites []gauss.Scalar, sorted *effects.Shard) (*found, error) {
	j, got := f.job, new(found)
	q := j.q
	var err error
	switch j.Operation {
	case gather:
		got.Sums = &pass.Sums{Change: pass.Gather(rows, sites)}
	case over:
		next := make([]gauss.Scalar, len(sites))
		if got.Sums, err = pass.Over(q, rows, sites, next, j.Options); err == nil {
			err = writeSites(ctx, f.store, next, f.Pass, r.Number)
		}
	case look:
		var see pass.See
		var mean, variance []float64
		if j.See {
			see = func(i int, m, v []float64) {
				for c := range m {
					without := sorted.Without(j.set, i, c)
					mean, variance = append(mean, m[c]+without.Mean), append(variance, v[c]+without.Variance)
				}
			}
		}
		if got.Sums, err = pass.Look(q, rows, sites, j.Options, see); err == nil && j.See {
			err = f.store.writeTensors(ctx, pairs(marginalNames, mean, variance), f.Pass, shardName(r.Number, "seen"))
		}
	case slopes:
		got.Sums, got.gradient, err = gp.Slopes(q, rows, sites, j.Options)
	default:
		err = fmt.Errorf("%s: the operation %q is unknown; workers are of another version than the driver", f.store.path(f.Pass, "job"), j.Operation)
	}
	return got, err
}
