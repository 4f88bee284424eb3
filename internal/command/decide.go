package command

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/service"
)

func newDecide(place *Place) *cobra.Command {
	var useExample bool
	c := &cobra.Command{
		Use:   "decide model new.csv [--utility other.yaml]",
		Short: "Choose the best action in new cases",
		Long: `Read new cases and print for each its id, the action with the lowest expected cost or the
highest expected utility, what is expected of every action (columns cost_NAME, or
utility_NAME), the probability of the positive outcome, or of each of more than two
(columns probability_NAME), the margin to the next best action, the advantage of every action
(columns advantage_NAME: the expected cost of the best other action minus its own, so that it is the
margin for the action taken and not above 0 for the others), and the saving: what the action is
expected to save against the baseline, the first action of the costs or the one that --baseline names.
With --second-opinion also whether methods disagree: whether expectation propagation, with and
without corrections, would act otherwise than the model. With --why 3 also the three columns that
move the decision most (why_1, why_2, why_3), by how much the advantage of the action is larger than if
the column were not known (why_1_effect; above 0 it speaks for the action), and the smallest change of
one column to change the action (flip, such as "amount 5200 → 3100"). Column unusual names the columns in which the
case is unlike the training rows. The id is the cell of the column of identifiers (--id), or the line
of the file. Rows are written as CSV, Parquet, JSON lines or an Excel workbook by the ending of -o;
--sort and --top write the largest first, and only those.

With --capacity visit=100 the action visit is taken at most 100 times, in the cases where that saves
most: actions are those of the least expected cost within the capacity, and rows are sorted by saving.
Column unlimited is the action without the capacity, forgone what the capacity costs in the case, and
effort_visit what the action takes of it: 1, or what the costs file says (effort: {visit: minutes}). The
summary says what one more would be worth. --per day --time COLUMN gives the capacity for every day.

Other costs than those of the fit can be given; nothing is fitted again. A summary
goes to standard error, with what the actions really cost if the file has outcomes.

With --probability no model is needed: the table has the probabilities of the positive
outcome already, made by any program.`,
		Example: `  lossep decide model.lossep new.csv --keep -o decided.csv
  lossep decide model.lossep new.csv --cost fn=10,fp=1
  lossep decide model.lossep new.xlsx --top 100 -o first.xlsx
  lossep decide model.lossep new.csv --why 3 -o reasons.xlsx
  lossep decide model.lossep new.csv --capacity visit=100 --per day --time received
  lossep decide --probability p scored.csv --cost fn=10,fp=1
  lossep decide --example`,
	}
	q := service.NewDecide()
	c.Args = func(c *cobra.Command, args []string) error {
		if q.Probability != "" {
			return needArguments("the table of new cases")(c, args)
		}
		return needArguments("the model file", "the table of new cases")(c, args)
	}
	flags := c.Flags()
	addOptions(flags, q.Options)
	flags.BoolVar(&useExample, "example", false, "decide the third of the embedded data set that was not fitted to, by a model fitted to the rest if none is given")
	c.RunE = func(c *cobra.Command, args []string) error {
		if place != nil {
			if err := placeOptions(q, args); err != nil {
				return err
			}
		} else if err := q.Complete(); err != nil {
			return blame(err, "")
		}
		q.Memory = maxMemory(c) / 4
		if place == nil && q.Probability == "" && len(args) > 0 {
			m, err := loadAny(c, args[0])
			if err != nil {
				return blame(err, "")
			}
			answer, err := m.Deciding(c.Context(), q, readShort)
			if err != nil {
				return blame(err, "")
			}
			return answering{&q.Cases, answer, append(args, q.Files()...)}.run(c, func() (*tableInput, error) { return newCases(c, args, &q.Table) })
		}
		spec, err := q.Spec(c.Context(), readShort)
		if err != nil {
			return blame(err, "")
		}
		if q.Probability != "" {
			if useExample {
				return usagef("--example has no column of probabilities; leave out --probability, or give a table")
			}
			return decideGiven(c, q, spec, args[0])
		}
		m, err := decidingModel(c, args)
		if err != nil {
			return blame(err, "")
		}
		answer, err := q.Of(c.Context(), m, spec)
		if err != nil {
			return blame(err, "")
		}
		r := answering{&q.Cases, answer, append(args, q.Files()...)}
		if place != nil {
			return decideAt(c, place, r, answer, args)
		}
		return r.run(c, func() (*tableInput, error) { return newCases(c, args, &q.Table) })
	}
	return c
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
	var kept []service.RowColumn
	if q.Keep {
		for j, name := range t.Columns() {
			kept = append(kept, service.RowColumn{Name: name, Kind: t.Kinds()[j]})
		}
	}
	r := answering{Cases: &q.Cases}
	err = r.write(c, kept, q.Shown(answer.Fields(), q.ID), append(q.Files(), path), func(_ context.Context, emit service.Emit) error {
		return answer.Rows(in.several(), emit)
	})
	if err != nil {
		return blame(err, in.name)
	}
	return writeSummary(c.ErrOrStderr(), answer.Lines(service.Flags))
}
