package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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
