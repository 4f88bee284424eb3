package level3

// A packed panel holds a strip of a matrix in the order a kernel reads it: row k
// of the strip is at panel[k*width:], width being mr for the left operand (packed
// from its transpose) and nr for the right one. What a matrix lacks to fill the
// width is zero, so kernels know no edges.

// pack copies p, of at most width columns, into a panel.
func (ks *kernels) pack(panel []float64, width int, p view) {
	if p.rows == 0 || p.cols == 0 {
		return
	}
	panel = panel[:p.rows*width]
	switch {
	case p.cs == 1 && p.cols == width:
		ks.copyRows(p.rows, width/ks.mr, &panel[0], width, ks.mr, p.ptr(0, 0), p.rs)
	case p.cols < ks.mr:
		packColumns(panel, width, p, 0)
	default:
		for s := 0; s < p.cols; s += ks.mr {
			// The last strip may overlap the one before.
			ks.packStrip(panel, width, p, min(s, p.cols-ks.mr))
		}
	}
	for k := 0; p.cols < width && k < p.rows; k++ {
		clear(panel[k*width+p.cols : (k+1)*width])
	}
}

// packLeft copies p, of at most nr columns, into panels mr wide that begin step apart.
func (ks *kernels) packLeft(panels []float64, step int, p view) {
	if p.cs == 1 && p.cols == ks.nr && p.rows > 0 {
		ks.copyRows(p.rows, ks.nr/ks.mr, &panels[0], ks.mr, step, p.ptr(0, 0), p.rs)
		return
	}
	for j := 0; j < p.cols; j += ks.mr {
		ks.pack(panels[j/ks.mr*step:], ks.mr, p.block(0, j, p.rows, min(ks.mr, p.cols-j)))
	}
}

// packStrip moves mr columns of p from s on, by vector code where it can.
func (ks *kernels) packStrip(panel []float64, width int, p view, s int) {
	mr := ks.mr
	switch {
	case p.cs == 1:
		ks.copyRows(p.rows, 1, &panel[s], width, 0, p.ptr(0, s), p.rs)
	case p.rows >= mr && p.rs == 1:
		ks.transpose(p.rows/mr, &panel[s], width, mr*width, p.ptr(0, s), p.cs, mr)
		if p.rows%mr != 0 { // the last rows, and some of those before again
			k := p.rows - mr
			ks.transpose(1, &panel[k*width+s], width, 0, p.ptr(k, s), p.cs, 0)
		}
	case p.rows >= mr && p.rs == -1:
		// Memory runs against k: a block is read upwards and written downwards.
		ks.transpose(p.rows/mr, &panel[(mr-1)*width+s], -width, mr*width, p.ptr(mr-1, s), p.cs, -mr)
		if p.rows%mr != 0 {
			k := p.rows - 1
			ks.transpose(1, &panel[k*width+s], -width, 0, p.ptr(k, s), p.cs, 0)
		}
	default:
		packColumns(panel, width, p.block(0, 0, p.rows, s+mr), s)
	}
}

// packColumns moves the columns of p from s on, element by element.
func packColumns(panel []float64, width int, p view, s int) {
	for r := s; r < p.cols; r++ {
		at := p.index(0, r)
		for k := r; k < len(panel); k += width {
			panel[k] = p.data[at]
			at += p.rs
		}
	}
}

// unpack copies a panel back to p, of at most width columns.
func (ks *kernels) unpack(p view, panel []float64, width int) {
	if p.rows == 0 || p.cols == 0 {
		return
	}
	panel = panel[:p.rows*width]
	switch {
	case p.cs == 1 && p.cols == width:
		ks.copyRows(p.rows, width/ks.mr, p.ptr(0, 0), p.rs, ks.mr, &panel[0], width)
	case p.cols < ks.mr:
		unpackColumns(p, panel, width, 0)
	default:
		for s := 0; s < p.cols; s += ks.mr {
			ks.unpackStrip(p, panel, width, min(s, p.cols-ks.mr))
		}
	}
}

// unpackStrip is packStrip in the other direction.
func (ks *kernels) unpackStrip(p view, panel []float64, width, s int) {
	mr := ks.mr
	switch {
	case p.cs == 1:
		ks.copyRows(p.rows, 1, p.ptr(0, s), p.rs, 0, &panel[s], width)
	case p.rows >= mr && p.rs == 1:
		ks.transpose(p.rows/mr, p.ptr(0, s), p.cs, mr, &panel[s], width, mr*width)
		if p.rows%mr != 0 {
			k := p.rows - mr
			ks.transpose(1, p.ptr(k, s), p.cs, 0, &panel[k*width+s], width, 0)
		}
	case p.rows >= mr && p.rs == -1:
		ks.transpose(p.rows/mr, p.ptr(mr-1, s), p.cs, -mr, &panel[(mr-1)*width+s], -width, mr*width)
		if p.rows%mr != 0 {
			k := p.rows - 1
			ks.transpose(1, p.ptr(k, s), p.cs, 0, &panel[k*width+s], -width, 0)
		}
	default:
		unpackColumns(p.block(0, 0, p.rows, s+mr), panel, width, s)
	}
}

// unpackColumns is packColumns in the other direction.
func unpackColumns(p view, panel []float64, width, s int) {
	for r := s; r < p.cols; r++ {
		at := p.index(0, r)
		for k := r; k < len(panel); k += width {
			p.data[at] = panel[k]
			at += p.rs
		}
	}
}

// packRegion packs the part of p that lies in the region, zeros elsewhere, reading
// nothing else. diagonal is the column of p that the region's diagonal meets in
// row 0.
func (ks *kernels) packRegion(panel []float64, width int, p view, r region, diagonal int) {
	for k := range p.rows {
		lo, hi := r.columns(k+diagonal, p.cols)
		row := panel[k*width : (k+1)*width]
		clear(row)
		row = row[lo:max(lo, hi)]
		for j, at := 0, p.index(k, lo); j < len(row); j, at = j+1, at+p.cs {
			row[j] = p.data[at]
		}
	}
}

// unpackRegion writes back the part of a panel that lies in the region.
func (ks *kernels) unpackRegion(p view, panel []float64, width int, r region, diagonal int) {
	for k := range p.rows {
		lo, hi := r.columns(k+diagonal, p.cols)
		at := p.index(k, lo)
		for _, x := range panel[k*width+lo : k*width+max(lo, hi)] {
			p.data[at] = x
			at += p.cs
		}
	}
}
