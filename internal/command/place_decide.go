package command

import (
	"context"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Decide is what has to be known to decide some rows of a table elsewhere. It can be
// written as JSON.
type Decide struct {
	Model   string         `json:"model"` // file
	Utility *decision.Spec `json:"utility"`
	Format  table.Format   `json:"format"`
	Keep    bool           `json:"keep"`   // the columns of the input
	Second  bool           `json:"second"` // opinions are asked
	Memory  int64          `json:"memory"` // in bytes; 0 for what is usual where rows are decided
}

// Decided counts what was decided about some rows.
type Decided struct {
	Rows, Disagree, Labelled, Seen, Strange int
	ByAction                                []int
	Expected, Realised                      float64
	Report                                  recipe.Report
}

// Rows decides the rows of a source by the model and writes them as Parquet.
func (d *Decide) Rows(ctx context.Context, m *lossep.Model, s table.Source, w io.Writer) (*Decided, error) {
	spec, err := m.Bind(d.Utility)
	if err != nil {
		return nil, err
	}
	also := func(name string) bool { return d.Keep || slices.Contains(spec.Columns(), name) }
	rd, err := recipe.NewSourceReader(ctx, s, m.Recipe(), d.Format, also)
	if err != nil {
		return nil, err
	}
	t := newTally(m, spec, true)
	t.consulted = d.Second
	rows := newCaseWriter(w, parquetFormat, rd, d.Keep, decisionNames(spec, parquetFormat, d.Second))
	if err := t.decide(ctx, rd, parquetFormat, rows.write); err != nil {
		return nil, err
	}
	return &Decided{t.rows, t.disagree, t.labelled, t.seen, t.strange, t.byAction, t.expected, t.realised, *rd.Report()}, rows.flush()
}

// include counts what was decided elsewhere.
func (t *tally) include(d *Decided) {
	t.rows += d.Rows
	t.disagree += d.Disagree
	t.labelled += d.Labelled
	t.seen += d.Seen
	t.strange += d.Strange
	t.expected += d.Expected
	t.realised += d.Realised
	for a, n := range d.ByAction {
		t.byAction[a] += n
	}
}

// at decides the table of new cases at a place.
func (d *Decide) at(c *cobra.Command, place *Place, r caseRun, s *tally, args []string) error {
	switch {
	case len(args) < 2:
		return usagef("--example: it has few rows; give a folder of Parquet files, or take lossep")
	case r.doubtful.skips():
		return usagef("--on-error skip: rows are decided by many, who would all write one file of errors; take out rows that cannot be read, or take lossep")
	case r.output == "":
		return usagef("-o is missing; give a folder for the decisions, which will be Parquet files")
	}
	if _, err := os.Stat(r.output); err == nil {
		return usagef("-o %s: this is there already; give the name of a new folder", r.output)
	}
	d.Format = r.table.Format
	in, err := openInput(c, args[1])
	if err != nil {
		return err
	}
	defer in.Close()
	if in.table == nil {
		return usagef("%s: this is text, which only one machine can read; give Parquet files, or take lossep", args[1])
	}
	rd, err := in.rows(c.Context(), s.model.Recipe(), d.Format, r.keep, r.columns)
	if err != nil {
		return blame(err, in.name)
	}
	err = place.Decide(c.Context(), *d, in.table, r.output, func(parts []*Decided) error {
		for _, p := range parts {
			s.include(p)
			rd.Report().Add(&p.Report)
		}
		return r.doubtful.check(rd, in.name)
	})
	if err != nil {
		return blame(err, in.name)
	}
	return writeSummary(c.ErrOrStderr(), append(s.lines(), rd.Report().Lines()...))
}
