package command

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// givenDecision decides the cases of a table by probabilities that stand in it.
type givenDecision struct {
	*caseFlags
	column string
	spec   *decision.Spec
	files  []string // that are read
}

func (g *givenDecision) run(c *cobra.Command, path string) error {
	if g.spec == nil {
		return usagef("what mistakes cost is not given; with --probability there is no model to say it: give --cost, for example --cost fn=5,fp=1, or --utility file.yaml")
	}
	f := g.table.Format
	in, err := openInput(c, path)
	if err != nil {
		return err
	}
	defer in.Close()
	name := in.name
	t, err := in.read(c.Context(), f, nil, nil)
	if err != nil {
		return blame(err, name)
	}
	p, err := audit.Given(t, g.column, g.spec.Outcomes())
	if err != nil {
		return blame(err, name)
	}
	values := make(map[string][]float64)
	for _, column := range g.spec.Columns() {
		if values[column], err = t.Floats(column); err != nil {
			return blame(err, name)
		}
	}
	stakes, err := g.spec.Cases(t.Len(), func(i int, column string) (float64, error) { return values[column][i], nil })
	if err != nil {
		return blame(err, name)
	}
	actions := g.spec.Actions()
	taken, expected := make([]int, len(actions)), 0.0
	err = writeRows(c.Context(), c.OutOrStdout(), g.output, g.files, func(_ context.Context, w io.Writer) error {
		rows := newRowWriter(w, *g.format, t.Columns(), t.Kinds(), g.keep, g.names())
		for i, q := range p {
			choice := stakes[i%len(stakes)].Choose(make([]float64, len(actions)), q)
			taken[choice.Action]++
			expected += choice.Expected[choice.Action] / float64(len(p))
			if err := rows.write(t.Row(i), g.values(choice, q)...); err != nil {
				return err
			}
		}
		return rows.flush()
	})
	if err != nil {
		return err
	}
	lines := []string{fmt.Sprintf("%s decided by the probabilities in %s; %s", table.Plural(len(p), "row"), g.column, g.spec.RuleLine())}
	lines = append(lines, actionLines(actions, taken)...)
	lines = append(lines, fmt.Sprintf("expected %s per row %.6g, by the probabilities' own account; lossep audit --probability %s says whether they can be trusted", g.spec.Kind(), expected, service.ShellQuoted(g.column)))
	return writeSummary(c.ErrOrStderr(), lines)
}

// names are the columns of a decision, as those of a model's.
func (g *givenDecision) names() []string { return decisionNames(g.spec, *g.format, false) }

func (g *givenDecision) values(choice decision.Choice, p []float64) []any {
	actions := g.spec.Actions()
	values := []any{actions[choice.Action]}
	if *g.format == "json" {
		expected := make(map[string]float64)
		for a, u := range choice.Expected {
			expected[actions[a]] = u
		}
		return append(append(append(values, expected), probabilityValues(g.spec, p, *g.format)...), choice.Margin)
	}
	for _, u := range choice.Expected {
		values = append(values, u)
	}
	return append(append(values, probabilityValues(g.spec, p, *g.format)...), choice.Margin)
}
