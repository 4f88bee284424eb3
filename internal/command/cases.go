package command

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
)

// caseFlags say how new cases are read and what is written about them.
type caseFlags struct {
	table    *service.Table
	doubtful *doubtFlags
	keep     bool
	output   string
	format   *format
}

func addCaseFlags(c *cobra.Command) *caseFlags {
	flags := c.Flags()
	f := &caseFlags{table: new(service.Table), doubtful: addDoubtFlags(flags)}
	addOptions(flags, f.table.Options())
	flags.BoolVar(&f.keep, "keep", false, "print the columns of the input before the new ones")
	flags.StringVarP(&f.output, "output", "o", "", "the file to write the rows to, in place of standard output: CSV, Parquet or JSON lines by its ending, .csv, .parquet, .json or .jsonl")
	f.format = addFormat(flags)
	basic(flags, "keep", "output", "format")
	c.PreRunE = func(*cobra.Command, []string) (err error) {
		*f.format, err = rowFormat(*f.format, flags.Changed("format"), f.output)
		return err
	}
	return f
}

// caseRun is a table of new cases on its way through a model.
type caseRun struct {
	*caseFlags
	model   *lossep.Model
	columns []string // that are read beside those of the model
	open    []string // columns of the model that need not be known
	files   []string // that are read, and must not be written to
	names   []string // of what is written about a case
}

// run opens the table, has every case written, and returns what is to be said of the rows.
// Each hands over the rows of a reader with what is to be written about them.
func (r caseRun) run(c *cobra.Command, open func() (*tableInput, error), each func(ctx context.Context, rd *recipe.Reader, write func(*recipe.Row, ...any) error) error) ([]string, error) {
	f := r.table.Format
	in, err := open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	rd, err := in.rows(c.Context(), r.model.Recipe().WithOpen(r.open...), f, r.keep || r.doubtful.skips(), r.columns)
	if err != nil {
		return nil, blame(err, in.name)
	}
	if err := r.doubtful.watch(rd, in.name, r.output, r.files); err != nil {
		return nil, err
	}
	defer r.doubtful.abandon()
	err = writeRows(c.Context(), c.OutOrStdout(), r.output, r.files, func(ctx context.Context, w io.Writer) error {
		rows := newCaseWriter(w, *r.format, rd, r.keep, r.names)
		if err := each(ctx, rd, rows.write); err != nil {
			return blame(err, in.name)
		}
		if err := r.doubtful.check(rd, in.name); err != nil {
			return err
		}
		return rows.flush()
	})
	if err != nil {
		return nil, err
	}
	return append(rd.Report().Lines(), r.doubtful.lines()...), nil
}
