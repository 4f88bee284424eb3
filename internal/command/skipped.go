package command

import (
	"encoding/csv"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// skipped is the file of rows that could not be read, if they are passed over.
type skipped struct {
	path  string
	spool *spool
	csv   *csv.Writer
	rows  int
}

// newSkipped makes the reader pass over bad rows if that is asked for. They are written neither
// to what is read nor to where the other rows go.
func newSkipped(q *service.Cases, rd *recipe.Reader, file string, inputs []string) (*skipped, error) {
	d := &skipped{path: q.Errors}
	if !q.Skips() {
		return d, nil
	}
	if q.Output != "" && (filepath.Clean(q.Output) == filepath.Clean(d.path) || sameFile(q.Output, d.path)) {
		return d, usagef("--errors %s: the other rows go there; give another path", d.path)
	}
	if err := checkOutput("--errors", d.path, inputs...); err != nil {
		return d, err
	}
	if end := service.Ending(d.path); end != "" && end != ".csv" {
		return d, usagef("--errors %s: these rows are written as CSV and not as %s; give a name that ends in .csv", d.path, end)
	}
	var err error
	if d.spool, err = newSpool(d.path); err != nil {
		return d, err
	}
	d.csv = csv.NewWriter(d.spool)
	// An error of the writer comes again when it is flushed.
	_ = d.csv.Write(append([]string{"line", "reason"}, rd.Columns()...))
	rd.Skip(func(b recipe.Bad) {
		d.rows++
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
	return d, nil
}

// refuseUnseen refuses rows whose categories the model does not know.
func refuseUnseen(q *service.Cases, rd *recipe.Reader, file string) error {
	if q.AllowUnseen && !q.Strict {
		return nil
	}
	return blame(rd.Report().Err(file, q.Strict), file)
}

// finish puts the file where it belongs.
func (d *skipped) finish() error {
	if d.spool == nil {
		return nil
	}
	d.csv.Flush()
	if err := d.csv.Error(); err != nil {
		return err
	}
	return d.spool.finish(nil)
}

func (d *skipped) abandon() {
	if d.spool != nil {
		d.spool.abandon()
	}
}

// lines say what was left out.
func (d *skipped) lines() []string {
	if d.spool == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s skipped that could not be read; %s says why", table.Plural(d.rows, "row"), d.path)}
}
