package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// marker is the shape that stands for a method: a regular polygon, a circle, a
// cross or a star, solid or hollow. Hollow shapes are filled with white so that the
// line they sit on does not run through them, and a white rim keeps markers that
// overlap apart.
type marker struct {
	sides int     // corners of the polygon, or one of the constants below
	turn  float64 // rotation from "corner on top", in units of one side's angle
	solid bool
}

const (
	round         = 0
	diagonalCross = -1
	star          = -2
)

const markerLine = vg.Length(1.3)

// DrawGlyph implements draw.GlyphDrawer.
func (m marker) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	edge := draw.LineStyle{Color: sty.Color, Width: markerLine}
	if m.sides == diagonalCross || m.sides == star {
		// Strokes have no area: they are drawn heavier to weigh as much. None is
		// horizontal, to be seen on a whisker.
		edge.Width *= 1.4
		strokes := 2
		if m.sides == star {
			strokes = 3
		}
		for k := range strokes {
			d := polar(sty.Radius*1.25, math.Pi*(float64(k)+0.5)/float64(strokes))
			c.StrokeLine2(edge, pt.X-d.X, pt.Y-d.Y, pt.X+d.X, pt.Y+d.Y)
		}
		return
	}
	path := m.outline(sty.Radius, pt)
	c.SetLineStyle(draw.LineStyle{Color: color.White, Width: 1.7 * markerLine})
	c.Stroke(path)
	if m.solid {
		c.SetColor(sty.Color)
	} else {
		c.SetColor(color.White)
	}
	c.Fill(path)
	c.SetLineStyle(edge)
	c.Stroke(path)
}

// outline returns the closed path of a polygon or circle of the given radius.
func (m marker) outline(radius vg.Length, at vg.Point) vg.Path {
	var p vg.Path
	if m.sides == round {
		p.Move(vg.Point{X: at.X + radius, Y: at.Y})
		p.Arc(at, radius, 0, 2*math.Pi)
		p.Close()
		return p
	}
	// A polygon inscribed in the circle looks smaller than it: enlarge.
	radius *= 1.25
	for k := range m.sides {
		angle := math.Pi/2 + (float64(k)+m.turn)*2*math.Pi/float64(m.sides)
		corner := at.Add(polar(radius, angle))
		if k == 0 {
			p.Move(corner)
		} else {
			p.Line(corner)
		}
	}
	p.Close()
	return p
}

func polar(r vg.Length, angle float64) vg.Point {
	sin, cos := math.Sincos(angle)
	return vg.Point{X: r * vg.Length(cos), Y: r * vg.Length(sin)}
}
