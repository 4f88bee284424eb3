package report

import (
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry is one line of a legend: a sample of the look and what it stands for.
type entry struct {
	look look
	text string
}

// legend is a strip below the axes. It fills as many equal columns as the
// longest entry allows, row by row, and ends with an optional note.
type legend struct {
	entries []entry
	note    string
}

const (
	sampleWidth = vg.Length(34)
	sampleGap   = vg.Length(6)
	columnGap   = vg.Length(12)
	lineHeight  = 1.25 // in units of the type size
	legendGap   = vg.Length(6)
)

// add appends an entry unless the strip has it already.
func (l *legend) add(lk look, label string) {
	for _, e := range l.entries {
		if e.text == label {
			return
		}
	}
	l.entries = append(l.entries, entry{lk, label})
}

// arrange breaks the entries into lines for a strip of the given width.
func (l legend) arrange(width vg.Length) (columns int, wrapped [][]string) {
	sty := textStyle(tickSize, ink)
	longest := vg.Length(0)
	for _, e := range l.entries {
		longest = max(longest, sty.Width(e.text))
	}
	columns = int((width + columnGap) / (sampleWidth + sampleGap + longest + columnGap))
	columns = max(1, min(columns, len(l.entries)))
	room := (width+columnGap)/vg.Length(columns) - columnGap - sampleWidth - sampleGap
	for _, e := range l.entries {
		wrapped = append(wrapped, wrap(sty, e.text, room))
	}
	return columns, wrapped
}

func (l legend) height(width vg.Length) vg.Length {
	columns, wrapped := l.arrange(width)
	h := vg.Length(0)
	for row := 0; row < len(wrapped); row += columns {
		h += rowHeight(wrapped[row:min(row+columns, len(wrapped))])
	}
	if l.note != "" {
		h += vg.Length(len(wrap(textStyle(noteSize, quietInk), l.note, width))) * noteSize * lineHeight
	}
	if h > 0 {
		h += legendGap
	}
	return h
}

// rowHeight is that of the entry with the most lines.
func rowHeight(row [][]string) vg.Length {
	lines := 1
	for _, e := range row {
		lines = max(lines, len(e))
	}
	return vg.Length(lines) * tickSize * lineHeight
}

// draw fills the canvas from the top, which is expected to be as tall as height
// says.
func (l legend) draw(c draw.Canvas) {
	columns, wrapped := l.arrange(c.Size().X)
	pitch := (c.Size().X + columnGap) / vg.Length(columns)
	sty := textStyle(tickSize, ink)
	y := c.Max.Y - legendGap
	for row := 0; row < len(wrapped); row += columns {
		end := min(row+columns, len(wrapped))
		for k := row; k < end; k++ {
			x := c.Min.X + pitch*vg.Length(k-row)
			l.entries[k].sample(c, x, y-tickSize*lineHeight/2)
			fillLines(c, sty, vg.Point{X: x + sampleWidth + sampleGap, Y: y}, wrapped[k])
		}
		y -= rowHeight(wrapped[row:end])
	}
	if l.note != "" {
		note := textStyle(noteSize, quietInk)
		fillLines(c, note, vg.Point{X: c.Min.X, Y: y}, wrap(note, l.note, c.Size().X))
	}
}

// sample draws a short piece of the line with its marker.
func (e entry) sample(c draw.Canvas, x, y vg.Length) {
	c.StrokeLine2(e.look.line(curveWidth), x, y, x+sampleWidth, y)
	c.DrawGlyphNoClip(e.look.glyph(markerRadius), vg.Point{X: x + sampleWidth/2, Y: y})
}

// fillLines writes lines downwards from a top left corner.
func fillLines(c draw.Canvas, sty text.Style, topLeft vg.Point, lines []string) {
	sty.YAlign = draw.YCenter
	for i, line := range lines {
		// YCenter centres ascent and descent; capitals look centred when raised
		// by the descent.
		y := topLeft.Y - sty.Font.Size*lineHeight*(vg.Length(i)+0.5) + sty.FontExtents().Descent/2
		c.FillText(sty, vg.Point{X: topLeft.X, Y: y}, line)
	}
}

// wrap breaks text at spaces into lines no wider than width.
func wrap(sty text.Style, s string, width vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		word = fit(sty, word, width)
		longer := word
		if line != "" {
			longer = line + " " + word
		}
		if line != "" && sty.Width(longer) > width {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	return append(lines, line)
}

// fit shortens text that is wider than width, and says so by an ellipsis.
func fit(sty text.Style, s string, width vg.Length) string {
	if sty.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && sty.Width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

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
