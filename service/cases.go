package service

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Cases is how new cases are read, and what is written about them.
type Cases struct {
	what string // is written, as a sheet is called
	Table
	ID          string // the column that names the cases
	Keep        bool   // the columns of the input
	Output      string // a file
	As          Format // of the rows that are written; empty for what the ending of Output says
	Sort        string // the column to sort by, largest first
	Top         int    // how many rows are written, 0 for all
	Strict      bool
	AllowUnseen bool
	OnError     string
	Errors      string // a file
}

// options are those of the cases, which they are bound to. What is written of them is the name of a
// sheet, and by the column that the largest rows are chosen by if none is named.
func (r *Cases) options(what, by string) Options {
	r.what, r.OnError = what, "stop"
	return append(Options{
		{Name: "output", Short: "o", Group: Basics, CommandOf: true, Help: "output file (default: standard output); its extension sets the format: " + endingsText(), Value: text{&r.Output, "FILE"}},
		{Name: "format", Group: Basics, CommandOf: true, Help: "output format, if not given by the extension of {output}", Shown: "csv", Value: choice[Format]{to: &r.As, of: formats(), alias: map[string]Format{"text": CSV, "json": JSONLines, "ndjson": JSONLines}}},
		{Name: "keep", Group: Basics, CommandOf: true, Help: "include the input columns", Value: toggle{&r.Keep}},
		{Name: "id", Group: Basics, CommandOf: true, Help: "row identifier column (default: that of the model, or else the line of the file)", Value: text{&r.ID, "COLUMN"}},
		{Name: "sort", Group: Basics, CommandOf: true, Help: "sort output by this column, descending, such as " + by, Value: text{&r.Sort, "COLUMN"}},
		{Name: "top", Group: Basics, CommandOf: true, Help: "output only the top N rows, by {sort} or by " + by, Value: whole{&r.Top, 1}},
		{Name: "strict", Group: NewCases, CommandOf: true, Help: "error on any unseen category, and on a missing cell where training had none", Value: toggle{&r.Strict}},
		{Name: "allow-unseen", Group: NewCases, CommandOf: true, Help: "do not fail when every row has an unseen category", Value: toggle{&r.AllowUnseen}},
		{Name: "on-error", Group: NewCases, CommandOf: true, Help: "on unreadable rows: stop, or skip them and write them to {errors}", Value: choice[string]{to: &r.OnError, of: []string{"stop", "skip"}}},
		{Name: "errors", Group: NewCases, CommandOf: true, Help: "CSV file for skipped rows, with line and reason", Value: text{&r.Errors, "FILE"}},
	}, r.Table.Options()...)
}

// complete checks options against each other and settles how rows are written.
func (r *Cases) complete(by string) (err error) {
	switch {
	case r.OnError == "stop" && r.Errors != "":
		return optionError("errors", "rows are skipped only with {on-error=skip}")
	case r.OnError == "skip" && r.Errors == "":
		return optionError("on-error", "give {errors=FILE.csv} for the rows that are skipped")
	}
	if r.Top > 0 && r.Sort == "" {
		r.Sort = by
	}
	r.As, err = formatOf(r.Output, r.As)
	return err
}

// Skips tells whether rows that cannot be read are passed over, and written down whole.
func (r *Cases) Skips() bool { return r.OnError == "skip" }

// Emit takes what is said about a case, with the cells of its row.
type Emit func(cells func() []string, c *Case) error

// identity names the rows of a reader: by a column, or by their lines.
type identity struct {
	column  int // of the file, −1 for none
	several bool
}

// CheckID refuses a column of identifiers that a file does not have.
func (r *Cases) CheckID(columns []string) error {
	if r.ID != "" && !slices.Contains(columns, r.ID) {
		return optionError("id", "unknown column %q; %s", r.ID, table.Instead(r.ID, columns))
	}
	return nil
}

// IDColumn is the column of identifiers of a file, empty if lines name its rows.
func (r *Cases) IDColumn(rd *recipe.Reader) string {
	if r.ID != "" {
		return r.ID
	}
	name, _ := rd.Identity()
	return name
}

// Shown are the fields that are written: the identifier need not be there twice, if its column is
// kept and has the name already.
func (r *Cases) Shown(fields []Field, id string) []Field {
	if r.Keep && id == IDField.Name {
		return fields[1:]
	}
	return fields
}

func (r *Cases) identity(rd *recipe.Reader, several bool) identity {
	column := r.IDColumn(rd)
	if column == "" {
		return identity{-1, several}
	}
	return identity{slices.Index(rd.Columns(), column), several}
}

// of is the name of a row.
func (i identity) of(row *recipe.Row) string {
	if i.column >= 0 {
		return row.Cell(i.column)
	}
	return lineID(row.Place(), i.several)
}

// lineID is where a row is, with its file where a table has several.
func lineID(at *table.Error, several bool) string {
	id := strconv.Itoa(at.Line + at.Row) // of which one is 0
	if several {
		id = filepath.Base(at.File) + ":" + id
	}
	return id
}

// Costs is how costs are given on a command line.
type Costs struct {
	Line, File, Matrix string
}

// Options are those of the costs, which they are bound to.
func (u *Costs) Options() Options {
	return Options{
		{Name: "cost", Group: Basics, CommandOf: true, Help: "costs of false negatives and false positives, such as fn=5,fp=1 or fn=0.6*amount+10,fp=1 (quote other column names with backticks); if the outcome is a number, cost of each unit too little and too much, such as under=15,over=5", Value: text{&u.Line, "COSTS"}},
		{Name: "utility", Group: Basics, CommandOf: true, Help: "YAML file of outcomes, actions, and their costs or utilities", Value: text{&u.File, "FILE"}},
		{Name: "cost-matrix", Group: Basics, CommandOf: true, Help: "CSV file of costs: a header with the outcomes, and one row per action", Value: text{&u.Matrix, "FILE"}},
	}
}

// Files are those that are read.
func (u *Costs) Files() []string { return []string{u.File, u.Matrix} }

// Spec is the specification given, or nil if none is. Files are read by what is given for it.
func (u *Costs) Spec(ctx context.Context, read func(ctx context.Context, path string) ([]byte, error)) (*decision.Spec, error) {
	file := func(option, path string, parse func(string, []byte) (*decision.Spec, error)) (*decision.Spec, error) {
		content, err := read(ctx, path)
		if err != nil {
			return nil, &Error{Option: option, Msg: err.Error(), Err: err}
		}
		return parse(path, content)
	}
	switch {
	case u.Line != "" && u.File != "":
		return nil, optionError("cost", "{utility} is given as well; keep one of them")
	case u.Matrix != "" && u.Line+u.File != "":
		return nil, optionError("cost-matrix", "{cost} or {utility} is given as well; keep one of them")
	case u.Matrix != "":
		return file("cost-matrix", u.Matrix, decision.ParseCostMatrix)
	case u.Line != "":
		return decision.ParseCosts(u.Line)
	case u.File != "":
		return file("utility", u.File, decision.ParseSpec)
	}
	return nil, nil
}

// StakesOf is what is at stake in each row of a table under a bound specification, or in all of
// them; further spellings of missing cells may be given.
func StakesOf(s *decision.Spec, t *table.Table, missing ...string) ([]decision.Stakes, error) {
	if err := s.CheckColumns(t.Columns()); err != nil {
		return nil, err
	}
	values := t.Values(missing...)
	stakes, err := s.Cases(t.Len(), values)
	return stakes, lossep.AtCaseOf(t, s, values, err)
}
