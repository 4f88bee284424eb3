package report_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/lossep/lossep/report"
)

func ExampleTable_WriteText() {
	t := report.Table{
		Caption: "Mean cost per case",
		Columns: []report.Column{{Title: "Method"}, {Title: "Cost", Align: report.Right}, {Title: "95 % interval", Align: report.Right}},
		Best:    "lowest",
		Notes:   []report.Note{{Mark: "a", Text: "after 40 sweeps"}},
	}
	for _, m := range []struct {
		name            string
		cost, low, high float64
		best            bool
	}{
		{"corrected", 0.521, 0.478, 0.566, true},
		{"loss-ep", 0.5239, 0.480, 0.569, false},
	} {
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{
			{Text: report.MethodLabel(m.name)},
			{Text: report.Within(m.cost, m.low, m.high), Best: m.best},
			{Text: report.Range(m.low, m.high)},
		}})
	}
	t.Rows[1].Cells[0].Mark = "a"
	if err := t.WriteText(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Mean cost per case
	//
	// Method        Cost  95 % interval
	// ---------------------------------
	// Corrected    0.52*  0.48 to 0.57
	// Loss-EP[a]   0.52   0.48 to 0.57
	// * lowest
	// [a] after 40 sweeps
}

func ExampleWriteSVG() {
	figure := report.Intervals{
		X: report.Axis{Label: "Mean cost per case"},
		Rows: []report.Interval{
			{Method: "corrected", Value: 0.521, Low: 0.478, High: 0.566},
			{Method: "ep", Value: 0.524, Low: 0.481, High: 0.568},
		},
	}
	var svg bytes.Buffer
	if err := report.WriteSVG(&svg, figure); err != nil {
		fmt.Println(err)
	}
	fmt.Println(bytes.Contains(svg.Bytes(), []byte(">Corrected</text>")))
	// Output: true
}

func ExamplePage() {
	p := report.NewPage("Audit of credit.csv", "10-fold cross-validation, seed 1")
	p.Section("Verdict")
	p.Verdict(report.Holds, "yes", "Loss calibration matters here.", "It saves 0.031 ± 0.009 per case.")
	p.Section("How to repeat this")
	p.Code("lossep audit credit.csv --target class --cost fn=5,fp=1 --out audit")
	var page bytes.Buffer
	if err := p.Write(&page); err != nil {
		fmt.Println(err)
	}
	fmt.Println(bytes.Contains(page.Bytes(), []byte("<h2 id=\"s1\">Verdict</h2>")))
	// Output: true
}
