package report

import (
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lossep/lossep/audit"
)

// Interval is a row of [Intervals]: a value and the interval around it.
type Interval struct {
	Method           string // decides the look
	Label            string // beside the row; empty for the method's printed name
	Value, Low, High float64
}

// Intervals is a dot-and-whisker chart, one row for each method, in the order
// given, with the value as a number on the right.
type Intervals struct {
	X     Axis
	Rows  []Interval
	Rules []Rule
}

const intervalPitch = vg.Length(24)

func (f Intervals) layout() (layout, error) {
	n := len(f.Rows)
	a, err := newAxes(f.X, Axis{}, f.X.resolve(f.span(), 0.05), span{-0.6, float64(n) - 0.4}, 5)
	if err != nil {
		return layout{}, err
	}
	ticks := make([]tick, n)
	name := textStyle(tickSize, ink)
	for i, r := range f.Rows {
		ticks[i] = tick{float64(n - 1 - i), twoLines(name, titled(r.Label, r.Method), figureWidth/3.2)}
	}
	a.y.ticks, a.y.length = ticks, 0
	a.rules = f.Rules
	a.add(a.rules, whiskers{f.Rows, f.looks()})

	values := make([]string, n)
	column := vg.Length(0)
	scale := columnScale(f.Rows, func(r Interval) *audit.Measure { return &audit.Measure{Low: r.Low, High: r.High} })
	for i, r := range f.Rows {
		values[i] = scale.number(r.Value)
		column = max(column, name.Width(values[i]))
	}
	height := intervalPitch*vg.Length(n) + labelStrip + 2*tickSize + a.rules.height()
	return plan(height, legend{}, func(c draw.Canvas) {
		left := draw.Crop(c, 0, -column-8, 0, 0)
		a.draw(left)
		area := a.area(left)
		_, toY := a.transforms(area)
		for i, v := range values {
			y := toY(ticks[i].value) + tickSize*lineHeight/2
			fillLines(c, name, vg.Point{X: c.Max.X - name.Width(v), Y: y}, []string{v})
		}
	}), nil
}

// twoLines breaks a long name, and shortens it where two lines are not enough.
func twoLines(sty text.Style, name string, width vg.Length) string {
	lines := wrap(sty, name, width)
	if len(lines) > 2 {
		lines = []string{lines[0], fit(sty, lines[1]+" "+lines[2], width)}
	}
	return strings.Join(lines, "\n")
}

// looks gives every row its look.
func (f Intervals) looks() []look {
	var c cast
	looks := make([]look, len(f.Rows))
	for i, r := range f.Rows {
		looks[i] = c.look(r.Method)
	}
	return looks
}

// span is what the rows and rules span.
func (f Intervals) span() span {
	x := emptySpan()
	for _, r := range f.Rows {
		x.include(r.Low, r.Value, r.High)
	}
	x.include(rules(f.Rules).values()...)
	return x
}

// whiskers plots the rows, the first on top.
type whiskers struct {
	rows  []Interval
	looks []look
}

func (w whiskers) plot(c draw.Canvas, a *axes) {
	toX, toY := a.transforms(c)
	for i, r := range w.rows {
		y := toY(float64(len(w.rows) - 1 - i))
		errorBar(c, w.looks[i], vg.Point{X: toX(r.Low), Y: y}, vg.Point{X: toX(r.High), Y: y}, vg.Point{Y: 4})
		c.DrawGlyph(w.looks[i].glyph(markerRadius*1.3), vg.Point{X: toX(r.Value), Y: y})
	}
}

// errorBar draws a line with end caps that reach by ±reach. A cap beyond the axes
// is left out, which shows that the bar goes on.
func errorBar(c draw.Canvas, l look, from, to, reach vg.Point) {
	style := draw.LineStyle{Color: l.color, Width: curveWidth}
	c.StrokeLines(style, c.ClipLinesXY([]vg.Point{from, to})...)
	for _, end := range [...]vg.Point{from, to} {
		if c.Contains(end) {
			c.StrokeLine2(style, end.X-reach.X, end.Y-reach.Y, end.X+reach.X, end.Y+reach.Y)
		}
	}
}
