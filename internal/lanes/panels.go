package lanes

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
)

// Group is the number of rows that are multiplied at a time.
const Group = 8

// tileVectors is the number of vectors in a row of a tile.
const tileVectors = 3

// Panels are a matrix V in the order in which vector code reads it: in panels of some
// columns, one row after another, down to the last row that is not zero.
type Panels struct {
	code   *code
	rows   int
	panels [][]float64
}

// NewPanels copies v.
func NewPanels(v blas64.General) *Panels { return newPanels(v, false) }

// NewTriangle copies the upper triangle of v.
func NewTriangle(v blas64.Triangular) *Panels {
	return newPanels(blas64.General{Rows: v.N, Cols: v.N, Stride: v.Stride, Data: v.Data}, true)
}

func newPanels(v blas64.General, upper bool) *Panels {
	p := &Panels{code: selected, rows: v.Rows}
	width := tileVectors * p.code.rows
	for j := 0; j < v.Cols; j += width {
		end, depth := min(j+width, v.Cols), v.Rows
		if upper {
			depth = end
		}
		panel := make([]float64, depth*width)
		for k := range depth {
			from := j
			if upper {
				from = max(j, k)
			}
			copy(panel[k*width+from-j:], v.Data[k*v.Stride+from:k*v.Stride+end])
		}
		p.panels = append(p.panels, panel)
	}
	return p
}

// SquaredLengths writes |aᵢV|² for the rows of a, which are as long as V has rows, or
// longer. The storage of a has to go on to a multiple of Group rows; what is there does
// not matter. The sums are scratch, of Group numbers for each row of that multiple.
func (p *Panels) SquaredLengths(dst []float64, a blas64.General, sums []float64) {
	if a.Cols < p.rows || len(dst) != a.Rows {
		panic(fmt.Sprintf("lanes: %d lengths of %d×%d rows times a matrix of %d rows", len(dst), a.Rows, a.Cols, p.rows))
	}
	rows := p.code.rows
	clear(sums[:(a.Rows+Group-1)/Group*Group*rows])
	for _, panel := range p.panels {
		for i := 0; i < a.Rows; i += rows {
			p.code.squares(sums[i*rows:], a.Data[i*a.Stride:], a.Stride, panel)
		}
	}
	for i := range dst {
		total := 0.0
		for _, s := range sums[i*rows : (i+1)*rows] {
			total += s
		}
		dst[i] = total
	}
}
