package report

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// axes is a pair of axes with what is plotted between them and what stands around. They are
// drawn here rather than by package plot, which brings every format and font there is.
type axes struct {
	title, xLabel, yLabel string // empty for none
	rules                 rules
	x, y                  direction
	plotters              []plotter
}

// plotter draws on the area between axes.
type plotter interface {
	plot(c draw.Canvas, a *axes)
}

// direction is one of the two axes.
type direction struct {
	span
	log    bool
	ticks  []tick
	length vg.Length // of a tick
	style  text.Style
}

func newDirection(a Axis, s span, about int) direction {
	d := direction{span: s, log: a.Log, length: 4, style: textStyle(tickSize, ink)}
	var t ticker = linearTicks{about}
	switch {
	case a.Log:
		t = logTicks{}
	case a.Names != nil:
		t = namedTicks{a.Names, d.style, figureWidth * 0.7}
	}
	d.ticks = t.ticks(s.min, s.max)
	return d
}

// norm is where a value lies between the ends, 0 to 1.
func (d direction) norm(v float64) float64 {
	if d.log {
		return math.Log(v/d.min) / math.Log(d.max/d.min)
	}
	return (v - d.min) / (d.max - d.min)
}

// labels is the size of the largest label.
func (d direction) labels() (size vg.Point) {
	for _, t := range d.ticks {
		if t.label != "" {
			of := d.style.Rectangle(t.label).Size()
			size = vg.Point{X: max(size.X, of.X), Y: max(size.Y, of.Y)}
		}
	}
	return size
}

// gap is between labels and ticks of the vertical axis.
func (d direction) gap() vg.Length {
	if d.labels().X == 0 {
		return 0
	}
	return d.style.Width(" ")
}

// newAxes returns empty axes in the common style, grid included. About ticks
// labels stand on each linear axis.
func newAxes(x, y Axis, xs, ys span, ticks int) (*axes, error) {
	if err := cmp.Or(xs.check(x), ys.check(y)); err != nil {
		return nil, err
	}
	a := &axes{xLabel: clean(x.Label), yLabel: clean(y.Label), x: newDirection(x, xs, ticks), y: newDirection(y, ys, ticks)}
	// Labels look centred on their ticks when set a little lower than their boxes say.
	a.x.style.XAlign, a.x.style.YAlign = draw.XCenter, draw.YTop-0.2
	a.y.style.XAlign, a.y.style.YAlign = draw.XRight, draw.YCenter-0.1
	a.add(gridLines{}, frame{})
	return a, nil
}

func (a *axes) add(p ...plotter) { a.plotters = append(a.plotters, p...) }

// transforms are from values to places on the canvas of the data.
func (a *axes) transforms(c draw.Canvas) (x, y func(float64) vg.Length) {
	return func(v float64) vg.Length { return c.X(a.x.norm(v)) }, func(v float64) vg.Length { return c.Y(a.y.norm(v)) }
}

const (
	frameWidth = vg.Length(0.8)
	labelStrip = labelSize * 1.4 // room for one line of a label
)

// inner returns the part of the canvas that the plot with its ticks fills.
func (a *axes) inner(c draw.Canvas) draw.Canvas {
	strip := func(text string) vg.Length {
		if text == "" {
			return 0
		}
		return labelStrip
	}
	return draw.Crop(c, strip(a.yLabel), 0, strip(a.xLabel), -strip(a.title)-a.rules.height())
}

// area returns the part of the canvas that data are drawn on: right of and above the labels
// of ticks, and so far from the other edges that these do not reach beyond.
func (a *axes) area(c draw.Canvas) draw.Canvas {
	c = a.inner(c)
	end := c.Max
	c.Min.X += a.y.labels().X + a.y.gap() + a.y.length
	c.Min.Y += a.x.labels().Y + a.x.length
	for _, t := range a.x.ticks {
		if at := vg.Length(a.x.norm(t.value)); t.label != "" && at > 0 {
			c.Max.X = min(c.Max.X, c.Min.X+(end.X-a.x.style.Rectangle(t.label).Max.X-c.Min.X)/at)
		}
	}
	extents := a.y.style.FontExtents()
	for _, t := range a.y.ticks {
		if at := vg.Length(a.y.norm(t.value)); t.label != "" && at > 0 {
			top := a.y.style.Rectangle(t.label).Max.Y + extents.Height - extents.Ascent
			c.Max.Y = min(c.Max.Y, c.Min.Y+(end.Y-top-c.Min.Y)/at)
		}
	}
	return c
}

