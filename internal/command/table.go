package command

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// pastCases are those of a request, on their way from a file.
type pastCases struct {
	*service.Rows
	room table.Room // for the table, nil for the memory of the process
}

// exampleAlone refuses flags about a table of one's own beside --example.
func exampleAlone(options service.Options, useExample bool) error {
	if !useExample {
		return nil
	}
	for _, o := range options {
		own := o.Group == service.Basics || o.Group == service.Columns || o.Group == service.File
		if own && o.Name != "scaling" && o.Given() {
			return &service.Error{Option: o.Name, Msg: "the example comes with its own; leave it out, or give a table in place of {example}"}
		}
	}
	return nil
}

// decideCodes has the evidence decide which numbers are codes if that is asked for:
// --categorical auto, unless a column is called that.
func decideCodes(o *lossep.Options, t *table.Table) {
	named := namedCodes(o.Data.Categorical, t)
	o.DecideCodes = len(named) < len(o.Data.Categorical)
	o.Data.Categorical = named
}

// namedCodes are the columns that --categorical names.
func namedCodes(categorical []string, t *table.Table) []string {
	if slices.Contains(t.Columns(), "auto") {
		return categorical
	}
	return slices.DeleteFunc(slices.Clone(categorical), func(name string) bool { return name == "auto" })
}

// readTable reads a whole table of past cases, up to a number of rows. Columns that the
// options leave out need not be read, but for those that are named in also.
func (d *pastCases) readTable(c *cobra.Command, path string, maxRows int, also ...string) (*table.Table, error) {
	given := d.Table
	f := &given.Format
	f.Limits.Rows = maxRows
	switch f.Room = d.room; {
	case f.Limits.Cells > 0:
	case d.room != nil:
		f.Limits.Cells = math.MaxInt // the room is the limit
	default: // a quarter of the memory, at eight bytes each
		f.Limits.Cells = int(min(table.DefaultCells, maxMemory(c)/32))
	}
	in, err := openInput(c, path, &d.Table)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if d.Counts != "" {
		also = append(also, d.Counts)
	}
	t, err := in.read(c.Context(), given, &d.Data, also)
	if err != nil {
		return nil, err
	}
	return d.cases(t, min(f.Limits.Cells, table.DefaultCells))
}

// cases are the rows that are learned from, up to a number.
func (d *pastCases) cases(t *table.Table, most int) (_ *table.Table, err error) {
	if d.SkipUnlabelled {
		o := d.Data
		o.Categorical = namedCodes(o.Categorical, t)
		t, err = recipe.Labelled(t, o)
	}
	if err == nil && d.Counts != "" {
		return t.Repeated(d.Counts, most)
	}
	return t, err
}

// described says what is going to be fitted, and asks about numbers that may be codes.
func described(p *lossep.Problem) []string {
	lines := service.Naming(service.Flags).Notes(p.Describe(), p.Findings)
	for k, line := range lines {
		lines[k] = strings.ReplaceAll(line, "the option use-cost-columns", "--use-cost-columns")
	}
	return append(lines, aboutCodes(p.Codes)...)
}

// aboutCodes asks about columns of numbers that may be codes.
func aboutCodes(columns []string) []string {
	if len(columns) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("few different whole numbers, treated as numeric: %s; if they are codes, give --categorical %s",
		strings.Join(columns, ", "), service.ShellQuoted(strings.Join(columns, ",")))}
}
