package report

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"testing"

	"golang.org/x/image/draw"

	"github.com/lossep/lossep/internal/golden"
	"github.com/lossep/lossep/lab"
)

// The two figures of the paper as someone last looked at them.
func TestPaperFigures(t *testing.T) {
	r, err := lab.NewFigure1(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p, err := lab.NewFigure2(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]Figure{"figure1": reactorFigure(r), "figure2": twoPointsFigure(p)} {
		var svg, image bytes.Buffer
		if err := WriteSVG(&svg, f); err != nil {
			t.Fatal(err)
		}
		if err := WritePNG(&image, f); err != nil {
			t.Fatal(err)
		}
		golden.Text(t, name+".svg", svg.Bytes())
		golden.Image(t, name+".png", half(t, image.Bytes()))
	}
}

// half is an image at half its size, which keeps the golden files small.
func half(t *testing.T, b []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	small := image.NewRGBA(image.Rect(0, 0, full.Bounds().Dx()/2, full.Bounds().Dy()/2))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), full, full.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	if err := png.Encode(&out, small); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
