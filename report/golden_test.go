package report

import (
	"bytes"
	"testing"

	"github.com/lossep/lossep/internal/golden"
)

func sampleFigures() map[string]Figure {
	return map[string]Figure{
		"densities":   sampleDensities(),
		"contours":    sampleContours(),
		"intervals":   sampleIntervals(),
		"lines":       sampleLines(),
		"reliability": sampleReliability(),
		"heat":        sampleHeat(),
	}
}

func TestGoldenFigures(t *testing.T) {
	for name, f := range sampleFigures() {
		t.Run(name, func(t *testing.T) {
			var svg, small bytes.Buffer
			if err := WriteSVG(&svg, f); err != nil {
				t.Fatal(err)
			}
			// Half the resolution of a screen shows every element and keeps the
			// golden files small.
			if err := writePNG(&small, f, 48); err != nil {
				t.Fatal(err)
			}
			golden.Text(t, name+".svg", svg.Bytes())
			golden.Image(t, name+".png", small.Bytes())
		})
	}
}

// goldenPage has every kind of block, with little in each.
func goldenPage() *Page {
	p := NewPage("Costs & decisions", "Seed 1")
	p.Text("A paragraph with <angle brackets>.")
	p.Section("Verdict")
	p.Verdict(Holds, "holds", "EP is ahead.", "In 12 of 15 cells.")
	p.Verdict(Neutral, "note", "A claim without a finding.", "")
	p.Section("Figure")
	p.Figure(Lines{
		X: Axis{Label: "x"}, Y: Axis{Label: "y"},
		Series: []Series{{Method: "ep", X: []float64{0, 1, 2}, Y: []float64{1, 3, 2}}},
	}, "A figure.", "A line that rises and falls.")
	p.Section("Table")
	p.Subsection("Regret")
	p.Table(sampleTable())
	p.Details("More", func(b *Body) {
		b.List("one", "two")
		b.Code("lossep paper --out out\n\techo done")
	})
	return p
}

func TestGoldenPage(t *testing.T) {
	var got bytes.Buffer
	if err := goldenPage().Write(&got); err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "page.html", got.Bytes())
}
