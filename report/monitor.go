package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep/monitor"
)

// Monitor is what decisions cost as time goes by.
type Monitor struct {
	Origin
	Data  string `json:"data"`  // the name of the table
	Model string `json:"model"` // that of the model file
	Costs bool   `json:"costs"` // the numbers are costs, and not utilities with their sign turned
	*monitor.Result
}

// MonitorFiles are the names of all files there may be.
func MonitorFiles() []string {
	return []string{"index.html", "cost.svg", "cost.png", "windows.csv", "columns.csv", Results}
}

// Files are the contents of the report's files, by name.
func (r *Monitor) Files() (map[string][]byte, error) {
	f := files{"index.html": r.page().Write, "windows.csv": r.writeWindows, "columns.csv": r.writeColumns}
	f.figure("cost", r.figure())
	f.results(r, "  ")
	return f.contents()
}

func (r *Monitor) noun() string {
	if r.Costs {
		return "cost"
	}
	return "negative utility"
}

// Verdict says in a sentence or two whether something is wrong.
func (r *Monitor) Verdict() string {
	var all []string
	for _, a := range r.Alarms {
		switch a.Kind {
		case monitor.Inputs:
			all = append(all, fmt.Sprintf("Alarm since %s: the cases have changed such that decisions are expected to cost more than those of the past by more than the tolerance of %s (evidence %s, alarm from %s).", a.Window, Percent(r.Tolerance), evidence(a.Evidence), Number(r.Threshold)))
		case monitor.Outcomes:
			all = append(all, fmt.Sprintf("Alarm since %s: outcomes cost more than was estimated by more than the tolerance of %s and chance (evidence %s, alarm from %s).", a.Window, Percent(r.Tolerance), evidence(a.Evidence), Number(r.Threshold)))
		}
	}
	if all == nil {
		return fmt.Sprintf("No alarm: there is no evidence that decisions cost more than before by more than %s.", Percent(r.Tolerance))
	}
	return strings.Join(all, " ")
}

// caveat says what the numbers rest on.
func (r *Monitor) caveat() string {
	return fmt.Sprintf("The estimated %s per case comes from the model's predictions, corrected by what happened in past cases that are like those of the window, and has a %s interval for the realised one: it allows for chance, for the correction, and for cases that are not like the past ones. Without outcomes, a change of the outcomes given the same features (concept drift) cannot be detected. An e-value starts at 1: chance alone ever takes one of the two to %s with a probability of at most %s, however often one looks.",
		r.noun(), Percent(1-r.Level), Number(r.Threshold), Percent(r.Level))
}

// evidence is an e-value; beyond a million more of it says nothing more.
func evidence(e float64) string {
	const most = 1e6
	switch {
	case e > most:
		return "> " + Count(most)
	case e >= 1000:
		return Count(int(e))
	}
	return Number(e)
}

// table is that of the windows.
func (r *Monitor) table() *Table {
	columns := []string{"window", "cases", "estimated " + r.noun(), "realised", "similar past cases", "e-value: cases", "e-value: outcomes"}
	quality := r.quality()
	if quality != nil {
		columns = slices.Insert(columns, 4, quality.name)
	}
	t := newTable("", columns...)
	for _, w := range r.Windows {
		realised := ""
		if w.Realised != nil {
			realised = Number(*w.Realised)
			if w.Known < w.Rows {
				realised += fmt.Sprintf(" (%s known)", Count(w.Known))
			}
		}
		cells := []string{w.Name, Count(w.Rows), Within(w.Estimated, w.Low, w.High) + " (" + Range(w.Low, w.High) + ")", realised, Count(int(w.Effective)), evidence(w.EvidenceInputs), evidence(w.EvidenceOutcomes)}
		if quality != nil {
			cells = slices.Insert(cells, 4, quality.of(w))
		}
		t.AddRow(cells...)
	}
	t.Notes = []Note{
		{Text: fmt.Sprintf("Similar past cases: the effective number of past cases, of %s, that are like those of the window.", Count(r.Reference.Rows))},
		{Text: fmt.Sprintf("E-values against no change of the cases, or of the outcomes given the cases, that makes decisions %s more; alarm at %s or above.", map[bool]string{true: "cost", false: "lose"}[r.Costs], Number(r.Threshold))},
	}
	if quality != nil {
		t.Notes = append(t.Notes, Note{Text: quality.note})
	}
	if r.Strangers > 0 {
		t.Notes = append(t.Notes, Note{Text: fmt.Sprintf("%s of the outcomes are of no case in %s, by their identifiers.", Count(r.Strangers), r.Data)})
	}
	return t
}

