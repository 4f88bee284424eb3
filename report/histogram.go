package report

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Histogram shows how many cases are in equal parts of [0, 1], beside what each should have, with the
// range that nearly all parts would be in by chance.
type Histogram struct {
	Method         string // decides the look
	XLabel, YLabel string
	Counts         []float64
	Level          float64 // what each part should have
	Low, High      float64
}

func (f Histogram) layout() (layout, error) {
	var c cast
	bins, most := make([]Bin, len(f.Counts)), f.High
	for k, n := range f.Counts {
		bins[k] = Bin{From: float64(k) / float64(len(bins)), To: float64(k+1) / float64(len(bins)), Count: int(math.Round(n))}
		most = max(most, n)
	}
	a, err := newAxes(Axis{Label: f.XLabel}, Axis{Label: f.YLabel}, span{0, 1}, span{0, 1.05 * most}, 5)
	if err != nil {
		return layout{}, err
	}
	a.add(binBars{bins, c.look(f.Method)}, f)
	return plan(plotHeight, legend{}, a.draw), nil
}

// plot draws what parts should have.
func (f Histogram) plot(c draw.Canvas, a *axes) {
	_, toY := a.transforms(c)
	style := draw.LineStyle{Color: quietInk, Width: thinWidth}
	for _, at := range []float64{f.Level, f.Low, f.High} {
		c.StrokeLine2(style, c.Min.X, toY(at), c.Max.X, toY(at))
		style.Dashes = []vg.Length{3, 3}
	}
}
