package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
)

// fitRequest is what fit is asked.
type fitRequest struct {
	*service.Fit
	utility    service.Costs
	output     string
	useExample bool
	format     format
	place      *Place
}

func newFit(place *Place) *cobra.Command {
	q := &fitRequest{Fit: service.NewFit(), place: place}
	c := &cobra.Command{
		Use:   "fit train.csv --target COLUMN --cost fn=5,fp=1 [-o model.lossep]",
		Short: "Fit a model to a table",
		Long: `Fit a Gaussian-process model to a table of past cases, one per row. The outcome is the target
column: two or more categories, ordered grades, or a number (--outcome). The table is CSV (any
separator), Excel, JSON Lines, Parquet or a folder of Parquet files; CSV may be compressed
(.gz, .bz2), and - is standard input.

Costs are part of the model: with --cost fn=5,fp=1 a false negative costs 5 and a false
positive 1; if the outcome is a number, --cost under=15,over=5 is the cost of each unit too little
and too much. --utility (YAML) and --cost-matrix (CSV) define any number of actions. How the table
was read is printed on stderr first. Without -o the model is written to train.lossep in
the current folder (--no-save to disable). A fit of many rows writes checkpoints to
model.lossep.unfinished; after an interruption the same command resumes from there.`,
		Example: `  lossep fit train.csv --target class --positive bad --cost fn=5,fp=1 -o model.lossep
  lossep fit train.csv --cost fn=0.6*amount,fp=1 --kernel 'rbf(ard) + linear'
  lossep fit demand.csv --target sold --cost under=15,over=5
  lossep fit --example`,
		Args: needArguments("the table of past cases"),
	}
	flags := c.Flags()
	addOptions(flags, q.utility.Options())
	addOptions(flags, q.Options)
	addOwn(flags, service.Options{
		{Name: "output", Short: "o", Group: service.Basics, Help: "model file to write (default: the name of the table with .lossep, in the current folder)", Value: service.TextOf(&q.output, "FILE")},
		{Name: "example", Group: service.Basics, Help: "fit to two thirds of the embedded example (breast cancer screening)", Value: service.ToggleOf(&q.useExample)},
		basic(formatOption(&q.format, "output format")),
	})
	c.RunE = q.run
	return c
}

func (q *fitRequest) run(c *cobra.Command, args []string) (err error) {
	output, err := modelOutput(q.output, q.NoSave, args, q.utility.Files())
	if err != nil {
		return err
	}
	if err := exampleAlone(q.Options, q.useExample); err != nil {
		return err
	}
	if err := q.Complete(); err != nil {
		return err
	}
	start := time.Now()
	o, rows := q.Model, &pastCases{Rows: &q.Rows}
	o.MaxMemory = maxMemory(c)
	unfinished := unfinishedBy(output, c.ErrOrStderr())
	if unfinished != nil {
		o.Checkpoints = unfinished
	}
	defer func() {
		if err != nil && c.Context().Err() != nil {
			clearProgress(c.ErrOrStderr())
			unfinished.tell(c.ErrOrStderr(), q.place)
		}
	}()
	elsewhere := &fitting{place: q.place}
	if err := elsewhere.begin(c, rows, &o, output, args); err != nil {
		return err
	}
	defer elsewhere.close()
	var p toFit
	prepare := func() (err error) {
		p, err = prepareFit(c, q.Fit, rows, &q.utility, o, args)
		return err
	}
	if err := prepare(); err != nil {
		return settleLines(strings.Join(args, ""), &rows.Table.Format.Skip, err, prepare)
	}
	if err := writeLines(c.ErrOrStderr(), p.described()); err != nil {
		return err
	}
	m, err := p.fit(c.Context())
	clearProgress(c.ErrOrStderr())
	if err != nil {
		return unfinished.blame(err)
	}
	if output != "" {
		if err := m.Save(output); err != nil {
			return err
		}
		unfinished.remove()
		elsewhere.finish()
	}
	seconds := time.Since(start).Seconds()
	return q.format.emit(c.OutOrStdout(), p.report(m, output, seconds), func(w io.Writer) error {
		return writeFit(w, m, output, seconds)
	})
}

// toFit is what is going to be fitted, by the kind of its outcome.
type toFit interface {
	described() []string
	fit(ctx context.Context) (fittedModel, error)
	// report is what is said of the model to programs.
	report(m fittedModel, output string, seconds float64) any
}

// fittedModel is a model of either kind.
type fittedModel interface {
	Save(path string) error
	Results() []string
	Examples() *lossep.Examples
}

// ofCategories is a problem whose outcome is one of several.
type ofCategories struct{ *lossep.Problem }

