package recipe

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lossep/lossep/table"
)

// Remarks are the columns in which a row is unlike the training rows.
type Remarks struct {
	Unseen []string // with a category that they did not have
	Far    []string // with a number far outside theirs: by more than half their range, or ten times as near to zero as all of them; a date beyond theirs; no probability where theirs are some
	Zones  []string // of times with a zone where theirs have none, or the reverse
	Gaps   []string // with a missing cell that is filled, where none of them had one
}

func (r *Remarks) kinds() [4][]string { return [4][]string{r.Unseen, r.Far, r.Zones, r.Gaps} }

// Any tells whether there are any.
func (r *Remarks) Any() bool {
	return r.Unseen != nil || r.Far != nil || r.Zones != nil || r.Gaps != nil
}

// Unusual are the columns with a category that the training rows did not have, a number far
// outside theirs, or a missing cell where they had none; nil if there are none.
func (r *Remarks) Unusual() []string {
	return append(append(slices.Clone(r.Unseen), r.Far...), r.Gaps...)
}

// Report counts what happened while rows were encoded.
type Report struct {
	Rows   int // rows encoded
	Unseen Counts
	Far    Counts
	Zones  Counts
	Gaps   Counts
	// Defaults are the columns of costs that are missing, and that something stands in for.
	Defaults Counts
	Ignored  []string // columns of the file that the recipe does not know
	// Unusual are the columns in which rows of a table are unlike the training rows, by the number
	// of the row from 0; of a Reader each Row knows its own.
	Unusual map[int][]string `json:"-"`

	bound *binding
}

// Count is the number of cells of a column that there is a remark on.
type Count struct {
	Column  string
	Cells   int
	Example string // the first of them, of categories
}

// Defaulted says that something stands in for a column of costs where it is missing in so many rows.
func (c Count) Defaulted(rows int) string {
	return fmt.Sprintf("column %s of the costs is missing in %d of %s: default() stands in for it there", table.Quote(c.Column), c.Cells, table.Plural(rows, "row"))
}

// Counts are those of several columns, each once.
type Counts []Count

func (c *Counts) add(more Count) {
	k := slices.IndexFunc(*c, func(of Count) bool { return of.Column == more.Column })
	if k < 0 {
		*c = append(*c, more)
	} else if (*c)[k].Cells += more.Cells; (*c)[k].Cells == 0 {
		*c = slices.Delete(*c, k, k+1)
	}
}

// newReport starts counting for one file.
func newReport(b *binding) *Report { return &Report{Ignored: b.ignored, bound: b} }

func (p *Report) kinds() [4]*Counts { return [4]*Counts{&p.Unseen, &p.Far, &p.Zones, &p.Gaps} }

// note counts a row, or takes it back if times is −1; text is the cell of a column of the file.
func (p *Report) note(r *Remarks, times int, text func(column int) string) {
	p.Rows += times
	for k, columns := range r.kinds() {
		for _, name := range columns {
			more := Count{Column: name, Cells: times}
			if j, err := p.bound.column(name); k == 0 && err == nil {
				more.Example = text(j)
			}
			p.kinds()[k].add(more)
		}
	}
}

// Add adds the counts of the rows that come next, encoded by the same recipe.
func (p *Report) Add(later *Report) {
	for i, columns := range later.Unusual {
		if p.Unusual == nil {
			p.Unusual = make(map[int][]string)
		}
		p.Unusual[p.Rows+i] = columns
	}
	p.Rows += later.Rows
	for k, counts := range later.kinds() {
		for _, more := range *counts {
			p.kinds()[k].add(more)
		}
	}
	for _, more := range later.Defaults {
		p.Defaults.add(more)
	}
}

// CountDefaults adds rows in which something stands in for columns of the costs.
func (p *Report) CountDefaults(rows map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		p.Defaults.add(Count{Column: name, Cells: rows[name]})
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
		taken := "encoded as zeros"
		if r := p.bound.recipe; r.called(u.Column).Kind == Ordered {
			if taken = "taken for the first of its order"; r.Standardize {
				taken = "taken for the mean place in its order"
			}
		}
		lines = append(lines, fmt.Sprintf("column %s: %s of %d with an unseen category, such as %s, %s",
			table.Quote(u.Column), table.Plural(u.Cells, "row"), p.Rows, table.Quote(u.Example), taken))
	}
	for _, f := range p.Far {
		line := p.bound.recipe.MostlyFar(f, p.Rows)
		if line == "" {
			line = p.bound.recipe.someFar(f, p.Rows)
		}
		lines = append(lines, line)
	}
	for _, f := range p.Zones {
		lines = append(lines, p.bound.recipe.OtherZones(f, p.Rows))
	}
	for _, f := range p.Gaps {
		lines = append(lines, p.bound.recipe.NewGaps(f, p.Rows))
	}
	for _, f := range p.Defaults {
		lines = append(lines, f.Defaulted(p.Rows))
	}
	return lines
}

