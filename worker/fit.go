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
func (s *session) fit(ctx context.Context, r *request, f *Frame, share *budget.Share) (any, []Tensor, error) {
	start := time.Now()
	o, kind, err := fitOptions(r.Options)
	if err != nil {
		return nil, nil, err
	}
	o.MaxMemory, o.Data.Unsettled = s.memory.work.Total, r.Unsettled
	o.Progress = s.progress(r)
	if kind == service.Number {
		return s.fitNumbers(ctx, r, f, share, o, start)
	}
	if o.Utility, err = r.Utility.spec(); err != nil {
		return nil, nil, err
	}
	t, err := s.rows(r, f, share)
	if err != nil {
		return nil, nil, err
	}
	p, err := lossep.Prepare(t, o)
	if err != nil {
		return nil, nil, err
	}
	work, err := s.wait(ctx, "the fit", p.FitBytes())
	if err != nil {
		return nil, nil, err
	}
	defer work.Release()
	m, err := p.Fit(ctx)
	if err != nil {
		return nil, nil, err
	}
	model, err := file(m)
	if err != nil {
		return nil, nil, err
	}
	notes := p.Notes
	return fitted{s.keep(m, notes, work), time.Since(start).Seconds()}, []Tensor{model}, nil
}

// rows is the table of a request that is going to be learned from.
func (s *session) rows(r *request, f *Frame, share *budget.Share) (*table.Table, error) {
	t, err := r.table(f)
	if err != nil {
		return nil, err
	}
	return t, s.take(share, "the rows", 2*8*float64(t.Len())*float64(len(r.Columns)+4))
}

// positive says which of two outcomes is positive by convention, by its place; -1 if neither is.
func (s *session) positive(r *request) (any, []Tensor, error) {
	names := r.Outcomes
	if len(names) != 2 {
		return nil, nil, &malformed{fmt.Sprintf("one of two outcomes is positive, and there are %d", len(names))}
	}
	return map[string]int{"at": recipe.Conventional([2]string(names))}, nil, nil
}

// progress sends how far a fit has come, ten times a second at most.
func (s *session) progress(r *request) func(lossep.Progress) {
	var last time.Time
	return func(p lossep.Progress) {
		now := time.Now()
		if now.Sub(last) < 100*time.Millisecond {
			return
		}
		last = now
		s.tell(r, map[string]any{
			"stage": p.Stage, "step": p.Step, "steps": p.Steps, "pass": p.Pass, "log_evidence": p.LogEvidence,
		})
	}
}

// calibrate is the model calibrated to other costs. The answer has its file.
func (s *session) calibrate(ctx context.Context, r *request) (any, []Tensor, error) {
	select {
	case s.calibration <- struct{}{}:
		defer func() { <-s.calibration }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	m, done, err := s.models.use(r.Model)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	spec, err := r.Utility.spec()
	if err != nil {
		return nil, nil, err
	}
	if spec != nil {
		if spec, err = m.Bind(spec); err != nil {
			return nil, nil, err
		}
	}
	work, err := s.wait(ctx, "the calibration", m.CalibrationBytes()+m.Bytes())
	if err != nil {
		return nil, nil, err
	}
	defer work.Release()
	c, err := m.Calibrate(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	model, err := file(c)
	if err != nil {
		return nil, nil, err
	}
	return s.keep(c, nil, work), []Tensor{model}, nil
}

// update is the model with further rows, or without those that are given. The answer has its file.
func (s *session) update(ctx context.Context, r *request, f *Frame, share *budget.Share) (any, []Tensor, error) {
	q := service.NewUpdate()
	if err := q.Options.Give(r.Options); err != nil {
		return nil, nil, err
	}
	m, done, err := s.models.use(r.Model)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	t, err := s.rows(r, f, share)
	if err != nil {
		return nil, nil, err
	}
	o := q.Model
	o.MaxMemory, o.Progress = s.memory.work.Total, s.progress(r)
	if r.Taken {
		o.Forget, t = t, nil
	}
	work, err := s.wait(ctx, "the update", 2*m.Bytes()+m.CalibrationBytes())
	if err != nil {
		return nil, nil, err
	}
	defer work.Release()
	next, err := m.Update(ctx, t, o)
	if err != nil {
		return nil, nil, err
	}
	model, err := file(next)
	if err != nil {
		return nil, nil, err
	}
	return s.keep(next, nil, work), []Tensor{model}, nil
}
