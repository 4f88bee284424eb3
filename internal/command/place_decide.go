package command

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// Decide is what has to be known to decide some rows of a table elsewhere. It can be
// written as JSON.
type Decide struct {
	Model    string            `json:"model"` // file
	Costs    service.Costs     `json:"costs"`
	Files    map[string][]byte `json:"files,omitempty"` // that the costs name
	Format   table.Format      `json:"format"`
	ID       string            `json:"id"`
	Keep     bool              `json:"keep"`   // the columns of the input
	Second   bool              `json:"second"` // opinions are asked
	Why      int               `json:"why"`    // how many reasons are given
	Without  []string          `json:"why_without,omitempty"`
	Baseline string            `json:"baseline"`
	Only     string            `json:"only"`    // the action whose rows are written
	Several  bool              `json:"several"` // the table has more than one file
	Memory   int64             `json:"memory"`  // in bytes; 0 for what is usual where rows are decided
}

// Decided counts what was decided about some rows.
type Decided struct {
	Counted json.RawMessage
	Report  recipe.Report
}

// read is the content of a file that the costs name.
func (d *Decide) read(_ context.Context, path string) ([]byte, error) { return d.Files[path], nil }

// keeping is a reader of files that keeps them for others.
func (d *Decide) keeping(ctx context.Context, path string) (content []byte, err error) {
	content, err = readShort(ctx, path)
	if d.Files == nil {
		d.Files = make(map[string][]byte)
	}
	d.Files[path] = content
	return content, err
}

// Rows decides the rows of a source by the model and writes them as Parquet.
func (d *Decide) Rows(ctx context.Context, m service.Loaded, s table.Source, w io.Writer) (*Decided, error) {
	q := service.NewDecide()
	q.Costs, q.ID, q.Keep, q.SecondOpinion, q.Why, q.WhyWithout, q.Baseline, q.Only, q.As = d.Costs, d.ID, d.Keep, d.Second, d.Why, d.Without, d.Baseline, d.Only, service.Parquet
	answer, err := m.Deciding(ctx, q, d.read)
	if err != nil {
		return nil, err
	}
	also := func(name string) bool { return d.Keep || name == d.ID || slices.Contains(answer.Columns(), name) }
	rd, err := recipe.NewSourceReader(ctx, s, m.Recipe(), d.Format, also)
	if err == nil {
		err = q.CheckID(rd.Columns())
	}
	if err != nil {
		return nil, err
	}
	r, fields := answering{&q.Cases, answer, nil}, q.Shown(answer.Fields(), q.IDColumn(rd))
	rows, err := q.Writer(w, r.kept(rd), fields, 0)
	if err != nil {
		return nil, err
	}
	err = answer.Rows(ctx, rd, d.Several, func(cells func() []string, one *service.Case) error {
		var texts []string
		if d.Keep {
			texts = cells()
		}
		return rows.Write(texts, service.Record(fields, one))
	})
	if err != nil {
		return nil, err
	}
	counted, err := json.Marshal(answer.(service.Parted).Counted())
	if err != nil {
		return nil, err
	}
	return &Decided{counted, *rd.Report()}, rows.Close()
}

// placeOptions refuses options of one process at a place, where the output is a folder.
func placeOptions(q *service.Decide, args []string) error {
	switch {
	case len(args) < 2:
		return usagef("--example: it has few rows; give a folder of Parquet files, or take lossep")
	case q.Skips():
		return usagef("--on-error skip: not supported on a cluster, where many processes would write one file of errors; remove rows that cannot be read, or use lossep")
	case q.Sort != "" || q.Top > 0:
		return usagef("--sort, --top: not supported on a cluster, where each process has some of the rows; sort the files it wrote, or use lossep")
	case len(q.Limits) > 0:
		return usagef("--capacity: not supported on a cluster, where each process has some of the rows; use lossep")
	case q.Calibrate:
		return usagef("--calibrate: the model is read from its file by many; fit one with --method loss-ep")
	case q.Output == "":
		return usagef("-o is missing; give a folder for the decisions, which will be Parquet files")
	}
	if _, err := os.Stat(q.Output); err == nil {
		return usagef("-o %s: this is there already; give the name of a new folder", q.Output)
	}
	return nil
}

// decideAt decides the table of new cases at a place.
func decideAt(c *cobra.Command, place *Place, r answering, q *service.Decide, d Decide, args []string) error {
	in, err := openInput(c, args[1], &r.Table)
	if err != nil {
		return err
	}
	defer in.Close()
	if in.table == nil {
		return usagef("%s: this is text, which only one machine can read; give Parquet files, or take lossep", args[1])
	}
	rd, err := r.reader(c, in)
	if err != nil {
		return blame(err, in.name)
	}
	d.Model, d.Costs, d.Format, d.ID, d.Keep, d.Second, d.Why, d.Without, d.Baseline, d.Only = args[0], q.Costs, r.Format, r.ID, r.Keep, q.SecondOpinion, q.Why, q.WhyWithout, q.Baseline, q.Only
	d.Several, d.Memory = in.several(), givenMemory(c)
	err = place.Decide(c.Context(), d, in.table, r.Output, func(parts []*Decided) error {
		for _, p := range parts {
			if err := r.answer.(service.Parted).Count(p.Counted); err != nil {
				return err
			}
			rd.Report().Add(&p.Report)
		}
		return refuseUnseen(r.Cases, rd, in.name)
	})
	if err != nil {
		return blame(err, in.name)
	}
	return writeSummary(c.ErrOrStderr(), append(r.answer.Lines(service.Flags), rd.Report().Lines()...))
}
