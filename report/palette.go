package report

import (
	"cmp"
	"image/color"
	"slices"

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
