package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/lossep/lossep/lab"
)

// WriteText writes what a reader wants to know at once.
func (r *Paper) WriteText(w io.Writer) error {
	var b bytes.Buffer
	if r.Figure1 != nil {
		fmt.Fprint(&b, "Figure 1, action of the reactor:")
		for _, c := range r.Figure1.Curves {
			fmt.Fprintf(&b, " %s %s", c.Method, reactorAction(c))
		}
		fmt.Fprintln(&b)
	}
	if r.Figure2 != nil {
		fmt.Fprintf(&b, "Figure 2, distance of the mean from the exact one: %s\n", strings.Join(distances(r.Figure2), ", "))
	}
	if r.Table1 != nil {
		fmt.Fprintln(&b)
		t := newTable("Table 1, mean normalised regret over all shifts", append([]string{"u10"}, lab.PaperMethods()...)...)
		t.Best = "lowest"
		shifts := len(lab.Shifts())
		for k := 0; k < len(r.Table1.Cells); k += shifts {
			t.Rows = append(t.Rows, overShifts(r.Table1.Cells[k:k+shifts]))
		}
		if err := t.WriteText(&b); err != nil {
			return err
		}
		fmt.Fprintln(&b)
		for _, c := range r.Claims {
			fmt.Fprintf(&b, "%s: %s\n  %s\n", strings.ToUpper(string(c.Outcome)), c.Statement, c.Finding)
		}
		fmt.Fprintln(&b)
	}
	_, err := b.WriteTo(w)
	return err
}

// distances of the means from the exact one, in order.
func distances(t *lab.Figure2) []string {
	var d []string
	for _, of := range [][]lab.Moments{t.OfPosterior, t.OfWeighted} {
		for _, m := range of[1:] {
			d = append(d, fmt.Sprintf("%s %s %s", m.Method, m.Of, Number(math.Hypot(m.Mean[0]-of[0].Mean[0], m.Mean[1]-of[0].Mean[1]))))
		}
	}
	return d
}

// overShifts averages cells that differ in their shift.
func overShifts(cells []lab.Cell) Row {
	row := Row{Cells: []Cell{{Text: fmt.Sprint(cells[0].U10)}}}
	lowest := math.Inf(1)
	var means []float64
	for m := range lab.PaperMethods() {
		mean := 0.0
		for _, c := range cells {
			mean += c.Scores[m].Mean / float64(len(cells))
		}
		lowest = min(lowest, mean)
		means = append(means, mean)
	}
	for _, mean := range means {
		row.Cells = append(row.Cells, Cell{Text: fmt.Sprintf("%.1e", mean), Best: mean == lowest})
	}
	return row
}
