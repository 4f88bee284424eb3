package command

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// doubtFlags say what to do about new rows that are not like the training rows, or that
// cannot be read.
type doubtFlags struct {
	strict, allow bool
	onError, file string

	spool *spool
	csv   *csv.Writer
	bad   int
}

func addDoubtFlags(flags *pflag.FlagSet) *doubtFlags {
	d := new(doubtFlags)
	flags.BoolVar(&d.strict, "strict", false, "refuse a category that the training rows did not have, be it in one row")
	flags.BoolVar(&d.allow, "allow-unseen", false, "go on where all rows have categories that the training rows did not have")
	flags.StringVar(&d.onError, "on-error", "stop", "what to do about a row that cannot be read: stop, or skip (with --errors)")
	flags.StringVar(&d.file, "errors", "", "the CSV file for rows that were skipped, with their lines and what is wrong with them")
	return d
}

// skips tells whether bad rows are passed over, and written down whole.
func (d *doubtFlags) skips() bool { return d.onError == "skip" }

// watch makes the reader pass over bad rows if that is asked for. They are written neither
// to what is read nor to where the other rows go.
func (d *doubtFlags) watch(rd *recipe.Reader, file, output string, inputs []string) error {
	switch {
	case d.onError != "stop" && d.onError != "skip":
		return usagef("--on-error: %q is neither stop nor skip", d.onError)
	case d.onError == "stop" && d.file != "":
		return usagef("--errors: rows are skipped only with --on-error skip")
	case d.onError == "stop":
		return nil
	case d.file == "":
		return usagef("--on-error skip: give --errors FILE for the rows that are left out")
	}
	if output != "" && (filepath.Clean(output) == filepath.Clean(d.file) || sameFile(output, d.file)) {
		return usagef("--errors %s: the other rows go there; give another path", d.file)
	}
	if err := checkOutput("--errors", d.file, inputs...); err != nil {
		return err
	}
	if end := ending(d.file); end != "" && end != ".csv" {
		return usagef("--errors %s: these rows are written as CSV and not as %s; give a name that ends in .csv", d.file, end)
	}
	var err error
	if d.spool, err = newSpool(d.file); err != nil {
		return err
	}
	d.csv = csv.NewWriter(d.spool)
	// An error of the writer comes again when it is flushed.
	_ = d.csv.Write(append([]string{"line", "reason"}, rd.Columns()...))
	rd.Skip(func(b recipe.Bad) {
		d.bad++
		reason := b.Err.Error()
		if located := new(table.Error); errors.As(b.Err, &located) {
			short := *located
			if short.Line, short.Row = 0, 0; short.File == file {
				short.File = "" // and not one of many
			}
			reason = short.Text(service.Naming(service.Flags).Way)
		}
		_ = d.csv.Write(append([]string{strconv.Itoa(b.Line), reason}, table.Pointed(b.Cells, rd.Decimal())...))
	})
	return nil
}

// check refuses rows whose categories the model does not know, and otherwise finishes
// the file of bad rows.
func (d *doubtFlags) check(rd *recipe.Reader, file string) error {
	if !d.allow || d.strict {
		if err := rd.Report().Err(file, d.strict); err != nil {
			d.abandon()
			return blame(err, file)
		}
	}
	if d.spool == nil {
		return nil
	}
	d.csv.Flush()
	if err := d.csv.Error(); err != nil {
		d.abandon()
		return err
	}
	return d.spool.finish(nil)
}

func (d *doubtFlags) abandon() {
	if d.spool != nil {
		d.spool.abandon()
	}
}

// lines say what was left out.
func (d *doubtFlags) lines() []string {
	if d.spool == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s skipped that could not be read; %s says why", table.Plural(d.bad, "row"), d.file)}
}

// caseWriter writes what is found about the rows of a file: what names each, if the
// columns of the input are not kept, and the columns in which it is unlike the training
// rows.
type caseWriter struct {
	*rowWriter
	keep, named bool
}

func newCaseWriter(w io.Writer, f format, rd *recipe.Reader, keep bool, names []string) *caseWriter {
	names = append(slices.Clone(names), "unusual")
	id, ok := rd.Identity()
	c := &caseWriter{keep: keep, named: ok && !keep}
	switch {
	case c.named && f == "json":
		c.rowWriter = newRowWriter(w, f, nil, nil, false, append(names, "id"))
	case c.named:
		kind := rd.Kinds()[slices.Index(rd.Columns(), id)]
		c.rowWriter = newRowWriter(w, f, []string{id}, []table.CellKind{kind}, true, names)
	default:
		c.rowWriter = newRowWriter(w, f, rd.Columns(), rd.Kinds(), keep, names)
	}
	return c
}

func (c *caseWriter) write(row *recipe.Row, values ...any) error {
	var cells []string
	switch {
	case c.keep:
		cells = table.Pointed(row.Cells(), row.Decimal())
	case c.named:
		cells = []string{row.Identity()}
	}
	if c.json == nil {
		return c.rowWriter.write(cells, append(values, strings.Join(row.Unusual(), ";"))...)
	}
	values = append(values, append([]string{}, row.Unusual()...))
	if c.named {
		values = append(values, row.Identity())
	}
	return c.rowWriter.write(cells, values...)
}
