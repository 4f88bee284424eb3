package report

import (
	"fmt"

	"github.com/lossep/lossep/lab"
)

// reactorFigure is Figure 1: densities of the state, with what each method does.
func reactorFigure(r *lab.Figure1) Densities {
	f := Densities{
		XLabel: "State φ",
		Rules:  []Rule{{At: r.Threshold, Label: fmt.Sprintf("threshold %v", r.Threshold)}},
	}
	for _, c := range r.Curves {
		f.Series = append(f.Series, Series{
			Method: c.Method,
			Label: fmt.Sprintf("%s: %s (U on %.3f, off %.3f)", MethodLabel(c.Method), reactorAction(c),
				c.ExpectedUtility[0], c.ExpectedUtility[1]),
			X: r.State, Y: c.Density,
		})
	}
	return f
}

// reactorAction names the action taken.
func reactorAction(c lab.MethodCurve) string {
	if *c.Action == 1 {
		return "off"
	}
	return "on"
}

// twoPointsFigure is Figure 2: the posterior without and with the utility.
func twoPointsFigure(t *lab.Figure2) Contours {
	return Contours{
		XLabel: "f₁", YLabel: "f₂",
		Mass: []float64{0.5, 0.9},
		Panels: []Panel{
			{
				Title:    "Posterior",
				Density:  Grid{X: t.F1, Y: t.F2, Z: t.Posterior},
				Ellipses: ellipses(t.OfPosterior),
			},
			{
				Title:    "Weighted by the utility",
				Density:  Grid{X: t.F1, Y: t.F2, Z: t.Weighted},
				Ellipses: ellipses(t.OfWeighted),
			},
		},
	}
}

// ellipses are those of the approximations.
func ellipses(of []lab.Moments) []Ellipse {
	var e []Ellipse
	for _, m := range of {
		if m.Method != "exact" {
			e = append(e, Ellipse{Method: m.Method, Mean: m.Mean, Covariance: m.Covariance})
		}
	}
	return e
}

// reactorTable has the numbers of Figure 1.
func reactorTable(r *lab.Figure1) *Table {
	t := newTable("What each method believes and does.", "Method", "mean of φ", "variance", "P(φ > T)", "U(on)", "U(off)", "action")
	for _, c := range r.Curves {
		t.AddRow(MethodLabel(c.Method), fixed(c.Mean, 4), fixed(c.Variance, 4), fixed(c.Exceeds, 4),
			fixed(c.ExpectedUtility[0], 4), fixed(c.ExpectedUtility[1], 4), reactorAction(c))
	}
	return t
}

// twoPointsTable has the numbers of Figure 2.
func twoPointsTable(t *lab.Figure2) *Table {
	table := newTable("Means and covariances of (f₁, f₂).", "Method", "mean f₁", "mean f₂", "var f₁", "cov", "var f₂")
	add := func(group string, of []lab.Moments) {
		for _, m := range of {
			name := MethodLabel(m.Method)
			if m.Method == "loss-ep" {
				name += " " + m.Of
			}
			table.AddRow(name, fixed(m.Mean[0], 4), fixed(m.Mean[1], 4), fixed(m.Covariance[0][0], 4), fixed(m.Covariance[0][1], 4), fixed(m.Covariance[1][1], 4))
			table.Rows[len(table.Rows)-1].Group = group
		}
	}
	add("Posterior", t.OfPosterior)
	add("Weighted by the utility", t.OfWeighted)
	return table
}
