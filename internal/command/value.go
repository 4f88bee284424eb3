package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

func newValue() *cobra.Command {
	var labels bool
	var asks []string
	c := &cobra.Command{
		Use:   "value model new.csv [--ask COLUMN=COST]",
		Short: "Say what it would be worth to know more about new cases",
		Long: `Read new cases and print for each the action to take, and what it would be worth to
know more before taking it: how much less it would be expected to cost, or how much more
to bring.

Column worth_outcome is the worth of knowing the outcome of the case as it stands in the
file. With --ask COLUMN=COST the column worth_COLUMN is the worth of measuring a column that is
not known, less what measuring costs: it pays where that is above zero. What the file has
in that column counts for the action and for worth_outcome, and not for worth_COLUMN: what
it may turn out to be is taken there from the 50 training rows that are nearest in all other
columns. --ask can be given several times; each column
is asked about by itself. The file need not have the columns asked about, and may have empty
cells there: such a case is decided by the mean over what the 50 rows have, also by a model that
fills missing cells (--missing impute). Where worth_COLUMN would be the name of another column
of the answer, it is worth_COLUMN_column.

With --label the rows are cases whose outcome could be found out and learned from, 1000 at
most; worth_label is the worth of that to decisions on all of them, per case. Label the
one with the largest first.`,
		Example: `  lossep value model.lossep new.csv
  lossep value model.lossep new.csv --ask mri=0.2 --ask biopsy=1 --keep -o value.csv
  lossep value model.lossep pool.csv --label`,
		Args: needArguments("the model file", "the table of new cases"),
	}
	flags := c.Flags()
	utility := addUtilityFlags(flags)
	cases := addCaseFlags(c)
	flags.StringArrayVar(&asks, "ask", nil, "a column that could be measured and what that costs, COLUMN=COST")
	flags.BoolVar(&labels, "label", false, "say what the label of each row would be worth to decisions on all of them")
	c.RunE = func(c *cobra.Command, args []string) error {
		ask, prices, err := parseAsks(asks)
		if err != nil {
			return err
		}
		ask.Labels = labels
		m, err := loadModel(c, args[0])
		if err != nil {
			return blame(err, "")
		}
		spec, err := utility.spec(c)
		if err != nil {
			return blame(err, "")
		}
		if spec == nil {
			spec = m.Utility()
		} else if spec, err = m.Bind(spec); err != nil {
			return blame(err, "")
		}
		if err := m.CheckAsk(ask, spec); err != nil {
			return blame(err, "")
		}
		n, total := 0, 0.0
		pays := make([]int, len(prices))
		names := append([]string{"action"}, probabilityNames(spec, *cases.format)...)
		names = append(names, "worth_outcome")
		names = append(names, worthNames(ask, names)...)
		if labels {
			names = append(names, worthLabel)
		}
		r := caseRun{caseFlags: cases, model: m, open: ask.Columns, columns: spec.Columns(), files: append(args, utility.files()...), names: names}
		said, err := r.run(c, func() (*tableInput, error) { return openInput(c, args[1]) }, func(ctx context.Context, rd *recipe.Reader, write func(*recipe.Row, ...any) error) error {
			for d, err := range m.Worth(ctx, rd, spec, ask) {
				if err != nil {
					return err
				}
				n++
				total += d.Outcome
				values := append([]any{spec.Actions()[d.Action]}, probabilityValues(spec, d.Probabilities, *cases.format)...)
				values = append(values, d.Outcome)
				for k, worth := range d.Columns {
					values = append(values, worth-prices[k])
					if worth > prices[k] {
						pays[k]++
					}
				}
				if labels {
					values = append(values, d.Label)
				}
				if err := write(d.Row, values...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		lines := []string{fmt.Sprintf("%s; to know the outcome before acting would be worth %.6g per row", table.Plural(n, "row"), total/float64(max(1, n)))}
		for k, column := range ask.Columns {
			lines = append(lines, fmt.Sprintf("%s at a cost of %g: worth its cost in %d of %s", column, prices[k], pays[k], table.Plural(n, "row")))
		}
		lines = append(lines, m.Recipe().Target.Rare()...)
		return writeSummary(c.ErrOrStderr(), append(lines, said...))
	}
	return c
}

const worthLabel = "worth_label"

// worthNames are the names of the columns of worths: worth_COLUMN, and worth_COLUMN_column
// where that is the name of another.
func worthNames(ask lossep.Ask, taken []string) (names []string) {
	taken = append(slices.Clone(taken), worthLabel)
	for _, column := range ask.Columns {
		name := "worth_" + column
		for slices.Contains(taken, name) || slices.Contains(names, name) {
			name += "_column"
		}
		names = append(names, name)
	}
	return names
}

// parseAsks reads columns and what measuring them costs.
func parseAsks(asks []string) (ask lossep.Ask, prices []float64, err error) {
	for _, text := range asks {
		cut := strings.LastIndex(text, "=")
		if cut <= 0 {
			return ask, nil, usagef("--ask %s: give a column and what it costs to measure it, such as --ask mri=0.2", text)
		}
		price, err := service.ParseNumber(text[cut+1:])
		if err != nil || !(price >= 0) || price > 1e300 {
			return ask, nil, usagef("--ask %s: %q is no cost; give a number from 0 to 1e300", text, text[cut+1:])
		}
		if slices.Contains(ask.Columns, text[:cut]) {
			return ask, nil, usagef("--ask %s: %q is asked about already; give it once", text, text[:cut])
		}
		ask.Columns, prices = append(ask.Columns, text[:cut]), append(prices, price)
	}
	return ask, prices, nil
}
