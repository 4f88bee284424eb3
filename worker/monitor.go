package worker

import (
	"context"

	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/service"
)

// monitor says what decisions on the rows cost, window by window. Outcomes stand in the column of the target; those
// that are missing are not known yet.
func (s *session) monitor(ctx context.Context, r *request, f *Frame, share *budget.Share) (any, []Tensor, error) {
	q := service.NewMonitor()
	if err := q.Options.Give(r.Options); err != nil {
		return nil, nil, err
	}
	if err := q.Complete(); err != nil {
		return nil, nil, err
	}
	m, done, err := s.models.use(r.Model)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	t, err := r.table(f)
	if err != nil {
		return nil, nil, err
	}
	if err := s.take(share, "the rows", 2*8*float64(t.Len())*float64(len(r.Columns)+m.Recipe().Dim()+4)); err != nil {
		return nil, nil, err
	}
	work, err := s.wait(ctx, "training rows left out", m.Bytes()+m.CalibrationBytes())
	if err != nil {
		return nil, nil, err
	}
	defer work.Release()
	found, err := q.Of(ctx, m, t, nil, nil)
	return found, nil, err
}
