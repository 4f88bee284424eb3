package report

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Rule is a labelled vertical line, such as a threshold. The label stands above
// the axes.
type Rule struct {
	At    float64
	Label string
}

// rules are the vertical lines of one plot.
type rules []Rule

const ruleStrip = tickSize * 1.5

// plot draws the lines only, for they belong below the data.
func (r rules) plot(c draw.Canvas, a *axes) {
	toX, _ := a.transforms(c)
	style := draw.LineStyle{Color: ink, Width: thinWidth, Dashes: []vg.Length{2, 2}}
	for _, rule := range r {
		if x := toX(rule.At); c.ContainsX(x) {
			c.StrokeLine2(style, x, c.Min.Y, x, c.Max.Y)
		}
	}
}

// height is what the labels need above the axes: a line each, so that rules
// close to each other stay legible.
func (r rules) height() vg.Length {
	return ruleStrip * vg.Length(len(r))
}

// label writes the labels above the data area, the first on top, each joined
// to its line.
func (r rules) label(c, area draw.Canvas, a *axes) {
	toX, _ := a.transforms(area)
	sty := textStyle(tickSize, ink)
	lead := draw.LineStyle{Color: ink, Width: thinWidth}
	for i, rule := range r {
		x := toX(rule.At)
		if !area.ContainsX(x) {
			continue
		}
		top := c.Max.Y - ruleStrip*vg.Length(i)
		c.StrokeLine2(lead, x, area.Max.Y, x, top-ruleStrip+2)
		// Centred on its line, but never past the edges of the figure.
		text := fit(sty, clean(rule.Label), c.Size().X)
		width := sty.Width(text)
		left := max(c.Min.X, min(x-width/2, c.Max.X-width))
		fillLines(c, sty, vg.Point{X: left, Y: top}, []string{text})
	}
}

// values returns the positions, for the range of the axis.
func (r rules) values() []float64 {
	v := make([]float64, len(r))
	for i := range r {
		v[i] = r[i].At
	}
	return v
}
