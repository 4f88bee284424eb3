package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/lossep/lossep"
)

// A number has a curve, a category sorted rows, and a pair a map that leaves out small ones of many
// categories.
func TestEffectFigures(t *testing.T) {
	hour := lossep.EffectAxis{Column: "hour", Labels: []string{"missing", "below 6", "6 to 12", "from 12"}, Cuts: []float64{6, 12}}
	origin := lossep.EffectAxis{Column: "origin", Labels: []string{"missing"}}
	f := lossep.EffectFamily{Axes: []lossep.EffectAxis{{}}}
	pair := lossep.EffectFamily{}
	for i := range 30 {
		origin.Labels = append(origin.Labels, string(rune('a'+i)))
		f.Cells = append(f.Cells, lossep.EffectCell{At: []int{i + 1}, Mean: float64(i), SD: 0.1})
		pair.Cells = append(pair.Cells, lossep.EffectCell{At: []int{1 + i%3, i + 1}, Mean: float64(i), SD: 0.1})
	}
	f.Axes[0], pair.Axes = origin, []lossep.EffectAxis{hour, origin}
	bars := effectFigure(f).(Intervals)
	if len(bars.Rows) != mostBars || bars.Rows[0].Value != 29 || bars.Rows[mostBars-1].Value != 14 {
		t.Errorf("bars %+v", bars.Rows)
	}
	if heat := effectFigure(pair).(Heat); len(heat.Rows) != mostBars || len(heat.Columns) != 3 || heat.Rows[mostBars-1] != origin.Labels[30] || heat.Values[mostBars-1][2] != 29 || !math.IsNaN(heat.Values[mostBars-1][0]) {
		t.Errorf("map %+v", heat)
	}
	f.Axes[0], f.Cells = hour, f.Cells[:3]
	curve := effectFigure(f).(Lines)
	if s := curve.Series[0]; s.X[0] != 6 || s.X[1] != 9 || s.X[2] != 12 || s.Y[1] != 1 || s.High[1] != 1.196 {
		t.Errorf("curve %+v", s)
	}
	for _, figure := range []Figure{bars, curve, effectFigure(pair)} {
		var svg bytes.Buffer
		if err := WriteSVG(&svg, figure); err != nil || !strings.Contains(svg.String(), "<path") {
			t.Error(err)
		}
	}
}

func sampleHeat() Heat {
	return Heat{
		X: Axis{Label: "origin"}, Y: Axis{Label: "hour"},
		Columns: []string{"ATL", "BOS", "a name that is long"}, Rows: []string{"below 6", "6 to 12"},
		Values: [][]float64{{0.4, -0.2, math.NaN()}, {0, -0.8, 0.1}},
	}
}

// A map with nothing on it, or without end, is refused.
func TestHeatRefuses(t *testing.T) {
	endless := sampleHeat()
	endless.Values[0][0] = math.Inf(1)
	for _, f := range []Heat{{}, endless} {
		if _, err := f.layout(); err == nil {
			t.Errorf("%v is drawn", f)
		}
	}
}
