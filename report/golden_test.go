package report

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func sampleFigures() map[string]Figure {
	return map[string]Figure{
		"densities":   sampleDensities(),
		"contours":    sampleContours(),
		"intervals":   sampleIntervals(),
		"lines":       sampleLines(),
		"reliability": sampleReliability(),
	}
}

func TestGoldenFigures(t *testing.T) {
	for name, f := range sampleFigures() {
		t.Run(name, func(t *testing.T) {
			var svg, small bytes.Buffer
			if err := WriteSVG(&svg, f); err != nil {
				t.Fatal(err)
			}
			// Half the resolution of a screen shows every element and keeps the
			// golden files small.
			if err := writePNG(&small, f, 48); err != nil {
				t.Fatal(err)
			}
			if want, ok := golden(t, name+".svg", svg.Bytes()); ok {
				compareText(t, svg.Bytes(), want)
			}
			if want, ok := golden(t, name+".png", small.Bytes()); ok {
				compareImages(t, small.Bytes(), want)
			}
		})
	}
}

// goldenPage has every kind of block, with little in each.
func goldenPage() *Page {
	p := NewPage("Costs & decisions", "Seed 1")
	p.Text("A paragraph with <angle brackets>.")
	p.Section("Verdict")
	p.Verdict(Holds, "holds", "EP is ahead.", "In 12 of 15 cells.")
	p.Verdict(Neutral, "note", "A claim without a finding.", "")
	p.Section("Figure")
	p.Figure(Lines{
		X: Axis{Label: "x"}, Y: Axis{Label: "y"},
		Series: []Series{{Method: "ep", X: []float64{0, 1, 2}, Y: []float64{1, 3, 2}}},
	}, "A figure.", "A line that rises and falls.")
	p.Section("Table")
	p.Subsection("Regret")
	p.Table(sampleTable())
	p.Details("More", func(b *Body) {
		b.List("one", "two")
		b.Code("lossep paper --out out\n\techo done")
	})
	return p
}

func TestGoldenPage(t *testing.T) {
	var got bytes.Buffer
	if err := goldenPage().Write(&got); err != nil {
		t.Fatal(err)
	}
	if want, ok := golden(t, "page.html", got.Bytes()); ok {
		compareText(t, got.Bytes(), want)
	}
}

// golden returns the contents of a golden file, after writing it when asked to.
func golden(t *testing.T, name string, got []byte) (want []byte, ok bool) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return nil, false
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	return want, true
}

var numeral = regexp.MustCompile(`-?\d+(\.\d+)?`)

// compareText requires equal text, with numbers equal to two units of their
// last decimal: coordinates are rounded to 0.01, and a processor that fuses
// multiplication and addition may round some of them the other way.
func compareText(t *testing.T, got, want []byte) {
	t.Helper()
	if g, w := numeral.ReplaceAll(got, []byte("#")), numeral.ReplaceAll(want, []byte("#")); !bytes.Equal(g, w) {
		at := 0
		for at < min(len(g), len(w)) && g[at] == w[at] {
			at++
		}
		t.Fatalf("text differs at …%s… (want …%s…)", excerpt(g, at), excerpt(w, at))
	}
	g, w := numeral.FindAll(got, -1), numeral.FindAll(want, -1)
	for i := range g {
		a, _ := strconv.ParseFloat(string(g[i]), 64)
		b, _ := strconv.ParseFloat(string(w[i]), 64)
		if math.Abs(a-b) > 0.02+1e-9 {
			t.Fatalf("number %d is %s, want %s", i, g[i], w[i])
		}
	}
}

func excerpt(b []byte, at int) []byte { return b[max(0, at-40):min(len(b), at+40)] }

// compareImages allows a mean difference of half a level in 255, which rounding
// of coordinates can cause along edges and no visible change stays below.
func compareImages(t *testing.T, got, want []byte) {
	t.Helper()
	decode := func(b []byte) image.Image {
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		return img
	}
	g, w := decode(got), decode(want)
	if g.Bounds() != w.Bounds() {
		t.Fatalf("size %v, want %v", g.Bounds(), w.Bounds())
	}
	sum := 0.0
	for y := range g.Bounds().Dy() {
		for x := range g.Bounds().Dx() {
			r1, g1, b1, _ := g.At(x, y).RGBA()
			r2, g2, b2, _ := w.At(x, y).RGBA()
			sum += math.Abs(float64(r1)-float64(r2)) + math.Abs(float64(g1)-float64(g2)) + math.Abs(float64(b1)-float64(b2))
		}
	}
	if mean := sum / 257 / 3 / float64(g.Bounds().Dx()*g.Bounds().Dy()); mean > 0.5 {
		t.Fatalf("images differ by %.2f levels of 255 on average", mean)
	}
}
