package report

import (
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Ellipse is a Gaussian of two dimensions, drawn as its mean and the ellipses
// that hold given shares of its mass.
type Ellipse struct {
	Method     string // decides the look
	Label      string // in the legend; empty for the method's printed name
	Mean       [2]float64
	Covariance [2][2]float64 // symmetric; the lower triangle is read
}

// Panel is one density with the Gaussians that approximate it.
type Panel struct {
	Title    string
	Density  Grid // in any scale: only ratios to its peak are drawn
	Ellipses []Ellipse
}

// Contours shows one density, or two side by side, as shaded contours under the
// ellipses of several methods.
//
// Shades change at fixed shares of the peak. For a Gaussian the contour at a
// share 1 − p of the peak encloses the mass p, so shades and ellipses compare:
// a perfect 90 % ellipse would lie on the contour at 10 %.
type Contours struct {
	XLabel, YLabel string
	Panels         []Panel
	Mass           []float64 // of each ellipse, such as 0.5 and 0.9
}

// shades are the contours' shares of the peak, with the colours above them:
// pale, so that the ellipses stand out.
var shades = [...]struct {
	share float64
	color color.RGBA
}{
	{0.01, rgb(0xf3f5f7)},
	{0.1, rgb(0xe4e9ee)},
	{0.25, rgb(0xd3dbe3)},
	{0.5, rgb(0xbfcad5)},
	{0.75, rgb(0xaab8c6)},
	{0.9, rgb(0x95a6b7)},
}

func (f Contours) layout() (layout, error) {
	var c cast
	l := legend{note: f.note()}
	panels := make([]*axes, len(f.Panels))
	for i, panel := range f.Panels {
		g := panel.Density
		x, y := span{g.X[0], g.X[len(g.X)-1]}, span{g.Y[0], g.Y[len(g.Y)-1]}
		mustMatch("rows of a density", len(g.Y), len(g.Z))
		a, err := newAxes(Axis{Label: f.XLabel}, Axis{Label: f.YLabel}, x, y, 6-len(f.Panels))
		if err != nil {
			return layout{}, err
		}
		if i > 0 {
			a.yLabel = "" // said once, on the left
		}
		a.title = clean(panel.Title)
		a.add(shading{g})
		for _, e := range panel.Ellipses {
			lk := c.look(e.Method)
			a.add(ellipse{e, f.Mass, lk})
			l.add(lk, titled(e.Label, e.Method))
		}
		panels[i] = a
	}
	return plan(height(panels), l, func(c draw.Canvas) {
		for i, part := range split(c, panels) {
			panels[i].draw(part)
		}
	}), nil
}

// note says what the ellipses and shades stand for.
func (f Contours) note() string {
	var share []float64
	for _, s := range shades {
		share = append(share, s.share)
	}
	text := "Shades change at " + percentages(share) + " of the peak."
	if len(f.Mass) > 0 {
		text = "Ellipses hold " + percentages(f.Mass) + " of the mass. " + text
	}
	return text
}

// percentages lists shares as in "1, 10 and 25 %".
func percentages(shares []float64) string {
	var b strings.Builder
	for i, s := range shares {
		switch {
		case i == 0:
		case i == len(shares)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(Number(100 * s))
	}
	return b.String() + " %"
}

const panelGap = vg.Length(10)

// split divides a canvas between one or two panels so that their data areas are
// equally wide.
func split(c draw.Canvas, panels []*axes) []draw.Canvas {
	if len(panels) == 1 {
		// A single panel as wide as the figure would be as tall: leave room.
		spare := c.Size().X / 8
		return []draw.Canvas{draw.Crop(c, spare, -spare, 0, 0)}
	}
	half := (c.Size().X - panelGap) / 2
	parts := []draw.Canvas{
		draw.Crop(c, 0, half-c.Size().X, 0, 0),
		draw.Crop(c, half+panelGap, 0, 0, 0),
	}
	left, right := panels[0].area(parts[0]).Size().X, panels[1].area(parts[1]).Size().X
	shift := (right - left) / 2
	parts[0].Max.X += shift
	parts[1].Min.X += shift
	return parts
}

// height makes one unit as long along y as along x in the first panel, as far
// as that leaves a sensible shape.
func height(panels []*axes) vg.Length {
	const trial = vg.Length(300)
	c := draw.NewCanvas(newSVGCanvas(1, 1), figureWidth-2*margin, trial)
	a := panels[0]
	area := a.area(split(c, panels)[0]).Size()
	ratio := (a.y.max - a.y.min) / (a.x.max - a.x.min)
	ratio = min(max(ratio, 0.6), 1.4)
	return trial - area.Y + area.X*vg.Length(ratio)
}

func (g Grid) peak() float64 {
	top := math.Inf(-1)
	for _, row := range g.Z {
		top = max(top, slices.Max(row))
	}
	return top
}

// shading plots a density as stacked sets, each darker than the one below.
type shading struct{ grid Grid }

func (s shading) plot(c draw.Canvas, a *axes) {
	toX, toY := a.transforms(c)
	peak := s.grid.peak()
	for _, shade := range shades {
		var path vg.Path
		for _, loop := range s.grid.upperSet(shade.share * peak) {
			for i, v := range loop {
				pt := vg.Point{X: toX(v.x), Y: toY(v.y)}
				if i == 0 {
					path.Move(pt)
				} else {
					path.Line(pt)
				}
			}
			path.Close()
		}
		c.SetColor(shade.color)
		c.Fill(path)
	}
}

// ellipse plots a Gaussian.
type ellipse struct {
	Ellipse
	mass []float64
	look look
}

func (e ellipse) plot(c draw.Canvas, a *axes) {
	toX, toY := a.transforms(c)
	for _, mass := range e.mass {
		outline := e.outline(mass)
		line := make([]vg.Point, len(outline))
		for k, v := range outline {
			line[k] = vg.Point{X: toX(v.x), Y: toY(v.y)}
		}
		c.StrokeLines(e.look.line(curveWidth), c.ClipLinesXY(line)...)
	}
	c.DrawGlyph(e.look.glyph(markerRadius), vg.Point{X: toX(e.Mean[0]), Y: toY(e.Mean[1])})
}

// outline returns the ellipse that holds a share of the mass. With Σ = L Lᵀ the
// points μ + r L (cos t, sin t) enclose the mass 1 − exp(−r²/2).
func (e Ellipse) outline(mass float64) []vertex {
	v := e.Covariance
	l00 := math.Sqrt(v[0][0])
	l10 := v[1][0] / l00
	l11 := math.Sqrt(v[1][1] - l10*l10)
	r := math.Sqrt(-2 * math.Log1p(-mass))
	const corners = 120
	line := make([]vertex, corners+1)
	for k := range line {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / corners)
		line[k] = vertex{e.Mean[0] + r*l00*cos, e.Mean[1] + r*(l10*cos+l11*sin)}
	}
	return line
}

// vertex is a point in data coordinates.
type vertex struct{ x, y float64 }

// Grid is a function on a rectangular grid: Z[i][j] is its value at X[j], Y[i].
type Grid struct {
	X, Y []float64
	Z    [][]float64
}

// upperSet returns the boundary of the set where the grid's function, linear
// along grid lines, is at least level. Loops are closed, with the set on their
// left: outer loops run counter-clockwise and holes clockwise, so the nonzero
// winding rule fills the set.
//
// These are marching squares on the grid with a ring of −∞ around it, which
// closes every loop. Each crossed edge between neighbouring nodes starts exactly
// one segment and ends exactly one, so next, a table from edge to edge, holds
// the loops; following it in order of the edges gives them in a fixed order.
func (g Grid) upperSet(level float64) [][]vertex {
	s := squares{g, level, len(g.X) + 2}
	edges := 2 * s.width * (len(g.Y) + 2)
	next := make([]int, edges)
	for e := range next {
		next[e] = -1
	}
	for i := -1; i < len(g.Y); i++ {
		for j := -1; j < len(g.X); j++ {
			s.link(i, j, next)
		}
	}
	var loops [][]vertex
	for first := range next {
		var loop []vertex
		for e := first; next[e] >= 0; {
			loop = append(loop, s.crossing(e))
			next[e], e = -1, next[e]
		}
		if len(loop) > 0 {
			loops = append(loops, loop)
		}
	}
	return loops
}

// squares walks the padded grid; nodes are numbered from −1, edges by the node
// at their lower left end and their direction (even: along x, odd: along y).
type squares struct {
	grid  Grid
	level float64
	width int // nodes in a padded row
}

func (s squares) value(i, j int) float64 {
	if i < 0 || j < 0 || i >= len(s.grid.Y) || j >= len(s.grid.X) {
		return math.Inf(-1)
	}
	return s.grid.Z[i][j]
}

// at is the position of a node; the ring lies on the border of the grid.
func (s squares) at(i, j int) vertex {
	return vertex{
		s.grid.X[min(max(j, 0), len(s.grid.X)-1)],
		s.grid.Y[min(max(i, 0), len(s.grid.Y)-1)],
	}
}

func (s squares) edge(i, j, direction int) int { return 2*((i+1)*s.width+j+1) + direction }

// link adds the segments of one square to next. Going round the square
// counter-clockwise, a segment leads from where the walk leaves the set to where
// it enters again: at the next entry, or, at a saddle whose centre is outside
// the set, at the one before.
func (s squares) link(i, j int, next []int) {
	z := [4]float64{s.value(i, j), s.value(i, j+1), s.value(i+1, j+1), s.value(i+1, j)}
	edges := [4]int{s.edge(i, j, 0), s.edge(i, j+1, 1), s.edge(i+1, j, 0), s.edge(i, j, 1)}
	turn := 1
	if centre := (z[0] + z[1] + z[2] + z[3]) / 4; !(centre >= s.level) {
		turn = 3
	}
	inside := func(k int) bool { return z[k%4] >= s.level }
	for k := range 4 {
		if !inside(k) || inside(k+1) {
			continue
		}
		for to := (k + turn) % 4; ; to = (to + turn) % 4 {
			if !inside(to) && inside(to+1) {
				next[edges[k]] = edges[to]
				break
			}
		}
	}
}

// crossing interpolates where the level is reached on an edge.
func (s squares) crossing(edge int) vertex {
	node := edge / 2
	i, j := node/s.width-1, node%s.width-1
	i2, j2 := i, j+1
	if edge%2 == 1 {
		i2, j2 = i+1, j
	}
	a, b := s.at(i, j), s.at(i2, j2)
	za, zb := s.value(i, j), s.value(i2, j2)
	if math.IsInf(za, -1) || math.IsInf(zb, -1) {
		return a // on the border, where both ends are the same point
	}
	t := (s.level - za) / (zb - za)
	return vertex{a.x + t*(b.x-a.x), a.y + t*(b.y-a.y)}
}
