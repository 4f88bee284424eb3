package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/plot/font"
)

// box is where a piece of text stands in an SVG file.
type box struct {
	text                     string
	left, right, top, bottom float64
}

// textBoxes parses an SVG file, which must be well-formed XML, and returns its
// size and the boxes of its text. Capitals reach 0.73 of the type size above the
// baseline and descenders 0.21 below it in Liberation Sans.
func textBoxes(t *testing.T, svg []byte) (width, height float64, boxes []box) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return width, height, boxes
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attr := map[string]string{}
		for _, a := range e.Attr {
			attr[a.Name.Local] = a.Value
		}
		number := func(name string) float64 {
			v, err := strconv.ParseFloat(attr[name], 64)
			if err != nil {
				t.Fatalf("attribute %s of %s: %v", name, e.Name.Local, err)
			}
			return v
		}
		switch e.Name.Local {
		case "svg":
			if _, err := fmt.Sscanf(attr["viewBox"], "0 0 %f %f", &width, &height); err != nil {
				t.Fatal(err)
			}
		case "text":
			var text string
			if err := d.DecodeElement(&text, &e); err != nil {
				t.Fatal(err)
			}
			x, y, size, length := number("x"), number("y"), number("font-size"), number("textLength")
			b := box{text, x, x + length, y - 0.73*size, y + 0.21*size}
			if strings.HasPrefix(attr["transform"], "rotate(-90 ") { // reads upwards
				b = box{text, x - 0.73*size, x + 0.21*size, y - length, y}
			} else if attr["transform"] != "" {
				t.Fatalf("text %q has transform %q", text, attr["transform"])
			}
			boxes = append(boxes, b)
		}
	}
}

// longNames is what users may call things.
func longNames() map[string]Figure {
	long := strings.Repeat("a rather long name ", 8)
	word := strings.Repeat("unbroken", 30)
	x := []float64{1, 2, 3}
	lines := func(label string) Lines {
		return Lines{
			X: Axis{Label: label}, Y: Axis{Label: label},
			Series: []Series{{Method: "ep", Label: label, X: x, Y: x}, {Method: "vi", Label: "second " + label, X: x, Y: x}},
			Rules:  []Rule{{1, label}, {1.1, label}, {3, "short"}},
		}
	}
	contours := sampleContours()
	contours.XLabel, contours.YLabel, contours.Panels[0].Title, contours.Panels[1].Title = long, long, long, word
	single := sampleContours()
	single.Panels = single.Panels[:1]
	small := make([]Interval, 3)
	for i := range small {
		small[i] = Interval{Method: fmt.Sprint(i), Label: long[:40] + word[:40*i], Value: 1e-5 * float64(i+1), Low: 1e-6, High: 1e-4}
	}
	return map[string]Figure{
		"long lines":    lines(long),
		"unbroken":      lines(word),
		"long contours": contours,
		"one panel":     single,
		"log intervals": Intervals{X: Axis{Label: long, Log: true}, Rows: small, Rules: []Rule{{1e-6, word}}},
		"log lines": Lines{
			X: Axis{Label: "a label of moderate length", Log: true}, Y: Axis{Label: "Regret", Log: true},
			Series: []Series{{Method: "ep", X: []float64{1, 1e9}, Y: []float64{1e-9, 1e-3}}},
		},
		"one value": Lines{Series: []Series{{Method: "ep", X: []float64{0}, Y: []float64{7}}}},
		"close":     Lines{Series: []Series{{Method: "ep", X: []float64{1e9, 1e9 + 1e-6}, Y: []float64{1e-300, 2e-300}}}},
		"huge":      Lines{Series: []Series{{Method: "ep", X: []float64{-1e299, 1e299}, Y: []float64{1e15, 1e15 + 1}}}},
		"short log": Lines{X: Axis{Log: true}, Series: []Series{{Method: "ep", X: []float64{2, 3}, Y: []float64{0, 0}}}},
		"one log":   Lines{X: Axis{Log: true}, Series: []Series{{Method: "ep", X: []float64{2}, Y: []float64{0}}}},
	}
}

// Text is neither cut off by the figure's edge nor written over other text,
// which includes legends over axes.
func TestTextNeitherOverlapsNorLeavesTheFigure(t *testing.T) {
	all := sampleFigures()
	for name, f := range longNames() {
		all[name] = f
	}
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			var svg bytes.Buffer
			if err := WriteSVG(&svg, f); err != nil {
				t.Fatal(err)
			}
			width, height, boxes := textBoxes(t, svg.Bytes())
			if len(boxes) < 3 {
				t.Fatalf("only %d pieces of text", len(boxes))
			}
			for i, a := range boxes {
				if a.left < 0 || a.right > width || a.top < 0 || a.bottom > height {
					t.Errorf("%q at (%g…%g, %g…%g) leaves the figure of %g × %g", a.text, a.left, a.right, a.top, a.bottom, width, height)
				}
				for _, b := range boxes[:i] {
					if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
						t.Errorf("%q and %q overlap", a.text, b.text)
					}
				}
			}
		})
	}
}

