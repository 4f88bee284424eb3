package lab_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lossep/lossep/lab"
	"github.com/lossep/lossep/report"
)

var figures = flag.String("figures", "", "the folder to draw the figures of docs/research/methods.md into")

// How far the utility moves q, drawn.
func TestFiguresOfHowFarTheUtilityMovesQ(t *testing.T) {
	if *figures == "" {
		t.Skip("no folder to draw into")
	}
	moves := report.Lines{X: report.Axis{Label: "Points that stand for p(x)", Log: true}, Y: report.Axis{Label: "Largest move of q, in sd"}}
	flips := report.Lines{X: moves.X, Y: report.Axis{Label: "Other decisions, per 1000"}}
	for _, m := range lab.MeasureMovements(t, lab.Utilities(), []int{1, 2, 3, 5, 10, 20, 50, 100, 300, 1000}) {
		label := fmt.Sprintf("u10 = %g", m.U10)
		for _, f := range []struct {
			lines *report.Lines
			y     float64
		}{{&moves, m.Moved}, {&flips, 1000 * m.Others}} {
			k := len(f.lines.Series) - 1
			if k < 0 || f.lines.Series[k].Label != label {
				k++
				f.lines.Series = append(f.lines.Series, report.Series{Method: []string{"ep", "loss-ep", "vi", "loss-vi", "laplace"}[k], Label: label})
			}
			s := &f.lines.Series[k]
			s.X, s.Y = append(s.X, float64(m.Points)), append(s.Y, f.y)
		}
	}
	for name, figure := range map[string]report.Figure{"movement-of-q.svg": moves, "movement-of-decisions.svg": flips} {
		f, err := os.Create(filepath.Join(*figures, name))
		if err == nil {
			err = report.WriteSVG(f, figure)
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
