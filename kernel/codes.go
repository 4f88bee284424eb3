package kernel

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// Columns says what the columns of an input are: numbers first, then codes. A code stands
// for a category, as a whole number from zero on, or is −1 for one that is not known. It
// counts as the 0/1 columns that it is short for, one for each category, all of them zero
// for one that is not known; but where columns have parameters of their own, those of a
// code are one column.
type Columns struct {
	Numbers, Codes int
}

// Len is the number of columns.
func (c Columns) Len() int { return c.Numbers + c.Codes }

// ParseColumns is [Parse] for cases with codes among their columns.
func ParseColumns(text string, c Columns) (Kernel, error) {
	k, err := Parse(text, c.Len())
	if err == nil {
		k.codes = c.Codes
		k.term = k.term.coded(c.Codes)
	}
	return k, err
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
		t := codeColumn{column: k, cases: z.Rows, place: make([]int32, highest+1)}
		distinct := []float64{float64(highest + 1), -1} // any that does not occur, and none
		for i := range z.Rows {
			if code := int(row(z, i)[k]); code >= 0 && t.place[code] == 0 {
				t.place[code] = int32(len(distinct))
				distinct = append(distinct, float64(code))
			}
		}
		if len(distinct)*z.Rows > largestTable {
			t.place, distinct = nil, distinct[:2]
		}
		t.rows = make([]float64, len(distinct)*z.Rows)
		for r, code := range distinct {
			to := t.rows[r*z.Rows : (r+1)*z.Rows]
			for i := range to {
				to[i] = of(k, code, row(z, i)[k])
			}
		}
		columns[c] = t
	}
	return columns
}

// add adds the contributions at the rows of x to those of dst.
func (t *codeColumn) add(dst, x, z blas64.General, of func(column int, a, b float64) float64) {
	for i := range x.Rows {
		code, to := row(x, i)[t.column], row(dst, i)[:t.cases]
		if t.place == nil {
			for j := range to {
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
		floats.Add(to, t.rows[r*t.cases:(r+1)*t.cases])
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

// agreeing finds the pairs of a tile whose codes agree, or are not known: most do neither,
// and what the others contribute is the same for all of a row.
type agreeing struct {
	pairs
	columns []codeList
	first   int // column of codes
}

// codeList is which of the cases z have a code.
type codeList struct {
	head []int32 // the last case with a code, and −1 for none
	next []int32 // the one before it with the same code
	none []int32 // those whose code is not known
}

func (p pairs) agreeing(codes int) agreeing {
	a := agreeing{p, make([]codeList, codes), p.x.Cols - codes}
	for c := range a.columns {
		l := &a.columns[c]
		l.next = make([]int32, p.z.Rows)
		for j := range p.z.Rows {
			code := int(row(p.z, j)[a.first+c])
			if code < 0 {
				l.none = append(l.none, int32(j))
				continue
			}
			for code >= len(l.head) {
				l.head = append(l.head, -1)
			}
			l.next[j], l.head[code] = l.head[code], int32(j)
		}
	}
	return a
}

// other is a code of no case, such that it differs from all that are known.
const other = math.MaxInt32

// each calls do for every case z_j whose code in the column agrees with that of x_i, or is
// not known.
func (a *agreeing) each(i, column int, do func(j int, x, z float64)) {
	l, x := &a.columns[column-a.first], row(a.x, i)[column]
	if x >= 0 && int(x) < len(l.head) {
		for j := l.head[int(x)]; j >= 0; j = l.next[j] {
			do(int(j), x, x)
		}
	}
	for _, j := range l.none {
		do(int(j), x, row(a.z, int(j))[column])
	}
}