// quality is how well outcomes were predicted, of categories and of numbers.
type quality struct {
	name, note string
	of         func(monitor.Window) string
}

// quality is that of the outcomes that are known; nil if these are too few.
func (r *Monitor) quality() *quality {
	has := func(of func(monitor.Window) *float64) bool {
		return slices.ContainsFunc(r.Windows, func(w monitor.Window) bool { return of(w) != nil })
	}
	slope, coverage := func(w monitor.Window) *float64 { return w.Slope }, func(w monitor.Window) *float64 { return w.Coverage }
	switch {
	case has(slope):
		return &quality{"slope", "Slope: calibration slope; 1 if calibrated, below 1 if overconfident.", func(w monitor.Window) string {
			if w.Slope == nil {
				return ""
			}
			return minus(fmt.Sprintf("%.2f", *w.Slope))
		}}
	case has(coverage):
		return &quality{"coverage", "Coverage: share of outcomes in the 90 % predictive intervals; counts at their ends count in part.", func(w monitor.Window) string {
			if w.Coverage == nil {
				return ""
			}
			return Percent(*w.Coverage)
		}}
	}
	return nil
}

// mostMoved is how many columns of a window are shown; columns.csv has all.
const mostMoved = 2

// movedTable is the columns that changed most in each window.
func (r *Monitor) movedTable() *Table {
	t := newTable("Columns that changed, and by how much that alone raises the "+r.noun()+" per case", "window", "column", "cases that changed", r.noun()+" per case")
	t.Columns[1].Align = Left
	for _, w := range r.Windows {
		for _, m := range w.Columns[:min(mostMoved, len(w.Columns))] {
			cost := "unknown"
			if !m.Unknown() {
				cost = Signed(Number(*m.Cost))
			}
			t.AddRow(w.Name, m.Column, Percent(m.Distance), cost)
		}
	}
	if names := r.outside(); len(names) > 0 {
		t.Notes = []Note{{Text: fmt.Sprintf("Unknown: most values of %s are beyond all past ones, so past cases do not tell what that costs, and are compared without it. A column that only grows, such as a date, always is: fit without it, or again with newer cases.", list(names))}}
	}
	return t
}

// outside are the columns of which past cases have no values like those of a window.
func (r *Monitor) outside() (names []string) {
	for _, w := range r.Windows {
		for _, m := range w.Columns {
			if m.Unknown() && !slices.Contains(names, m.Column) {
				names = append(names, m.Column)
			}
		}
	}
	return names
}

// WriteText writes the verdict and the windows.
func (r *Monitor) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\nPast cases: %s, expected %s %s per case, realised %s.\n\n", wrapText(r.Verdict(), textWidth), Count(r.Reference.Rows), r.noun(), Number(r.Reference.Expected), Number(r.Reference.Realised))
	if err := r.table().WriteText(w); err != nil {
		return err
	}
	moved := r.movedTable()
	if len(moved.Rows) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return moved.WriteText(w)
}

// figure is cost over the windows.
func (r *Monitor) figure() Figure {
	estimated := Series{Method: "estimated", Label: "Estimated, with interval"}
	realised := Series{Method: "realised", Label: "Realised"}
	names := make([]string, len(r.Windows))
	for k, w := range r.Windows {
		names[k] = w.Name
		estimated.X, estimated.Y = append(estimated.X, float64(k+1)), append(estimated.Y, w.Estimated)
		estimated.Low, estimated.High = append(estimated.Low, w.Low), append(estimated.High, w.High)
		if w.Realised != nil {
			realised.X, realised.Y = append(realised.X, float64(k+1)), append(realised.Y, *w.Realised)
		}
	}
	f := Lines{X: Axis{Label: "Window", Names: names}, Y: Axis{Label: sentence(r.noun()) + " per case"}, Series: []Series{estimated}}
	if realised.X != nil {
		f.Series = append(f.Series, realised)
	}
	return f
}

