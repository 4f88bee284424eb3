package command

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// answering is a table of new cases on its way to an answer.
type answering struct {
	*service.Cases
	answer service.Answer
	files  []string // that are read, and must not be written to
}

// run opens the table, has every case written, and says what there is to say of all of them.
func (r answering) run(c *cobra.Command, open func() (*tableInput, error)) error {
	in, err := open()
	if err != nil {
		return err
	}
	defer in.Close()
	rd, err := r.reader(c, in)
	if err != nil {
		return blame(r.lines(c, open, in.name, err), in.name)
	}
	skipped, err := newSkipped(r.Cases, rd, in.name, r.files)
	if err != nil {
		return err
	}
	defer skipped.abandon()
	err = r.write(c, r.kept(rd), r.Shown(r.answer.Fields(), r.IDColumn(rd)), in.about(), func(ctx context.Context, emit service.Emit) error {
		if err := r.answer.Rows(ctx, rd, in.several(), emit); err != nil {
			return blame(r.lines(c, open, in.name, err), in.name)
		}
		if err := refuseUnseen(r.Cases, rd, in.name); err != nil {
			return err
		}
		return skipped.finish()
	})
	if err != nil {
		return err
	}
	return writeSummary(c.ErrOrStderr(), append(append(r.answer.Lines(service.Flags), rd.Report().Lines()...), skipped.lines()...))
}

// reader begins to read the rows.
func (r answering) reader(c *cobra.Command, in *tableInput) (*recipe.Reader, error) {
	also := r.answer.Columns()
	if r.ID != "" {
		also = append(slices.Clone(also), r.ID)
	}
	rd, err := in.rows(c.Context(), r.answer.Recipe(), r.Table, r.Keep || r.Skips(), also)
	if err == nil {
		err = r.CheckID(rd.Columns())
	}
	return rd, err
}

// kept are the columns of the input that are written.
func (r answering) kept(rd *recipe.Reader) (columns []table.SourceColumn) {
	if !r.Keep {
		return nil
	}
	kinds := rd.Kinds()
	for j, name := range rd.Columns() {
		columns = append(columns, table.SourceColumn{Name: name, Kind: kinds[j]})
	}
	return columns
}

// write writes rows of the fields, about so many, to a file or to standard output, once all of them are made.
func (r answering) write(c *cobra.Command, kept []table.SourceColumn, fields []service.Field, about int, each func(context.Context, service.Emit) error) (err error) {
	defer func() {
		if err != nil && c.Context().Err() != nil {
			fmt.Fprintln(c.ErrOrStderr(), "no row was written: that is done once all of them are there")
		}
	}()
	if err := checkOutput("-o", r.Output, r.files...); err != nil {
		return err
	}
	s, err := newSpool(r.Output)
	if err != nil {
		return err
	}
	defer s.abandon()
	rows, err := r.Writer(s, kept, fields, maxMemory(c)/4)
	if err != nil {
		return err
	}
	counted := newRowCount(c.ErrOrStderr(), about)
	defer counted.clear()
	err = each(c.Context(), func(cells func() []string, one *service.Case) error {
		counted.add(time.Now())
		var texts []string
		if r.Keep {
			texts = cells()
		}
		return rows.Write(texts, service.Record(fields, one))
	})
	if err == nil {
		err = rows.Close()
	}
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	if !isTerminal(out) {
		out = raw(out) // rows are for programs, to the byte
	}
	return s.finish(out)
}

func writeSummary(w io.Writer, lines []string) error {
	_, err := io.WriteString(w, joined(lines))
	return err
}

func newPredict() *cobra.Command {
	c := &cobra.Command{
		Use:   "predict model.lossep new.csv",
		Short: "Predict outcomes: probabilities, or mean and quantiles of a number",
		Long: `Print the id, the mean and variance of the latent function and the probability of the positive
outcome for each row of a table; with more than two outcomes, the probability of each
(columns probability_OUTCOME); if the outcome is a number, its mean and quantiles. The id is the --id
column, or the line of the file. Column unusual names columns with out-of-range values, unseen
categories, or missing values where training had none. The output format (CSV, Parquet, JSON Lines, Excel) follows the extension of -o. Columns may be in any order if
the file has a header; - is standard input, and a folder is read as one table of all its Parquet
files. Memory use does not grow with the number of rows, and nothing is printed if a row cannot
be read.`,
		Example: `  lossep predict model.lossep new.csv
  lossep predict model.lossep new.csv.gz --keep -o predicted.csv
  lossep predict model.lossep new.xlsx -o predicted.xlsx`,
		Args: needArguments("the model file", "the table of new cases"),
	}
	q := service.NewPredict()
	addOptions(c.Flags(), q.Options)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := q.Complete(); err != nil {
			return err
		}
		m, err := loadAny(c, args[0])
		if err != nil {
			return err
		}
		answer, err := m.Predicting(q)
		if err != nil {
			return err
		}
		return answering{&q.Cases, answer, args}.run(c, func() (*tableInput, error) { return openInput(c, args[1], &q.Table) })
	}
	return c
}

