package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lengths are in points. At 378 points (5¼ inches, 504 CSS pixels) a figure
// fits a journal's column and a half, and 12-point text is still 10 pixels tall
// when the figure is squeezed to 330 pixels.
const (
	figureWidth = vg.Length(378)
	plotHeight  = vg.Length(230)
	margin      = vg.Length(6)

	labelSize = vg.Length(12)
	tickSize  = vg.Length(11)
	noteSize  = vg.Length(10)

	curveWidth   = vg.Length(1.9)
	thinWidth    = vg.Length(1.2)
	markerRadius = vg.Length(3.2)
)

var (
	ink      = color.RGBA{0x22, 0x22, 0x22, 0xff}
	quietInk = color.RGBA{0x55, 0x55, 0x55, 0xff}
	gridInk  = color.RGBA{0xe3, 0xe3, 0xe3, 0xff}
)

// textStyle is left-aligned sans-serif text with its baseline at the point.
func textStyle(size vg.Length, ink color.Color) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign:  draw.XLeft,
		YAlign:  draw.YBottom,
		Handler: plot.DefaultTextHandler,
	}
}

// axes is a plot with what stands around it. Labels are set here rather than by
// gonum/plot, which centres them on the canvas and misplaces them beside a
// logarithmic axis.
type axes struct {
	*plot.Plot
	title, x, y string // labels; empty for none
	rules       rules
}

// newAxes returns empty axes in the common style, grid included. About ticks
// labels stand on each linear axis.
func newAxes(x, y Axis, xs, ys span, ticks int) *axes {
	p := plot.New()
	p.BackgroundColor = nil // the figure's background is painted once
	for _, a := range [...]*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.LineStyle.Width = 0 // the frame has the lines
		a.Tick.LineStyle = draw.LineStyle{Color: quietInk, Width: frameWidth}
		a.Tick.Length = 4
		plain := textStyle(tickSize, ink)
		a.Tick.Label.Font, a.Tick.Label.Color = plain.Font, plain.Color
	}
	// gonum/plot sets tick labels too high: those beside the axis are not centred
	// on their ticks, those below it come near the lowest of the others.
	p.Y.Tick.Label.YAlign = draw.YCenter - 0.1
	p.X.Tick.Label.YAlign = draw.YTop - 0.2
	x.apply(&p.X, xs, ticks)
	y.apply(&p.Y, ys, ticks)
	grid := plotter.NewGrid()
	grid.Vertical = draw.LineStyle{Color: gridInk, Width: 0.7}
	grid.Horizontal = grid.Vertical
	p.Add(grid, frame{})
	return &axes{Plot: p, x: clean(x.Label), y: clean(y.Label)}
}

const (
	frameWidth = vg.Length(0.8)
	labelStrip = labelSize * 1.4 // room for one line of a label
)

// inner returns the part of the canvas that the plot with its ticks fills.
func (a *axes) inner(c draw.Canvas) draw.Canvas {
	strip := func(text string) vg.Length {
		if text == "" {
			return 0
		}
		return labelStrip
	}
	return draw.Crop(c, strip(a.y), 0, strip(a.x), -strip(a.title)-a.rules.height())
}

// area returns the part of the canvas that data are drawn on.
func (a *axes) area(c draw.Canvas) draw.Canvas { return a.DataCanvas(a.inner(c)) }

func (a *axes) draw(c draw.Canvas) {
	a.Draw(a.inner(c))
	area := a.area(c)
	middle := area.Center()
	sty := textStyle(labelSize, ink)
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YBottom
	// A label may be as long as twice the way from its middle to the nearest edge.
	across := 2 * min(middle.X-c.Min.X, c.Max.X-middle.X)
	along := 2 * min(middle.Y-a.inner(c).Min.Y, c.Max.Y-middle.Y)
	if a.x != "" {
		c.FillText(sty, vg.Point{X: middle.X, Y: c.Min.Y + sty.FontExtents().Descent}, fit(sty, a.x, across))
	}
	if a.y != "" {
		up := sty
		up.Rotation = math.Pi / 2
		c.FillText(up, vg.Point{X: c.Min.X + labelSize, Y: middle.Y}, fit(sty, a.y, along))
	}
	if a.title != "" {
		c.FillText(sty, vg.Point{X: middle.X, Y: c.Max.Y - labelSize}, fit(sty, a.title, across))
	}
	a.rules.label(c, area, a.Plot)
}

// frame plots the two lines that ticks stand on.
type frame struct{}

// Plot implements plot.Plotter.
func (frame) Plot(c draw.Canvas, _ *plot.Plot) {
	c.StrokeLines(draw.LineStyle{Color: quietInk, Width: frameWidth},
		[]vg.Point{{X: c.Min.X, Y: c.Max.Y}, c.Min, {X: c.Max.X, Y: c.Min.Y}})
}

// alignEdges crops canvases stacked on each other so that the data areas of
// their plots share their left and right edges.
func alignEdges(stack []*axes, canvases []draw.Canvas) {
	left, right := vg.Length(math.Inf(-1)), vg.Length(math.Inf(1))
	areas := make([]draw.Canvas, len(stack))
	for i, a := range stack {
		areas[i] = a.area(canvases[i])
		left, right = max(left, areas[i].Min.X), min(right, areas[i].Max.X)
	}
	for i := range canvases {
		canvases[i] = draw.Crop(canvases[i], left-areas[i].Min.X, right-areas[i].Max.X, 0, 0)
	}
}