func (p ofCategories) described() []string                          { return described(p.Problem) }
func (p ofCategories) fit(ctx context.Context) (fittedModel, error) { return p.Fit(ctx) }

func (p ofCategories) report(m fittedModel, output string, seconds float64) any {
	return newFitReport(p.Problem, m.(*lossep.Model), output, seconds)
}

// ofNumbers is one whose outcome is a number.
type ofNumbers struct {
	*numbers.Problem
	reason string
}

func (p ofNumbers) described() []string {
	lines := p.Recipe.Summary()
	if p.reason != "" {
		lines = append(lines, "the outcome is fitted as a number, "+service.Naming(service.Flags).In(p.reason))
	}
	return append(append(append(lines, "costs "+p.Costs.String()), p.notes()...), aboutCodes(p.Codes)...)
}

func (p ofNumbers) notes() []string { return service.Naming(service.Flags).Notes(p.Notes, p.Findings) }

func (p ofNumbers) fit(ctx context.Context) (fittedModel, error) { return p.Fit(ctx) }

func (p ofNumbers) report(m fittedModel, output string, seconds float64) any {
	r := service.NewNumberReport(m.(*numbers.Model))
	r.Notes, r.Leaks, r.Codes, r.Seconds, r.Model = p.notes(), p.Leaks, p.Codes, seconds, output
	return r
}

// prepareFit reads the table and the costs, or takes those of the example.
func prepareFit(c *cobra.Command, request *service.Fit, rows *pastCases, utility *service.Costs, o lossep.Options, args []string) (toFit, error) {
	costs, err := utility.Numbers(c.Context(), readShort)
	if err != nil {
		return nil, err
	}
	if costs == nil {
		if o.Utility, err = utility.Spec(c.Context(), readShort); err != nil {
			return nil, err
		}
	}
	o.Progress = progress(c.ErrOrStderr())
	if len(args) == 0 {
		p, err := prepareExample(o)
		return ofCategories{p}, err
	}
	also := costColumns(o.Utility)
	if costs != nil {
		also = costs.Columns()
	}
	t, err := rows.readTable(c, args[0], o.MaxRows, also...)
	if err != nil {
		return nil, err
	}
	t = t.Owned()
	decideCodes(&o, t)
	is, reason, err := request.IsNumber(t, utility, costs)
	if err != nil {
		return nil, err
	}
	if is {
		p, err := numbers.Prepare(t, o, costs)
		return ofNumbers{p, reason}, err
	}
	p, err := lossep.PrepareSettled(c.Context(), t, o)
	if err == nil && o.Utility == nil {
		tellNoCosts(c, p)
		if reason != "" && !p.Recipe.Target.Ordered && !p.Findings.Of(lossep.GradesCheck) {
			fmt.Fprintln(c.ErrOrStderr(), "the outcome is fitted as categories, "+service.Naming(service.Flags).In(reason))
		}
	}
	return ofCategories{p}, err
}

// costColumns are the columns that costs are made of.
func costColumns(s *decision.Spec) []string {
	if s == nil {
		return nil
	}
	return s.Columns()
}

// prepareExample is the problem of the embedded data set. Its costs can be replaced.
func prepareExample(o lossep.Options) (*lossep.Problem, error) {
	var err error
	o.Data = recipe.Options{Target: example.Target, Positive: example.Positive, KeepScale: o.Data.KeepScale}
	if o.Utility == nil {
		if o.Utility, err = decision.ParseCosts(example.Costs); err != nil {
			return nil, err
		}
	}
	return lossep.Prepare(example.Training(), o)
}

// progress shows how far a fit has come where somebody is watching.
func progress(errs io.Writer) func(lossep.Progress) {
	if !isTerminal(errs) {
		return nil
	}
	var passed passes
	return func(p lossep.Progress) {
		text := p.Stage
		switch {
		case p.Pass > 0:
			text = passed.line(p, time.Now())
		case p.Step > 0:
			text = fmt.Sprintf("%s: step %d, log evidence and prior %.4f", p.Stage, p.Step, p.LogEvidence)
		}
		fmt.Fprintf(raw(errs), "\r\x1b[K%s", escape(line(text)))
	}
}

