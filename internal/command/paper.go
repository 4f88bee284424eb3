package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/lab"
	"github.com/lossep/lossep/report"
	"github.com/lossep/lossep/service"
)

// paperParts are what --only chooses from.
var paperParts = []string{"figure1", "figure2", "table1"}

// mostOfPaper is the most data sets, and the most points of each.
const mostOfPaper = 100_000

// paperSignature marks results and progress as this command's own.
const paperSignature = "lossep paper"

// paperRequest is what paper is asked.
type paperRequest struct {
	lab.Simulation
	out    string
	only   []string
	format format
}

func newPaper() *cobra.Command {
	q := &paperRequest{Simulation: lab.PaperSimulation(), out: "paper-out"}
	c := &cobra.Command{
		Use:   "paper [--out DIR]",
		Short: "Reproduce the paper's experiments",
		Long: `Compute every figure and table of "Loss-calibrated expectation propagation for
approximate Bayesian decision-making" (Morais and Pillow 2022) from a seed, with
further decision problems, and report which of the paper's claims hold.

The folder gets index.html, the figures as SVG and PNG, table1.csv and results.json
with every number. An existing run in the folder is replaced. After an interruption the
same command resumes with the finished data sets.`,
		Example: `  lossep paper --out paper-out
  lossep paper --out quick --datasets 4 --points 200
  lossep paper --out figures --only figure1,figure2`,
		Args: noArguments,
	}
	addOwn(c.Flags(), service.Options{
		{Name: "out", Help: "output folder", Value: service.TextOf(&q.out, "DIR")},
		{Name: "only", Help: "compute only these parts: " + strings.Join(paperParts, ", "), Value: service.ListOf(&q.only, "A,B,C")},
		{Name: "seed", Help: "random seed", Value: service.SeedOf(&q.Seed)},
		{Name: "datasets", Help: "number of simulated data sets", Value: service.WholeOf(&q.DataSets, math.MinInt)},
		{Name: "points", Help: "number of test points", Value: service.WholeOf(&q.Points, math.MinInt)},
		formatOption(&q.format, "output format"),
	})
	c.RunE = q.run
	return c
}

func (q *paperRequest) run(c *cobra.Command, _ []string) error {
	parts, err := chooseParts(q.only)
	if err != nil {
		return err
	}
	if q.DataSets < 2 {
		return usagef("--datasets: %d data sets have no spread; give at least 2", q.DataSets)
	}
	if q.DataSets > mostOfPaper || q.Points > mostOfPaper {
		return usagef("--datasets and --points: more than %d would take days; give less", mostOfPaper)
	}
	if q.Points < 2 {
		return usagef("--points: %d points do not stand for a distribution; give at least 2", q.Points)
	}
	q.Simulation = lab.NewSimulation(q.Seed, q.DataSets, q.Points)
	folder := &resultFolder{path: q.out, signature: paperSignature, files: report.PaperFiles()}
	if err := folder.open(); err != nil {
		return err
	}
	defer folder.close()
	run := &paperRun{Paper: report.Paper{
		Origin: report.Origin{MadeBy: paperSignature, Versions: versions()},
		Parts:  parts, Settings: q.Simulation, Command: paperCommand(parts, q.Simulation),
	}, folder: folder, errs: c.ErrOrStderr()}
	if err := run.compute(c.Context()); err != nil {
		return err
	}
	if err := folder.replace(run.Files, !run.has("table1")); err != nil {
		return err
	}
	run.Trials = nil // which results.json has
	return q.format.emit(c.OutOrStdout(), struct {
		Out string `json:"out"`
		report.Paper
	}{q.out, run.Paper}, func(w io.Writer) error {
		return writeReport(w, "The report is %s.\n", q.out, run.WriteText)
	})
}

// chooseParts reads --only; parts come in the order of the paper.
func chooseParts(only []string) ([]string, error) {
	if only == nil {
		return paperParts, nil
	}
	for _, name := range only {
		if !slices.Contains(paperParts, name) {
			return nil, usagef("--only: unknown part %q; choose one of %s", name, strings.Join(paperParts, ", "))
		}
	}
	var parts []string
	for _, name := range paperParts {
		if slices.Contains(only, name) {
			parts = append(parts, name)
		}
	}
	return parts, nil
}

// paperCommand is what repeats a run.
func paperCommand(parts []string, s lab.Simulation) string {
	command := "lossep paper "
	if len(parts) < len(paperParts) {
		command += "--only " + strings.Join(parts, ",") + " "
	}
	return command + fmt.Sprintf("--seed %d --datasets %d --points %d", s.Seed, s.DataSets, s.Points)
}

// paperRun is a run with where it goes.
type paperRun struct {
	report.Paper
	folder *resultFolder
	errs   io.Writer
}

func (r *paperRun) has(part string) bool { return slices.Contains(r.Parts, part) }

// compute runs the experiments chosen, all at once, the longest first, and returns the error of the first of them that failed.
func (r *paperRun) compute(ctx context.Context) error {
	experiments := []struct {
		part string
		run  func() error
	}{
		{"table1", func() error { return r.simulate(ctx) }},
		{"table1", func() (err error) { r.Check, err = r.Settings.Check(ctx, 0); return err }},
		{"figure2", func() (err error) { r.Figure2, err = lab.NewFigure2(ctx); return err }},
		{"figure1", func() (err error) { r.Figure1, err = lab.NewFigure1(ctx); return err }},
	}
	errs := make([]error, len(experiments))
	tasks.For(len(experiments), func(i int) {
		if r.has(experiments[i].part) {
			errs[i] = experiments[i].run()
		}
	})
	return cmp.Or(errs...)
}

// simulate computes the table from where an earlier run stopped.
func (r *paperRun) simulate(ctx context.Context) error {
	same := r.Settings
	same.DataSets = 0 // more or fewer of the same data sets are the same run
	trials, err := unfinished[lab.Trial]{
		folder: r.folder, settings: same, what: "data sets", total: r.Settings.DataSets,
		index: func(t *lab.Trial) int { return t.Index }, fits: r.Settings.Fits,
	}.finish(ctx, r.errs, r.Settings.Run)
	if err != nil {
		return err
	}
	r.Trials = trials
	r.Table1 = lab.NewTable1(r.Trials)
	r.Claims = r.Table1.Claims()
	return nil
}
