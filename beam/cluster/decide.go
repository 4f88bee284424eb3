package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/lossep/lossep/internal/command"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

func init() {
	register.DoFn2x1[context.Context, string, error](&decideFn{})
}

// decideFn decides the rows of one row group after another.
type decideFn struct {
	Folder  string // for the decisions
	Job     string // command.Decide as JSON
	Program string // the version of the driver

	store  store
	job    command.Decide
	model  service.Loaded
	failed error // before the first row group
}

// Setup reads the model. As with shards, what fails is reported with the first row group.
func (f *decideFn) Setup(ctx context.Context) error {
	f.failed = f.begin(ctx)
	return nil
}

func (f *decideFn) begin(ctx context.Context) error {
	if err := sameProgram(f.Program, programVersion()); err != nil {
		return err
	}
	if err := fastMatrices(); err != nil {
		return err
	}
	f.store = store{f.Folder}
	if err := json.Unmarshal([]byte(f.Job), &f.job); err != nil {
		return err
	}
	file, err := openFile(ctx, f.job.Model)
	if err != nil {
		return err
	}
	defer file.Close() // nothing was written
	f.model, err = service.Load(file.Name(), memoryHere(f.job.Memory))
	return named(f.job.Model, err)
}

// ProcessElement writes the decisions about a row group, and what they come to.
func (f *decideFn) ProcessElement(ctx context.Context, element string) error {
	var r Rows
	if err := json.Unmarshal([]byte(element), &r); err != nil {
		return err
	}
	err := f.failed
	if err == nil {
		err = f.decide(ctx, &r)
	}
	if err != nil {
		tell(ctx, store{f.Folder}, err, shardName(r.Number, "error"))
	}
	return err
}

func (f *decideFn) decide(ctx context.Context, r *Rows) error {
	data, open, err := openFiles(ctx, r.Table, r.Files, memoryHere(f.job.Memory)/4)
	if err != nil {
		return err
	}
	defer open.Close() // nothing was written
	var rows bytes.Buffer
	decided, err := f.job.Rows(ctx, f.model, table.SomeRows(data, r.From, r.To), &rows)
	if err != nil {
		return err
	}
	if err := f.store.write(ctx, rows.Bytes(), partName(r.Number)); err != nil {
		return err
	}
	text, err := json.Marshal(decided)
	if err != nil {
		return err
	}
	return f.store.write(ctx, text, shardName(r.Number, "decided"))
}

// partName is the file of decisions about a row group.
func partName(number int) string { return fmt.Sprintf("part-%06d%s", number, parquet.Extension) }

// decide decides the rows of a table into a new folder, a file for each row group.
func (f *flags) decide(ctx context.Context, d command.Decide, t *parquet.Table, folder string, accept func([]*command.Decided) error) (err error) {
	// A folder of this machine appears when it is complete. Stores have no folders to rename:
	// there what was written is removed when not all of it could be.
	unfinished := folder
	if !remote(folder) {
		unfinished = folder + ".unfinished"
	}
	s := store{unfinished}
	s.discard(ctx) // of an earlier try
	if err := s.begin(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.discard(context.WithoutCancel(ctx))
		}
	}()
	job, err := json.Marshal(d)
	if err != nil {
		return err
	}
	pieces := cut(t, groups(t))
	if failure := runPipeline(ctx, f.runner, &decideFn{Folder: unfinished, Job: string(job), Program: programVersion()}, pieces); failure != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := told(ctx, s, pieces, ""); err != nil {
			return err
		}
		return fmt.Errorf("%s: %w", f.runner, failure)
	}
	var all []*command.Decided
	for _, r := range pieces {
		text, err := s.read(ctx, shardName(r.Number, "decided"))
		if err != nil {
			return err
		}
		one := new(command.Decided)
		if err := json.Unmarshal(text, one); err != nil {
			return named(s.path(shardName(r.Number, "decided")), err)
		}
		all = append(all, one)
	}
	if err := accept(all); err != nil {
		return err
	}
	s.remove(ctx, "*.decided")
	s.remove(ctx, "*.error") // of a try that was not the last
	if unfinished == folder {
		return nil
	}
	return os.Rename(unfinished, folder)
}

// tell writes down why something failed, for the driver. Engines report errors in their
// own ways; this is where it looks first. Work that the engine ended because other work
// failed is not the reason.
func tell(ctx context.Context, s store, err error, name ...string) {
	if errors.Is(err, context.Canceled) {
		return
	}
	told := new(table.Error)
	if !errors.As(err, &told) {
		told = &table.Error{Msg: err.Error()}
	}
	plain := *told
	plain.Err = nil // it is in the message
	if text, err := json.Marshal(plain); err == nil {
		_ = s.write(ctx, text, name...) // the disk may be full
	}
}

// told is what a worker wrote down about why it failed, nil if none did.
func told(ctx context.Context, s store, pieces []Rows, folder string) error {
	for _, r := range pieces {
		text, err := s.read(ctx, folder, shardName(r.Number, "error"))
		told := new(table.Error)
		if err != nil || json.Unmarshal(text, told) != nil {
			continue
		}
		if told.File == "" {
			return errors.New(told.Msg)
		}
		return told
	}
	return nil
}