func clearProgress(errs io.Writer) {
	if isTerminal(errs) {
		fmt.Fprint(raw(errs), "\r\x1b[K")
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := raw(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// writeLines writes lines, and an empty one.
func writeLines(w io.Writer, lines []string) error {
	_, err := fmt.Fprintf(w, "%s\n", joined(lines))
	return err
}

// joined is lines of text as one, each with its end.
func joined(lines []string) string {
	var b strings.Builder
	for _, text := range lines {
		b.WriteString(line(text) + "\n")
	}
	return b.String()
}

func writeFit(w io.Writer, m fittedModel, output string, seconds float64) error {
	lines := m.Results()
	if m.Examples() != nil && output != "" {
		lines[len(lines)-1] += "; --no-examples leaves these out"
	}
	lines = append(lines, fmt.Sprintf("time        %.1f s", seconds))
	if output != "" {
		lines = append(lines, "model       "+output)
	} else {
		lines = append(lines, "model       not saved (--no-save)")
	}
	_, err := io.WriteString(w, joined(lines))
	return err
}

// fitReport is what fit prints for programs.
type fitReport struct {
	Method          lossep.Method      `json:"method"`
	Likelihood      lossep.Likelihood  `json:"likelihood"`
	Rows            int                `json:"n"`
	Features        int                `json:"d"`
	Positive        int                `json:"positive"`
	Negative        int                `json:"negative"`
	Outcomes        map[string]int     `json:"outcomes,omitempty"` // rows of each, where there are more than two
	Utility         *decision.Spec     `json:"utility"`
	Threshold       *float64           `json:"threshold"`
	Kernel          string             `json:"kernel"`
	Hyperparameters map[string]float64 `json:"hyperparameters"`
	Entries         []string           `json:"columns"` // that the numbers in names of hyperparameters are of
	Search          *lossep.Search     `json:"search"`
	LogEvidence     float64            `json:"log_evidence"`
	Objective       *lossep.Objective  `json:"objective,omitempty"`
	Inducing        *lossep.Inducing   `json:"inducing,omitempty"`
	Candidates      []lossep.Candidate `json:"candidates,omitempty"`
	Sharpness       float64            `json:"sharpness,omitempty"`
	Prevalence      float64            `json:"prevalence,omitempty"`
	Population      []float64          `json:"population,omitempty"`
	LOOMethod       lossep.Method      `json:"loo_method,omitempty"`
	LOOPredictive   *float64           `json:"loo_log_predictive"`
	LOOCost         *float64           `json:"loo_cost"`
	LOOUtility      *float64           `json:"loo_utility"`
	Constant        *float64           `json:"best_constant"`
	Converged       bool               `json:"converged"`
	Sweeps          int                `json:"sweeps"`
	Status          string             `json:"status"`
	Notes           []string           `json:"notes,omitempty"` // on the table and on the fit
	Leaks           []string           `json:"leaks,omitempty"` // columns that tell the outcome almost by themselves
	Codes           []string           `json:"codes,omitempty"` // columns of few different whole numbers, treated as numeric
	Seconds         float64            `json:"seconds"`
	Model           string             `json:"model,omitempty"`
}

func newFitReport(p *lossep.Problem, m *lossep.Model, output string, seconds float64) *fitReport {
	s, target := m.Summary(), m.Recipe().Target
	r := &fitReport{
		Method: m.Method(), Likelihood: m.Likelihood(), Rows: m.Provenance().Rows, Features: m.Provenance().Features,
		Utility: m.Utility(),
		Kernel:  m.Kernel().String(), Hyperparameters: make(map[string]float64), Entries: m.Recipe().Entries(),
		Search: s.Search, LogEvidence: s.LogEvidence, Objective: s.Objective, Inducing: s.Inducing, Candidates: s.Candidates,
		Sharpness: s.Sharpness, Prevalence: target.Prevalence, Population: target.Population,
		Converged: s.Status.Converged, Sweeps: s.Status.Sweeps, Status: s.Status.Text, Notes: slices.Concat(service.Naming(service.Flags).Notes(p.Notes, p.Findings), s.Status.Notes, m.Warnings()), Leaks: p.Leaks, Codes: p.Codes,
		Seconds: seconds, Model: output,
	}
	if target.Binary() {
		r.Negative, r.Positive = target.Rows[0], target.Rows[1]
	} else {
		r.Outcomes = make(map[string]int)
		for y, name := range target.Outcomes {
			r.Outcomes[name] = target.Rows[y]
		}
	}
	for _, p := range m.Kernel().Describe() {
		r.Hyperparameters[p.String()] = p.Value
	}
	if rule, _, ok := m.Utility().Rule(); ok {
		if p, _, ok := rule.Threshold(); ok {
			r.Threshold = &p
		}
	}
	if loo := s.LeaveOneOut; loo != nil {
		r.LOOMethod, r.LOOPredictive, r.Constant = loo.Method, &loo.LogPredictive, &loo.Constant
		if m.Utility().Costs() {
			r.LOOCost = &loo.Value
		} else {
			r.LOOUtility = &loo.Value
		}
	}
	return r
}
