package worker

import (
	"bytes"
	"context"
	"maps"
	"slices"

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