func newValue() *cobra.Command {
	c := &cobra.Command{
		Use:   "value model.lossep new.csv [--ask COLUMN=COST]",
		Short: "Compute the value of information for each row",
		Long: `Compute the value of information for each row: the expected reduction in cost (or gain in
utility) from knowing more before acting.

Column worth_outcome is the expected value of perfect information about the outcome. With --ask
COLUMN=COST, worth_COLUMN is the expected value of measuring that column minus its cost: it is
worth measuring where this is positive. The unknown value is drawn from the 50 training rows
nearest in all other columns, even if the file has a value; that value is used for the action
and worth_outcome only. --ask can be repeated; each column is valued separately. Asked columns
may be empty or absent in the file: such rows are decided by the mean over the 50 rows, also by
a model with --missing impute. If another output column has the name worth_COLUMN, it is
worth_COLUMN_column.

With --labels the rows are unlabelled cases (at most 1000; 1000 divided by the number of outcomes
if there are more than two, and 300 if the outcome is a number) and worth_label is the value of
labelling each, per case, to decisions on all of them. Label cases in descending order of worth_label.`,
		Example: `  lossep value model.lossep new.csv
  lossep value model.lossep new.csv --ask mri=0.2 --ask biopsy=1 --keep -o value.csv
  lossep value model.lossep pool.csv --labels --sort worth_label --top 20`,
		Args: needArguments("the model file", "the table of new cases"),
	}
	q := service.NewWorth()
	addOptions(c.Flags(), q.Options)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := q.Complete(); err != nil {
			return err
		}
		m, err := loadAny(c, args[0])
		if err != nil {
			return err
		}
		answer, err := m.Valuing(c.Context(), q, readShort)
		if err != nil {
			return err
		}
		return answering{&q.Cases, answer, append(args, q.Files()...)}.run(c, func() (*tableInput, error) { return openInput(c, args[1], &q.Table) })
	}
	return c
}

// skipped is the file of rows that could not be read, if they are passed over.
type skipped struct {
	path  string
	spool *spool
	csv   *csv.Writer
	rows  int
}

// newSkipped makes the reader pass over bad rows if that is asked for. They are written neither
// to what is read nor to where the other rows go.
func newSkipped(q *service.Cases, rd *recipe.Reader, file string, inputs []string) (*skipped, error) {
	d := &skipped{path: q.Errors}
	if !q.Skips() {
		return d, nil
	}
	if q.Output != "" && (filepath.Clean(q.Output) == filepath.Clean(d.path) || sameFile(q.Output, d.path)) {
		return d, usagef("--errors %s: the other rows go there; give another path", d.path)
	}
	if err := checkOutput("--errors", d.path, inputs...); err != nil {
		return d, err
	}
	if end := service.Ending(d.path); end != "" && end != ".csv" {
		return d, usagef("--errors %s: these rows are written as CSV and not as %s; give a name that ends in .csv", d.path, end)
	}
	var err error
	if d.spool, err = newSpool(d.path); err != nil {
		return d, err
	}
	d.csv = csv.NewWriter(d.spool)
	// An error of the writer comes again when it is flushed.
	_ = d.csv.Write(append([]string{"line", "reason"}, rd.Columns()...))
	rd.Skip(func(b recipe.Bad) {
		d.rows++
		reason := b.Err.Error()
		if located := new(table.Error); errors.As(b.Err, &located) {
			short := *located
			if short.Line, short.Row = 0, 0; short.File == file {
				short.File = "" // and not one of many
			}
			reason = short.Text(service.Naming(service.Flags).Way)
		}
		_ = d.csv.Write(append([]string{strconv.Itoa(b.Line), reason}, table.Pointed(b.Cells, rd.Decimal())...))
	})
	return d, nil
}

// refuseUnseen refuses rows whose categories the model does not know.
func refuseUnseen(q *service.Cases, rd *recipe.Reader, file string) error {
	if q.AllowUnseen && !q.Strict {
		return nil
	}
	return blame(rd.Report().Err(file, q.Strict), file)
}

// finish puts the file where it belongs.
func (d *skipped) finish() error {
	if d.spool == nil {
		return nil
	}
	d.csv.Flush()
	if err := d.csv.Error(); err != nil {
		return err
	}
	return d.spool.finish(nil)
}

func (d *skipped) abandon() {
	if d.spool != nil {
		d.spool.abandon()
	}
}

// lines say what was left out.
func (d *skipped) lines() []string {
	if d.spool == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s skipped that could not be read; %s says why", table.Plural(d.rows, "row"), d.path)}
}
