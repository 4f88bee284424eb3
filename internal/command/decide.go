package command

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/example"
)

func newDecide(place *Place) *cobra.Command {
	var probability string
	var useExample, second bool
	c := &cobra.Command{
		Use:   "decide model new.csv [--utility other.yaml]",
		Short: "Choose the best action in new cases",
		Long: `Read new cases and print for each the action with the lowest expected cost or the
highest expected utility, what is expected of every action (columns cost_NAME, or
utility_NAME), the probability of the positive outcome, or of each of more than two
(columns probability_NAME), and the margin to the next best action; with
--second-opinion also whether methods disagree: whether expectation propagation, with and
without corrections, would act otherwise than the model.

Other costs than those of the fit can be given; nothing is fitted again. A summary
goes to standard error, with what the actions really cost if the file has outcomes.

With --probability no model is needed: the table has the probabilities of the positive
outcome already, made by any program.`,
		Example: `  lossep decide model.lossep new.csv --keep -o decided.csv
  lossep decide model.lossep new.csv --cost fn=10,fp=1
  lossep decide --probability p scored.csv --cost fn=10,fp=1
  lossep decide --example`,
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if probability != "" {
			return needArguments("the table of new cases")(c, args)
		}
		return needArguments("the model file", "the table of new cases")(c, args)
	}
	flags := c.Flags()
	utility := addUtilityFlags(flags)
	cases := addCaseFlags(c)
	if place != nil {
		c.PreRunE = nil // -o is a folder
	}
	flags.BoolVar(&second, "second-opinion", false, "ask whether expectation propagation, with and without corrections, would act otherwise")
	flags.StringVar(&probability, "probability", "", "the column of probabilities to decide by, in place of a model, or with more than two outcomes the NAME of columns NAME_OUTCOME")
	flags.BoolVar(&useExample, "example", false, "decide the third of the embedded data set that was not fitted to, by a model fitted to the rest if none is given")
	c.RunE = func(c *cobra.Command, args []string) error {
		spec, err := utility.spec(c)
		if err != nil {
			return blame(err, "")
		}
		if probability != "" {
			if useExample {
				return usagef("--example has no column of probabilities; leave out --probability, or give a table")
			}
			g := givenDecision{cases, probability, spec, append(args, utility.files()...)}
			return g.run(c, args[0])
		}
		m, err := decidingModel(c, args)
		if err != nil {
			return blame(err, "")
		}
		given := spec != nil
		if !given {
			spec = m.Utility()
		} else if spec, err = m.Bind(spec); err != nil {
			return blame(err, "")
		}
		s := newTally(m, spec, given)
		s.consulted = second
		r := caseRun{
			caseFlags: cases, model: m, columns: spec.Columns(), files: append(args, utility.files()...),
			names: decisionNames(spec, *cases.format, second),
		}
		if place != nil {
			d := Decide{Model: args[0], Utility: spec, Keep: cases.keep, Second: second, Memory: givenMemory(c)}
			return d.at(c, place, r, s, args)
		}
		said, err := r.run(c, func() (*tableInput, error) { return newCases(c, args) }, func(ctx context.Context, rd *data.Reader, write func(*data.Row, ...any) error) error {
			return s.decide(ctx, rd, *cases.format, write)
		})
		if err != nil {
			return err
		}
		return writeSummary(c.ErrOrStderr(), append(s.lines(), said...))
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
func newCases(c *cobra.Command, args []string) (*tableInput, error) {
	if len(args) < 2 {
		return &tableInput{name: example.Name, text: bytes.NewReader(example.HeldOutCSV())}, nil
	}
	return openInput(c, args[1])
}

// decisionNames are the columns of a decision.
func decisionNames(s *decision.Spec, f format, second bool) []string {
	names := []string{"action"}
	if f == "json" {
		names = append(append(append(names, "expected_"+s.Kind()), probabilityNames(s, f)...), "margin")
		if second {
			names = append(names, "disagreement", "dissent")
		}
		return names
	}
	for _, action := range s.Actions() {
		names = append(names, s.Kind()+"_"+action)
	}
	names = append(append(names, probabilityNames(s, f)...), "margin")
	if second {
		names = append(names, "disagreement")
	}
	return names
}

// decisionValues are what goes in them.
func decisionValues(s *decision.Spec, d lossep.Decision, f format, second bool) []any {
	actions := s.Actions()
	values := []any{actions[d.Action]}
	if f == "json" {
		expected := make(map[string]float64)
		for a, u := range d.Expected {
			expected[actions[a]] = u
		}
		values = append(append(append(values, expected), probabilityValues(s, d.Probabilities, f)...), d.Margin)
		if !second {
			return values
		}
		dissent := make(map[lossep.Method]string)
		for method, a := range d.Dissent {
			dissent[method] = actions[a]
		}
		return append(values, len(dissent) > 0, dissent)
	}
	for _, u := range d.Expected {
		values = append(values, u)
	}
	values = append(append(values, probabilityValues(s, d.Probabilities, f)...), d.Margin)
	if second {
		values = append(values, len(d.Dissent) > 0)
	}
	return values
}

// tally counts decisions for the summary.
type tally struct {
	model *lossep.Model
	spec  *decision.Spec
	given bool // the utility is not that of the fit
	// consulted says that other methods were asked.
	consulted bool

	rows, disagree int
	byAction       []int
	expected       float64
	labelled       int
	realised       float64
	seen           int // of the labelled rows, those equal to ones that the model was fitted to
	trained        func(features []float64) bool
	strange        int // outcomes that training did not know
}

func newTally(m *lossep.Model, s *decision.Spec, given bool) *tally {
	return &tally{model: m, spec: s, given: given, byAction: make([]int, len(s.Actions())), trained: m.Trained()}
}

// decide decides all rows, and writes and counts them.
func (t *tally) decide(ctx context.Context, rd *data.Reader, f format, write func(*data.Row, ...any) error) error {
	for d, err := range t.model.Decisions(ctx, rd, t.spec, t.consulted) {
		if err != nil {
			return err
		}
		t.add(d)
		if err := write(d.Row, decisionValues(t.spec, d.Decision, f, t.consulted)...); err != nil {
			return err
		}
	}
	return nil
}

func (t *tally) add(d lossep.DecidedRow) {
	t.rows++
	t.byAction[d.Action]++
	if len(d.Dissent) > 0 {
		t.disagree++
	}
	t.expected += d.Expected[d.Action]
	switch y, ok, err := d.Row.Label(); {
	case err != nil:
		t.strange++
	case ok:
		t.labelled++
		if t.trained != nil && t.trained(d.Row.Features) {
			t.seen++
		}
		t.realised += d.Stakes.Table[d.Action][y]
	}
}

// actionLines say how often each action is taken.
func actionLines(actions []string, taken []int) (lines []string) {
	width := 12
	for _, name := range actions {
		width = max(width, utf8.RuneCountInString(name))
	}
	shares := data.Percents(taken...)
	for a, name := range actions {
		what := "rows"
		if taken[a] == 1 {
			what = "row"
		}
		lines = append(lines, fmt.Sprintf("%-*s %6d %-4s (%s)", width, name, taken[a], what, shares[a]))
	}
	return lines
}

func (t *tally) lines() []string {
	lines := []string{fmt.Sprintf("%s decided by %s; %s", data.Plural(t.rows, "row"), t.model.Method(), t.spec.RuleLine())}
	if t.rows == 0 {
		return lines
	}
	lines = append(lines, actionLines(t.spec.Actions(), t.byAction)...)
	kind := t.spec.Kind()
	lines = append(lines, fmt.Sprintf("expected %s per row %.6g, by the model's own account", kind, t.expected/float64(t.rows)))
	if t.labelled > 0 {
		lines = append(lines, fmt.Sprintf("realised %s per row %.6g, on the %s with a known outcome", kind, t.realised/float64(t.labelled), data.Plural(t.labelled, "row")))
		if t.seen > 0 {
			lines = append(lines, fmt.Sprintf("%d of these are equal to rows that the model was fitted to; if they are the same cases, that is not what new ones %s, which lossep audit measures", t.seen, map[bool]string{true: "cost", false: "bring"}[t.spec.Costs()]))
		}
	}
	lines = append(lines, t.model.Recipe().Target.Rare()...)
	if t.strange > 0 {
		lines = append(lines, "outcomes that training did not know: "+data.Plural(t.strange, "row"))
	}
	if t.consulted && t.model.Recipe().Target.Binary() {
		lines = append(lines, fmt.Sprintf("methods disagree on %d of %s", t.disagree, data.Plural(t.rows, "row")))
	}
	if t.given && t.model.Method().Calibrated() && !sameTable(t.spec, t.model.Utility()) {
		lines = append(lines, fmt.Sprintf("the model was calibrated to other costs than these; fit again for a %s that is calibrated to them", t.model.Method()))
	}
	return lines
}

// sameTable tells whether two utilities are written the same.
func sameTable(a, b *decision.Spec) bool { return slices.Equal(a.TableLines(), b.TableLines()) }
