package report

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"testing"
)

func TestPNGKeepsPixels(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 301, 97))
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		m.Pix[4*rng.IntN(len(m.Pix)/4)+rng.IntN(3)] = uint8(rng.Uint32())
	}
	var b bytes.Buffer
	if err := encodePNG(&b, m); err != nil {
		t.Fatal(err)
	}
	read, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read.(*image.RGBA).Pix, m.Pix) {
		t.Error("the pixels are others")
	}
}
