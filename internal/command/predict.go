package command

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
)

func newPredict() *cobra.Command {
	c := &cobra.Command{
		Use:   "predict model new.csv",
		Short: "Say how probable the outcomes are in new cases",
		Long: `Read new cases and print for each the mean and variance of its latent value and the
probability of the positive outcome, or with more than two outcomes the probability of
each (columns probability_NAME), as CSV, as JSON lines or as Parquet. The columns may
come in any order if the file names them; - is standard input, and a folder is one table
of all its Parquet files. Memory does not grow with the
number of rows, and nothing is printed if a row cannot be read.`,
		Example: `  lossep predict model.lossep new.csv
  lossep predict model.lossep new.csv.gz --keep -o predicted.csv
  lossep predict model.lossep new.parquet -o predicted.parquet`,
		Args: needArguments("the model file", "the table of new cases"),
	}
	flags := addCaseFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		m, err := loadModel(c, args[0])
		if err != nil {
			return blame(err, "")
		}
		latent, format, n := m.Recipe().Target.Binary(), *flags.format, 0
		r := caseRun{caseFlags: flags, model: m, files: args, names: append(latentNames(latent), probabilityNames(m.Utility(), format)...)}
		said, err := r.run(c, func() (*tableInput, error) { return openInput(c, args[1]) }, func(ctx context.Context, rd *data.Reader, write func(*data.Row, ...any) error) error {
			for p, err := range m.Predictions(ctx, rd) {
				if err != nil {
					return err
				}
				n++
				values := probabilityValues(m.Utility(), p.Probabilities, format)
				if latent {
					values = append([]any{p.Mean, p.Variance}, values...)
				}
				if err := write(p.Row, values...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		lines := append([]string{fmt.Sprintf("%s predicted by %s", data.Plural(n, "row"), m.Method())}, m.Recipe().Target.Rare()...)
		return writeSummary(c.ErrOrStderr(), append(lines, said...))
	}
	return c
}

// latentNames are the columns of the latent value, if there is one.
func latentNames(latent bool) []string {
	if !latent {
		return nil
	}
	return []string{"mean", "variance"}
}

// probabilityNames are the columns of probabilities: of two outcomes one, of more one each.
func probabilityNames(s *decision.Spec, f format) []string {
	outcomes := s.Outcomes()
	if len(outcomes) <= 2 {
		return []string{"probability"}
	}
	if f == "json" {
		return []string{"probabilities"}
	}
	names := make([]string, len(outcomes))
	for y, name := range outcomes {
		names[y] = "probability_" + name
	}
	return names
}

// probabilityValues are what goes in them.
func probabilityValues(s *decision.Spec, p []float64, f format) []any {
	switch {
	case len(p) == 2:
		return []any{p[1]}
	case f == "json":
		named := make(map[string]float64)
		for y, name := range s.Outcomes() {
			named[name] = p[y]
		}
		return []any{named}
	}
	values := make([]any, len(p))
	for y, x := range p {
		values[y] = x
	}
	return values
}

// writeRows gives the rows that make writes to a file or to standard output, once all
// of them are made.
func writeRows(ctx context.Context, out io.Writer, path string, inputs []string, make func(context.Context, io.Writer) error) error {
	if err := checkOutput("-o", path, inputs...); err != nil {
		return err
	}
	s, err := newSpool(path)
	if err != nil {
		return err
	}
	defer s.abandon()
	if err := make(ctx, s); err != nil {
		return err
	}
	if !isTerminal(out) {
		out = raw(out) // rows are for programs, to the byte
	}
	return s.finish(out)
}

func writeSummary(w io.Writer, lines []string) error {
	_, err := io.WriteString(w, joined(lines))
	return err
}

// rowWriter writes rows as CSV with a header, as one JSON object a line, or as Parquet.
type rowWriter struct {
	csv    *csv.Writer
	json   *json.Encoder
	binary *parquetRows
	input  []string // names of the input's columns, if they are kept
	names  []string // of the new ones
	record []string
}

// newRowWriter begins with the names of the columns; kinds are what those of the input
// hold. Where the input has one of the names already, the new ones are told apart by a
// prefix.
func newRowWriter(w io.Writer, f format, input []string, kinds []data.CellKind, keep bool, names []string) *rowWriter {
	r := &rowWriter{names: names}
	if keep {
		r.input = input
	}
	if f == "json" {
		r.json = json.NewEncoder(w)
		return r
	}
	head := slices.Clone(r.input)
	for _, name := range names {
		if slices.Contains(r.input, name) {
			name = "lossep_" + name
		}
		head = append(head, name)
	}
	if f == parquetFormat {
		r.binary = &parquetRows{w: w, names: head}
		if keep {
			r.binary.kinds = kinds
		}
		return r
	}
	r.csv = csv.NewWriter(w)
	// An error of the writer comes again with the rows.
	_ = r.csv.Write(head)
	return r
}

// write writes one row. Values are strings, numbers, booleans and what JSON knows.
func (r *rowWriter) write(cells []string, values ...any) error {
	if r.json != nil {
		return r.json.Encode(r.object(cells, values))
	}
	if r.binary != nil {
		if r.input == nil {
			cells = nil
		}
		return r.binary.write(cells, values)
	}
	r.record = r.record[:0]
	if r.input != nil {
		r.record = append(r.record, cells...)
	}
	for _, v := range values {
		r.record = append(r.record, cell(v))
	}
	return r.csv.Write(r.record)
}

// object is a row for JSON; what was in the file keeps to itself.
func (r *rowWriter) object(cells []string, values []any) map[string]any {
	o := make(map[string]any)
	for i, v := range values {
		o[r.names[i]] = v
	}
	if r.input != nil {
		input := make(map[string]string)
		for i, name := range r.input {
			input[name] = cells[i]
		}
		o["input"] = input
	}
	return o
}

// cell writes numbers so that they read back the same.
func cell(v any) string {
	if x, ok := v.(float64); ok {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

func (r *rowWriter) flush() error {
	switch {
	case r.binary != nil:
		return r.binary.close()
	case r.csv == nil:
		return nil
	}
	r.csv.Flush()
	return r.csv.Error()
}
