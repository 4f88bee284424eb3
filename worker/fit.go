package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// fitted is the result of a fit.
type fitted struct {
	*Described
	Seconds float64 `json:"seconds"` // from the table to the model
}

// fit fits a model to a table. The answer has the model file.
func (j *job) fit(ctx context.Context) (any, []Tensor, error) {
	o, err := j.fitting()
	if err != nil {
		return nil, nil, err
	}
	o.Utility = j.spec
	p, err := lossep.PrepareSettled(ctx, j.rows, o)
	if err != nil {
		return nil, nil, err
	}
	work, err := j.wait(ctx, "the fit", p.FitBytes())
	if err != nil {
		return nil, nil, err
	}
	defer work.Release()
	m, err := p.Fit(ctx)
	if err != nil {
		return nil, nil, err
	}
	described, model, err := j.keepWithFile(m, service.Naming(keywords).Notes(p.Notes, p.Findings), work)
	return fitted{described, time.Since(j.start).Seconds()}, model, err
}

// fitting are the options of a fit, whatever the outcome, with the memory of its rows taken.
func (j *job) fitting() (lossep.Options, error) {
	o, _, err := fitOptions(j.Options)
	if err != nil {
		return o, err
	}
	o.MaxMemory, o.Data.Unsettled, o.Progress = j.memory.work.Total, j.Unsettled, j.progress()
	return o, j.takeRows()
}

// takeRows takes the memory of rows that a model learns from.
func (j *job) takeRows() error {
	return j.take(j.share, "the rows", 2*8*float64(j.rows.Len())*float64(len(j.Columns)+4))
}

// positive says which of two outcomes is positive by convention, by its place; -1 if neither is.
func (j *job) positive(context.Context) (any, []Tensor, error) {
	names := j.Outcomes
	if len(names) != 2 {
		return nil, nil, &malformed{fmt.Sprintf("one of two outcomes is positive, and there are %d", len(names))}
	}
	return map[string]int{"at": recipe.Conventional([2]string(names))}, nil, nil
}

// progress sends how far a fit has come, ten times a second at most.
func (j *job) progress() func(lossep.Progress) {
	var last time.Time
	return func(p lossep.Progress) {
		now := time.Now()
		if now.Sub(last) < 100*time.Millisecond {
			return
		}
		last = now
		j.tell(map[string]any{
			"stage": p.Stage, "step": p.Step, "steps": p.Steps, "pass": p.Pass, "log_evidence": p.LogEvidence,
		})
	}
}

// calibrate is the model calibrated to other costs. The answer has its file.
func (j *job) calibrate(ctx context.Context) (any, []Tensor, error) {
	select {
	case j.calibration <- struct{}{}:
		defer func() { <-j.calibration }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	done, err := j.use()
	if err != nil {
		return nil, nil, err
	}
	defer done()
	if j.number != nil {
		return nil, nil, errNumber
	}
	if j.spec != nil {
		if j.spec, err = j.model.Bind(j.spec); err != nil {
			return nil, nil, err
		}
	}
	work, err := j.wait(ctx, "the calibration", j.model.CalibrationBytes()+j.model.Bytes())
	if err != nil {
		return nil, nil, err
	}
	defer work.Release()
	c, err := j.model.Calibrate(ctx, j.spec)
	if err != nil {
		return nil, nil, err
	}
	return j.keepWithFile(c, nil, work)
}

// update is the model with further rows, or without those that are given. The answer has its file.
func (j *job) update(ctx context.Context) (any, []Tensor, error) {
	next, work, err := updated(ctx, j, j.model.Update, 2*j.model.Bytes()+j.model.CalibrationBytes())
	if err != nil {
		return nil, nil, err
	}
	defer work.Release()
	return j.keepWithFile(next, nil, work)
}

// updated is a model that is updated as asked for, in so many bytes.
func updated[M any](ctx context.Context, j *job, update func(context.Context, *table.Table, lossep.UpdateOptions) (M, error), bytes float64) (none M, _ *budget.Share, _ error) {
	q := service.NewUpdate()
	if err := given(q.Options, j.Options, q.TakenAsGiven); err != nil {
		return none, nil, err
	}
	if err := j.takeRows(); err != nil {
		return none, nil, err
	}
	o, more := q.Model, j.rows
	o.MaxMemory, o.Progress = j.memory.work.Total, j.progress()
	if j.Taken {
		o.Forget, more = more, nil
	}
	work, err := j.wait(ctx, "the update", bytes)
	if err != nil {
		return none, nil, err
	}
	next, err := update(ctx, more, o)
	if err != nil {
		work.Release()
	}
	return next, work, err
}
