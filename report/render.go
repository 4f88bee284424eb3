package report

import (
	"bytes"
	"encoding/xml"
	"image/color"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Figure is one of the figures of this package.
type Figure interface {
	// layout checks the data and plans the drawing.
	layout() (layout, error)
}

// layout is a figure ready to be drawn on a canvas of its height and the
// common width, less the margin.
type layout struct {
	height vg.Length
	draw   func(draw.Canvas)
}

// plan puts a legend under a drawing of the given height.
func plan(height vg.Length, l legend, body func(draw.Canvas)) layout {
	strip := l.height(figureWidth - 2*margin)
	return layout{height + strip + 2*margin, func(c draw.Canvas) {
		body(draw.Crop(c, 0, 0, strip, 0))
		l.draw(draw.Crop(c, 0, 0, 0, strip-c.Size().Y))
	}}
}

// paint draws a background and, inside the margin, the figure.
func (l layout) paint(canvas vg.CanvasSizer) {
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Path())
	l.draw(draw.Crop(c, margin, -margin, margin, -margin))
}

// WriteSVG writes a figure as a stand-alone SVG file.
func WriteSVG(w io.Writer, f Figure) error {
	l, err := f.layout()
	if err != nil {
		return err
	}
	c := newSVGCanvas(figureWidth, l.height)
	l.paint(c)
	_, err = w.Write(c.element(` xmlns="http://www.w3.org/2000/svg"`))
	return err
}

// WritePNG writes a figure as a PNG image of 1008 pixels' width, two for each
// CSS pixel of the SVG.
func WritePNG(w io.Writer, f Figure) error { return writePNG(w, f, 2*96) }

func writePNG(w io.Writer, f Figure, dotsPerInch int) error {
	l, err := f.layout()
	if err != nil {
		return err
	}
	c := vgimg.NewWith(vgimg.UseWH(figureWidth, l.height), vgimg.UseDPI(dotsPerInch))
	l.paint(c)
	_, err = vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// inlineSVG returns a figure as an element for the inside of a page, described
// by alt for those who cannot see it.
func inlineSVG(f Figure, alt string) ([]byte, error) {
	l, err := f.layout()
	if err != nil {
		return nil, err
	}
	c := newSVGCanvas(figureWidth, l.height)
	l.paint(c)
	var label bytes.Buffer
	if err := xml.EscapeText(&label, []byte(alt)); err != nil {
		return nil, err
	}
	return c.element(` role="img" aria-label="` + label.String() + `"`), nil
}
