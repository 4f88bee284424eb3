package command

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/lab"
	"github.com/lossep/lossep/service"
)

func newReactor() *cobra.Command {
	p := lab.NewReactor()
	data, utility, method := "", "", "all"
	var format format
	c := &cobra.Command{
		Use:   "reactor --data y1,y2,… [--threshold T --utility a,b/c,d]",
		Short: "Run the paper's reactor example on your measurements",
		Long: `Infer the state of a reactor from noisy measurements, some of which are outliers (clutter),
and choose the action with the highest expected utility.

The utility has one row for each action and two columns, for a state below and
above the threshold. With 1,0.01/0.9,1, leaving the reactor on (the first row) is
worth 1 below and 0.01 above, and shutting it down 0.9 and 1.`,
		Example: `  lossep reactor --data 0.1,2.3
  lossep reactor --data=-1.1,-2.6,-4,5.7,-1.1 --threshold 2.2 --utility 1,0.01/0.9,1`,
		Args: noArguments,
	}
	options := service.Options{
		{Name: "data", Help: "measurements, separated by commas", Value: service.TextOf(&data, "Y,Y,...")},
		{Name: "prior-mean", Help: "prior mean of the state", Value: service.NumberOf(&p.PriorMean)},
		{Name: "prior-var", Help: "prior variance of the state", Value: service.NumberOf(&p.PriorVariance)},
		{Name: "clutter-weight", Help: "probability that a measurement is clutter", Value: service.NumberOf(&p.ClutterWeight)},
		{Name: "clutter-var", Help: "variance of clutter", Value: service.NumberOf(&p.ClutterVariance)},
		{Name: "noise-var", Help: "variance of a measurement that is not clutter", Value: service.NumberOf(&p.NoiseVariance)},
		{Name: "threshold", Help: "threshold on the state", Value: service.NumberOf(&p.Threshold)},
		{Name: "utility", Help: "utilities: rows (actions) separated by /, columns (below, above) by commas", Value: service.TextOf(&utility, "A,B/C,D")},
		{Name: "method", Help: strings.Join(lab.ReactorMethods(), ", ") + " or all", Value: service.TextOf(&method, "NAME")},
		formatOption(&format, "output format"),
	}
	addOwn(c.Flags(), options)
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if p.Data, err = parseNumbers("--data", data); err != nil {
			return err
		}
		switch hasThreshold := options.Given("threshold"); {
		case hasThreshold && utility == "":
			return usagef("--threshold: a threshold needs a utility to decide by; add --utility, for example --utility 1,0.01/0.9,1")
		case !hasThreshold && utility != "":
			return usagef("--utility: a utility needs a threshold on the state; add --threshold")
		case utility != "":
			if p.Utility, err = parseTable("--utility", utility); err != nil {
				return err
			}
		}
		answers, err := solveReactor(c, p, method)
		var input *lab.InputError
		var table *decision.TableError
		if errors.As(err, &input) || errors.As(err, &table) {
			return &usageError{err}
		} else if err != nil {
			return err
		}
		var found any = answers
		if method != "all" {
			found = answers[0]
		}
		return format.emit(c.OutOrStdout(), found, func(w io.Writer) error { return writeReactor(w, p, answers) })
	}
	return c
}

func solveReactor(c *cobra.Command, p lab.Reactor, method string) ([]*lab.ReactorAnswer, error) {
	if method == "all" {
		answers, leftOut, err := p.SolveAll(c.Context())
		for _, e := range leftOut {
			fmt.Fprintf(c.ErrOrStderr(), "lossep: left out: %v\n", e)
		}
		return answers, err
	}
	a, err := p.Solve(c.Context(), method)
	return []*lab.ReactorAnswer{a}, err
}

// parseNumbers reads numbers separated by commas.
func parseNumbers(flag, s string) ([]float64, error) {
	if strings.TrimSpace(s) == "" {
		return nil, usagef("%s: there are no numbers; give them separated by commas, for example %s 0.1,2.3", flag, flag)
	}
	var numbers []float64
	for i, field := range strings.Split(s, ",") {
		x, err := service.ParseNumber(strings.TrimSpace(field))
		if err != nil {
			return nil, usagef("%s: value %d, %q, is not a number", flag, i+1, field)
		}
		numbers = append(numbers, x)
	}
	return numbers, nil
}

