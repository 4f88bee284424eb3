package recipe

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lossep/lossep/table"
)

// Report counts what happened while rows were encoded.
type Report struct {
	Rows    int      // rows encoded
	Unseen  []Unseen // columns with categories that training had not seen
	Far     []Far    // columns with numbers far from those of training
	Zones   []Far    // columns of times with a zone where those of training had none, or the reverse
	Gaps    []Far    // columns with missing cells where training had none
	Ignored []string // columns of the file that the recipe does not know
	// Unusual are the columns in which rows of a table are unlike the training rows, by the number
	// of the row from 0; of a Reader each Row knows its own.
	Unusual map[int][]string `json:"-"`

	bound *binding
}

// Unseen counts the cells of a column whose category was not seen in training;
// they were encoded as zeros.
type Unseen struct {
	Column  string
	Cells   int
	Example string // the first of them
}

// Far counts the cells of a column far outside the training values: by more than half their
// range, or ten times as near to zero as all of them.
type Far struct {
	Column string
	Cells  int
}

// newReport starts counting for one file.
func newReport(b *binding) *Report { return &Report{Ignored: b.ignored, bound: b} }

// unseen takes note of a cell in a column of the recipe.
func (p *Report) unseen(column int, cell string) {
	p.addUnseen(Unseen{Column: p.bound.recipe.Columns[column].Name, Cells: 1, Example: cell})
}

func (p *Report) addUnseen(u Unseen) {
	for k := range p.Unseen {
		if p.Unseen[k].Column == u.Column {
			p.Unseen[k].Cells += u.Cells
			return
		}
	}
	p.Unseen = append(p.Unseen, u)
}

func (p *Report) far(column int) {
	p.addFar(Far{p.bound.recipe.Columns[column].Name, 1})
}

func (p *Report) addFar(f Far)  { p.Far = counted(p.Far, f) }
func (p *Report) addZone(f Far) { p.Zones = counted(p.Zones, f) }
func (p *Report) addGap(f Far)  { p.Gaps = counted(p.Gaps, f) }

// counted adds the cells of a column.
func counted(all []Far, f Far) []Far {
	for k := range all {
		if all[k].Column == f.Column {
			all[k].Cells += f.Cells
			return all
		}
	}
	return append(all, f)
}

// discard takes the counts of a row back.
func (p *Report) discard(row *Row) {
	p.Rows--
	for _, name := range row.Unseen {
		p.addUnseen(Unseen{Column: name, Cells: -1})
	}
	for _, name := range row.Far {
		p.addFar(Far{Column: name, Cells: -1})
	}
	for _, name := range row.zones {
		p.addZone(Far{Column: name, Cells: -1})
	}
	for _, name := range row.gaps {
		p.addGap(Far{Column: name, Cells: -1})
	}
	p.Zones = slices.DeleteFunc(p.Zones, func(f Far) bool { return f.Cells == 0 })
	p.Gaps = slices.DeleteFunc(p.Gaps, func(f Far) bool { return f.Cells == 0 })
	p.Unseen = slices.DeleteFunc(p.Unseen, func(u Unseen) bool { return u.Cells == 0 })
	p.Far = slices.DeleteFunc(p.Far, func(f Far) bool { return f.Cells == 0 })
}

// Add adds the counts of rows that come later, encoded by the same recipe.
func (p *Report) Add(later *Report) {
	p.Rows += later.Rows
	if p.Unusual == nil {
		p.Unusual = later.Unusual
	} else {
		maps.Copy(p.Unusual, later.Unusual)
	}
	for _, u := range later.Unseen {
		p.addUnseen(u)
	}
	for _, f := range later.Far {
		p.addFar(f)
	}
	for _, f := range later.Zones {
		p.addZone(f)
	}
	for _, f := range later.Gaps {
		p.addGap(f)
	}
}

// Lines says in words what a reader of the results should know, one fact a
// line; nothing if all was as in training.
func (p *Report) Lines() []string {
	var lines []string
	if len(p.Ignored) > 0 {
		lines = append(lines, fmt.Sprintf("ignored %s the model does not know: %s", table.Plural(len(p.Ignored), "column"), table.QuoteList(p.Ignored)))
	}
	for _, u := range p.Unseen {
		lines = append(lines, fmt.Sprintf("column %s: %s of %d with an unseen category, such as %s, encoded as zeros",
			table.Quote(u.Column), table.Plural(u.Cells, "row"), p.Rows, table.Quote(u.Example)))
	}
	for _, f := range p.Far {
		line := fmt.Sprintf("column %s: %s of %d far outside the values seen in training", table.Quote(f.Column), table.Plural(f.Cells, "row"), p.Rows)
		if often := p.bound.recipe.MostlyFar(f, p.Rows); often != "" {
			line = often
		}
		lines = append(lines, line)
	}
	for _, f := range p.Zones {
		lines = append(lines, p.bound.recipe.OtherZones(f, p.Rows))
	}
	for _, f := range p.Gaps {
		lines = append(lines, p.bound.recipe.NewGaps(f, p.Rows))
	}
	return lines
}

