package command

import (
	"bytes"
	"io"
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
		Use:   "monitor model.lossep new.csv [--outcomes later.csv] --time COLUMN --window week",
		Short: "Watch what decisions cost, before and after outcomes are known",
		Long: `Decide the cases of a table by a model, window by window, and state what the decisions are expected
to cost, with an interval that allows for chance, for calibration and for cases that differ from those
of the past; which columns moved, and what that costs. Where outcomes are known, in the table or in
another one (--outcomes, by --id), the realised cost stands beside it, and evidence is gathered that
decisions cost more than estimated.

An alarm is for costs that rise by more than --tolerance. It is false with a probability of at most
--level, however often one looks: run this every day. The exit code is 3 where there is one, and 0
where not. --out writes a page, figures and tables to a folder, and --metrics a file in the text
format of Prometheus.

Options of the file are for all tables that are given, but --skip-lines for that of the new cases only:
those of --outcomes and --reference have to begin with the names of the columns, and end with a row.`,
		Example: `  lossep monitor model.lossep new.parquet --time decided_at --window week
  lossep monitor model.lossep new.csv --outcomes later.csv --id case --time decided_at --window day --out watch
  lossep monitor model.lossep new.csv --window 5000 --metrics /var/lib/node_exporter/lossep.prom`,
		Args: needArguments("the model file", "the table of new cases"),
	}
	addOptions(c.Flags(), q.Options)
	addOwn(c.Flags(), service.Options{
		{Name: "out", Group: service.Basics, Help: "folder to write a page, figures and tables to (default: none)", Value: service.TextOf(&q.out, "DIR")},
		{Name: "metrics", Group: service.Basics, Help: "file to write the last window to, for Prometheus", Value: service.TextOf(&q.metrics, "FILE")},
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
		tables[k], err = wholeTable(c, path, t)
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
