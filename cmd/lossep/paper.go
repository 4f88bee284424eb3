package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/paper"
)

// paperParts are what --only chooses from.
var paperParts = []string{"figure1", "figure2", "table1"}

// paperRun is what was computed, in the form of results.json.
type paperRun struct {
	MadeBy   string            `json:"made_by"` // paperSignature
	Versions map[string]string `json:"versions"`
	Parts    []string          `json:"parts"`
	Settings paper.Simulation  `json:"settings"`
	Figure1  *paper.Reactor    `json:"figure1,omitempty"`
	Figure2  *paper.TwoPoints  `json:"figure2,omitempty"`
	Table1   *paper.Table      `json:"table1,omitempty"`
	Claims   []paper.Claim     `json:"claims,omitempty"`
	Check    *paper.Check      `json:"truth_check,omitempty"`
	Trials   []*paper.Trial    `json:"trials,omitempty"`
}

// paperSignature marks results and progress as this command's own.
const paperSignature = "lossep paper"

// paperFiles are all the files a run may write.
var paperFiles = []string{
	"index.html", "figure1.svg", "figure1.png", "figure2.svg", "figure2.png", "table1.csv", folderResults,
}

func newPaper() *cobra.Command {
	s := paper.Default()
	var out string
	var only []string
	c := &cobra.Command{
		Use:   "paper [--out DIR]",
		Short: "Repeat the paper's experiments and write a report",
		Long: `Compute every figure and table of "Loss-calibrated expectation propagation for
approximate Bayesian decision-making" (Morais and Pillow 2022) from a seed, add the
decisions that go beyond it, and write a report that says which of the paper's
claims hold.

The folder gets index.html, the figures as SVG and PNG, table1.csv and results.json
with every number. It holds one run at a time: a later run replaces it. A run that
was interrupted keeps the data sets it has finished, and the same command goes on
from them.`,
		Example: `  lossep paper --out paper-out
  lossep paper --out quick --datasets 4 --points 200
  lossep paper --out figures --only figure1,figure2`,
		Args: noArguments,
	}
	flags := c.Flags()
	flags.StringVar(&out, "out", "paper-out", "folder to write to")
	flags.StringSliceVar(&only, "only", nil, "compute only these parts: "+strings.Join(paperParts, ", "))
	flags.Uint64Var(&s.Seed, "seed", s.Seed, "what all random numbers follow from")
	flags.IntVar(&s.DataSets, "datasets", s.DataSets, "number of simulated data sets")
	flags.IntVar(&s.Points, "points", s.Points, "number of points that stand for p(x)")
	format := addFormat(flags)
	c.RunE = func(c *cobra.Command, _ []string) error {
		parts, err := chooseParts(only)
		if err != nil {
			return err
		}
		if s.DataSets < 2 {
			return usagef("--datasets: %d data sets have no spread; give at least 2", s.DataSets)
		}
		if s.Points < 2 {
			return usagef("--points: %d points do not stand for a distribution; give at least 2", s.Points)
		}
		s = paper.New(s.Seed, s.DataSets, s.Points)
		folder := &resultFolder{path: out, signature: paperSignature, files: paperFiles}
		if err := folder.open(); err != nil {
			return err
		}
		run := &paperRun{MadeBy: paperSignature, Versions: versions(), Parts: parts, Settings: s}
		if err := run.compute(c.Context(), folder, c.ErrOrStderr()); err != nil {
			return err
		}
		files, err := run.files()
		if err != nil {
			return err
		}
		if err := folder.replace(files, !run.has("table1")); err != nil {
			return err
		}
		var text bytes.Buffer
		if *format == "json" {
			err = run.writeSummaryJSON(&text, out)
		} else {
			err = run.writeSummaryText(&text, out)
		}
		if err != nil {
			return err
		}
		_, err = text.WriteTo(c.OutOrStdout())
		return err
	}
	return c
}

// chooseParts reads --only; parts come in the order of the paper.
func chooseParts(only []string) ([]string, error) {
	if len(only) == 0 {
		return paperParts, nil
	}
	for _, name := range only {
		if !slices.Contains(paperParts, name) {
			return nil, usagef("--only: %q is not known; choose from %s", name, strings.Join(paperParts, ", "))
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

func (r *paperRun) has(part string) bool { return slices.Contains(r.Parts, part) }

// compute runs the experiments chosen.
func (r *paperRun) compute(ctx context.Context, folder *resultFolder, errs io.Writer) (err error) {
	if r.has("figure1") {
		if r.Figure1, err = paper.NewReactor(ctx); err != nil {
			return err
		}
	}
	if r.has("figure2") {
		if r.Figure2, err = paper.NewTwoPoints(ctx); err != nil {
			return err
		}
	}
	if r.has("table1") {
		return r.simulate(ctx, folder, errs)
	}
	return nil
}

// simulate computes the table from where an earlier run stopped.
func (r *paperRun) simulate(ctx context.Context, folder *resultFolder, errs io.Writer) error {
	same := r.Settings
	same.DataSets = 0 // more or fewer of the same data sets are the same run
	parts, err := folder.resume(same)
	if err != nil {
		return err
	}
	var known []*paper.Trial
	for _, part := range parts {
		// What cannot be read is computed again.
		if t := new(paper.Trial); json.Unmarshal(part, t) == nil && r.Settings.Fits(t) {
			known = append(known, t)
		}
	}
	done := len(known)
	if done > 0 {
		fmt.Fprintf(errs, "going on from %d finished data sets\n", done)
	}
	bar := newBar("data sets", r.Settings.DataSets, done, errs)
	r.Trials, err = r.Settings.Run(ctx, known, func(t *paper.Trial) error {
		if err := folder.keep(t.Index, t); err != nil {
			return err
		}
		done++
		_ = bar.Add(1) // a terminal that cannot be written to
		return nil
	})
	_ = bar.Clear()
	if err != nil {
		if done > 0 && ctx.Err() != nil {
			fmt.Fprintf(errs, "%d of %d data sets are kept in %s; the same command goes on from them\n", done, r.Settings.DataSets, folder.path)
		}
		return err
	}
	r.Table1 = paper.NewTable(r.Trials)
	r.Claims = r.Table1.Claims()
	r.Check, err = r.Settings.Check(ctx, 0)
	return err
}