func (a *axes) draw(c draw.Canvas) {
	area := a.area(c)
	a.drawTicks(a.inner(c), area)
	for _, p := range a.plotters {
		p.plot(area, a)
	}
	middle := area.Center()
	sty := textStyle(labelSize, ink)
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YBottom
	// A label may be as long as twice the way from its middle to the nearest edge.
	across := 2 * min(middle.X-c.Min.X, c.Max.X-middle.X)
	along := 2 * min(middle.Y-a.inner(c).Min.Y, c.Max.Y-middle.Y)
	if a.xLabel != "" {
		c.FillText(sty, vg.Point{X: middle.X, Y: c.Min.Y + sty.FontExtents().Descent}, fit(sty, a.xLabel, across))
	}
	if a.yLabel != "" {
		up := sty
		up.Rotation = math.Pi / 2
		c.FillText(up, vg.Point{X: c.Min.X + labelSize, Y: middle.Y}, fit(sty, a.yLabel, along))
	}
	if a.title != "" {
		c.FillText(sty, vg.Point{X: middle.X, Y: c.Max.Y - labelSize}, fit(sty, a.title, across))
	}
	a.rules.label(c, area, a)
}

// drawTicks draws ticks and their labels between the edges of the inner canvas and the area.
func (a *axes) drawTicks(c, area draw.Canvas) {
	style := draw.LineStyle{Color: quietInk, Width: frameWidth}
	toX, toY := a.transforms(area)
	start := func(t tick, length vg.Length) vg.Length {
		if t.label == "" {
			return length / 2
		}
		return 0
	}
	high, descent := c.Min.Y+a.x.labels().Y, a.x.style.FontExtents().Descent
	for _, t := range a.x.ticks {
		c.FillText(a.x.style, vg.Point{X: toX(t.value), Y: high + descent}, t.label)
	}
	for _, t := range a.x.ticks {
		x := toX(t.value)
		c.StrokeLine2(style, x, high+start(t, a.x.length), x, high+a.x.length)
	}
	right, descent := c.Min.X+a.y.labels().X, a.y.style.FontExtents().Descent
	for _, t := range a.y.ticks {
		c.FillText(a.y.style, vg.Point{X: right, Y: toY(t.value) + descent}, t.label)
	}
	if a.y.length == 0 {
		return
	}
	right += a.y.gap()
	for _, t := range a.y.ticks {
		y := toY(t.value)
		c.StrokeLine2(style, right+start(t, a.y.length), y, right+a.y.length, y)
	}
}

// gridLines plots lines at the ticks with labels.
type gridLines struct{}

func (gridLines) plot(c draw.Canvas, a *axes) {
	style := draw.LineStyle{Color: gridInk, Width: 0.7}
	toX, toY := a.transforms(c)
	for _, t := range a.x.ticks {
		if t.label != "" {
			c.StrokeLine2(style, toX(t.value), c.Min.Y, toX(t.value), c.Max.Y)
		}
	}
	for _, t := range a.y.ticks {
		if t.label != "" {
			c.StrokeLine2(style, c.Min.X, toY(t.value), c.Max.X, toY(t.value))
		}
	}
}

// frame plots the two lines that ticks stand on.
type frame struct{}

func (frame) plot(c draw.Canvas, _ *axes) {
	c.StrokeLines(draw.LineStyle{Color: quietInk, Width: frameWidth},
		[]vg.Point{{X: c.Min.X, Y: c.Max.Y}, c.Min, {X: c.Max.X, Y: c.Min.Y}})
}

// alignEdges crops canvases stacked on each other so that the data areas of
// their plots share their left and right edges.
func alignEdges(stack []*axes, canvases []draw.Canvas) {
	left, right := vg.Length(math.Inf(-1)), vg.Length(math.Inf(1))
	areas := make([]draw.Canvas, len(stack))
	for i, a := range stack {
		areas[i] = a.area(canvases[i])
		left, right = max(left, areas[i].Min.X), min(right, areas[i].Max.X)
	}
	for i := range canvases {
		canvases[i] = draw.Crop(canvases[i], left-areas[i].Min.X, right-areas[i].Max.X, 0, 0)
	}
}

// Axis describes a coordinate axis of [Lines] or [Intervals].
type Axis struct {
	Label string
	Log   bool // logarithmic; all data must be positive
	// Names stand at 1, 2, … in place of numbers, as many of them as there is room for.
	Names []string
	// Min and Max limit the axis; when both are zero the data do. What lies
	// outside is cut off.
	Min, Max float64
}

// span is the range of values an axis shows.
type span struct{ min, max float64 }

func emptySpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) include(values ...float64) {
	for _, v := range values {
		s.min, s.max = math.Min(s.min, v), math.Max(s.max, v)
	}
}

// resolve settles the range: the caller's limits, or the data with margin (a
// fraction of the range) to breathe on both sides.
func (a Axis) resolve(data span, margin float64) span {
	if a.Min != 0 || a.Max != 0 {
		data = span{a.Min, a.Max}
		margin = 0
	}
	if !(data.min <= data.max) { // which a NaN among the data is not either
		return data
	}
	// Values closer to each other than tooClose of their size count as one
	// value, which has no scale but its own; labels could not tell them apart.
	const tooClose = 1e-9
	if a.Log {
		lo, hi := math.Log(data.min), math.Log(data.max)
		pad := margin * (hi - lo)
		if hi-lo < tooClose {
			pad = math.Ln2
		}
		return span{math.Exp(lo - pad), math.Exp(hi + pad)}
	}
	pad := margin * (data.max - data.min)
	size := math.Max(math.Abs(data.min), math.Abs(data.max))
	switch {
	case size == 0:
		pad = 1
	case data.max-data.min < tooClose*size:
		pad = size / 2
	}
	return span{data.min - pad, data.max + pad}
}

