package lab

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Grid is a grid of equally spaced points. Each field has an entry for each
// coordinate.
type Grid struct {
	From   []float64 `json:"from"`
	To     []float64 `json:"to"`
	Points []int     `json:"points"` // 2 to MaxLine on the line, to MaxPlane on each axis of the plane
}

// The points on each axis of a grid that is not given, by dimension.
var defaultPoints = [...]int{1: 201, 2: 41}

// around is a grid that reaches a quarter of the width of the points beyond them on
// every side.
func around(x *mat.Dense) *Grid {
	n, d := x.Dims()
	g := &Grid{}
	for k := range d {
		from, to := x.At(0, k), x.At(0, k)
		for i := range n {
			from, to = min(from, x.At(i, k)), max(to, x.At(i, k))
		}
		margin := max((to-from)/4, 1e-6*math.Abs(from), 1e-6)
		if to == from {
			margin = max(3, margin)
		}
		from, to = outward(from-margin, to+margin)
		g.From, g.To = append(g.From, max(from, -largest)), append(g.To, min(to, largest))
		g.Points = append(g.Points, defaultPoints[d])
	}
	return g
}

// check refuses a grid that is not one in d dimensions.
func (g *Grid) check(d int) error {
	for _, f := range []struct {
		name string
		n    int
	}{{"grid.from", len(g.From)}, {"grid.to", len(g.To)}, {"grid.points", len(g.Points)}} {
		if f.n != d {
			return inputf(f.name, "has %d entries and the points have %d coordinates; give one for each", f.n, d)
		}
	}
	most := MaxLine
	if d == 2 {
		most = MaxPlane
	}
	for k, n := range g.Points {
		if err := checkPlace(entry("grid.from", k), g.From[k]); err != nil {
			return err
		}
		if err := checkPlace(entry("grid.to", k), g.To[k]); err != nil {
			return err
		}
		if err := checkWidth(entry("grid.to", k), g.From[k], g.To[k]); err != nil {
			return err
		}
		if n < 2 || n > most {
			return inputf(entry("grid.points", k), "%d is not a number of points from 2 to %d", n, most)
		}
	}
	return nil
}

func (g *Grid) axes() [][]float64 {
	axes := make([][]float64, len(g.Points))
	for k, n := range g.Points {
		axes[k] = axis(g.From[k], g.To[k], n)
	}
	return axes
}

// gridPoints are all points of a grid, one a row, the first coordinate fastest.
func gridPoints(axes [][]float64) *mat.Dense {
	n := 1
	for _, a := range axes {
		n *= len(a)
	}
	z := mat.NewDense(n, len(axes), nil)
	for j := range n {
		at := j
		for k, a := range axes {
			z.Set(j, k, a[at%len(a)])
			at /= len(a)
		}
	}
	return z
}

// coarser are the axes with every second, third, … line only, as few as it takes for
// the grid to have at most limit points. The lines kept lie in the middle.
func coarser(axes [][]float64, limit int) [][]float64 {
	for step := 1; ; step++ {
		kept := make([][]float64, len(axes))
		n := 1
		for k, a := range axes {
			for i := (len(a) - 1) % step / 2; i < len(a); i += step {
				kept[k] = append(kept[k], a[i])
			}
			n *= len(kept[k])
		}
		if n <= limit {
			return kept
		}
	}
}

// axis is n equally spaced values, both ends included.
func axis(from, to float64, n int) []float64 {
	x := make([]float64, n)
	for k := range x {
		x[k] = from + (to-from)*float64(k)/float64(n-1)
	}
	x[n-1] = to // not even by rounding elsewhere
	return x
}

// outward rounds an interval outward to a tenth of its width or so, in steps of 1, 2
// or 5 times a power of ten: the ends of an axis that does not tremble when what is
// on it moves a little. An interval of no width becomes one of width 2.
func outward(from, to float64) (low, high float64) {
	if !(to > from) {
		from, to = from-1, to+1
	}
	step := math.Pow(10, math.Floor(math.Log10((to-from)/10)))
	for _, wider := range []float64{5, 2} {
		if wider*step <= (to-from)/10 {
			step *= wider
			break
		}
	}
	return step * math.Floor(from/step), step * math.Ceil(to/step)
}
