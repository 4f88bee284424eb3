package command

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/report"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// monitorSignature marks results as this command's own.
const monitorSignature = "lossep monitor"

// alarmCode is the exit code where there is an alarm.
const alarmCode = 3

// alarmed is an alarm as the end of a command; the text is empty where the output says it in words.
type alarmed struct{ text string }

func (e *alarmed) Error() string { return e.text }

// monitorRequest is what monitor is asked.
type monitorRequest struct {
	*service.Monitor
	out, metrics string
	format       format
}

func newMonitor() *cobra.Command {
	q := &monitorRequest{Monitor: service.NewMonitor()}
	c := &cobra.Command{
		Use:   "monitor model.lossep new.csv [--outcomes later.csv] [--time COLUMN] [--window week]",
		Short: "Estimate what decisions cost over time, before and after outcomes are known",
		Long: `Estimate the cost of a model's decisions in each window of time, before outcomes are known. The
95 % interval (coverage 1 − --level) accounts for sampling error, uncertainty of the
recalibration and covariate drift. Columns that drifted are listed with their effect on the cost.
Where outcomes are known, in the table or in another one (--outcomes, joined by --id), the
realised cost is shown beside the estimate and tested against it.

An alarm means that the cost rose by more than --tolerance. The probability of a false alarm is
at most --level over the whole monitoring period, even if monitor is run every day. The exit
status is 3 if there is an alarm, else 0.

Options under "Table file" apply to all tables, except --skip-lines, which applies to the new
cases only.`,
		Example: `  lossep monitor model.lossep new.parquet --time decided_at --window week
  lossep monitor model.lossep new.csv --outcomes later.csv --id case --time decided_at --window day --out watch
  lossep monitor model.lossep new.csv --window 5000 --metrics /var/lib/node_exporter/lossep.prom`,
		Args: needArguments("the model file", "the table of new cases"),
	}
	addOptions(c.Flags(), q.Options)
	addOwn(c.Flags(), service.Options{
		{Name: "out", Group: service.Basics, Help: "output folder for a page, figures and tables (default: none)", Value: service.TextOf(&q.out, "DIR")},
		{Name: "metrics", Group: service.Basics, Help: "file for the metrics of the last window, in the text format of Prometheus", Value: service.TextOf(&q.metrics, "FILE")},
		basic(formatOption(&q.format, "output format")),
	})
	c.RunE = q.run
	return c
}

func (q *monitorRequest) run(c *cobra.Command, args []string) error {
	if err := q.Complete(); err != nil {
		return err
	}
	m, err := loadAny(c, args[0])
	if err != nil {
		return err
	}
	var tables [3]*table.Table
	for k, path := range []string{args[1], q.Outcomes, q.Reference} {
		if path == "" {
			continue
		}
		t := q.Table
		if k > 0 {
			t.Format.Skip = ""
		}
		tables[k], err = wholeTable(c, path, t, m)
		switch {
		case k == 1 && errors.Is(err, table.ErrNoRows): // no outcome is known yet
			continue
		case k == 1 && errors.Is(err, fs.ErrNotExist):
			return usagef("%w; if no outcome is known yet, leave --outcomes out", err)
		}
		for _, line := range lineProblems(err) {
			if k == 0 {
				continue
			}
			line.Fix, line.Ways = "take it out of the file, or what is above it: --skip-lines is for the table of new cases", nil
		}
		if err != nil {
			return err
		}
	}
	found, err := q.Of(c.Context(), m, tables[0], tables[1], tables[2])
	if err != nil {
		return blame(err, args[1])
	}
	r := &report.Monitor{
		Origin: report.Origin{MadeBy: monitorSignature, Versions: versions()}, Data: filepath.Base(args[1]), Model: filepath.Base(args[0]),
		Costs: m.State().Costs, Result: found,
	}
	if err := writeMonitor(r, q.out, q.metrics); err != nil {
		return err
	}
	text := func(w io.Writer) error {
		if q.out == "" {
			return r.WriteText(w)
		}
		return writeReport(w, "\nreport  %s\n", q.out, r.WriteText)
	}
	if err := q.format.emit(c.OutOrStdout(), r, text); err != nil {
		return err
	}
	switch {
	case len(found.Alarms) == 0:
		return nil
	case q.format == "json":
		return &alarmed{r.Verdict()}
	}
	return &alarmed{}
}

// writeMonitor writes the files that were asked for.
func writeMonitor(r *report.Monitor, out, metrics string) error {
	if out != "" {
		folder := &resultFolder{path: out, signature: monitorSignature, files: report.MonitorFiles()}
		if err := folder.open(); err != nil {
			return err
		}
		defer folder.close()
		if err := folder.replace(r.Files, false); err != nil {
			return err
		}
	}
	if metrics == "" {
		return nil
	}
	var b bytes.Buffer
	if err := r.WriteMetrics(&b); err != nil {
		return err
	}
	// Beside it and renamed, so that whoever collects it never sees half of it.
	if err := os.WriteFile(metrics+".tmp", b.Bytes(), 0o644); err != nil {
		_ = os.Remove(metrics + ".tmp") // what there was room for
		return &usageError{err}
	}
	return os.Rename(metrics+".tmp", metrics)
}
