package report

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// look is how one method is drawn in every figure. Colour separates methods on
// a screen; dash and marker together separate them in black and white.
type look struct {
	color  color.RGBA
	dashes []vg.Length
	marker marker
}

func (l look) line(width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: width, Dashes: l.dashes}
}

func (l look) glyph(radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.color, Radius: radius, Shape: l.marker}
}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// looks are those of methods, by name. A method without one is drawn as a baseline is.
//
// The colours are those of Okabe and Ito ("Color Universal Design", 2008) with their
// yellow darkened, because yellow lines vanish on white. Kin share a temperature:
// variational methods are blue, EP is warm. Within a family the hollow marker is the
// plain method and the solid one its calibrated sibling.
var looks = map[string]look{
	"exact":     {rgb(0x000000), nil, marker{sides: 4, solid: true}},
	"vi":        {rgb(0x56b4e9), []vg.Length{5.5, 3}, marker{sides: round}},
	"loss-vi":   {rgb(0x0072b2), []vg.Length{8, 2.5, 1.5, 2.5}, marker{sides: round, solid: true}},
	"ep":        {rgb(0xe69f00), []vg.Length{3.5, 2}, marker{sides: 4, turn: 0.5}},
	"loss-ep":   {rgb(0xd55e00), []vg.Length{10, 3}, marker{sides: 4, turn: 0.5, solid: true}},
	"evidence":  {rgb(0x009e73), []vg.Length{1.5, 1.8}, marker{sides: 3}},
	"corrected": {rgb(0xcc79a7), []vg.Length{10, 2.5, 3, 2.5}, marker{sides: 3, solid: true}},
	"laplace":   {rgb(0x8a7400), []vg.Length{5, 2, 1, 2, 1, 2}, marker{sides: diagonalCross}},
	"nuts":      {rgb(0x4d4d4d), []vg.Length{2, 4}, marker{sides: star}},
}

// baselines are the looks of every other name, in order of appearance in a
// figure: grey, for what a method is compared with is background.
var baselines = [...]look{
	{rgb(0x767676), []vg.Length{1, 3}, marker{sides: 4}},
	{rgb(0x767676), []vg.Length{4, 4}, marker{sides: 3, turn: 0.5}},
	{rgb(0x767676), []vg.Length{9, 5}, marker{sides: 3, turn: 0.5, solid: true}},
	{rgb(0x767676), []vg.Length{1, 2, 6, 2}, marker{sides: 5}},
	{rgb(0x767676), []vg.Length{1, 1, 1, 5}, marker{sides: 5, solid: true}},
}

// cast hands out looks within one figure.
type cast struct {
	others []string // names that are no method's, in order of appearance
}

// look returns the look of a name; unknown names share out the baselines' looks
// and start over when a figure has more of them than there are looks.
func (c *cast) look(name string) look {
	if l, ok := looks[name]; ok {
		return l
	}
	at := slices.Index(c.others, name)
	if at < 0 {
		at, c.others = len(c.others), append(c.others, name)
	}
	return baselines[at%len(baselines)]
}

// titled returns label, or the printed form of the method when label is empty.
func titled(label, name string) string {
	return clean(cmp.Or(label, MethodLabel(name)))
}

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

// typeface is the one font of all figures.
var typeface = sync.OnceValue(func() *font.Cache {
	regular, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		panic("report: " + err.Error()) // the font is part of the program
	}
	return font.NewCache(font.Collection{{Font: sans, Face: regular}})
})

var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

// textStyle is left-aligned sans-serif text with its baseline at the point.
func textStyle(size vg.Length, ink color.Color) text.Style {
	face := sans
	face.Size = size
	return text.Style{Color: ink, Font: face, XAlign: draw.XLeft, YAlign: draw.YBottom, Handler: text.Plain{Fonts: typeface()}}
}

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
