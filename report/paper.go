package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/lossep/lossep/lab"
)

// Paper is what was computed of the paper's experiments, in the form of Results.
type Paper struct {
	Origin
	Parts    []string        `json:"parts"`
	Settings lab.Simulation  `json:"settings"`
	Figure1  *lab.Figure1    `json:"figure1,omitempty"`
	Figure2  *lab.Figure2    `json:"figure2,omitempty"`
	Table1   *lab.Table1     `json:"table1,omitempty"`
	Claims   []lab.Claim     `json:"claims,omitempty"`
	Check    *lab.TruthCheck `json:"truth_check,omitempty"`
	Trials   []*lab.Trial    `json:"trials,omitempty"`
	// Command is what a reader types to get the same report.
	Command string `json:"-"`
}

// PaperFiles are the names of all files there may be.
func PaperFiles() []string {
	return []string{"index.html", "figure1.svg", "figure1.png", "figure2.svg", "figure2.png", "table1.csv", Results}
}

// Files are the contents of the report's files, by name.
func (r *Paper) Files() (map[string][]byte, error) {
	f := make(files)
	if r.Figure1 != nil {
		f.figure("figure1", reactorFigure(r.Figure1))
	}
	if r.Figure2 != nil {
		f.figure("figure2", twoPointsFigure(r.Figure2))
	}
	if r.Table1 != nil {
		f["table1.csv"] = r.writeTable
	}
	f["index.html"] = r.page().Write
	f.results(r, " ")
	return f.contents()
}

