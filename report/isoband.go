package report

import "math"

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
