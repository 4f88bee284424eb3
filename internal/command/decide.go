package command

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// deciding is what decide is asked.
type deciding struct {
	*service.Decide
	place      *Place
	useExample bool
}

func newDecide(place *Place) *cobra.Command {
	q := &deciding{Decide: service.NewDecide(), place: place}
	c := &cobra.Command{
		Use:   "decide model.lossep new.csv [--utility other.yaml]",
		Short: "Choose the action with the lowest expected cost for each row",
		Long: `Choose the action with the lowest expected cost (or the highest expected utility) for each row
of a table. Output columns:

  id                 the --id column, or the line of the file
  action             the chosen action
  cost_ACTION        expected cost of each action (utility_ACTION for utilities)
  probability        of the positive outcome (probability_OUTCOME for more than two)
  margin             difference in expected cost to the next best action
  advantage_ACTION   expected cost of the best other action minus its own
  saving             expected saving compared with the baseline action (--baseline)
  disagreement       whether EP or corrected EP would choose another action (--second-opinion)
  why_1, …           columns with their values (months = 36) that most support the action, then those that
                     speak against it (--why; --why-without leaves columns out)
  why_1_direction    for or against the action
  why_1_effect       effect on the advantage: above 0 if the column speaks for the action
  flip, flip_action  smallest single-column change that leads to another action, and that action (--why)
  effects            contribution of each family of effects to the latent value, if the model has any (--why)
  unlimited          the action without the capacity (--capacity)
  forgone            the cost of the capacity limit in this row (--capacity)
  effort_ACTION      capacity that the action takes: 1, or as in the costs file, effort: {visit: minutes}
  could_flip         whether another action is best for some values of uncertain costs, such as uniform(4, 8)
  unusual            columns with out-of-range values, unseen categories, or missing values where training had none

With --capacity visit=100 the action visit is taken at most 100 times, in the rows where it saves
most: the total expected cost is minimised within the capacity, and rows that get the action come
first, by saving. The summary has the value of one more unit. --per day --time COLUMN makes it a capacity per day.

The output format (CSV, Parquet, JSON Lines, Excel) follows the extension of -o. Costs other
than those of the fit can be given without refitting. A summary goes to stderr, with the
saving compared with the best constant action, or with --baseline, and with the realised cost if the
file has the target column.

With --probability no model is needed: the table has a column with the probability of the
positive class.

If the outcome is a number, the columns are id, action, cost, mean, lower and higher (the
neighbouring actions), cost_lower, cost_higher and unusual.`,
		Example: `  lossep decide model.lossep new.csv --keep -o decided.csv
  lossep decide model.lossep new.csv --cost fn=10,fp=1
  lossep decide model.lossep new.xlsx --top 100 -o first.xlsx
  lossep decide model.lossep new.csv --why 3 -o reasons.xlsx
  lossep decide model.lossep new.csv --capacity visit=100 --per day --time received
  lossep decide --probability p scored.csv --cost fn=10,fp=1
  lossep decide --example`,
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if q.Probability != "" {
			return needArguments("the table of new cases")(c, args)
		}
		return needArguments("the model file", "the table of new cases")(c, args)
	}
	addOptions(c.Flags(), q.Options)
	addOwn(c.Flags(), service.Options{{
		Name: "example", Group: service.Basics, Help: "decide the held-out third of the embedded example, with a model fitted to the rest if none is given", Value: service.ToggleOf(&q.useExample),
	}})
	c.RunE = q.run
	return c
}

func (q *deciding) run(c *cobra.Command, args []string) error {
	if q.place != nil {
		if err := placeOptions(q.Decide, args); err != nil {
			return err
		}
	} else if err := q.Complete(); err != nil {
		return err
	}
	q.Memory = maxMemory(c) / 4
	if q.Probability == "" && len(args) > 0 {
		m, err := loadAny(c, args[0])
		if err != nil {
			return err
		}
		var job Decide
		answer, err := m.Deciding(c.Context(), q.Decide, job.keeping)
		if err != nil {
			return err
		}
		r := answering{&q.Cases, answer, append(args, q.Files()...)}
		if q.place != nil {
			return decideAt(c, q.place, r, q.Decide, job, args)
		}
		return r.run(c, func() (*tableInput, error) { return newCases(c, args, &q.Table) })
	}
	spec, err := q.Spec(c.Context(), readShort)
	if err != nil {
		return err
	}
	if q.Probability != "" {
		if q.useExample {
			return usagef("--example has no column of probabilities; leave out --probability, or give a table")
		}
		return decideGiven(c, q.Decide, spec, args[0])
	}
	m, err := decidingModel(c, args)
	if err != nil {
		return err
	}
	answer, err := q.Of(c.Context(), m, spec)
	if err != nil {
		return err
	}
	return answering{&q.Cases, answer, append(args, q.Files()...)}.run(c, func() (*tableInput, error) { return newCases(c, args, &q.Table) })
}

// decidingModel is the model given, or one that is fitted to the example.
func decidingModel(c *cobra.Command, args []string) (*lossep.Model, error) {
	if len(args) > 0 {
		return loadModel(c, args[0])
	}
	p, err := prepareExample(lossep.Options{Seed: 1, Progress: progress(c.ErrOrStderr())})
	if err != nil {
		return nil, err
	}
	if err := writeLines(c.ErrOrStderr(), p.Describe()); err != nil {
		return nil, err
	}
	defer clearProgress(c.ErrOrStderr())
	return p.Fit(c.Context())
}

// newCases opens the file of new cases, or the example's.
func newCases(c *cobra.Command, args []string, t *service.Table) (*tableInput, error) {
	if len(args) < 2 {
		return &tableInput{name: example.Name, text: bytes.NewReader(example.HeldOutCSV())}, nil
	}
	return openInput(c, args[1], t)
}

// decideGiven decides the cases of a table by probabilities that stand in it.
func decideGiven(c *cobra.Command, q *service.Decide, spec *decision.Spec, path string) error {
	in, err := openInput(c, path, &q.Table)
	if err != nil {
		return err
	}
	defer in.Close()
	t, err := in.read(c.Context(), q.Table, nil, nil)
	if err != nil {
		return blame(err, in.name)
	}
	answer, err := q.Given(t, spec)
	if err != nil {
		return blame(err, in.name)
	}
	var kept []table.SourceColumn
	if q.Keep {
		for j, name := range t.Columns() {
			kept = append(kept, table.SourceColumn{Name: name, Kind: t.Kinds()[j]})
		}
	}
	r := answering{Cases: &q.Cases, files: append(q.Files(), path)}
	err = r.write(c, kept, q.Shown(answer.Fields(), q.ID), t.Len(), func(_ context.Context, emit service.Emit) error {
		return answer.Rows(in.several(), emit)
	})
	if err != nil {
		return blame(err, in.name)
	}
	return writeSummary(c.ErrOrStderr(), answer.Lines(service.Flags))
}
