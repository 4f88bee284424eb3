package worker

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/report"
	"github.com/lossep/lossep/service"
)

// audit measures what decisions on the rows of a table cost. The answer has the text of the
// report and its files, by name.
func (j *job) audit(ctx context.Context) (any, []Tensor, error) {
	q := service.NewAudit()
	if err := given(q.Options, j.Options, q.Complete, q.TakenAsGiven); err != nil {
		return nil, nil, err
	}
	o := q.Audit
	o.Fit.Utility, o.Fit.MaxMemory = j.spec, j.memory.work.Total
	work, err := j.wait(ctx, "the audit", float64(j.memory.work.Total)) // as many folds at once as that allows
	if err != nil {
		return nil, nil, err
	}
	defer work.Release()
	a, err := audit.New(ctx, j.rows, o)
	if err != nil {
		return nil, nil, err
	}
	done := 0
	folds, err := a.Run(ctx, nil, func(*audit.Fold) error {
		done++
		j.tell(map[string]any{"stage": "folds", "step": done, "steps": a.Len()})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	result, err := a.Summarise(folds)
	if err != nil {
		return nil, nil, err
	}
	result.Notes = service.Naming(keywords).Notes(result.Notes, a.Problem().Findings)
	found := report.NewAudit(j.Origin, j.rows.Name(), a, result)
	var text bytes.Buffer
	if err := found.WriteText(&text); err != nil {
		return nil, nil, err
	}
	files, err := found.Files()
	if err != nil {
		return nil, nil, err
	}
	tensors := []Tensor{Raw("text", text.Bytes())}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		tensors = append(tensors, Raw(name, files[name]))
	}
	return map[string]any{}, tensors, nil
}

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