// parseTable reads a utility table: rows separated by slashes.
func parseTable(flag, s string) (decision.Table, error) {
	var rows [][]float64
	for i, line := range strings.Split(s, "/") {
		row, err := parseNumbers(fmt.Sprintf("%s, row %d", flag, i+1), line)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	t, err := decision.NewTable(2, rows)
	if err != nil {
		return nil, usagef("%s: %w", flag, err)
	}
	return t, nil
}

// tableText writes utilities as --utility has them.
func tableText(t decision.Table) string {
	rows := make([]string, len(t))
	for a, row := range t {
		rows[a] = strings.ReplaceAll(strings.Trim(fmt.Sprint(row), "[]"), " ", ",")
	}
	return strings.Join(rows, "/")
}

// writeReactor prints the answers as a table, and below it what the reader should
// know about them.
func writeReactor(w io.Writer, p lab.Reactor, answers []*lab.ReactorAnswer) error {
	fmt.Fprintf(w, "%d measurement%s; prior N(%v, %v); clutter with probability %v from N(0, %v); noise variance %v\n",
		len(p.Data), plural(len(p.Data)), p.PriorMean, p.PriorVariance, p.ClutterWeight, p.ClutterVariance, p.NoiseVariance)
	if p.Utility != nil {
		fmt.Fprintf(w, "utility of each action below and above the threshold %v: %s", p.Threshold, tableText(p.Utility))
		if t, _, ok := (decision.Stakes{Table: p.Utility}).Threshold(); ok {
			fmt.Fprintf(w, "; actions are numbered from 0, action 1 is best when P(state > %v) exceeds %.4g", p.Threshold, t)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "method\tmean\tvariance\tlog evidence\t")
	for a := range p.Utility {
		fmt.Fprintf(tw, "U(%d)\t", a)
	}
	if p.Utility != nil {
		fmt.Fprint(tw, "action\t")
	}
	fmt.Fprint(tw, "sweeps\t\n")
	for _, a := range answers {
		fmt.Fprintf(tw, "%s\t%.5g\t%.5g\t", a.Method, a.Mean, a.Variance)
		if a.LogEvidence != nil {
			fmt.Fprintf(tw, "%.6g", *a.LogEvidence)
		}
		fmt.Fprint(tw, "\t")
		for _, u := range a.ExpectedUtility {
			fmt.Fprintf(tw, "%.4g\t", u)
		}
		if a.Action != nil {
			fmt.Fprintf(tw, "%d\t", *a.Action)
		}
		fmt.Fprintf(tw, "%d\t\n", a.Sweeps)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	var notes []string
	for _, a := range answers {
		for _, note := range notesOn(a) {
			notes = append(notes, a.Method+": "+note+".")
		}
	}
	if len(notes) > 0 {
		fmt.Fprintf(w, "\n%s\n", strings.Join(notes, "\n"))
	}
	return nil
}

// notesOn is what a reader should know about an answer besides its numbers.
func notesOn(a *lab.ReactorAnswer) (notes []string) {
	if a.TiltedMean != nil {
		notes = append(notes, fmt.Sprintf("the approximation that carries the utility has mean %.5g and variance %.5g; its evidence includes the utility", *a.TiltedMean, *a.TiltedVariance))
	}
	if a.MeanError != nil {
		notes = append(notes, fmt.Sprintf("Monte Carlo standard errors %.2g of the mean and %.2g of the variance", *a.MeanError, *a.VarianceError))
	}
	if a.Floor > 0 {
		notes = append(notes, fmt.Sprintf("a utility of 0 has no logarithm, so all utilities were raised by %.2g", a.Floor))
	}
	if !a.Converged || a.ActionsHeld {
		notes = append(notes, a.Status)
	}
	if a.ActionsHeld {
		notes = append(notes, "so it says little about what to do here; rely on a method that is not calibrated")
	}
	for _, f := range a.OtherFixedPoints {
		note := fmt.Sprintf("another start converges to mean %.5g, variance %.5g, log evidence %.6g", f.Mean, f.Variance, f.LogEvidence)
		if f.Action != nil {
			note += fmt.Sprintf(", action %d", *f.Action)
		}
		notes = append(notes, note)
	}
	return notes
}

// plural is the ending of a noun that is counted.
func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
