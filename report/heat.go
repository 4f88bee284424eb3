package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Heat is a map of values in cells: orange above 0, blue below, the stronger the larger, and blank
// where there is none.
type Heat struct {
	X, Y          Axis
	Columns, Rows []string    // labels; those of rows from below
	Values        [][]float64 // by row; NaN for none
}

// mostTicks is how many labels stand along an axis of a map.
const mostTicks = 6

func (f Heat) layout() (layout, error) {
	mustMatch("rows of a heat map", len(f.Rows), len(f.Values))
	top := 0.0
	for _, row := range f.Values {
		mustMatch("columns of a heat map", len(f.Columns), len(row))
		for _, v := range row {
			if math.Abs(v) > top { // which NaN is not
				top = math.Abs(v)
			}
		}
	}
	a, err := newAxes(f.X, f.Y, span{-0.5, float64(len(f.Columns)) - 0.5}, span{-0.5, float64(len(f.Rows)) - 0.5}, mostTicks)
	if err == nil {
		err = span{-1, top}.check(Axis{Label: "of the values"})
	}
	if err != nil {
		return layout{}, err
	}
	a.plotters = nil
	a.x.ticks, a.y.ticks = labelTicks(f.Columns, 4, 10), labelTicks(f.Rows, 16, 18)
	a.add(heatCells{f, top}, frame{})
	return plan(figureWidth*0.7, legend{}, a.draw), nil
}

// labelTicks are some of the labels, evenly spread and cut short.
func labelTicks(labels []string, most, length int) (all []tick) {
	step := (len(labels) + most - 1) / most
	for i := 0; i < len(labels); i += step {
		text := []rune(clean(labels[i]))
		if len(text) > length {
			text = append(text[:length-1], '…')
		}
		all = append(all, tick{float64(i), string(text)})
	}
	return all
}

// heatCells are the cells of a map whose largest value is top.
type heatCells struct {
	Heat
	top float64
}

func (h heatCells) plot(c draw.Canvas, a *axes) {
	toX, toY := a.transforms(c)
	for y, row := range h.Values {
		for x, v := range row {
			if math.IsNaN(v) {
				continue
			}
			strong := rgb(0xd55e00)
			if v < 0 {
				strong = rgb(0x0072b2)
			}
			share := 0.0
			if h.top > 0 {
				share = math.Abs(v) / h.top
			}
			fade := func(to uint8) uint8 { return uint8(math.Round(0xf4 + share*(float64(to)-0xf4))) }
			var path vg.Path
			path.Move(vg.Point{X: toX(float64(x) - 0.5), Y: toY(float64(y) - 0.5)})
			path.Line(vg.Point{X: toX(float64(x) + 0.5), Y: toY(float64(y) - 0.5)})
			path.Line(vg.Point{X: toX(float64(x) + 0.5), Y: toY(float64(y) + 0.5)})
			path.Line(vg.Point{X: toX(float64(x) - 0.5), Y: toY(float64(y) + 0.5)})
			path.Close()
			c.SetColor(color.RGBA{fade(strong.R), fade(strong.G), fade(strong.B), 0xff})
			c.Fill(path)
		}
	}
}