// check refuses what an axis cannot show: nothing, and what is not finite or so large that a range of it is not.
func (s span) check(a Axis) error {
	switch {
	case !(s.min < s.max) || math.Abs(s.min) >= 1e300 || math.Abs(s.max) >= 1e300:
		return &DataError{a.Label, fmt.Sprintf("it cannot go from %v to %v; give finite values, and leave the others out", s.min, s.max)}
	case a.Log && !(s.min > 0):
		return &DataError{a.Label, "a logarithmic axis needs positive values; drop the others or use a linear axis"}
	}
	return nil
}

// tick is a mark on an axis; one without a label is shorter.
type tick struct {
	value float64
	label string
}

// ticker places the marks of an axis.
type ticker interface {
	ticks(low, high float64) []tick
}

// linearTicks places labelled ticks at round numbers.
type linearTicks struct{ about int }

func (t linearTicks) ticks(low, high float64) []tick {
	step, decimals := roundStep((high - low) / float64(t.about))
	var ticks []tick
	// The slack admits a tick that rounding has put just outside the range.
	const slack = 1e-9
	first := math.Ceil(low/step - slack)
	for k := first; k*step <= high+slack*step; k++ {
		v := k * step
		ticks = append(ticks, tick{math.Min(math.Max(v, low), high), tickLabel(v, step, decimals)})
	}
	return ticks
}

// namedTicks places names at 1, 2, …, and labels every so many that they stand apart within a width.
type namedTicks struct {
	names []string
	style text.Style
	width vg.Length
}

func (t namedTicks) ticks(low, high float64) []tick {
	widest := vg.Length(0)
	for _, name := range t.names {
		widest = max(widest, t.style.Width(clean(name)+"  "))
	}
	every := max(1, int(math.Ceil(float64(widest/t.width)*(high-low))))
	var ticks []tick
	for k, name := range t.names {
		at := float64(k + 1)
		if at < low || at > high {
			continue
		}
		mark := tick{value: at}
		if (len(t.names)-1-k)%every == 0 { // the last is there
			mark.label = clean(name)
		}
		ticks = append(ticks, mark)
	}
	return ticks
}

// roundStep returns the smallest of 1, 2, 2.5, 5 times a power of ten that is
// not below least, and the number of decimals its multiples need.
func roundStep(least float64) (step float64, decimals int) {
	exponent := int(math.Floor(math.Log10(least)))
	unit := math.Pow(10, float64(exponent))
	for _, s := range [...]struct {
		multiple float64
		shift    int
	}{{1, 0}, {2, 0}, {2.5, 1}, {5, 0}, {10, -1}} {
		// The slack keeps a range of exactly five steps at five steps.
		if s.multiple*unit >= least*(1-1e-9) {
			return s.multiple * unit, max(0, s.shift-exponent)
		}
	}
	return 10 * unit, max(0, -exponent-1)
}

func tickLabel(v, step float64, decimals int) string {
	if math.Abs(v) < step/2 {
		return "0"
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if decimals > 4 || math.Abs(v) >= 1e6 {
		// Six digits tell neighbouring ticks apart without showing rounding.
		text = strconv.FormatFloat(v, 'g', 6, 64)
	}
	return minus(text)
}

// minus sets the hyphens of a number as proper minus signs.
func minus(number string) string { return strings.ReplaceAll(number, "-", "−") }

// logTicks labels powers of ten, with 2 and 5 between them on short ranges.
type logTicks struct{}

func (logTicks) ticks(low, high float64) []tick {
	decades := math.Log10(high / low)
	if decades < 0.7 {
		// Hardly a power of ten in sight: round numbers serve better.
		return linearTicks{5}.ticks(low, high)
	}
	labelled := func(exponent, digit int) bool {
		every := int(math.Ceil(decades / 6))
		return digit == 1 && exponent%every == 0 || decades < 2.2 && (digit == 2 || digit == 5)
	}
	var ticks []tick
	for e := int(math.Floor(math.Log10(low))); e <= int(math.Ceil(math.Log10(high))); e++ {
		for d := 1; d < 10; d++ {
			v := float64(d) * math.Pow(10, float64(e))
			if v < low*(1-1e-9) || v > high*(1+1e-9) {
				continue
			}
			t := tick{value: math.Min(math.Max(v, low), high)}
			if labelled(e, d) {
				t.label = powerLabel(v, low)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// powerLabel writes a tick of a logarithmic axis that starts at low. Once the
// axis needs exponents, all small numbers on it have one.
func powerLabel(v, low float64) string {
	if low < 1e-4 && v < 0.1 {
		return minus(strconv.FormatFloat(v, 'e', 0, 64))
	}
	return minus(strconv.FormatFloat(v, 'g', 6, 64))
}
