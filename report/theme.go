package report

import (
	"image/color"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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