// NewGaps says that so many of the rows lack a column that no training row lacked, and what the
// cells are taken for.
func (r *Recipe) NewGaps(f Far, rows int) string {
	what := fmt.Sprintf("column %s: %s of %d with a missing cell, which no row had in training: ", table.Quote(f.Column), table.Plural(f.Cells, "row"), rows)
	if r.Gaps {
		return what + "predicted by the mean over its values in similar training rows, with their spread as further uncertainty"
	}
	fill := ""
	for i := range r.Columns {
		switch c := &r.Columns[i]; {
		case c.Name != f.Column:
		case c.Kind == Categorical:
			fill = " as the most frequent category, " + table.Quote(c.FillCategory)
		case c.Kind == Numeric:
			fill = " as the median, " + table.Spelled(c.Fill)
		default:
			fill = " as the median"
		}
	}
	return what + "imputed" + fill + ", without an indicator"
}

// OtherZones says that so many of the rows have times with a zone, and those of training had none, or
// the reverse.
func (r *Recipe) OtherZones(f Far, rows int) string {
	here, there := "without a zone, which are read as UTC", "have one"
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Name == f.Column && c.Dates != nil && c.Dates.Zones == WithoutZones {
			here, there = "with a zone", "have none and were read as UTC"
		}
	}
	return fmt.Sprintf("column %s: %s of %d with times %s; those seen in training %s. Check that they are the same clock", table.Quote(f.Column), table.Plural(f.Cells, "row"), rows, here, there)
}

// MostlyFar says that a column is far outside in most of so many rows, so that it may have
// another unit, and between which numbers training saw it; nothing if it is not. A single row
// says nothing of the kind.
func (r *Recipe) MostlyFar(f Far, rows int) string {
	if rows < 2 || 2*f.Cells <= rows {
		return ""
	}
	which, seen := fmt.Sprintf("ALL %d rows", rows), ""
	if f.Cells < rows {
		which = fmt.Sprintf("most rows (%d of %d)", f.Cells, rows)
	}
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Name == f.Column && (c.Kind == Numeric || c.atStake()) { // of dates these are days
			seen = fmt.Sprintf(", which are from %g to %g", c.Low, c.High)
		}
	}
	return fmt.Sprintf("column %s: %s are far outside the values seen in training%s. Check the unit: what is said of such rows is a guess", table.Quote(f.Column), which, seen)
}

// Doubts is the report of what is likely to be a mistake alone: categories that training did not
// see, and columns far outside in most rows.
func (p *Report) Doubts() *Report {
	d := &Report{Rows: p.Rows, Unseen: p.Unseen, Zones: p.Zones, Gaps: p.Gaps, bound: p.bound}
	for _, f := range p.Far {
		if p.bound.recipe.MostlyFar(f, p.Rows) != "" {
			d.Far = append(d.Far, f)
		}
	}
	return d
}

// Err refuses columns of which no cell was a category seen in training: they are
// spelled otherwise there, or mean something else. A single row says nothing of the
// kind. If any is true, one cell is enough, and so is one that is missing where no row lacked it in
// training.
func (p *Report) Err(file string, any bool) error {
	for _, u := range p.Unseen {
		if !any && (u.Cells < p.Rows || p.Rows < 2) {
			continue
		}
		e := &table.Error{
			File: file, ColumnName: u.Column,
			Msg: fmt.Sprintf("%d of %s with a category that the training rows did not have, such as %s", u.Cells, table.Plural(p.Rows, "row"), table.Quote(u.Example)),
			Fix: "write categories as the training file does",
		}
		for i := range p.bound.recipe.Columns {
			if c := &p.bound.recipe.Columns[i]; c.Name == u.Column {
				e.Msg += "; those are " + table.QuoteList(c.Categories)
			}
		}
		if !any {
			e.Ways = []table.Way{{Option: table.WayUnseen, Meaning: "if they are new indeed"}}
		}
		return e
	}
	if any && len(p.Gaps) > 0 {
		f := p.Gaps[0]
		return &table.Error{
			File: file, ColumnName: f.Column,
			Msg: fmt.Sprintf("%d of %s with a missing cell, which no row had in training", f.Cells, table.Plural(p.Rows, "row")),
			Fix: "fill the cells in",
		}
	}
	return nil
}
