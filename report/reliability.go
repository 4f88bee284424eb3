package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bin is a group of cases with similar predicted probabilities.
type Bin struct {
	From, To  float64 // limits of the predicted probabilities in the bin
	Count     int
	Predicted float64 // mean predicted probability
	Observed  float64 // share of cases that came out positive
	Low, High float64 // interval for Observed
}

// Reliability is a reliability diagram: observed frequency against predicted
// probability, with the number of cases in each bin below. Empty bins have no
// point.
type Reliability struct {
	Method string // decides the look
	Bins   []Bin
}

const countsHeight = vg.Length(80)

func (f Reliability) layout() (layout, error) {
	most := 0
	for _, b := range f.Bins {
		most = max(most, b.Count)
	}
	var c cast
	lk := c.look(f.Method)
	unit := span{0, 1}
	upper, err := newAxes(Axis{}, Axis{Label: "Observed frequency"}, unit, unit, 5)
	if err != nil {
		return layout{}, err
	}
	upper.add(diagonal{}, binPoints{f.Bins, lk})
	lower, err := newAxes(Axis{Label: "Predicted probability"}, Axis{Label: "Cases"}, unit, span{0, float64(most) * 1.05}, 5)
	if err != nil {
		return layout{}, err
	}
	lower.y.ticks = countTicks(lower.y.max)
	lower.add(binBars{f.Bins, lk})
	return plan(plotHeight+40+countsHeight, legend{}, func(c draw.Canvas) {
		parts := []draw.Canvas{
			draw.Crop(c, 0, 0, countsHeight, 0),
			draw.Crop(c, 0, 0, 0, countsHeight-c.Size().Y),
		}
		stack := []*axes{upper, lower}
		alignEdges(stack, parts)
		for i, a := range stack {
			a.draw(parts[i])
		}
	}), nil
}

// diagonal plots the line on which predictions come true as often as they say.
type diagonal struct{}

func (diagonal) plot(c draw.Canvas, _ *axes) {
	c.StrokeLine2(draw.LineStyle{Color: quietInk, Width: thinWidth, Dashes: []vg.Length{3, 3}}, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
}

// binPoints plots the points with their intervals.
type binPoints struct {
	bins []Bin
	look look
}

func (b binPoints) plot(c draw.Canvas, a *axes) {
	toX, toY := a.transforms(c)
	for _, bin := range b.bins {
		if bin.Count == 0 {
			continue
		}
		x := toX(bin.Predicted)
		errorBar(c, b.look, vg.Point{X: x, Y: toY(bin.Low)}, vg.Point{X: x, Y: toY(bin.High)}, vg.Point{X: 3})
		c.DrawGlyph(b.look.glyph(markerRadius*1.2), vg.Point{X: x, Y: toY(bin.Observed)})
	}
}

// binBars plots the histogram of counts.
type binBars struct {
	bins []Bin
	look look
}

func (b binBars) plot(c draw.Canvas, a *axes) {
	toX, toY := a.transforms(c)
	for _, bin := range b.bins {
		if bin.Count == 0 {
			continue
		}
		// Half a point of air on either side keeps equal neighbours apart.
		bar := vg.Rectangle{
			Min: vg.Point{X: toX(bin.From) + 0.5, Y: toY(0)},
			Max: vg.Point{X: toX(bin.To) - 0.5, Y: toY(float64(bin.Count))},
		}
		c.SetColor(color.NRGBA{b.look.color.R, b.look.color.G, b.look.color.B, 0x99})
		c.Fill(bar.Path())
	}
}

// countTicks marks zero and one round number: all that a low strip has room for.
func countTicks(high float64) []tick {
	step, _ := roundStep(high / 2)
	if step > high {
		step, _ = roundStep(high / 4)
	}
	return []tick{{0, "0"}, {step, tickLabel(step, step, 0)}}
}

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