func TestSameFigureSameBytes(t *testing.T) {
	for name, f := range sampleFigures() {
		render := func() []byte {
			var b bytes.Buffer
			if err := errors.Join(WriteSVG(&b, f), writePNG(&b, f, 48)); err != nil {
				t.Error(err)
			}
			return b.Bytes()
		}
		want := render()
		// At the same time, too: figures share the cache of fonts.
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if !bytes.Equal(render(), want) {
					t.Errorf("%s: bytes differ between runs", name)
				}
			})
		}
		wg.Wait()
	}
}

func TestPNGHasTwoPixelsForOne(t *testing.T) {
	var b bytes.Buffer
	if err := WritePNG(&b, sampleIntervals()); err != nil {
		t.Fatal(err)
	}
	c, err := png.DecodeConfig(&b)
	if err != nil {
		t.Fatal(err)
	}
	if c.Width != 1008 {
		t.Errorf("width %d, want 1008", c.Width)
	}
}

func TestHostileTextInFigures(t *testing.T) {
	hostile := "</text><script>alert(1)</script>\x00\x1b[31m\xff&\"'"
	f := Lines{
		X: Axis{Label: hostile}, Y: Axis{Label: hostile},
		Series: []Series{{Method: hostile, X: []float64{0, 1}, Y: []float64{0, 1}}},
		Rules:  []Rule{{0.5, hostile}},
	}
	svg, err := inlineSVG(f, hostile)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(svg), "<script") {
		t.Error("markup in a label reached the file")
	}
	textBoxes(t, svg) // fails unless well-formed
}

// The fonts must have what this package and its callers' captions write.
func TestFontsHaveTheSignsOfTheTrade(t *testing.T) {
	sty := textStyle(tickSize, ink)
	face := sty.Handler.Cache().Lookup(font.Font(sty.Font), tickSize)
	for _, r := range "−–—…±×≤≥αβδεηθλμνπρστφΔΣΦΛ₀₁₂²%" {
		if i, err := face.Face.GlyphIndex(nil, r); err != nil || i == 0 {
			t.Errorf("no glyph for %q", r)
		}
	}
}

func TestBadDataIsRefused(t *testing.T) {
	ok := []float64{0, 1}
	ep := func(x, y []float64) []Series { return []Series{{Method: "ep", X: x, Y: y}} }
	hill := Grid{X: ok, Y: ok, Z: [][]float64{{0, 1}, {1, 1}}}
	bad := map[string]Figure{
		"no series":         Lines{},
		"empty series":      Lines{Series: ep(nil, nil)},
		"NaN":               Lines{Series: ep(ok, []float64{0, math.NaN()})},
		"infinity":          Lines{Series: ep([]float64{0, math.Inf(1)}, ok)},
		"log of zero":       Lines{X: Axis{Log: true}, Series: ep(ok, ok)},
		"log limits":        Lines{X: Axis{Log: true, Min: -1, Max: 1}, Series: ep([]float64{1, 2}, ok)},
		"reversed limits":   Lines{Y: Axis{Min: 2, Max: 1}, Series: ep(ok, ok)},
		"rule at NaN":       Lines{Series: ep(ok, ok), Rules: []Rule{{math.NaN(), ""}}},
		"no rows":           Intervals{},
		"no bins":           Reliability{},
		"empty bins":        Reliability{Bins: []Bin{{From: 0, To: 1}}},
		"one column":        Contours{Panels: []Panel{{Density: Grid{X: ok[:1], Y: ok, Z: [][]float64{{1}, {1}}}}}},
		"equal coordinates": Contours{Panels: []Panel{{Density: Grid{X: []float64{1, 1}, Y: ok, Z: hill.Z}}}},
	}
	for name, f := range bad {
		var b bytes.Buffer
		var data *DataError
		if err := WriteSVG(&b, f); !errors.As(err, &data) {
			t.Errorf("%s: error %v, want a DataError", name, err)
		} else if data.Reason == "" || !strings.HasPrefix(err.Error(), "report: axis") {
			t.Errorf("%s: unhelpful error %q", name, err)
		}
		if b.Len() > 0 {
			t.Errorf("%s: wrote %d bytes nevertheless", name, b.Len())
		}
	}
}

func TestMismatchedLengthsPanic(t *testing.T) {
	two, three := []float64{0, 1}, []float64{0, 1, 2}
	for name, f := range map[string]func(){
		"y":     func() { _ = WriteSVG(io.Discard, Lines{Series: []Series{{X: two, Y: three}}}) },
		"band":  func() { _ = WriteSVG(io.Discard, Lines{Series: []Series{{X: two, Y: two, Low: two}}}) },
		"grid":  func() { _ = WriteSVG(io.Discard, Contours{Panels: []Panel{{Density: Grid{X: two, Y: two}}}}) },
		"table": func() { _ = (&Table{Rows: []Row{{Cells: make([]Cell, 1)}}}).WriteText(io.Discard) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