// NewGaps says that so many of the rows lack a column that no training row lacked, and what the
// cells are taken for.
func (r *Recipe) NewGaps(f Count, rows int) string {
	what := fmt.Sprintf("column %s: %s of %d with a missing cell, which no row had in training: ", table.Quote(f.Column), table.Plural(f.Cells, "row"), rows)
	if r.Gaps {
		return what + "predicted by the mean over its values in similar training rows, with their spread as further uncertainty"
	}
	fill := ""
	switch c := r.called(f.Column); c.Kind {
	case "":
	case Categorical:
		fill = " as the most frequent category, " + table.Quote(c.FillCategory)
	case Numeric:
		fill = " as the median, " + table.Spelled(c.Fill)
	default:
		fill = " as the median"
	}
	return what + "imputed" + fill + ", without an indicator"
}

// OtherZones says that so many of the rows have times with a zone, and those of training had none, or
// the reverse.
func (r *Recipe) OtherZones(f Count, rows int) string {
	here, there := "without a zone, which are read as UTC", "have one"
	if c := r.called(f.Column); c.Dates != nil && c.Dates.Zones == WithoutZones {
		here, there = "with a zone", "have none and were read as UTC"
	}
	return fmt.Sprintf("column %s: %s of %d with times %s; those seen in training %s. Check that they are the same clock", table.Quote(f.Column), table.Plural(f.Cells, "row"), rows, here, there)
}

// someFar says that a column is far outside in some of so many rows: of dates and probabilities
// what that means.
func (r *Recipe) someFar(f Count, rows int) string {
	what := fmt.Sprintf("column %s: %s of %d ", table.Quote(f.Column), table.Plural(f.Cells, "row"), rows)
	switch c := r.called(f.Column); {
	case c.Kind == Date && c.Dates.Order != table.ClockTime:
		day := func(days float64) string { return dateText(c.Dates.Origin + 86400*days) }
		return what + fmt.Sprintf("with a date outside those seen in training, %s to %s: what is said of them is an extrapolation. Fit again with cases of that time, or without the column", day(c.Low), day(c.High))
	case c.Scaling != nil && c.Scaling.Bend == LogOdds:
		return what + fmt.Sprintf("outside 0 to 1 or far outside the values seen in training, which are probabilities from %g to %g (log-odds)", c.Low, c.High)
	}
	return what + "far outside the values seen in training"
}

// MostlyFar says that a column is far outside in most of so many rows, so that it may have
// another unit, and between which numbers training saw it; nothing if it is not. A single row
// says nothing of the kind.
func (r *Recipe) MostlyFar(f Count, rows int) string {
	if rows < 2 || 2*f.Cells <= rows {
		return ""
	}
	which, seen := fmt.Sprintf("ALL %d rows", rows), ""
	if f.Cells < rows {
		which = fmt.Sprintf("most rows (%d of %d)", f.Cells, rows)
	}
	switch c := r.called(f.Column); {
	case c.Kind == Date:
		return r.someFar(f, rows)
	case c.Kind == Numeric || c.atStake():
		seen = fmt.Sprintf(", which are from %g to %g", c.Low, c.High)
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
// training. All such columns are named.
func (p *Report) Err(file string, any bool) error {
	problems := new(table.Problems)
	for _, u := range p.Unseen {
		if !any && (u.Cells < p.Rows || p.Rows < 2) {
			continue
		}
		e := (&table.Error{File: file, ColumnName: u.Column}).Say("write categories as the training file does",
			"%d of %s with a category that the training rows did not have, such as %s", u.Cells, table.Plural(p.Rows, "row"), table.Quote(u.Example))
		e.Msg += "; those are " + table.QuoteList(p.bound.recipe.called(u.Column).Categories)
		if !any {
			e.Ways = []table.Way{{Option: table.WayUnseen, Meaning: "if they are new indeed"}}
		}
		problems.All = append(problems.All, e)
	}
	for _, f := range p.Gaps {
		if any {
			problems.All = append(problems.All, (&table.Error{File: file, ColumnName: f.Column}).Say(
				"fill the cells in",
				"%d of %s with a missing cell, which no row had in training", f.Cells, table.Plural(p.Rows, "row")))
		}
	}
	return problems.Err()
}
