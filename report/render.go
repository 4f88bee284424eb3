package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"maps"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/lossep/lossep/internal/tasks"
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

// paint draws the figure inside the margin of a canvas.
func (l layout) paint(canvas vg.CanvasSizer) {
	l.draw(draw.Crop(draw.New(canvas), margin, -margin, margin, -margin))
}

// svg is the figure on a white ground as an element with these attributes.
func (l layout) svg(attributes string) []byte {
	canvas := newSVGCanvas(figureWidth, l.height)
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Path())
	l.paint(canvas)
	return canvas.element(attributes)
}

// WriteSVG writes a figure as a stand-alone SVG file.
func WriteSVG(w io.Writer, f Figure) error {
	l, err := f.layout()
	if err != nil {
		return err
	}
	_, err = w.Write(l.svg(` xmlns="http://www.w3.org/2000/svg"`))
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
	c := vgimg.NewWith(vgimg.UseWH(figureWidth, l.height), vgimg.UseDPI(dotsPerInch)) // which is white
	l.paint(c)
	quick := png.Encoder{CompressionLevel: png.BestSpeed} // for flat areas with few edges no larger
	return quick.Encode(w, c.Image())
}

// inlineSVG returns a figure as an element for the inside of a page, described
// by alt for those who cannot see it.
func inlineSVG(f Figure, alt string) ([]byte, error) {
	l, err := f.layout()
	if err != nil {
		return nil, err
	}
	var label bytes.Buffer
	if err := xml.EscapeText(&label, []byte(alt)); err != nil {
		return nil, err
	}
	return l.svg(` role="img" aria-label="` + label.String() + `"`), nil
}

// DataError reports numbers that cannot be drawn. Lengths that do not match are
// a mistake of the program instead, and panic.
type DataError struct {
	Axis   string // its label
	Reason string // what is wrong and what to do about it
}

func (e *DataError) Error() string { return fmt.Sprintf("report: axis %q: %s", e.Axis, e.Reason) }

// mustMatch panics unless all lengths are equal.
func mustMatch(what string, lengths ...int) {
	for _, n := range lengths[1:] {
		if n != lengths[0] {
			panic(fmt.Sprintf("report: %s: lengths %v differ", what, lengths))
		}
	}
}

// Results is the name of the file with every number.
const Results = "results.json"

// Origin is what made the numbers, at the head of Results.
type Origin struct {
	MadeBy   string            `json:"made_by"`
	Versions map[string]string `json:"versions"`
}

// files are what writes each of a report's files, by name.
type files map[string]func(io.Writer) error

// figure adds a figure for pages and one for everything else.
func (f files) figure(name string, figure Figure) {
	f[name+".svg"] = func(w io.Writer) error { return WriteSVG(w, figure) }
	f[name+".png"] = func(w io.Writer) error { return WritePNG(w, figure) }
}

// results adds the file with every number.
func (f files) results(v any, indent string) {
	f[Results] = func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", indent)
		return e.Encode(v)
	}
}

// contents are those of all files.
func (f files) contents() (map[string][]byte, error) {
	names := slices.Sorted(maps.Keys(f))
	all, errs := make([]bytes.Buffer, len(names)), make([]error, len(names))
	tasks.For(len(names), func(i int) { errs[i] = f[names[i]](&all[i]) })
	found := make(map[string][]byte, len(names))
	for i, name := range names {
		if errs[i] != nil {
			return nil, fmt.Errorf("%s: %w", name, errs[i])
		}
		found[name] = all[i].Bytes()
	}
	return found, nil
}

// exactly is a number to its last digit.
func exactly(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
