// Package golden compares what a test made with what it made when someone last
// looked at it. Tests that use it take the flag -update, which writes the golden
// files anew.
package golden

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

// Text compares text with the golden file testdata/name.
func Text(t testing.TB, name string, got []byte) {
	t.Helper()
	if want, ok := file(t, name, got); ok {
		compareText(t, got, want)
	}
}

// Image compares a PNG image with the golden file testdata/name.
func Image(t testing.TB, name string, got []byte) {
	t.Helper()
	if want, ok := file(t, name, got); ok {
		compareImages(t, got, want)
	}
}

// file returns the contents of a golden file, after writing it when asked to.
func file(t testing.TB, name string, got []byte) (want []byte, ok bool) {
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
func compareText(t testing.TB, got, want []byte) {
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
func compareImages(t testing.TB, got, want []byte) {
	t.Helper()
	g, w := decode(t, got), decode(t, want)
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

func decode(t testing.TB, b []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return img
}