// page is the report as a page.
func (r *Monitor) page() *Page {
	p := NewPage("What decisions cost", fmt.Sprintf("%s decided by %s", r.Data, r.Model))
	outcome, word := Holds, "no alarm"
	if len(r.Alarms) > 0 {
		outcome, word = Fails, "alarm"
	}
	p.Verdict(outcome, word, "Do decisions cost what they used to?", r.Verdict())
	p.Figure(r.figure(), "The "+r.noun()+" per case, window by window", "Lines of the estimated and the realised "+r.noun()+" over the windows")
	p.Table(r.table())
	if moved := r.movedTable(); len(moved.Rows) > 0 {
		p.Table(moved)
	}
	p.Text(r.caveat())
	return p
}

// optional is a number that may not be known.
func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return exactly(*v)
}

// writeWindows writes the windows with every digit.
func (r *Monitor) writeWindows(w io.Writer) error {
	rows := [][]string{{"window", "cases", "expected", "estimated", "low", "high", "effective_reference", "known_outcomes", "estimated_of_known", "realised", "calibration_slope", "coverage_90", "evidence_inputs", "evidence_outcomes"}}
	for _, x := range r.Windows {
		rows = append(rows, []string{x.Name, strconv.Itoa(x.Rows), exactly(x.Expected), exactly(x.Estimated), exactly(x.Low), exactly(x.High), exactly(x.Effective), strconv.Itoa(x.Known), optional(x.Comparable), optional(x.Realised), optional(x.Slope), optional(x.Coverage), exactly(x.EvidenceInputs), exactly(x.EvidenceOutcomes)})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// writeColumns writes the columns that moved.
func (r *Monitor) writeColumns(w io.Writer) error {
	rows := [][]string{{"window", "column", "distance", "by_chance", "outside", "cost"}}
	for _, x := range r.Windows {
		for _, m := range x.Columns {
			rows = append(rows, []string{x.Name, m.Column, exactly(m.Distance), exactly(m.Chance), exactly(m.Outside), optional(m.Cost)})
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// WriteMetrics writes the last window in the text format of Prometheus, under the name of the model: files of several may be
// collected together.
func (r *Monitor) WriteMetrics(w io.Writer) error {
	if len(r.Windows) == 0 {
		return nil
	}
	last := r.Windows[len(r.Windows)-1]
	var b strings.Builder
	gauge := func(name, help string, samples ...string) {
		fmt.Fprintf(&b, "# HELP lossep_monitor_%s %s\n# TYPE lossep_monitor_%s gauge\n", name, help, name)
		for _, s := range samples {
			fmt.Fprintf(&b, "lossep_monitor_%s%s\n", name, s)
		}
	}
	model := `model="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.TrimSuffix(r.Model, ".lossep")) + `"`
	value := func(v float64) string { return "{" + model + "} " + exactly(v) }
	of := func(label string, v float64) string { return "{" + model + "," + label + "} " + exactly(v) }
	gauge("estimated_cost", "Estimated cost per case in the last window.", value(last.Estimated))
	gauge("estimated_cost_bound", "Bounds of the interval of the estimated cost.", of(`bound="low"`, last.Low), of(`bound="high"`, last.High))
	gauge("cases", "Cases in the last window.", value(float64(last.Rows)))
	gauge("effective_reference", "Effective number of reference cases that are like those of the last window.", value(last.Effective))
	gauge("known_outcomes", "Outcomes that are known in the last window.", value(float64(last.Known)))
	if last.Realised != nil {
		gauge("realised_cost", "Realised cost per case in the last window.", value(*last.Realised))
	}
	gauge("evidence", "Evidence so far against costs as they were, an e-value.", of(`kind="inputs"`, last.EvidenceInputs), of(`kind="outcomes"`, last.EvidenceOutcomes))
	raised := map[monitor.Kind]float64{}
	for _, a := range r.Alarms {
		raised[a.Kind] = 1
	}
	gauge("alarm", "Whether there is an alarm.", of(`kind="inputs"`, raised[monitor.Inputs]), of(`kind="outcomes"`, raised[monitor.Outcomes]))
	_, err := io.WriteString(w, b.String())
	return err
}
