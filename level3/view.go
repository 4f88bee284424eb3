package level3

import "gonum.org/v1/gonum/blas"

// view is a window on a matrix: element (i, j) is data[off+i*rs+j*cs]. Strides of
// either sign let one algorithm serve a matrix, its transpose and its reversal,
// so that the sixteen triangular solves of BLAS are one: lower triangle, from
// the left, forward.
type view struct {
	data       []float64
	off        int
	rows, cols int
	rs, cs     int
}

// rowMajor is the view of a matrix stored by rows, ld elements apart.
func rowMajor(data []float64, rows, cols, ld int) view {
	return view{data: data, rows: rows, cols: cols, rs: ld, cs: 1}
}

// operand is the view of op(A), rows×cols, for A stored by rows.
func operand(t blas.Transpose, data []float64, rows, cols, ld int) view {
	if t == blas.NoTrans {
		return rowMajor(data, rows, cols, ld)
	}
	return rowMajor(data, cols, rows, ld).t()
}

func (v view) index(i, j int) int { return v.off + i*v.rs + j*v.cs }

// ptr is the address of element (i, j), for a kernel.
func (v view) ptr(i, j int) *float64 { return &v.data[v.index(i, j)] }

// t is the transpose.
func (v view) t() view {
	v.rows, v.cols = v.cols, v.rows
	v.rs, v.cs = v.cs, v.rs
	return v
}

// block is the r×c window whose first element is (i, j).
func (v view) block(i, j, r, c int) view {
	v.off = v.index(i, j)
	v.rows, v.cols = r, c
	return v
}

// is reports whether v and w are the same window.
func (v view) is(w view) bool {
	return &v.data[0] == &w.data[0] && v.off == w.off && v.rows == w.rows && v.cols == w.cols && v.rs == w.rs && v.cs == w.cs
}

// flipRows counts rows from the last to the first.
func (v view) flipRows() view {
	v.off += (v.rows - 1) * v.rs
	v.rs = -v.rs
	return v
}

// flipCols counts columns from the last to the first.
func (v view) flipCols() view { return v.t().flipRows().t() }

// flip reverses both: the reversal of an upper triangle is a lower one.
func (v view) flip() view { return v.flipRows().flipCols() }

// copyRegion copies what b, which is stored by rows as v is and may have fewer, has in the region and in a window.
func (v view) copyRegion(b view, r region, iLo, iHi, jLo, jHi int) {
	for i := iLo; i < min(iHi, b.rows); i++ {
		lo, hi := r.columns(i, b.cols)
		if lo, hi = max(lo, jLo), min(hi, jHi); lo < hi {
			copy(v.data[v.index(i, lo):][:hi-lo], b.data[b.index(i, lo):])
		}
	}
}

// scale multiplies the region of v by x; zero overwrites, whatever was there.
func (v view) scale(x float64, r region) {
	if x == 1 {
		return
	}
	v, r = v.byRows(r)
	for i := range v.rows {
		row := v.row(i, r)
		if x == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= x
		}
	}
}

// byRows turns a view of a matrix, and a region of it, so that its rows are
// contiguous. Backwards columns are counted forwards, which only the full region
// survives.
func (v view) byRows(r region) (view, region) {
	if v.cs != 1 && v.cs != -1 {
		v, r = v.t(), r.t()
	}
	if v.cs == -1 {
		v = v.flipCols()
	}
	return v, r
}

// row is the part of row i in the region, of a view whose rows are contiguous.
func (v view) row(i int, r region) []float64 {
	lo, hi := r.columns(i, v.cols)
	if lo >= hi {
		return nil
	}
	at := v.index(i, lo)
	return v.data[at : at+hi-lo]
}

// region is the part of a matrix an operation works on.
type region int

const (
	full  region = iota
	lower        // on and below the diagonal
	upper        // on and above the diagonal
)

func triangleOf(ul blas.Uplo) region {
	if ul == blas.Lower {
		return lower
	}
	return upper
}

// t is the region in the transposed matrix.
func (r region) t() region {
	switch r {
	case lower:
		return upper
	case upper:
		return lower
	default:
		return full
	}
}

// columns is the range [lo, hi) of row i's columns in the region of a matrix of
// n columns.
func (r region) columns(i, n int) (lo, hi int) {
	switch r {
	case lower:
		return 0, max(0, min(i+1, n))
	case upper:
		return min(max(i, 0), n), n
	default:
		return 0, n
	}
}

// misses reports whether the rectangle of rows [iLo,iHi) and columns [jLo,jHi) has
// nothing in the region.
func (r region) misses(iLo, iHi, jLo, jHi int) bool {
	return r == lower && jLo >= iHi || r == upper && iLo >= jHi
}

// contains reports whether the rectangle lies in the region.
func (r region) contains(iLo, iHi, jLo, jHi int) bool {
	switch r {
	case lower:
		return jHi-1 <= iLo
	case upper:
		return iHi-1 <= jLo
	default:
		return true
	}
}
