package command

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/table"
)

// mostLines bounds how often lines that are said to be no rows are left out to see what is wrong below
// them.
const mostLines = 8

// settleLines lists what is wrong with a file together with what comes to light when the lines that are
// no rows, such as titles, units and totals, are left out: err is of the first try, and again tries with
// what is in skip. Nothing is done but to find out.
func settleLines(path string, skip *string, err error, again func() error) error {
	given := *skip
	defer func() { *skip = given }()
	all := new(table.Problems)
	for range mostLines {
		lines := lineProblems(err)
		if lines == nil || path == "-" {
			break
		}
		for _, line := range lines {
			w := line.Ways[0]
			if w.Value == "last" && line.Line > 0 && slices.Contains(strings.Split(*skip, ","), w.Value) {
				w.Value = strconv.Itoa(line.Line) // above the one that is left out already
			}
			all.All, all.Suggest = append(all.All, line), append(all.Suggest, w)
			*skip = strings.TrimPrefix(*skip+","+w.Value, ",")
		}
		err = again()
	}
	var others *table.Problems
	var other *table.Error
	switch {
	case len(all.All) == 0:
		return err
	case err == nil && len(all.All) == 1:
		return all.All[0]
	case err == nil:
	case errors.As(err, &others) && (others.Suggest != nil || others.Choices != nil):
		all.All, all.Suggest, all.Choices = append(all.All, others.All...), append(all.Suggest, others.Suggest...), others.Choices
	case errors.As(err, &other) && others == nil && other.Settle != nil:
		all.All, all.Suggest = append(all.All, other), append(all.Suggest, other.Settle...)
	case errors.As(err, &other) && others == nil && other.Choice != nil:
		all.All, all.Choices = append(all.All, other), [][]table.Way{other.Choice}
	default:
		if all.Suggest = nil; all.Add(err) != nil { // which may come of what was left out
			return all.All[0]
		}
	}
	all.Suggest = table.Together(all.Suggest)
	return all.Err()
}

// lineProblems are the errors about lines of a file that may be no rows. What else is found with them
// may come of these lines, from which the decimal separator was judged, too.
func lineProblems(err error) (lines []*table.Error) {
	all := new(table.Problems)
	if all.Add(err) != nil {
		return nil
	}
	for _, e := range all.All {
		if len(e.Ways) > 0 && e.Ways[0].Option == table.WaySkip {
			lines = append(lines, e)
		}
	}
	return lines
}

// lines is settleLines of new cases, which are read through without being answered.
func (r answering) lines(c *cobra.Command, open func() (*tableInput, error), name string, err error) error {
	return settleLines(name, &r.Table.Format.Skip, err, func() error {
		in, err := open()
		if err != nil {
			return err
		}
		defer in.Close()
		rd, err := r.reader(c, in)
		for err == nil {
			if err = c.Context().Err(); err == nil {
				_, err = rd.ReadBlock(1024)
			}
		}
		if err == io.EOF || errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	})
}
