package report

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Series is a line of [Lines] or a density of [Densities].
type Series struct {
	Method string // decides the look
	Label  string // in the legend; empty for the method's printed name
	X, Y   []float64
	// Low and High bound a shaded band around the line; leave both nil for none.
	Low, High []float64
}

// Lines is a line chart: net benefit over cost ratios, cost over a parameter.
type Lines struct {
	X, Y   Axis
	Series []Series
	Rules  []Rule
}

func (f Lines) layout() (layout, error) {
	x, y := ranges(f.Series, f.Rules)
	return chart(f.X, f.Y, f.X.resolve(x, 0), f.Y.resolve(y, 0.05), f.Series, f.Rules, -1)
}

// Densities shows densities over one variable, with a threshold or other rules.
// What a method decides goes into the label of its series.
type Densities struct {
	XLabel string
	Series []Series
	Rules  []Rule
}

func (f Densities) layout() (layout, error) {
	x, y := ranges(f.Series, f.Rules)
	// Densities stand on the axis and have air only above.
	up := span{0, y.max * 1.05}
	if y.max == 0 {
		up.max = 1
	}
	return chart(Axis{Label: f.XLabel}, Axis{Label: "Density"}, Axis{}.resolve(x, 0), up, f.Series, f.Rules, 0.05)
}

// ranges are what series and rules span.
func ranges(series []Series, vertical rules) (x, y span) {
	x, y = emptySpan(), emptySpan()
	for _, s := range series {
		name := titled(s.Label, s.Method)
		mustMatch(name, len(s.X), len(s.Y))
		if s.Low != nil || s.High != nil {
			mustMatch(name, len(s.X), len(s.Low), len(s.High))
		}
		x.include(s.X...)
		y.include(slices.Concat(s.Y, s.Low, s.High)...)
	}
	x.include(vertical.values()...)
	return x, y
}

// chart draws series in one pair of axes.
func chart(xAxis, yAxis Axis, x, y span, series []Series, vertical rules, floor float64) (layout, error) {
	a, err := newAxes(xAxis, yAxis, x, y, 5)
	if err != nil {
		return layout{}, err
	}
	a.rules = vertical
	a.add(vertical)
	var c cast
	var l legend
	for i, s := range series {
		lk := c.look(s.Method)
		a.add(curve{
			x: s.X, y: s.Y, low: s.Low, high: s.High, look: lk,
			phase: (float64(i) + 0.5) / float64(len(series)), floor: floor,
		})
		l.add(lk, titled(s.Label, s.Method))
	}
	return plan(plotHeight+vertical.height(), l, a.draw), nil
}

// curve plots a line through points in a method's look, over an optional band.
type curve struct {
	x, y      []float64
	low, high []float64 // a shaded band, or nil
	look      look
	// phase in [0, 1) shifts the markers along the line, so that curves lying on
	// each other show theirs in turn.
	phase float64
	// floor, a fraction of the height of the axes, is where markers begin: on
	// the tails of densities they would only pile up.
	floor float64
}

// Lines with no more points than this carry a marker on every one of them;
// longer ones carry a fixed number, evenly spaced along the line.
const (
	everyPointLimit = 12
	spacedMarkers   = 5
)

func (k curve) plot(c draw.Canvas, a *axes) {
	if k.low != nil {
		fillBand(c, k.look.color, k.points(c, a, k.low), k.points(c, a, k.high))
	}
	line := k.points(c, a, k.y)
	c.StrokeLines(k.look.line(curveWidth), c.ClipLinesXY(line)...)
	marks := line
	if len(line) > everyPointLimit {
		marks = spaced(visible(c, line, c.Y(k.floor)), k.phase)
	}
	for _, at := range marks {
		c.DrawGlyph(k.look.glyph(markerRadius), at)
	}
}

func (k curve) points(c draw.Canvas, a *axes, y []float64) []vg.Point {
	toX, toY := a.transforms(c)
	points := make([]vg.Point, len(y))
	for i := range y {
		points[i] = vg.Point{X: toX(k.x[i]), Y: toY(y[i])}
	}
	return points
}

// fillBand shades the area between two lines over the same abscissae.
func fillBand(c draw.Canvas, col color.RGBA, low, high []vg.Point) {
	outline := append([]vg.Point(nil), low...)
	for i := len(high) - 1; i >= 0; i-- {
		outline = append(outline, high[i])
	}
	faint := color.NRGBA{col.R, col.G, col.B, 0x33}
	c.FillPolygon(faint, c.ClipPolygonXY(outline))
}

// visible returns the runs of consecutive points inside the canvas and above
// the floor.
func visible(c draw.Canvas, line []vg.Point, floor vg.Length) [][]vg.Point {
	var runs [][]vg.Point
	var run []vg.Point
	for _, p := range line {
		if c.Contains(p) && p.Y >= floor {
			run = append(run, p)
			continue
		}
		if len(run) > 1 {
			runs = append(runs, run)
		}
		run = nil
	}
	if len(run) > 1 {
		runs = append(runs, run)
	}
	return runs
}

// spaced returns points at equal distances along the runs.
func spaced(runs [][]vg.Point, phase float64) []vg.Point {
	total := 0.0
	for _, run := range runs {
		for i := 1; i < len(run); i++ {
			total += distance(run[i-1], run[i])
		}
	}
	step := total / spacedMarkers
	next, passed := step*phase, 0.0
	var marks []vg.Point
	for _, run := range runs {
		for i := 1; i < len(run); i++ {
			d := distance(run[i-1], run[i])
			for d > 0 && next <= passed+d && len(marks) < spacedMarkers {
				t := vg.Length((next - passed) / d)
				marks = append(marks, run[i-1].Add(run[i].Sub(run[i-1]).Scale(t)))
				next += step
			}
			passed += d
		}
	}
	return marks
}

func distance(a, b vg.Point) float64 {
	return math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y))
}