// writeTable writes a row for each cell and method.
func (r *Paper) writeTable(w io.Writer) error {
	rows := [][]string{{"u10", "shift", "method", "mean", "stderr", "datasets"}}
	for _, cell := range r.Table1.Cells {
		for _, s := range cell.Scores {
			rows = append(rows, []string{
				exactly(cell.U10), exactly(cell.Shift), s.Method, exactly(s.Mean), exactly(s.StdErr), strconv.Itoa(r.Table1.DataSets),
			})
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// page is index.html.
func (r *Paper) page() *Page {
	p := NewPage("Loss-calibrated expectation propagation, repeated",
		"The experiments of Morais and Pillow (2022, arXiv 2201.03128), computed anew, and decisions that go beyond them.")
	if r.Table1 != nil {
		r.addVerdict(p)
	}
	if r.Figure1 != nil {
		p.Section("Figure 1: the reactor")
		p.Text(fmt.Sprintf("A state φ is measured %d times through clutter. The reactor is to be shut down when leaving it on is too dangerous: u(on) is 1 below the threshold and 0.01 above, u(off) 0.9 and 1. The exact posterior has a second mode above the threshold, which an approximation by one Gaussian has to give up or to cover.", len(r.Figure1.Data)))
		p.Figure(reactorFigure(r.Figure1), "Posterior densities of the state. In brackets the expected utilities of leaving the reactor on and of shutting it off, as each method sees them.",
			"Densities over the state: the exact one with modes near −2 and 6, VI, Loss-VI and EP narrow around −2, Loss-EP wide around 0. Only Loss-EP takes the exact action, off.")
		p.Table(reactorTable(r.Figure1))
	}
	if r.Figure2 != nil {
		p.Section("Figure 2: two points")
		p.Text(fmt.Sprintf("A Gaussian process classifier that has seen two labels, with the utility [[1, 0], [0.5, 1]] at %d equally spaced points of [−10, 10]. On the left what plain methods approximate, and the q with which Loss-EP decides; on the right the posterior times the utility of the optimal actions, which Loss-VI and Loss-EP's q̄ aim at. The best expected utility is %s.", r.Figure2.Points, fixed(r.Figure2.ExpectedUtility, 4)))
		p.Figure(twoPointsFigure(r.Figure2), "Exact densities of (f₁, f₂), shaded, and the Gaussians that stand for them.",
			"Two shaded densities centred near (−2.3, 2.3). The ellipses of VI are too small; those of EP and Loss-EP nearly coincide with the shades.")
		p.Table(twoPointsTable(r.Figure2))
	}
	if r.Table1 != nil {
		r.addTable(p)
		r.addTruth(p)
	}
	r.addSettings(p)
	return p
}

func (r *Paper) addVerdict(p *Page) {
	p.Section("Verdict")
	p.Text("What the paper says of its results, and what this run measured. A statement holds when it is true in all cells of the table that it speaks of, and holds in part when it is true in some; a statement that something never occurs does not hold if it occurs once. The words are chosen by the numbers.")
	beyond := false
	for _, c := range r.Claims {
		if c.Beyond && !beyond {
			beyond = true
			p.Subsection("Beyond the paper")
		}
		p.Verdict(verdictOutcome(c.Outcome), string(c.Outcome), c.Statement, c.Finding)
	}
}

func verdictOutcome(o lab.ClaimOutcome) Outcome {
	switch o {
	case lab.Holds:
		return Holds
	case lab.HoldsInPart:
		return Partly
	}
	return Fails
}

func (r *Paper) addTable(p *Page) {
	t := r.Table1
	p.Section("Table 1: regret")
	p.Text(fmt.Sprintf("%d data sets of 15 inputs uniform on [−10, 10] with labels from the model itself. Decisions are made at %s points under the utility [[1, 0], [u10, 1]]; a shift moves the interval of the points away from the data. The regret is normalised: 0 for optimal decisions, 1 for the worst at every point.", t.DataSets, Count(r.Settings.Points)))
	p.Table(regretTable(t))
	p.Text("The last three decide from EP's fitted sites, beyond the Gaussian: “Evidence” runs EP again with each outcome as one more observation, “Corrected” corrects the marginal by one factor for each site, “Paired” adds the second order, over pairs of sites.")
	p.Subsection("Are the differences real?")
	p.Text(fmt.Sprintf("Wilcoxon's signed-rank test on the same data sets, exact, with zeros ranked as Pratt does. Each entry names the method that is ahead by the Hodges–Lehmann estimate and p after Holm's correction. There are two families: “%s”, EP with Loss-EP and VI with Loss-VI in all cells, %d tests; and “%s”, Loss-EP with the three corrections in all cells, %d tests.",
		lab.Calibration, 2*len(t.Cells), lab.Correction, 3*len(t.Cells)))
	p.Table(testTable(t))
}

// regretTable has a group for each utility, a row for each method and a column for
// each shift: four columns, which a telephone can show.
func regretTable(t *lab.Table1) *Table {
	table := newTable("Mean normalised regret ± standard error over data sets, in millionths.", shiftTitles("Method")...)
	table.Best = "the lowest mean of the cell."
	unresolved := false
	shifts := len(lab.Shifts())
	for k := 0; k < len(t.Cells); k += shifts {
		for m, name := range lab.PaperMethods() {
			row := Row{Group: fmt.Sprintf("u10 = %v", t.Cells[k].U10), Cells: []Cell{{Text: MethodLabel(name)}}}
			for _, cell := range t.Cells[k : k+shifts] {
				s := cell.Scores[m]
				c := Cell{Text: PlusMinus(1e6*s.Mean, 1e6*s.StdErr), Best: s.Best}
				if s.BelowResolution {
					c.Mark, unresolved = "r", true
				}
				row.Cells = append(row.Cells, c)
			}
			table.Rows = append(table.Rows, row)
		}
	}
	if unresolved {
		table.Notes = []Note{{Mark: "r", Text: "below resolution: the error of the truth is more than a tenth of this mean."}}
	}
	return table
}

// shiftTitles are the columns of a table with one for each shift.
func shiftTitles(first string) []string {
	titles := []string{first}
	for _, s := range lab.Shifts() {
		title := "no shift"
		if s > 0 {
			title = fmt.Sprintf("shift %v", s)
		}
		titles = append(titles, title)
	}
	return titles
}

// testTable has a group for each pair of methods.
func testTable(t *lab.Table1) *Table {
	table := newTable("The method ahead, and p after Holm's correction.", shiftTitles("u10")...)
	table.Best = fmt.Sprintf("significant at %v.", lab.SignificanceLevel)
	shifts := len(lab.Shifts())
	for pair, first := range t.Cells[0].Tests {
		group := fmt.Sprintf("%s and %s (family “%s”)", MethodLabel(first.A), MethodLabel(first.B), first.Family)
		for k := 0; k < len(t.Cells); k += shifts {
			row := Row{Group: group, Cells: []Cell{{Text: fmt.Sprint(t.Cells[k].U10)}}}
			for _, cell := range t.Cells[k : k+shifts] {
				test := cell.Tests[pair]
				row.Cells = append(row.Cells, Cell{Text: ahead(test) + PValue(test.Adjusted), Best: test.Adjusted < lab.SignificanceLevel})
			}
			table.Rows = append(table.Rows, row)
		}
	}
	return table
}

// ahead names the method with the lower regret, where there is one.
func ahead(c lab.PairTest) string {
	switch {
	case c.Shift > 0:
		return MethodLabel(c.B) + " "
	case c.Shift < 0:
		return MethodLabel(c.A) + " "
	}
	return ""
}

func (r *Paper) addTruth(p *Page) {
	p.Section("How exact the truth is")
	below, scores := 0, 0
	for _, c := range r.Table1.Cells {
		for _, s := range c.Scores {
			scores++
			if s.BelowResolution {
				below++
			}
		}
	}
	p.Text(fmt.Sprintf("Regrets are measured against the exact posterior, a unified skew-normal distribution, by weighted points in randomly shifted lattices: %s for each data set wherever a method's action is not optimal or the optimal action is in doubt by less than eight standard errors. At all other points every method acts optimally. What the truth's error does to the mean regrets is known from %d independent shifts; %d of the %d means in the table are below resolution and marked.",
		Count(r.Settings.Truth), lab.TruthSets, below, scores))
	p.Text(fmt.Sprintf("The first data set was also sampled with NUTS, which shares no code with the truth beyond the model: at %d inputs the probabilities differ by at most %s standard errors (root mean square %s; NUTS %s).",
		len(r.Check.Z), Number(r.Check.MaxZ), Number(r.Check.RMS), r.Check.NUTSState))
	p.Details("The truth and NUTS at every input", func(b *Body) {
		t := newTable("P(y = +1) on the first data set.", "x", "truth", "NUTS", "z")
		for i, x := range r.Check.Input {
			t.AddRow(fmt.Sprint(x), PlusMinus(r.Check.Exact[i], r.Check.ExactErr[i]), PlusMinus(r.Check.NUTS[i], r.Check.NUTSErr[i]), fmt.Sprintf("%.2f", r.Check.Z[i]))
		}
		b.Table(t)
	})
	var notes []string
	for _, t := range r.Trials {
		for _, n := range t.Notes {
			notes = append(notes, fmt.Sprintf("data set %d, %s", t.Index, n))
		}
	}
	if len(notes) == 0 {
		p.Text("Every run of every method converged.")
		return
	}
	p.Details(fmt.Sprintf("%d runs did not converge", len(notes)), func(b *Body) { b.List(notes...) })
}

func (r *Paper) addSettings(p *Page) {
	p.Section("What was assumed")
	p.List(
		"The paper states neither the data of Figure 1 nor p(x) of Figure 2 nor the values of its shifts, and of u10 only the first and the last. Here u10 is 0, 0.25, 0.5, 0.75 and 0.95, and the shifts are 0, 5 and 10.",
		"The points that stand for p(x) in the table are the midpoints of equal cells of the shifted interval, not draws: they stand for the uniform distribution more evenly.",
		"Loss-EP and Loss-VI are calibrated to each utility and shift at these same points. Loss-VI rests on 256 quasi-random draws, and raises a utility that touches zero by a thousandth of its largest value.",
		"All methods run until they have converged; the kernel and its parameters are those the data were drawn with, log σ = 1.5 and log ℓ = 1.",
	)
	p.Text("The same command gives the same bytes on any number of cores. Every number is in results.json.")
	p.Code(r.Command)
	var made []string
	for _, name := range []string{"lossep", "revision", "go", "gonum.org/v1/gonum"} {
		if v := r.Versions[name]; v != "" {
			made = append(made, name+" "+v)
		}
	}
	p.Text("Made by " + strings.Join(made, ", ") + ".")
}

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
