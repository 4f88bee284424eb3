package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// svgCanvas records drawing as SVG elements, for a file or for the inside of a
// page. Two things set it apart from gonum's own: text carries its length, so
// that a viewer without the Liberation fonts keeps the layout, and what it
// writes needs no prologue and no namespaces inside HTML.
//
// Points arrive with y upwards; state.place turns them over.
type svgCanvas struct {
	w, h  vg.Length
	body  bytes.Buffer
	stack []svgState
}

type svgState struct {
	color  color.Color
	width  vg.Length
	dashes []vg.Length
	offset vg.Length
	// The user's coordinates (x, y) are at (a x + c y + e, b x + d y + f).
	a, b, c, d, e, f float64
}

var _ vg.CanvasSizer = (*svgCanvas)(nil)

func newSVGCanvas(w, h vg.Length) *svgCanvas {
	c := &svgCanvas{w: w, h: h, stack: []svgState{{a: 1, d: -1, f: float64(h)}}}
	vg.Initialize(c)
	return c
}

func (c *svgCanvas) top() *svgState { return &c.stack[len(c.stack)-1] }

// Size implements vg.CanvasSizer.
func (c *svgCanvas) Size() (w, h vg.Length) { return c.w, c.h }

// SetLineWidth implements vg.Canvas.
func (c *svgCanvas) SetLineWidth(w vg.Length) { c.top().width = w }

// SetLineDash implements vg.Canvas.
func (c *svgCanvas) SetLineDash(d []vg.Length, offset vg.Length) {
	c.top().dashes, c.top().offset = d, offset
}

// SetColor implements vg.Canvas.
func (c *svgCanvas) SetColor(col color.Color) { c.top().color = col }

// Push implements vg.Canvas.
func (c *svgCanvas) Push() { c.stack = append(c.stack, *c.top()) }

// Pop implements vg.Canvas.
func (c *svgCanvas) Pop() { c.stack = c.stack[:len(c.stack)-1] }

// Rotate implements vg.Canvas.
func (c *svgCanvas) Rotate(rad float64) {
	s := c.top()
	sin, cos := math.Sincos(rad)
	s.a, s.b, s.c, s.d = s.a*cos+s.c*sin, s.b*cos+s.d*sin, s.c*cos-s.a*sin, s.d*cos-s.b*sin
}

// Translate implements vg.Canvas.
func (c *svgCanvas) Translate(by vg.Point) {
	s := c.top()
	s.e, s.f = s.place(by)
}

// Scale implements vg.Canvas.
func (c *svgCanvas) Scale(x, y float64) {
	s := c.top()
	s.a, s.b, s.c, s.d = s.a*x, s.b*x, s.c*y, s.d*y
}

func (s *svgState) place(p vg.Point) (x, y float64) {
	px, py := float64(p.X), float64(p.Y)
	return s.a*px + s.c*py + s.e, s.b*px + s.d*py + s.f
}

// Stroke implements vg.Canvas.
func (c *svgCanvas) Stroke(p vg.Path) {
	s := c.top()
	if s.width <= 0 {
		return
	}
	c.body.WriteString(`<path fill="none"`)
	c.paint("stroke", s.color)
	fmt.Fprintf(&c.body, ` stroke-width="%s"`, decimal(float64(s.width)))
	if len(s.dashes) > 0 {
		c.body.WriteString(` stroke-dasharray="`)
		for i, d := range s.dashes {
			if i > 0 {
				c.body.WriteByte(' ')
			}
			c.body.WriteString(decimal(float64(d)))
		}
		c.body.WriteByte('"')
		if s.offset != 0 {
			fmt.Fprintf(&c.body, ` stroke-dashoffset="%s"`, decimal(float64(s.offset)))
		}
	}
	c.path(p)
}

// Fill implements vg.Canvas.
func (c *svgCanvas) Fill(p vg.Path) {
	c.body.WriteString(`<path`)
	c.paint("fill", c.top().color)
	c.path(p)
}

// paint writes a colour attribute, with its opacity when there is any to tell.
func (c *svgCanvas) paint(attribute string, col color.Color) {
	if col == nil {
		col = color.Black
	}
	n := color.NRGBAModel.Convert(col).(color.NRGBA)
	fmt.Fprintf(&c.body, ` %s="#%02x%02x%02x"`, attribute, n.R, n.G, n.B)
	if n.A != 0xff {
		fmt.Fprintf(&c.body, ` %s-opacity="%s"`, attribute, decimal(float64(n.A)/0xff))
	}
}

