package cluster

import (
	"context"
	"encoding/json"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// runPipeline has workers do something to pieces of a table, in any order and on any
// machines.
func runPipeline(ctx context.Context, runner string, do any, pieces []Rows) error {
	p, s := beam.NewPipelineWithRoot()
	var elements []any
	for _, r := range pieces {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		elements = append(elements, string(text))
	}
	// Without being shuffled all elements would stay on the machine that made them.
	beam.ParDo0(s, do, beam.Reshuffle(s, beam.Create(s, elements...)))
	_, err := beam.Run(ctx, runner, p)
	return err
}
