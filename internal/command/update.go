package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// updateRequest is what update is asked.
type updateRequest struct {
	*service.Update
	output string
	format format
}

func newUpdate() *cobra.Command {
	q := &updateRequest{Update: service.NewUpdate()}
	c := &cobra.Command{
		Use:   "update model.lossep [more.csv] -o model2.lossep",
		Short: "Add rows to a fitted model or remove rows from it",
		Long: `Add rows with known outcomes to a fitted model. The table needs the columns of the training table.
The kernel is kept unless --refit-kernel is given, preprocessing always; only the posterior is updated. Up to 2000 rows the result
is that of a fit of all rows with this kernel. With inducing points, earlier rows are summarised by a
Gaussian, and only the new rows are read.

--half-life gives older rows a lower weight. --forget removes rows, matched by features and outcome
because a model stores no identifiers; --ids selects rows of that table by identifier. A server
loads the new file on SIGHUP, without losing a request.`,
		Example: `  lossep update model.lossep yesterday.csv -o model.lossep
  lossep update model.lossep more.csv -o model2.lossep --half-life 50000
  lossep update model.lossep --forget withdrawn.csv -o model2.lossep
  lossep update model.lossep --forget past.csv --ids c17,c18 -o model2.lossep`,
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if q.Forget != "" && len(args) == 1 {
			return nil
		}
		return needArguments("the model file", "the table of further cases")(c, args)
	}
	addOptions(c.Flags(), q.Options)
	addOwn(c.Flags(), service.Options{
		{Name: "output", Short: "o", Group: service.Basics, Help: "model file to write; may be the same file", Value: service.TextOf(&q.output, "FILE")},
		basic(formatOption(&q.format, "output format")),
	})
	c.RunE = q.run
	return c
}

func (q *updateRequest) run(c *cobra.Command, args []string) error {
	if q.output == "" {
		return usagef("-o FILE is missing: the model file to write; it may be %s", args[0])
	}
	files := args[1:]
	if q.Forget != "" {
		files = append(files, q.Forget)
	}
	if err := cmp.Or(checkOutput("-o", q.output, files...), checkModelName(q.output)); err != nil {
		return err
	}
	start := time.Now()
	m, err := loadAny(c, args[0])
	if err != nil {
		return err
	}
	o := q.Model
	o.MaxMemory, o.Progress = maxMemory(c), progress(c.ErrOrStderr())
	var next service.Loaded
	update := func(ctx context.Context) error {
		var more *table.Table
		for k, path := range files {
			t, err := q.rows(c, path, m)
			if err != nil {
				return err
			}
			if k == 0 && len(args) > 1 {
				more = t
			} else {
				o.Forget = t
			}
		}
		next, err = m.Updated(ctx, more, o)
		return err
	}
	if err = update(c.Context()); err != nil && c.Context().Err() == nil {
		name := files[0]
		if slices.Contains(files, "-") {
			name = "-" // which is read but once
		}
		err = settleLines(name, &q.Table.Format.Skip, err, func() error { return rowsOnly(update) })
	}
	clearProgress(c.ErrOrStderr())
	if err != nil {
		return err
	}
	if err := next.Save(q.output); err != nil {
		return err
	}
	report := updateReport{next.State(), time.Since(start).Seconds(), q.output}
	return q.format.emit(c.OutOrStdout(), report, func(w io.Writer) error {
		_, err := io.WriteString(w, joined([]string{
			report.Updates.String(), fmt.Sprintf("rows        %d, before %d", report.Rows, m.State().Rows),
			"status      " + report.Text, fmt.Sprintf("time        %.1f s", report.Seconds), "model       " + q.output,
		}))
		return err
	})
}

// rows reads a table, without the rows that are to be left out.
func (q *updateRequest) rows(c *cobra.Command, path string, m service.Loaded) (*table.Table, error) {
	t, err := wholeTable(c, path, q.Table, m)
	if err != nil || !q.SkipUnlabelled {
		return t, err
	}
	some, err := m.Recipe().Labelled(t)
	if err == nil && some.Len() < t.Len() {
		notes := some.Notes()
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", path, notes[len(notes)-1])
	}
	return some, err
}

// rowsOnly runs an update up to where its rows have been read, and nothing is left but to compute.
func rowsOnly(update func(context.Context) error) error {
	ended, end := context.WithCancel(context.Background())
	end()
	if err := update(ended); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// updateReport is what update prints for programs.
type updateReport struct {
	service.State
	Seconds float64 `json:"seconds"`
	Model   string  `json:"model"`
}

// wholeTable reads all columns of a table for a model. It names them if the training file did.
func wholeTable(c *cobra.Command, path string, t service.Table, m service.Loaded) (*table.Table, error) {
	in, err := openInput(c, path, &t)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if in.table == nil && in.made == "" && t.Format.Header == table.HeaderAuto && m.Recipe().Header {
		t.Format.Header = table.HeaderExpected
	}
	read, err := in.read(c.Context(), t, nil, nil)
	return read, blame(err, in.name)
}
