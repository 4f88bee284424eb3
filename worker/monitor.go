package worker

import (
	"context"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/service"
)

// monitor says what decisions on the rows cost, window by window. Outcomes stand in the column of the target; those
// that are missing are not known yet.
func (j *job) monitor(ctx context.Context) (any, []Tensor, error) {
	return j.watch(ctx, service.CategoryModel{Model: j.model}, j.model.Bytes()+j.model.CalibrationBytes())
}

func (j *job) monitorNumbers(ctx context.Context) (any, []Tensor, error) {
	seen, _ := j.number.Inputs().Dims()
	return j.watch(ctx, service.NumberModel{Model: j.number}, j.number.Bytes()+lossep.EP.FitBytes(seen))
}

func (j *job) watch(ctx context.Context, m service.Loaded, bytes float64) (any, []Tensor, error) {
	q := service.NewMonitor()
	if err := given(q.Options, j.Options, q.Complete); err != nil {
		return nil, nil, err
	}
	if err := j.take(j.share, "the rows", 2*8*float64(j.rows.Len())*float64(len(j.Columns)+m.Recipe().Dim()+4)); err != nil {
		return nil, nil, err
	}
	work, err := j.wait(ctx, "training rows left out", bytes)
	if err != nil {
		return nil, nil, err
	}
	defer work.Release()
	found, err := q.Of(ctx, m, j.rows, nil, nil)
	return found, nil, err
}