// path writes the path's data and closes the element.
func (c *svgCanvas) path(p vg.Path) {
	c.body.WriteString(` d="`)
	for _, comp := range p {
		switch comp.Type {
		case vg.MoveComp:
			c.command('M', comp.Pos)
		case vg.LineComp:
			c.command('L', comp.Pos)
		case vg.ArcComp:
			c.arc(comp)
		case vg.CurveComp:
			kind := byte('Q')
			if len(comp.Control) == 2 {
				kind = 'C'
			}
			c.command(kind, append(append([]vg.Point(nil), comp.Control...), comp.Pos)...)
		case vg.CloseComp:
			c.body.WriteByte('Z')
		}
	}
	c.body.WriteString("\"/>\n")
}

func (c *svgCanvas) command(kind byte, points ...vg.Point) {
	c.body.WriteByte(kind)
	for i, p := range points {
		if i > 0 {
			c.body.WriteByte(' ')
		}
		x, y := c.top().place(p)
		c.body.WriteString(decimal(x))
		c.body.WriteByte(' ')
		c.body.WriteString(decimal(y))
	}
}

// arc writes a circular arc as cubic curves of at most a quarter turn, which
// stay right under every transform. The distance of the control points from the
// ends of a piece of angle t is 4/3 tan(t/4) radii; the radius is then off by
// less than 3 in 10,000.
func (c *svgCanvas) arc(comp vg.PathComp) {
	pieces := max(1, int(math.Ceil(math.Abs(comp.Angle)/(math.Pi/2)-1e-9)))
	t := comp.Angle / float64(pieces)
	reach := comp.Radius * vg.Length(4.0/3.0*math.Tan(t/4))
	c.command('L', comp.Pos.Add(polar(comp.Radius, comp.Start)))
	for k := range pieces {
		from := comp.Start + float64(k)*t
		to := from + t
		start, end := comp.Pos.Add(polar(comp.Radius, from)), comp.Pos.Add(polar(comp.Radius, to))
		c.command('C', start.Add(polar(reach, from+math.Pi/2)), end.Add(polar(reach, to-math.Pi/2)), end)
	}
}

// FillString implements vg.Canvas.
func (c *svgCanvas) FillString(face font.Face, at vg.Point, s string) {
	if s == "" {
		return
	}
	st := c.top()
	x, y := st.place(at)
	fmt.Fprintf(&c.body, `<text x="%s" y="%s" font-size="%s" textLength="%s" lengthAdjust="spacingAndGlyphs"`,
		decimal(x), decimal(y), decimal(float64(face.Font.Size)), decimal(float64(face.Width(s))))
	// The direction of the baseline; a y axis label reads upwards.
	if angle := math.Atan2(st.b, st.a) * 180 / math.Pi; math.Abs(angle) > 1e-9 {
		fmt.Fprintf(&c.body, ` transform="rotate(%s %s %s)"`, decimal(angle), decimal(x), decimal(y))
	}
	c.paint("fill", st.color)
	c.body.WriteByte('>')
	// EscapeText also replaces what XML cannot hold; a buffer never fails.
	_ = xml.EscapeText(&c.body, []byte(s))
	c.body.WriteString("</text>\n")
}

// DrawImage implements vg.Canvas. No figure of this package has a bitmap.
func (c *svgCanvas) DrawImage(vg.Rectangle, image.Image) {
	panic("report: bitmaps in SVG figures are not supported")
}

// element returns the complete svg element; attributes come from the caller,
// escaped and with a leading space.
func (c *svgCanvas) element(attributes string) []byte {
	const pixelsPerPoint = 96.0 / 72.0
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg width="%s" height="%s" viewBox="0 0 %s %s" font-family="Liberation Sans, Arial, Helvetica, sans-serif" stroke-linejoin="round"%s>`+"\n",
		decimal(float64(c.w)*pixelsPerPoint), decimal(float64(c.h)*pixelsPerPoint), decimal(float64(c.w)), decimal(float64(c.h)), attributes)
	b.Write(c.body.Bytes())
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// decimal writes a number to a hundredth, which is finer than any printer.
func decimal(v float64) string {
	v = math.Round(v*100) / 100
	if v == 0 {
		v = 0 // no "-0"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
