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
