package kernel

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/lossep/lossep/internal/lanes"
)

// Columns says what the columns of an input are: numbers first, then codes. A code stands
// for a category, as a whole number from zero on, or is −1 for one that is not known. It
// counts as the 0/1 columns that it is short for, one for each category, all of them zero
// for one that is not known; but where columns have parameters of their own, those of a
// code are one column. To additive a code is always one column.
type Columns struct {
	Numbers, Codes int
	// Score says that the first number is what another model says of the case. It has a term of its own, and no
	// other term sees it.
	Score bool
}

// Len is the number of columns.
func (c Columns) Len() int { return c.Numbers + c.Codes }

// ParseColumns is [Parse] for cases with codes or a score among their columns. With a score the language has
// the term score(variance=1) of it, which is added where the text has none.
func ParseColumns(text string, c Columns) (Kernel, error) {
	p := parser{text: text, dim: c.Len(), families: families()}
	if c.Score {
		p.dim, p.families = p.dim-1, append(p.families, &score)
	}
	k, err := p.whole()
	if err != nil {
		return Kernel{}, err
	}
	if c.Score {
		ok := false
		if k, ok = withScore(k); !ok {
			return Kernel{}, p.fail(0, "the score is one term of a sum of several; leave it out, and it is added")
		}
	}
	k.codes = c.Codes
	k.term = k.term.coded(c.Codes)
	return k, nil
}

// Codes is the number of columns that are codes, the last ones.
func (k Kernel) Codes() int { return k.codes }

// differ is in how many 0/1 columns two codes differ.
func differ(a, b float64) float64 {
	switch {
	case a == b:
		return 0
	case a < 0 || b < 0:
		return 1
	}
	return 2
}

// agree is the number of 0/1 columns in which both codes are 1.
func agree(a, b float64) float64 {
	if a == b && a >= 0 {
		return 1
	}
	return 0
}

// numbersOf is m without its last columns, the codes.
func numbersOf(m blas64.General, codes int) blas64.General {
	m.Cols -= codes
	return m
}

func (p pairs) numbers(codes int) pairs {
	return pairs{x: numbersOf(p.x, codes), z: numbersOf(p.z, codes), same: p.same}
}

// codeColumn is what one column of codes contributes to functions of some cases: a row of
// numbers, one for each case, for every code that occurs among them, and one each for all
// other codes and for those that are not known.
type codeColumn struct {
	column int
	place  []int32 // of the row for a code, 0 for other codes
	rows   []float64
	cases  int
	stride int // of the rows, which are whole strips
}

// largestTable is the most numbers of the rows of a column. Where codes are so many that
// they would take more, the two rows for other codes are all there is, and those that
// agree are looked for.
const largestTable = 1 << 22

// codeColumns are the contributions of(k, code, z_jk) of the last columns of z.
func codeColumns(z blas64.General, codes int, of func(column int, a, b float64) float64) []codeColumn {
	columns := make([]codeColumn, codes)
	for c := range columns {
		k := z.Cols - codes + c
		highest := -1
		for i := range z.Rows {
			highest = max(highest, int(row(z, i)[k]))
		}
		t := codeColumn{column: k, cases: z.Rows, stride: lanes.Padded(z.Rows), place: make([]int32, highest+1)}
		distinct := []float64{float64(highest + 1), -1} // any that does not occur, and none
		for i := range z.Rows {
			if code := int(row(z, i)[k]); code >= 0 && t.place[code] == 0 {
				t.place[code] = int32(len(distinct))
				distinct = append(distinct, float64(code))
			}
		}
		if len(distinct)*t.stride > largestTable {
			t.place, distinct = nil, distinct[:2]
		}
		t.rows = make([]float64, len(distinct)*t.stride)
		for r, code := range distinct {
			to := t.rows[r*t.stride : r*t.stride+z.Rows]
			for i := range to {
				to[i] = of(k, code, row(z, i)[k])
			}
		}
		columns[c] = t
	}
	return columns
}

// add adds the contributions at the rows of x to those of dst, which are whole strips.
func (t *codeColumn) add(dst, x, z blas64.General, of func(column int, a, b float64) float64) {
	for i := range x.Rows {
		code, to := row(x, i)[t.column], row(dst, i)
		if t.place == nil {
			for j := range t.cases {
				to[j] += of(t.column, code, row(z, j)[t.column])
			}
			continue
		}
		r := 1
		if code >= 0 {
			r = 0
			if int(code) < len(t.place) {
				r = int(t.place[int(code)])
			}
		}
		lanes.Add(to, t.rows[r*t.stride:(r+1)*t.stride], 0)
	}
}

// coded is functions of cases with codes: what the numbers contribute, and the codes.
type coded struct {
	columns []codeColumn
	z       blas64.General // kept for columns without a table
	of      func(column int, a, b float64) float64
}

func newCoded(z blas64.General, codes int, of func(column int, a, b float64) float64) coded {
	if codes == 0 {
		return coded{}
	}
	c := coded{columns: codeColumns(z, codes, of), of: of}
	for i := range c.columns {
		if c.columns[i].place == nil {
			c.z = copyOf(z)
			break
		}
	}
	return c
}

func copyOf(m blas64.General) blas64.General {
	c := blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: max(m.Cols, 1), Data: make([]float64, m.Rows*m.Cols)}
	for i := range m.Rows {
		copy(row(c, i), row(m, i))
	}
	return c
}

// add adds what the codes of x contribute.
func (c *coded) add(dst, x blas64.General) {
	for i := range c.columns {
		c.columns[i].add(dst, x, c.z, c.of)
	}
}

// byCode are what one column of codes contributes to the pairs of a tile: a row of numbers,
// one for each case z_j, for every different code among the cases x_i. To write a row down
// takes no longer than to use it, and where codes repeat it is used many times.
type byCode struct {
	of   []int // the row for each case x_i
	rows blas64.General
}

// byCode is that of the column with the contributions of(column, x_ik, z_jk), which depend
// on whether two codes agree and on which are known.
func (p pairs) byCode(column int, of func(column int, a, b float64) float64, s *scratch) byCode {
	c := byCode{of: make([]int, p.x.Rows)}
	var codes []float64
	for i := range p.x.Rows {
		code := row(p.x, i)[column]
		if c.of[i] = slices.Index(codes, code); c.of[i] < 0 {
			c.of[i] = len(codes)
			codes = append(codes, code)
		}
	}
	c.rows = s.matrix(len(codes), p.z.Rows)
	others := s.slice(p.z.Rows)
	for j := range others {
		others[j] = row(p.z, j)[column]
	}
	for r, code := range codes {
		same, apart, unknown := of(column, code, code), of(column, code, code+1), of(column, code, -1)
		to := row(c.rows, r)
		for j, other := range others {
			switch {
			case other == code:
				to[j] = same
			case other < 0:
				to[j] = unknown
			default:
				to[j] = apart
			}
		}
	}
	return c
}

// at is the contributions at x_i.
func (c byCode) at(i int) []float64 { return row(c.rows, c.of[i]) }
